//! Everything that crosses the boundary, as JSON text. Commands go out, each that has an `id` is answered once; answers
//! and inputs come in. Payloads travel as raw JSON, byte for byte (D-25).

mod answer;
mod command;
mod input;
mod options;

pub use self::answer::{
    Answer, ApproveAnswer, AuthorizeAnswer, CallAnswer, CallResult, HookAnswer, ModelAnswer, ModelError, ModelReply,
    PartAnswer, PrepareAnswer, Thrown,
};
pub use self::command::{Command, Offer, Stage};
pub use self::input::{Input, Start, StoppedBefore, ToolRequest};
pub use self::options::KeelOptions;
