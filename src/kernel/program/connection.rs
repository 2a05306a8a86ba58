//! `asTool`: what makes a tool a connection to a child turn, and what that child owes.

use serde::Deserialize;

use crate::kernel::program::{Budget, Limits};

/// What makes a tool an `asTool` connection: calling it opens a child turn.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DelegationSpec {
    /// Position of the child's agent in [`Program::agents`].
    pub agent: usize,
    pub budget: Budget,
    pub limits: Limits,
    pub contract: Option<ContractSpec>,
    pub retries: u32,
    pub on_error: OnError,
    pub forward: ForwardSpec,
    /// The scopes that the subtree keeps; `None` narrows nothing (NT-31).
    pub narrow: Option<Vec<String>>,
    /// The host makes the brief from the input (`brief` option); otherwise it is the input's own `brief` text.
    pub briefs: bool,
}

/// The deliverable that a turn owes its caller (NT-5 … NT-7 hold by definition).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContractSpec {
    /// Position in the child's [`AgentSpec::emits`].
    pub part: usize,
    pub nudges: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnError {
    Feedback,
    Fail,
}

/// What of a child becomes visible in its caller's own events (NT-34).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForwardSpec {
    pub progress: bool,
    pub parts: Vec<String>,
}
