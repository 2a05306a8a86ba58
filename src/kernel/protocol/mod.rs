//! Everything that crosses the boundary: commands go out, each that has an `id` is answered once; answers, letters and inputs come
//! in. Payloads travel as raw JSON, byte for byte (D-25). Uses `value`, `schema` and `program`; knows no turn and no call.

mod answer;
mod call_view;
mod command;
mod event;
mod input;
mod ledger_entry;
mod outbox;
mod outcome;
mod output;
mod pending;
mod record;
mod transcript;

pub use self::answer::{
    Answer, ApproveAnswer, AskedCall, AuthorizeAnswer, CallAnswer, CallResult, FinishReason, Given, HookAnswer,
    ModelAnswer, ModelError, ModelReply, Part, PartAnswer, PrepareAnswer, TextPart, Thrown, ToolName,
};
pub use self::call_view::{CallView, ResultView};
pub use self::command::{Args, CallName, Command, Offer, Offered, Place, Scopes, TurnName};
pub use self::event::{
    CallInfo, DeltaKind, ErrorInfo, Event, EventBody, EventView, Header, LimitName, MoreOfResult, NudgeSent,
    PartEmitted, Progress, StepCompleted, TurnRetried, is_false,
};
pub use self::input::{Input, Letter, Start, StoppedBefore, ToolRequest};
pub use self::ledger_entry::{LedgerEntry, Settlement};
pub use self::outbox::Outbox;
pub use self::outcome::{Cause, Failure, Outcome};
pub use self::output::Output;
pub use self::pending::{Decision, Kind, Pending};
pub use self::record::{BudgetRecord, PartView, Rejected, Submits, TurnRecord, TurnResult, TurnStatus, Used};
pub use self::transcript::{Content, SaidCall, Source, Transcript, message};
