//! What a turn tells. Each turn keeps its own events; `seq` counts over the whole tree, so a turn's events are strictly
//! increasing and a tree's can be merged.

use std::borrow::Cow;
use std::rc::Rc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::kernel::approval::Pending;
use crate::kernel::id::{CallId, TurnId};
use crate::kernel::outcome::Cause;
use crate::kernel::schema::Issues;
use crate::kernel::text::Text;
use crate::kernel::usage::Usage;

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
    TextDelta { step: u32, attempt: u32, kind: DeltaKind, text: String },
    #[serde(rename = "step.restarted")]
    StepRestarted { step: u32, attempt: u32, reason: ErrorInfo },
    #[serde(rename = "step.completed")]
    StepCompleted {
        step: u32,
        finish_reason: Rc<str>,
        usage: Usage,
        tool_calls: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        reply: Option<Vec<Box<RawValue>>>,
    },
    #[serde(rename = "tool.started")]
    ToolStarted {
        #[serde(flatten)]
        call: CallInfo,
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Rc<RawValue>>,
    },
    #[serde(rename = "tool.progress")]
    ToolProgress {
        #[serde(flatten)]
        call: CallInfo,
        #[serde(flatten)]
        progress: Progress,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Rc<RawValue>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Rc<RawValue>>,
    },
    #[serde(rename = "tool.failed")]
    ToolFailed {
        #[serde(flatten)]
        call: CallInfo,
        duration_ms: f64,
        error: ErrorInfo,
    },
    #[serde(rename = "tool.refused")]
    ToolRefused {
        #[serde(flatten)]
        call: CallInfo,
        error: ErrorInfo,
    },
    #[serde(rename = "part.emitted")]
    PartEmitted {
        part: Rc<str>,
        value: Rc<RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        forwarded_from: Option<TurnId>,
    },
    #[serde(rename = "nudge.sent")]
    NudgeSent {
        nudge: u32,
        part: Rc<str>,
        #[serde(skip_serializing_if = "Issues::is_empty")]
        issues: Issues,
    },
    #[serde(rename = "limit.reached")]
    LimitReached { limit: LimitName, max: f64 },
    #[serde(rename = "turn.retried")]
    TurnRetried { attempt: u32, call_id: CallId, failed_turn_id: TurnId, cause: Cause },
    #[serde(rename = "approval.requested")]
    ApprovalRequested { pending: Pending },
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
    TurnFailed { cause: Cause },
    #[serde(rename = "turn.stopped")]
    TurnStopped { reason: Box<RawValue> },
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallInfo {
    pub call_id: CallId,
    pub tool_id: Rc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<CallId>,
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
