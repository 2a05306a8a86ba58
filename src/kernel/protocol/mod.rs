//! Everything that crosses the boundary, as JSON text. Commands go out, each that has an `id` is answered once; answers
//! and inputs come in. Payloads travel as raw JSON, byte for byte (D-25).

mod answer;
mod command;
mod input;
mod options;
pub mod outbox;

pub use self::answer::{
    Answer, ApproveAnswer, AskedCall, AuthorizeAnswer, CallAnswer, CallResult, FinishReason, Given, HookAnswer,
    ModelAnswer, ModelError, ModelReply, Part, PartAnswer, PrepareAnswer, TextPart, Thrown, ToolName,
};
pub use self::command::{Args, CallName, Command, Offer, Offered, Place, Scopes, Stage, TurnName};
pub use self::input::{Input, Start, StoppedBefore, ToolRequest};
pub use self::options::KeelOptions;
