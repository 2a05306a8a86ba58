//! What goes out.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::kernel::approval::Pending;
use crate::kernel::call_view::{CallView, ResultView};
use crate::kernel::event::{ErrorInfo, EventView};
use crate::kernel::id::{CallId, EffectId, KeptId, Ticket, TurnId, TurnKey};
use crate::kernel::ledger::LedgerEntry;
use crate::kernel::record::TurnResult;

/// Declares the commands. Each crosses as a JSON array: its name, then its fields in the order in which they stand here, which
/// costs its reader half of what an object does.
macro_rules! commands {
    ($(
        $(#[$about:meta])*
        $name:literal => $variant:ident { $( $(#[$meaning:meta])* $field:ident: $type:ty ),* $(,)? }
    )*) => {
        /// What the kernel asks of the host, or tells it.
        pub enum Command<'a> {
            $( $(#[$about])* $variant { $( $(#[$meaning])* $field: $type ),* }, )*
        }

        impl Serialize for Command<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant { $( $field ),* } => ($name, $( $field ),*).serialize(serializer), )*
                }
            }
        }

        #[cfg(test)]
        impl Command<'_> {
            /// The names of the fields of each command, for those who read them in tests.
            pub const FIELDS: &'static [(&'static str, &'static [&'static str])] = &[ $( ($name, &[ $( stringify!($field) ),* ]) ),* ];
        }
    };
}

commands! {
    /// A turn begins: the host keeps its message list until `close` or `settled`.
    "open" => Open {
        turn_key: TurnKey,
        turn_id: &'a TurnId,
        parent_key: Option<TurnKey>,
        /// Position of its agent in the program.
        agent_index: usize,
        attempt: u32,
        /// The nested call that opened a child turn: its code runs in that one's context.
        ticket: Option<Ticket>,
        /// Positions of the tools that its model is offered.
        tools: &'a [usize],
        /// Position in `emits` of the part that the submit tool takes.
        submit: Option<usize>,
        /// The scopes that it may use.
        scopes: Vec<&'a str>,
    }
    /// A child turn is over.
    "close" => Close { turn_key: TurnKey }
    /// A root turn is over: append the messages and hand out the result.
    "settled" => Settled { turn_key: TurnKey, append: &'a [Box<RawValue>], result: &'a TurnResult<'a> }
    /// A root turn stands still until a human decides: append the messages and hand out the result so far.
    "suspended" => Suspended { turn_key: TurnKey, append: &'a [Box<RawValue>], result: &'a TurnResult<'a> }
    /// Produce the instructions, from these sources and the agent's own. Answer: [`Answer`] of a text.
    "instructions" => Instructions { id: EffectId, turn_key: TurnKey, sources: &'a [usize] }
    /// Ask the predicate of a tool or a source. Answer: [`Answer`] of a boolean.
    "access" => Access {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: Option<usize>,
        source_index: Option<usize>,
    }
    /// Append the messages: hooks are about to see the request.
    "append" => Append { turn_key: TurnKey, append: &'a [Box<RawValue>] }
    /// Run the hooks of a stage in order, until one refuses. Answer: [`HookAnswer`].
    "hooks" => Hooks {
        id: EffectId,
        turn_key: TurnKey,
        stage: Stage,
        ticket: Option<Ticket>,
        call: Option<CallView<'a>>,
        result: Option<ResultView<'a>>,
        /// What the model will be offered, for `beforeModel`.
        offer: Option<Offer>,
    }
    /// Ask `security.authorizeTool`. Answer: [`AuthorizeAnswer`].
    "authorize" => Authorize { id: EffectId, turn_key: TurnKey, ticket: Option<Ticket>, call: CallView<'a> }
    /// Ask `approve`. Answer: [`ApproveAnswer`].
    "approve" => Approve { id: EffectId, turn_key: TurnKey, pending: &'a Pending }
    /// Get the values that the host injects. Answer: [`Answer`] of an object.
    "inject" => Inject { id: EffectId, turn_key: TurnKey, ticket: Option<Ticket>, call: CallView<'a> }
    /// Write to the effect ledger, or ask it. Answer: [`Answer`] of nothing, or of call ids.
    "ledger" => Ledger { id: EffectId, turn_key: TurnKey, entry: &'a LedgerEntry<'a> }
    /// Append the messages and call the model. Answer: [`ModelAnswer`].
    "model" => Model { id: EffectId, turn_key: TurnKey, append: &'a [Box<RawValue>], offer: Offer, stream: bool }
    /// Check arguments by the tool's Standard Schema and keep what it returns for the body. Answer: [`PrepareAnswer`].
    "prepare" => Prepare {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: usize,
        /// Absent where the check was begun ahead.
        args: Option<&'a RawValue>,
        begun: Option<KeptId>,
    }
    /// Check a part's value by its Standard Schema. Answer: [`PartAnswer`].
    "preparePart" => PreparePart { id: EffectId, turn_key: TurnKey, part_index: usize, value: &'a RawValue }
    /// Make the brief of a child turn from the checked input. Answer: [`Answer`] of a user message's content.
    "brief" => Brief {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: usize,
        /// Absent when the host keeps what it checked.
        args: Option<&'a RawValue>,
        kept: Option<KeptId>,
    }
    /// Run a call's wrap layers; their `next()` comes back as [`Input::Next`]. Answer: [`CallAnswer`].
    "wrap" => Wrap { id: EffectId, turn_key: TurnKey, ticket: Option<Ticket>, call: CallView<'a> }
    /// What a `callTool()` or a `next()` resolves with, or rejects with. Neither: its caller was cut off.
    "resolve" => Resolve {
        ticket: Ticket,
        result: Option<ResultView<'a>>,
        error: Option<ErrorInfo>,
        /// The command whose code threw.
        thrown_by: Option<EffectId>,
    }
    /// Run a tool's body. Answer: [`CallAnswer`].
    "call" => Call {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: usize,
        /// Says where the call stands, too: `<parent>/<n>` for a nested one.
        call_id: &'a CallId,
        /// Absent when the host keeps what it checked.
        args: Option<&'a RawValue>,
        kept: Option<KeptId>,
        /// What is kept may be needed again.
        may_run_again: bool,
    }
    /// Forget what is kept: the call was refused or never begins, or its child turn is over.
    "release" => Release { turn_key: TurnKey, kept: KeptId }
    /// Nobody waits for this answer any longer: abort its signal, ignore what still comes.
    "cancel" => Cancel { id: EffectId, code: &'static str, message: &'a str }
    /// An event of a tree that somebody listens to.
    "event" => Event { turn_key: TurnKey, event: EventView<'a> }
    /// Call `tick` at this moment of the monotonic clock, in milliseconds.
    "wake" => Wake { at: f64 }
}

/// What the model of a turn is offered in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Offer {
    /// Its tools, and the submit tool when there is a contract.
    All,
    /// The submit tool alone, and it must be used.
    Submit,
    Nothing,
}

/// A stage of the middleware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    BeforeModel,
    AfterModel,
    BeforeTool,
    AfterTool,
    CheckNestedTool,
    ObserveNestedResult,
}
