//! Everything that crosses the boundary: commands go out, each that has an `id` is answered once; answers, letters and inputs come
//! in. Payloads travel as raw JSON, byte for byte (D-25). Uses `value`, `schema` and `program`; knows no turn and no call.

mod answer;
mod call_view;
mod command;
mod event;
mod input;
mod known;
mod ledger_entry;
mod model_reply;
mod outcome;
mod output;
mod pending;
mod record;
mod row;
mod transcript;

pub use self::answer::{
    Answer, ApproveAnswer, AuthorizeAnswer, CallAnswer, CallResult, Given, HookAnswer, ModelAnswer, ModelError,
    PartAnswer, PrepareAnswer, Thrown,
};
pub use self::call_view::{CallView, ResultView};
pub use self::command::{Command, Offer};
pub use self::event::{
    CallInfo, DeltaKind, ErrorInfo, Event, EventBody, EventView, Header, LimitName, MoreOfResult, NudgeSent,
    PartEmitted, Progress, StepCompleted, TurnRetried, is_false,
};
pub use self::input::{Input, Letter, Start, StoppedBefore, ToolRequest};
pub use self::known::{Args, CallName, Offered, Place, Scopes, TurnName};
pub use self::ledger_entry::{LedgerEntry, Settlement};
pub use self::model_reply::{AskedCall, FinishReason, ModelReply, Part, TextPart, ToolName};
pub use self::outcome::{Cause, Failure, Outcome};
pub use self::output::Output;
pub use self::pending::{Decision, Kind, Pending};
pub use self::record::{BudgetRecord, PartView, Rejected, Submits, TurnRecord, TurnResult, TurnStatus, Used};
#[cfg(test)]
pub use self::row::Form;
pub use self::row::Outbox;
pub use self::transcript::{Content, SaidCall, Source, Transcript, message};
