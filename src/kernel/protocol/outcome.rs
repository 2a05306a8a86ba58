//! How a turn ends (NT-3). A [`Failure`] is the reason as the kernel knows it; a [`Cause`] is what a caller, a record and
//! an event show of it.

use serde::Serialize;
use thiserror::Error;

use crate::kernel::program::Ceiling;
use crate::kernel::schema::Issues;
use crate::kernel::value::{Json, TurnId};

/// The one end of a turn.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum Outcome {
    Completed,
    Failed {
        cause: Cause,
    },

    /// The reason as the host gave it, any JSON.
    Stopped {
        reason: Json,
    },
}

/// Stable codes, in the order of the API's list; `Stopped` appears only as the cause that a caller sees of a stopped child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CauseCode {
    BudgetSteps,
    BudgetTime,
    BudgetToolCalls,
    BudgetTokens,
    BudgetCost,
    TreeLimit,
    DeliverableMissing,
    DeliverableInvalid,
    ModelError,
    RepeatedCall,
    ChildFailed,
    AccessDenied,
    Stopped,
    ParentEnded,
    InstructionsFailed,
    Validation,
    Internal,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    pub code: CauseCode,
    pub message: String,
    pub turn_id: TurnId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Cause>>,
    /// What a submitted deliverable, or arguments, got wrong.
    #[serde(skip_serializing_if = "Issues::is_empty")]
    pub issues: Issues,
    /// The ceiling that was reached, in its own unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
}

impl Cause {
    /// What a caller sees of a child that was stopped.
    pub fn stopped(agent_id: &str, turn_id: &TurnId) -> Self {
        Self::new(CauseCode::Stopped, format!("agent '{agent_id}' was stopped"), turn_id)
    }

    fn new(code: CauseCode, message: String, turn_id: &TurnId) -> Self {
        Self {
            code,
            message,
            turn_id: turn_id.clone(),
            cause: None,
            issues: Issues::default(),
            limit: None,
            ceiling: None,
        }
    }
}

/// Why a turn failed.
#[derive(Clone, Debug, Error)]
pub enum Failure {
    #[error("ran out of steps: its budget is {max}")]
    BudgetSteps { max: u32, issues: Issues },
    #[error("ran out of time{}", match (.ceiling, .max_ms) {
        (Ceiling::Own, Some(ms)) => format!(": its budget is {ms} ms"),
        (Ceiling::Own, None) => String::new(),
        (Ceiling::Caller, _) => ": its caller has none left".to_owned(),
    })]
    BudgetTime { ceiling: Ceiling, max_ms: Option<f64> },
    #[error("asked for more than its {max} tool calls")]
    BudgetToolCalls { max: u32 },
    #[error("used its {max} tokens")]
    BudgetTokens { max: f64 },
    #[error("used its {max} USD")]
    BudgetCost { max: f64 },
    #[error("could not go on: the whole tree used its {max} {what}")]
    TreeLimit { what: &'static str, max: f64 },
    #[error("ended without submitting its deliverable '{part}'")]
    DeliverableMissing { part: String },
    #[error("did not submit a valid deliverable '{part}'")]
    DeliverableInvalid { part: String, issues: Issues },
    #[error("could not call its model: {message}")]
    Model { message: String },
    #[error("repeated the same call to '{tool}' too often")]
    RepeatedCall { tool: String },
    #[error("failed with the child that '{tool}' opened: {}", .cause.message)]
    ChildFailed { tool: String, cause: Box<Cause> },
    #[error("may not read the source '{source_id}'")]
    AccessDenied { source_id: String },
    #[error("was cut off: its caller ended first")]
    ParentEnded,
    #[error("could not make its instructions: {message}")]
    Instructions { message: String },
    #[error("called '{tool}' with invalid arguments")]
    Validation { tool: String, issues: Issues },
    #[error("was ended by an internal error: {message}")]
    Internal { message: String },
}

impl Failure {
    fn code(&self) -> CauseCode {
        match self {
            Self::BudgetSteps { .. } => CauseCode::BudgetSteps,
            Self::BudgetTime { .. } => CauseCode::BudgetTime,
            Self::BudgetToolCalls { .. } => CauseCode::BudgetToolCalls,
            Self::BudgetTokens { .. } => CauseCode::BudgetTokens,
            Self::BudgetCost { .. } => CauseCode::BudgetCost,
            Self::TreeLimit { .. } => CauseCode::TreeLimit,
            Self::DeliverableMissing { .. } => CauseCode::DeliverableMissing,
            Self::DeliverableInvalid { .. } => CauseCode::DeliverableInvalid,
            Self::Model { .. } => CauseCode::ModelError,
            Self::RepeatedCall { .. } => CauseCode::RepeatedCall,
            Self::ChildFailed { .. } => CauseCode::ChildFailed,
            Self::AccessDenied { .. } => CauseCode::AccessDenied,
            Self::ParentEnded => CauseCode::ParentEnded,
            Self::Instructions { .. } => CauseCode::InstructionsFailed,
            Self::Validation { .. } => CauseCode::Validation,
            Self::Internal { .. } => CauseCode::Internal,
        }
    }

    /// This failure as the turn `turn_id` of the agent `agent_id` reports it.
    pub fn into_cause(self, agent_id: &str, turn_id: &TurnId) -> Cause {
        let mut cause = Cause::new(self.code(), format!("agent '{agent_id}' {self}"), turn_id);
        match self {
            Self::BudgetSteps { max, issues } => {
                cause.limit = Some(max.into());
                cause.issues = issues;
            }
            Self::BudgetTime { ceiling, max_ms } => {
                cause.ceiling = Some(ceiling);
                cause.limit = max_ms;
            }
            Self::BudgetToolCalls { max } => cause.limit = Some(max.into()),
            Self::BudgetTokens { max } | Self::BudgetCost { max } | Self::TreeLimit { max, .. } => {
                cause.limit = Some(max);
            }
            Self::DeliverableInvalid { issues, .. } | Self::Validation { issues, .. } => cause.issues = issues,
            Self::ChildFailed { cause: child, .. } => cause.cause = Some(child),
            Self::DeliverableMissing { .. }
            | Self::Model { .. }
            | Self::RepeatedCall { .. }
            | Self::AccessDenied { .. }
            | Self::ParentEnded
            | Self::Instructions { .. }
            | Self::Internal { .. } => {}
        }
        cause
    }
}
