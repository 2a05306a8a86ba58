//! Why a call was not admitted. A refusal is an answer, not an end: the turn goes on, and the call's place in the budget is
//! free again.

use thiserror::Error;

use crate::kernel::protocol::{CallView, ErrorInfo, Failure};
use crate::kernel::schema;
use crate::kernel::schema::Issues;
use crate::kernel::turn::Turn;
use crate::kernel::value::CallId;

/// `subject` names the call: `call 'x'`, `nested call 'x'`.
#[derive(Clone, Debug, Error)]
pub enum Refusal {
    #[error("tool not found: {tool}")]
    NotFound { tool: String },
    #[error("max tool calls ({max}) exceeded")]
    ToolCallsSpent { max: u32 },
    #[error("max tool calls ({max}) exceeded by a nested tool call")]
    NestedCallsSpent { max: u32 },
    #[error("the whole tree used its {max} {what}")]
    TreeSpent { what: &'static str, max: f64 },
    #[error("tool '{tool}' may be used at most {max} times in a turn")]
    UsesSpent { tool: String, max: u32 },
    #[error("invalid arguments for {subject}: {}", schema::render(.issues))]
    InvalidArguments { subject: String, issues: Issues },
    #[error("invalid arguments for {subject}: {message}")]
    BrokenArguments { subject: String, message: String },
    #[error("invalid arguments for {subject}: nested deeper than 128 levels")]
    TooDeep { subject: String },
    #[error("failed to prepare injected arguments for tool `{tool}`")]
    Injection { tool: String },
    #[error("access to tool '{tool}' is denied")]
    AccessDenied { tool: String },
    #[error("tool '{tool}' would open a child turn deeper than maxDepth ({max})")]
    Depth { tool: String, max: u32 },
    #[error("nested tool calls are disabled (max_nested_depth = 0)")]
    NestedDisabled,
    #[error("nested call '{tool}' exceeds max_nested_depth ({max})")]
    NestedDepth { tool: String, max: u32 },
    #[error("nested call '{tool}' refused: tool call '{parent}' already had 8 nested calls refused")]
    TooManyRefused { tool: String, parent: CallId },
    #[error("{subject} requires approval; nested calls cannot be deferred")]
    NestedNeedsApproval { subject: String },
    #[error("{subject} requires approval")]
    NeedsApproval { subject: String },
    #[error("{subject} denied: {reason}")]
    Denied { subject: String, reason: String },
    /// A hook's own words, answered exactly.
    #[error("{message}")]
    Hook { code: String, message: String },
    #[error("the same call to '{tool}' was repeated too often")]
    Repeated { tool: String },
    #[error("nested call '{tool}' is not concurrency-safe and its caller holds the shared nested-call gate")]
    SharedGate { tool: String },
    #[error("nested call '{tool}' ({call_id}) was started before and never settled, and the tool is not replay-safe")]
    Unsettled { tool: String, call_id: CallId },
    #[error("the effect ledger failed: {message}")]
    Ledger { message: String },
}

impl Refusal {
    pub fn needs_approval(call: &CallView<'_>) -> Self {
        let subject = call.subject();
        if call.is_nested { Self::NestedNeedsApproval { subject } } else { Self::NeedsApproval { subject } }
    }

    /// What a hook threw or answered. Its text stands alone where the hook chose it for the caller; anything else is named
    /// as a refusal.
    pub fn by_hook(call: &CallView<'_>, code: Option<&str>, message: String) -> Self {
        match code {
            Some(code @ ("TOOL_FAILED" | "CANCELLED" | "TIMEOUT")) => Self::Hook { code: code.to_owned(), message },
            Some("APPROVAL_REQUIRED") => Self::needs_approval(call),
            Some("REPEATED_CALL") if !call.is_nested => Self::Repeated { tool: call.tool_id.to_owned() },
            Some(_) | None => {
                Self::Hook { code: "TOOL_FAILED".to_owned(), message: format!("{} refused: {message}", call.subject()) }
            }
        }
    }

    fn code(&self) -> &str {
        match self {
            Self::NotFound { .. } => "TOOL_NOT_FOUND",
            Self::ToolCallsSpent { .. } | Self::NestedCallsSpent { .. } | Self::UsesSpent { .. } => "LIMIT_EXCEEDED",
            Self::TreeSpent { .. } => "TREE_LIMIT",
            Self::TooDeep { .. } => "VALUE_TOO_DEEP",
            Self::Injection { .. } => "VALIDATION",
            Self::AccessDenied { .. } => "ACCESS_DENIED",
            Self::Depth { .. } => "DEPTH",
            Self::Repeated { .. } => "REPEATED_CALL",
            Self::Ledger { .. } => "LEDGER",
            Self::Hook { code, .. } => code,
            Self::InvalidArguments { .. }
            | Self::BrokenArguments { .. }
            | Self::NestedDisabled
            | Self::NestedDepth { .. }
            | Self::TooManyRefused { .. }
            | Self::NestedNeedsApproval { .. }
            | Self::NeedsApproval { .. }
            | Self::Denied { .. }
            | Self::SharedGate { .. }
            | Self::Unsettled { .. } => "TOOL_FAILED",
        }
    }

    pub fn error_info(&self) -> ErrorInfo {
        ErrorInfo { code: self.code().to_owned().into(), message: self.to_string() }
    }

    /// Why the turn ends once its other calls have settled, where that call was one too many (D-9).
    pub fn as_failure(&self) -> Option<Failure> {
        if let Self::ToolCallsSpent { max } = *self {
            return Some(Failure::BudgetToolCalls { max });
        }
        if let Self::TreeSpent { what, max } = *self {
            return Some(Failure::TreeLimit { what, max });
        }
        None
    }

    /// What is wrong with the arguments, where that is why.
    pub fn issues(&self) -> Option<Issues> {
        if let Self::InvalidArguments { issues, .. } = self {
            return Some(issues.clone());
        }
        if let Self::BrokenArguments { message, .. } = self {
            return Some(Issues::whole(message));
        }
        matches!(self, Self::TooDeep { .. }).then(|| Issues::whole("is nested deeper than 128 levels"))
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
        let tools = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        format!("{self}\navailable tools: {tools}")
    }
}
