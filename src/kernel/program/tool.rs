//! A tool's definition: who may call it, how, and what runs then.

use std::rc::Rc;

use serde::Deserialize;

use crate::kernel::program::{AccessRule, DelegationSpec};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "a definition's switches, each its own option in the API")]
pub struct ToolSpec {
    pub id: Rc<str>,
    pub schema: usize,
    /// The host looks at the arguments after the Rust check (a Standard Schema, a `concurrency` function) and keeps for
    /// the body what it made of them.
    pub prepares: bool,
    pub access: AccessRule,
    pub exposure: Exposure,
    pub concurrency: Concurrency,
    pub timeout_ms: Option<ToolTimeout>,
    pub max_uses: Option<u32>,
    /// `None`: as the keel says.
    pub expose_errors: Option<bool>,
    pub delegation: Option<DelegationSpec>,
    /// The host runs it: a call of the model waits for the result (D-31).
    pub external: bool,
    /// A human decides on every call.
    pub approval_required: bool,
    /// Running it again after an unknown end does no harm.
    pub replay_safe: bool,
    pub injects: Vec<InjectSpec>,
}

/// An argument that no caller gives.
#[derive(Debug, Deserialize)]
pub struct InjectSpec {
    pub name: String,
    pub from: InjectFrom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InjectFrom {
    Host,
    ToolCallId,
}

/// Who may call a tool (D-21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exposure {
    /// Listed to the model and callable.
    Direct,
    /// Callable, but not listed.
    Deferred,
    /// Callable by nobody.
    Hidden,
}

/// Whether calls of a tool may overlap (D-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Concurrency {
    /// Not given: nested calls are exclusive, model-issued ones are not held back.
    Unset,
    Exclusive,
    Shared,
    /// A function of the input; the host answers for each call.
    Dynamic,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum ToolTimeout {
    Ms(f64),
    /// `"unbounded"`: also exempt from the limit that tools inherit (D-20).
    Unbounded(Unbounded),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unbounded {
    Unbounded,
}
