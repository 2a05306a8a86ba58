//! What holds for all turns of a keel.

use serde::Deserialize;

use crate::kernel::program::{HookFlags, Limits};

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

/// What a failing `started` write does to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnStartFailure {
    Abort,
    Continue,
}
