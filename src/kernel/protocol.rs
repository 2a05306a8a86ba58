//! Everything that crosses the boundary, as JSON text. Commands go out, each that has an `id` is answered once; answers
//! and inputs come in. Payloads travel as raw JSON, byte for byte (D-25).

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::kernel::budget::Budget;
use crate::kernel::event::{DeltaKind, EventView, Progress};
use crate::kernel::id::{CallId, CallKey, EffectId, TurnId};
use crate::kernel::limits::Limits;
use crate::kernel::record::TurnResult;
use crate::kernel::schema::Issues;
use crate::kernel::spec::ContractSpec;
use crate::kernel::text::Text;
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
        /// The call that opened a child turn.
        key: Option<CallKey>,
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
    Settled {
        turn_id: &'a TurnId,
        append: &'a [Box<RawValue>],
        result: &'a TurnResult<'a>,
    },
    /// Produce the instructions, from these sources and the agent's own. Answer: [`Answer`] of a text.
    Instructions {
        id: EffectId,
        turn_id: &'a TurnId,
        sources: &'a [usize],
    },
    /// Ask the predicate of a tool or a source. Answer: [`Answer`] of a boolean.
    Access {
        id: EffectId,
        turn_id: &'a TurnId,
        tool: Option<usize>,
        source: Option<usize>,
    },
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
    Prepare {
        id: EffectId,
        turn_id: &'a TurnId,
        key: CallKey,
        tool: usize,
        args: &'a RawValue,
    },
    /// Check a part's value by its Standard Schema. Answer: [`PartAnswer`].
    PreparePart {
        id: EffectId,
        turn_id: &'a TurnId,
        part: usize,
        value: &'a RawValue,
    },
    /// Make the brief of a child turn from the prepared input. Answer: [`Answer`] of a user message's content.
    Brief {
        id: EffectId,
        turn_id: &'a TurnId,
        key: CallKey,
        tool: usize,
        args: &'a RawValue,
    },
    /// Run a tool's body. Answer: [`CallAnswer`].
    Call {
        id: EffectId,
        turn_id: &'a TurnId,
        key: CallKey,
        tool: usize,
        call_id: &'a CallId,
        /// Absent when the host has prepared them.
        args: Option<&'a RawValue>,
    },
    /// Forget what `prepare` kept: the call was refused or never begins, or its child turn is over.
    Release { key: CallKey },
    /// Nobody waits for this answer any longer: abort its signal, ignore what still comes.
    Cancel {
        id: EffectId,
        code: &'static str,
        message: &'a str,
    },
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
    /// A signal was aborted before the start.
    pub stopped: Option<StoppedBefore>,
}

/// A stop that came before the start; its reason may be `null`.
#[derive(Deserialize)]
pub struct StoppedBefore {
    pub reason: Box<RawValue>,
}

/// What the host tells between start and end, besides answers. The tag stands first, so that bodies are read in place.
#[derive(Deserialize)]
#[serde(
    tag = "type",
    content = "body",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
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
    /// A tool's `ctx.emit`: the value is validated.
    Emit {
        key: CallKey,
        part: usize,
        value: Box<RawValue>,
    },
    /// A tool's `ctx.progress`.
    Progress { key: CallKey, progress: Progress },
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
    /// Finished trees kept by the in-memory store.
    pub keep_trees: Option<usize>,
}
