//! What goes out.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::kernel::approval::Pending;
use crate::kernel::call_view::{CallView, ResultView};
use crate::kernel::event::{ErrorInfo, EventView};
use crate::kernel::id::{CallId, CallKey, EffectId, Ticket, TurnId};
use crate::kernel::ledger::LedgerEntry;
use crate::kernel::record::TurnResult;

/// What the kernel asks of the host, or tells it.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command<'a> {
    /// A turn begins: the host keeps its message list until `close` or `settled`.
    Open {
        turn_id: &'a TurnId,
        parent_turn_id: Option<&'a TurnId>,
        root_turn_id: &'a TurnId,
        agent: usize,
        attempt: u32,
        /// The nested call that opened a child turn: its code runs in that one's context.
        ticket: Option<Ticket>,

        /// Positions of the tools that its model is offered.
        tools: &'a [usize],
        /// Position in `emits` of the part that the submit tool takes.
        submit: Option<usize>,
        /// The scopes that it may use.
        scopes: Vec<&'a str>,
    },
    /// A child turn is over.
    Close { turn_id: &'a TurnId },
    /// A root turn is over: append the messages and hand out the result.
    Settled { turn_id: &'a TurnId, append: &'a [Box<RawValue>], result: &'a TurnResult<'a> },
    /// Produce the instructions, from these sources and the agent's own. Answer: [`Answer`] of a text.
    Instructions { id: EffectId, turn_id: &'a TurnId, sources: &'a [usize] },
    /// Ask the predicate of a tool or a source. Answer: [`Answer`] of a boolean.
    Access { id: EffectId, turn_id: &'a TurnId, ticket: Option<Ticket>, tool: Option<usize>, source: Option<usize> },
    /// A root turn stands still until a human decides: hand out the result so far.
    Suspended { turn_id: &'a TurnId, append: &'a [Box<RawValue>], result: &'a TurnResult<'a> },
    /// Append the messages: hooks are about to see the request.
    Append { turn_id: &'a TurnId, append: &'a [Box<RawValue>] },
    /// Run the hooks of a stage in order, until one refuses. Answer: [`HookAnswer`].
    Hooks {
        id: EffectId,
        turn_id: &'a TurnId,
        stage: Stage,
        /// What the model will be offered, for `beforeModel`.
        offer: Option<Offer>,
        ticket: Option<Ticket>,
        call: Option<&'a CallView<'a>>,
        result: Option<&'a ResultView<'a>>,
    },
    /// Ask `security.authorizeTool`. Answer: [`AuthorizeAnswer`].
    Authorize { id: EffectId, turn_id: &'a TurnId, ticket: Option<Ticket>, call: CallView<'a> },
    /// Ask `approve`. Answer: [`ApproveAnswer`].
    Approve { id: EffectId, turn_id: &'a TurnId, pending: &'a Pending },
    /// Get the values that the host injects. Answer: [`Answer`] of an object.
    Inject { id: EffectId, turn_id: &'a TurnId, ticket: Option<Ticket>, call: CallView<'a> },
    /// Write to the effect ledger, or ask it. Answer: [`Answer`] of nothing, or of call ids.
    Ledger { id: EffectId, turn_id: &'a TurnId, entry: &'a LedgerEntry<'a> },
    /// Append the messages and call the model. Answer: [`ModelAnswer`].
    Model {
        id: EffectId,
        turn_id: &'a TurnId,
        step: u32,
        attempt: u32,
        append: &'a [Box<RawValue>],
        offer: Offer,
        stream: bool,
    },
    /// Check arguments by the tool's Standard Schema and keep what it returns for the body. Answer: [`PrepareAnswer`].
    Prepare { id: EffectId, turn_id: &'a TurnId, ticket: Option<Ticket>, key: CallKey, tool: usize, args: &'a RawValue },
    /// Check a part's value by its Standard Schema. Answer: [`PartAnswer`].
    PreparePart { id: EffectId, turn_id: &'a TurnId, part: usize, value: &'a RawValue },
    /// Make the brief of a child turn from the prepared input. Answer: [`Answer`] of a user message's content.
    Brief { id: EffectId, turn_id: &'a TurnId, ticket: Option<Ticket>, key: CallKey, tool: usize, args: &'a RawValue },
    /// Run a call's wrap layers; their `next()` comes back as [`Input::Next`]. Answer: [`CallAnswer`].
    Wrap { id: EffectId, turn_id: &'a TurnId, ticket: Option<Ticket>, tool: usize, call: CallView<'a> },
    /// What a `callTool()` or a `next()` resolves with, or rejects with; `thrown_by` names the command whose code threw.
    Resolve { ticket: Ticket, result: Option<ResultView<'a>>, error: Option<ErrorInfo>, thrown_by: Option<EffectId> },
    /// Run a tool's body. Answer: [`CallAnswer`].
    Call {
        id: EffectId,
        turn_id: &'a TurnId,
        ticket: Option<Ticket>,
        key: CallKey,
        tool: usize,
        call_id: &'a CallId,
        parent_call_id: Option<&'a CallId>,
        level: u32,
        /// Absent when the host has prepared them.
        args: Option<&'a RawValue>,
        /// What was prepared may be needed again.
        keep: bool,
    },
    /// Forget what `prepare` kept: the call was refused or never begins, or its child turn is over.
    Release { key: CallKey },
    /// Nobody waits for this answer any longer: abort its signal, ignore what still comes.
    Cancel { id: EffectId, code: &'static str, message: &'a str },
    /// An event of a tree that somebody listens to.
    Event { event: EventView<'a> },
    /// Call `tick` at this moment of the monotonic clock, in milliseconds.
    Wake { at: f64 },
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
