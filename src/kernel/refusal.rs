//! Why a call was not admitted. A refusal is an answer, not an end: the turn goes on, and the call's slot is free again.

use thiserror::Error;

use crate::kernel::event::ErrorInfo;
use crate::kernel::outcome::Failure;
use crate::kernel::schema::{self, Issues};
use crate::kernel::turn::Turn;

#[derive(Clone, Debug, Error)]
pub enum Refusal {
    #[error("tool not found: {tool}")]
    NotFound { tool: String },
    #[error("max tool calls ({max}) exceeded")]
    ToolCallsSpent { max: u32 },
    #[error("the whole tree used its {max} {what}")]
    TreeSpent { what: &'static str, max: f64 },
    #[error("tool '{tool}' may be used at most {max} times in a turn")]
    UsesSpent { tool: String, max: u32 },
    #[error("invalid arguments for '{tool}': {}", schema::render(.issues))]
    InvalidArguments { tool: String, issues: Issues },
    #[error("invalid arguments for '{tool}': {message}")]
    BrokenArguments { tool: String, message: String },
    #[error("invalid arguments for '{tool}': nested deeper than 128 levels")]
    TooDeep { tool: String },
    #[error("access to tool '{tool}' is denied")]
    AccessDenied { tool: String },
    #[error("tool '{tool}' would open a child turn deeper than maxDepth ({max})")]
    Depth { tool: String, max: u32 },
}

impl Refusal {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "TOOL_NOT_FOUND",
            Self::ToolCallsSpent { .. } | Self::UsesSpent { .. } => "LIMIT_EXCEEDED",
            Self::TreeSpent { .. } => "TREE_LIMIT",
            Self::InvalidArguments { .. } | Self::BrokenArguments { .. } => "TOOL_FAILED",
            Self::TooDeep { .. } => "VALUE_TOO_DEEP",
            Self::AccessDenied { .. } => "ACCESS_DENIED",
            Self::Depth { .. } => "DEPTH",
        }
    }

    pub fn error_info(&self) -> ErrorInfo {
        ErrorInfo {
            code: self.code(),
            message: self.to_string(),
        }
    }

    /// Why the turn ends once its other calls have settled, where that call was one too many (D-9).
    pub fn as_failure(&self) -> Option<Failure> {
        match *self {
            Self::ToolCallsSpent { max } => Some(Failure::BudgetToolCalls { max }),
            Self::TreeSpent { what, max } => Some(Failure::TreeLimit { what, max }),
            Self::NotFound { .. }
            | Self::UsesSpent { .. }
            | Self::InvalidArguments { .. }
            | Self::BrokenArguments { .. }
            | Self::TooDeep { .. }
            | Self::AccessDenied { .. }
            | Self::Depth { .. } => None,
        }
    }

    /// What is wrong with the arguments, where that is why.
    pub fn issues(&self) -> Option<Issues> {
        match self {
            Self::InvalidArguments { issues, .. } => Some(issues.clone()),
            Self::BrokenArguments { message, .. } => Some(Issues::whole(message)),
            Self::TooDeep { .. } => Some(Issues::whole("is nested deeper than 128 levels")),
            Self::NotFound { .. }
            | Self::ToolCallsSpent { .. }
            | Self::TreeSpent { .. }
            | Self::UsesSpent { .. }
            | Self::AccessDenied { .. }
            | Self::Depth { .. } => None,
        }
    }

    /// The answer that the model gets: with what it needs to do better.
    pub fn for_model(&self, turn: &Turn) -> String {
        if !matches!(self, Self::NotFound { .. }) {
            return self.to_string();
        }
        let agent = turn.agent();
        let offered = turn.offered();
        let mut tools: Vec<&str> = offered.iter().map(|index| &*agent.tools[*index].id).collect();
        tools.extend(turn.contract.as_ref().map(|contract| contract.submit_id.as_str()));
        let tools = if tools.is_empty() {
            "none".to_owned()
        } else {
            tools.join(", ")
        };
        format!("{self}\navailable tools: {tools}")
    }
}
