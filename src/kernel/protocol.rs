//! Everything that crosses the boundary, as JSON text. Commands go out, each that has an `id` is answered once; answers
//! and inputs come in. Payloads travel as raw JSON, byte for byte (D-25).

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::kernel::approval::{Decision, Pending};
use crate::kernel::budget::Budget;
use crate::kernel::call_view::{CallView, ResultView};
use crate::kernel::event::{DeltaKind, ErrorInfo, EventView, Progress};
use crate::kernel::hooks::HookFlags;
use crate::kernel::id::{CallId, CallKey, EffectId, Ticket, TurnId};
use crate::kernel::ledger::{LedgerEntry, OnStartFailure};
use crate::kernel::limits::Limits;
use crate::kernel::record::TurnResult;
use crate::kernel::schema::{self, Issues};
use crate::kernel::spec::ContractSpec;
use crate::kernel::text::{self, Text};
use crate::kernel::transcript::Output;
use crate::kernel::usage::Usage;

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

/// The answer to most commands: what was asked for, or what the user's code threw.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer<T> {
    Ok(T),
    Thrown(Thrown),
}

/// What user code threw, as far as the kernel may know it; the object itself stays with the host.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thrown {
    /// The code of a `KeelError`; absent for a foreign exception.
    pub code: Option<String>,
    pub message: Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelAnswer {
    Ok(ModelReply),
    Error(ModelError),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReply {
    /// Content parts in the AI SDK's shape, each as it is; a tool call's `input` is JSON text.
    pub content: Vec<Box<RawValue>>,
    pub finish_reason: Rc<str>,
    pub usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelError {
    pub message: Text,
    pub retryable: bool,
    pub retry_after_ms: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PrepareAnswer {
    /// `exclusive`: what a `concurrency` function said, absent where there is none.
    Ok {
        exclusive: Option<bool>,
    },
    Invalid(Issues),
    Thrown(Thrown),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartAnswer {
    /// The value after transforms, absent when it is the same.
    Ok {
        value: Option<Box<RawValue>>,
    },
    Invalid(Issues),
    Thrown(Thrown),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallAnswer {
    Result(CallResult),
    Thrown(Thrown),
}

/// What a tool's body returned.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    pub is_error: bool,
    /// The text for the model, where the tool gave one or returned a string.
    pub text: Option<Text>,
    pub value: Option<Box<RawValue>>,
    pub metadata: Option<Box<RawValue>>,
}

impl CallResult {
    /// A tool that reports its own failure.
    pub fn error(text: String) -> Self {
        Self { is_error: true, text: Some(Text(text)), value: None, metadata: None }
    }

    /// Deeper than anybody behind us can read (D-25).
    pub fn is_too_deep(&self) -> bool {
        [&self.value, &self.metadata].into_iter().flatten().any(|value| schema::is_too_deep(value.get()))
    }

    /// The result as text: the tool's own, a string value, or the value's JSON.
    pub fn text(&self) -> String {
        if let Some(text) = &self.text {
            return text.0.clone();
        }
        let value = self.value.as_ref().map_or("null", |value| value.get());
        text::read(value).unwrap_or_else(|| value.to_owned())
    }

    /// What the model sees of it: the tool's text, else its value.
    pub fn output(&self) -> Output {
        let value = || self.value.clone().unwrap_or_else(|| RawValue::NULL.to_owned());
        let text = self.text.as_ref().map(|text| text.0.clone()).or_else(|| text::read(value().get()));
        match (text, self.is_error) {
            (Some(text), false) => Output::Text(text),
            (Some(text), true) => Output::ErrorText(text),
            (None, false) => Output::Json(value()),
            (None, true) => Output::ErrorJson(value()),
        }
    }
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookAnswer {
    /// With the result that `afterTool` puts in place of the call's.
    Ok(Option<CallResult>),
    Refused(Thrown),
    NeedsApproval,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthorizeAnswer {
    Allow,
    Deny(Option<Text>),
    Thrown(Thrown),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApproveAnswer {
    Allow,
    Deny(Text),
    Defer,
}

/// The start of a root turn.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    pub turn_id: TurnId,
    /// Wall clock minus monotonic clock, in milliseconds.
    pub wall_offset_ms: f64,
    /// Earlier messages and the input, in the AI SDK's shape.
    pub messages: Vec<Box<RawValue>>,
    /// What the record shows as the input.
    pub input: Box<RawValue>,
    pub budget: Budget,
    pub limits: Limits,
    pub contract: Option<ContractSpec>,
    pub authenticated: bool,
    pub scopes: Vec<String>,
    /// Somebody reads the tree's events as they happen; text comes as deltas.
    pub stream: bool,
    /// What the run's own middleware has hooks for.
    pub hooks: HookFlags,
    /// A signal was aborted before the start.
    pub stopped: Option<StoppedBefore>,
}

/// A stop that came before the start, or before the turn went on; its reason may be `null`.
#[derive(Deserialize)]
pub struct StoppedBefore {
    pub reason: Box<RawValue>,
}

/// What the host tells between start and end, besides answers. The tag stands first, so that bodies are read in place.
#[derive(Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input {
    /// A moment has come.
    Tick,
    /// A model call streams text.
    Delta {
        id: EffectId,
        turn_id: TurnId,
        kind: DeltaKind,
        text: Text,
    },
    Stop {
        turn_id: TurnId,
        subtree: bool,
        reason: Box<RawValue>,
    },
    /// The `ctx.emit` of the body `id`: the value is validated.
    Emit {
        id: EffectId,
        part: usize,
        value: Box<RawValue>,
    },
    /// The `ctx.progress` of the body `id`.
    Progress {
        id: EffectId,
        progress: Progress,
    },
    /// The `ctx.callTool` of the body `id`; `broken` says why there are no arguments.
    CallTool {
        id: EffectId,
        ticket: Ticket,
        tool: Text,
        args: Option<Box<RawValue>>,
        broken: Option<Text>,
        /// The arguments nest deeper than the host can write.
        #[serde(default)]
        too_deep: bool,
        /// A tool object was given that is not among the agent's tools, whatever its name.
        #[serde(default)]
        unlisted: bool,
        /// Its own signal had fired before it was made: nothing of it is to happen.
        #[serde(default)]
        abandoned: bool,
    },
    /// A `callTool` of the body `id` is no longer waited for.
    Abandon {
        id: EffectId,
        ticket: Ticket,
    },
    /// A `next()` of the wrap `id`; with arguments where the layer rewrote them.
    Next {
        id: EffectId,
        ticket: Ticket,
        args: Option<Box<RawValue>>,
    },
    /// What humans decided, by the id of what is pending.
    Resume {
        turn_id: TurnId,
        stream: bool,
        decisions: BTreeMap<String, Decision>,
        stopped: Option<StoppedBefore>,
    },
}

/// Options of the keel, for all its turns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeelOptions {
    pub limits: Limits,
    /// Tool payloads are kept in events and records (`capture.toolIo`).
    pub capture_tool_io: bool,
    /// Replies of models are kept in events (`capture.modelIo`).
    pub capture_model_io: bool,
    pub expose_errors: bool,
    /// What the keel's middleware has hooks for.
    pub hooks: HookFlags,
    /// `security` is given.
    pub hosted: Option<Hosted>,
    /// `approve` is given.
    pub approves: bool,
    /// A ledger is given, and what a failing start does.
    pub ledger: Option<OnStartFailure>,
    /// Finished trees kept by the in-memory store.
    pub keep_trees: Option<usize>,
}

impl KeelOptions {
    /// Whether the host's list allows the tool (D-17).
    pub fn allows(&self, tool: &str) -> bool {
        let Some(Hosted { allow: Some(allow), fail_closed, .. }) = &self.hosted else { return true };
        allow.iter().any(|allowed| allowed == tool) || (allow.is_empty() && !fail_closed)
    }
}

/// The host's own rules for tools (`security`).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hosted {
    /// `allowTools`; an empty list allows nothing, unless the host fails open.
    pub allow: Option<Vec<String>>,
    pub fail_closed: bool,
    /// `authorizeTool` is given.
    pub authorizes: bool,
}
