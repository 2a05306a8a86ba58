//! What goes out.

use serde::Serialize;

use crate::kernel::program::Stage;
use crate::kernel::protocol::row::Outbox;
#[cfg(test)]
use crate::kernel::protocol::row::{Field, Form};
use crate::kernel::protocol::transcript::Unsent;
use crate::kernel::protocol::{
    Args, CallName, CallView, ErrorInfo, EventView, LedgerEntry, Offered, Pending, ResultView, Scopes, TurnName,
    TurnResult,
};
use crate::kernel::value::{EffectId, Json, KeptId, Ticket, TurnKey};

/// What a command's row is made of.
#[cfg(test)]
pub struct Row {
    pub kind: i32,
    pub name: &'static str,
    pub fields: &'static [(&'static str, Form)],
}

/// Declares the commands. Each crosses as a row of its kind, which is its place in this list, and its fields in the order in which they
/// stand here.
macro_rules! commands {
    ($(
        $(#[$about:meta])*
        $kind:literal $name:literal => $variant:ident { $( $(#[$meaning:meta])* $field:ident: $type:ty ),* $(,)? }
    )*) => {
        /// What the kernel asks of the host, or tells it.
        pub enum Command<'a> {
            $( $(#[$about])* $variant { $( $(#[$meaning])* $field: $type ),* }, )*
        }

        impl Command<'_> {
            /// Writes it as a row.
            pub fn write(&self, out: &mut Outbox) {
                match self {
                    $( Self::$variant { $( $field ),* } => {
                        let row = out.begin();
                        $( out.field($field); )*
                        out.end(row, $kind);
                    } )*
                }
            }
        }

        #[cfg(test)]
        impl serde::Serialize for Command<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant { $( $field ),* } => ($name, $( $field ),*).serialize(serializer), )*
                }
            }
        }

        #[cfg(test)]
        impl<'a> Command<'a> {
            /// Each command's number and name, and its fields with their forms: what the host reads rows by.
            pub const TABLE: &'static [Row] = &[ $( Row {
                kind: $kind,
                name: $name,
                fields: &[ $( (stringify!($field), <$type as Field>::FORM) ),* ],
            } ),* ];
        }
    };
}

commands! {
    /// A turn begins: the host keeps its message list until `close` or `settled`.
    0 "open" => Open {
        turn_key: TurnKey,
        turn_id: TurnName<'a>,
        parent_key: Option<TurnKey>,
        /// Position of its agent in the program.
        agent_index: usize,
        attempt: u32,
        /// The nested call that opened a child turn: its code runs in that one's context.
        ticket: Option<Ticket>,
        /// Positions of the tools that its model is offered.
        tools: Offered<'a>,
        /// Position in `emits` of the part that the submit tool takes.
        submit: Option<usize>,
        /// The scopes that it may use.
        scopes: Scopes<'a>,
    }
    /// A child turn is over.
    1 "close" => Close { turn_key: TurnKey }
    /// A root turn is over: append the messages and hand out the result.
    2 "settled" => Settled { turn_key: TurnKey, append: Unsent<'a>, result: TurnResult<'a> }
    /// A root turn stands still until a human decides: append the messages and hand out the result so far.
    3 "suspended" => Suspended { turn_key: TurnKey, append: Unsent<'a>, result: TurnResult<'a> }
    /// Produce the instructions, from these sources and the agent's own. Answer: [`Answer`] of a text.
    4 "instructions" => Instructions { id: EffectId, turn_key: TurnKey, sources: &'a [usize] }
    /// Ask the predicate of a tool or a source. Answer: [`Answer`] of a boolean.
    5 "access" => Access {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: Option<usize>,
        source_index: Option<usize>,
    }
    /// Append the messages: hooks are about to see the request.
    6 "append" => Append { turn_key: TurnKey, append: Unsent<'a> }
    /// Run the hooks of a stage in order, until one refuses. Answer: [`HookAnswer`].
    7 "hooks" => Hooks {
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
    8 "authorize" => Authorize { id: EffectId, turn_key: TurnKey, ticket: Option<Ticket>, call: CallView<'a> }
    /// Ask `approve`. Answer: [`ApproveAnswer`].
    9 "approve" => Approve { id: EffectId, turn_key: TurnKey, pending: &'a Pending }
    /// Get the values that the host injects. Answer: [`Answer`] of an object.
    10 "inject" => Inject { id: EffectId, turn_key: TurnKey, ticket: Option<Ticket>, call: CallView<'a> }
    /// Write to the effect ledger, or ask it. Answer: [`Answer`] of nothing, or of call ids.
    11 "ledger" => Ledger { id: EffectId, turn_key: TurnKey, entry: &'a LedgerEntry<'a> }
    /// Append the messages and call the model. Answer: [`ModelAnswer`].
    12 "model" => Model { id: EffectId, turn_key: TurnKey, offer: Offer, stream: bool, append: Unsent<'a> }
    /// Check arguments by the tool's Standard Schema and keep what it returns for the body. Answer: [`PrepareAnswer`].
    13 "prepare" => Prepare {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: usize,
        /// Absent where the check was begun ahead.
        args: Option<&'a Json>,
        begun: Option<KeptId>,
    }
    /// Check a part's value by its Standard Schema. Answer: [`PartAnswer`].
    14 "preparePart" => PreparePart { id: EffectId, turn_key: TurnKey, part_index: usize, value: &'a Json }
    /// Make the brief of a child turn from the checked input. Answer: [`Answer`] of a user message's content.
    15 "brief" => Brief {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: usize,
        /// Absent when the host keeps what it checked.
        args: Option<&'a Json>,
        kept: Option<KeptId>,
    }
    /// Run a call's wrap layers; their `next()` comes back as [`Input::Next`]. Answer: [`CallAnswer`].
    16 "wrap" => Wrap { id: EffectId, turn_key: TurnKey, ticket: Option<Ticket>, call: CallView<'a> }
    /// What a `callTool()` or a `next()` resolves with, or rejects with. Neither: its caller was cut off.
    17 "resolve" => Resolve {
        ticket: Ticket,
        result: Option<ResultView<'a>>,
        error: Option<ErrorInfo>,
        /// The command whose code threw.
        thrown_by: Option<EffectId>,
    }
    /// Run a tool's body. Answer: [`CallAnswer`].
    18 "call" => Call {
        id: EffectId,
        turn_key: TurnKey,
        ticket: Option<Ticket>,
        tool_index: usize,
        /// Says where the call stands, too: `<parent>/<n>` for a nested one.
        call_id: CallName<'a>,
        /// Absent when the host keeps what it checked.
        args: Args<'a>,
        kept: Option<KeptId>,
        /// What is kept may be needed again.
        may_run_again: bool,
    }
    /// Forget what is kept: the call was refused or never begins, or its child turn is over.
    19 "release" => Release { turn_key: TurnKey, kept: KeptId }
    /// Nobody waits for this answer any longer: abort its signal, ignore what still comes.
    20 "cancel" => Cancel { id: EffectId, code: &'static str, message: &'a str }
    /// An event of a tree that somebody listens to.
    21 "event" => Event { turn_key: TurnKey, event: EventView<'a> }
    /// Call `tick` at this moment of the monotonic clock, in milliseconds.
    22 "wake" => Wake { at: f64 }
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
