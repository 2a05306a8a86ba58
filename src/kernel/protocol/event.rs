//! What a turn tells. Each turn keeps its own events; `seq` counts over the whole tree, so a turn's events are strictly
//! increasing and a tree's can be merged.

use std::borrow::Cow;
use std::rc::Rc;

use serde::{Serialize, Serializer};

use crate::kernel::protocol::{Cause, FinishReason, Pending};
use crate::kernel::schema::Issues;
use crate::kernel::value::{CallId, Json, Text, TurnId, Usage};

/// One event, without the names of its turn: the turn's [`Header`] has them.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    #[serde(flatten)]
    pub body: EventBody,
    pub seq: u32,
    /// Wall clock, milliseconds since the epoch.
    pub at: f64,
}

/// The names that every event of a turn carries.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    pub turn_id: TurnId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_turn_id: Option<TurnId>,
    pub root_turn_id: TurnId,
    pub agent_id: Rc<str>,
}

/// An event as it leaves the kernel.
#[derive(Serialize)]
pub struct EventView<'a> {
    #[serde(flatten)]
    pub event: &'a Event,
    #[serde(flatten)]
    pub header: &'a Header,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum EventBody {
    #[serde(rename = "turn.started")]
    TurnStarted {
        attempt: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
    },
    #[serde(rename = "step.started")]
    StepStarted { step: u32, attempt: u32 },
    #[serde(rename = "text.delta")]
    TextDelta { step: u32, attempt: u32, kind: DeltaKind, text: Box<str> },
    #[serde(rename = "step.restarted")]
    StepRestarted { step: u32, attempt: u32, reason: Box<ErrorInfo> },
    #[serde(rename = "step.completed")]
    StepCompleted(Box<StepCompleted>),
    #[serde(rename = "tool.started")]
    ToolStarted {
        #[serde(flatten)]
        call: CallInfo,
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Json>,
    },
    #[serde(rename = "tool.progress")]
    ToolProgress {
        #[serde(flatten)]
        call: CallInfo,
        #[serde(flatten)]
        progress: Box<Progress>,
        /// The child turn whose progress this is, where a connection forwards it (NT-34).
        #[serde(skip_serializing_if = "Option::is_none")]
        forwarded_from: Option<TurnId>,
    },
    #[serde(rename = "tool.completed")]
    ToolCompleted {
        #[serde(flatten)]
        call: CallInfo,
        is_error: bool,
        duration_ms: f64,
        output_bytes: usize,
        #[serde(flatten)]
        more: Option<Box<MoreOfResult>>,
    },
    #[serde(rename = "tool.failed")]
    ToolFailed {
        #[serde(flatten)]
        call: CallInfo,
        duration_ms: f64,
        error: Box<ErrorInfo>,
    },
    #[serde(rename = "tool.refused")]
    ToolRefused {
        #[serde(flatten)]
        call: CallInfo,
        error: Box<ErrorInfo>,
    },
    #[serde(rename = "part.emitted")]
    PartEmitted(Box<PartEmitted>),
    #[serde(rename = "nudge.sent")]
    NudgeSent(Box<NudgeSent>),
    #[serde(rename = "limit.reached")]
    LimitReached { limit: LimitName, max: f64 },
    #[serde(rename = "turn.retried")]
    TurnRetried(Box<TurnRetried>),
    #[serde(rename = "approval.requested")]
    ApprovalRequested { pending: Box<Pending> },
    #[serde(rename = "turn.suspended")]
    TurnSuspended { pending: Vec<Pending> },
    #[serde(rename = "turn.resumed")]
    TurnResumed {},
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(skip_serializing_if = "is_false")]
        partial: bool,
        #[serde(skip_serializing_if = "is_false")]
        empty: bool,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { cause: Box<Cause> },
    #[serde(rename = "turn.stopped")]
    TurnStopped { reason: Json },
}

/// How a step ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCompleted {
    pub step: u32,
    pub finish_reason: FinishReason,
    pub usage: Usage,
    pub tool_calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Vec<Json>>,
}

/// What is rarely told of a result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoreOfResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
}

impl MoreOfResult {
    pub fn is_empty(&self) -> bool {
        self.error.is_none() && self.output.is_none() && self.metadata.is_none()
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartEmitted {
    pub part: Rc<str>,
    pub value: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarded_from: Option<TurnId>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NudgeSent {
    pub nudge: u32,
    pub part: Rc<str>,
    #[serde(skip_serializing_if = "Issues::is_empty")]
    pub issues: Issues,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRetried {
    pub attempt: u32,
    pub call_id: CallId,
    pub failed_turn_id: TurnId,
    pub cause: Cause,
}

/// A call as events name it.
#[derive(Clone, Debug)]
pub struct CallInfo {
    pub call_id: CallId,
    pub tool_id: Rc<str>,
}

impl Serialize for CallInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shown<'a> {
            call_id: &'a CallId,
            tool_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            parent_call_id: Option<&'a str>,
        }
        Shown { call_id: &self.call_id, tool_id: &self.tool_id, parent_call_id: self.call_id.parent() }
            .serialize(serializer)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct ErrorInfo {
    pub code: Cow<'static, str>,
    pub message: String,
}

impl ErrorInfo {
    pub fn new(code: &'static str, message: &str) -> Self {
        Self { code: code.into(), message: message.to_owned() }
    }
}

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeltaKind {
    Text,
    Reasoning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LimitName {
    Steps,
    ToolCalls,
    TimeMs,
    Tokens,
    CostUsd,
    Tree,
}

pub fn is_false(flag: &bool) -> bool {
    !*flag
}
