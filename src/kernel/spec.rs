//! Definitions as they cross the boundary: parsed once into types that cannot be wrong, shared by every turn that runs
//! them (NT-4). The gates that need the user's stack are in `js/`; here is only what a running turn looks up.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;

use crate::kernel::access::AccessRule;
use crate::kernel::budget::Budget;
use crate::kernel::hooks::HookFlags;
use crate::kernel::limits::Limits;
use crate::kernel::schema::Schema;

/// Every agent that can be reached from one root agent; the root is the first. Agents, tools and parts are referred
/// to by position, on both sides of the boundary.
#[derive(Debug)]
pub struct Program {
    pub agents: Vec<AgentSpec>,
    pub schemas: Vec<Schema>,
}

impl Program {
    /// # Errors
    /// Only when the host breaks the protocol: the text is not a list of agents.
    pub fn parse(text: &str, schemas: Vec<Schema>) -> Result<Self, serde_json::Error> {
        let mut agents: Vec<AgentSpec> = serde_json::from_str(text)?;
        if agents.is_empty() {
            return Err(serde::de::Error::custom("expected at least one agent"));
        }
        for agent in &mut agents {
            agent.listed = agent.tools.iter().filter(|tool| tool.exposure == Exposure::Direct).count();
            agent.tool_by_id = agent.tools.iter().enumerate().map(|(index, tool)| (tool.id.clone(), index)).collect();
        }
        Ok(Self { agents, schemas })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSpec {
    pub id: Rc<str>,
    /// The instructions when they are a plain text; `None` with `prepares` set when the host has to produce them.
    pub instructions: Option<String>,
    /// The host is asked for the instructions at the start of each turn: a function, or sources to load.
    pub prepares: bool,
    pub tools: Vec<ToolSpec>,
    #[serde(skip)]
    tool_by_id: BTreeMap<Rc<str>, usize>,
    /// How many tools a model may be offered.
    #[serde(skip)]
    pub listed: usize,
    pub emits: Vec<PartSpec>,
    pub reads: Vec<SourceSpec>,
    pub grants: Vec<String>,
    pub budget: Budget,
    pub limits: Limits,
    /// What its own middleware has hooks for.
    pub hooks: HookFlags,
}

impl AgentSpec {
    pub fn tool_index(&self, id: &str) -> Option<usize> {
        self.tool_by_id.get(id).copied()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceSpec {
    pub id: String,
    pub access: AccessRule,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartSpec {
    pub name: Rc<str>,
    /// Position in [`Program::schemas`].
    pub schema: usize,
    /// The host runs a Standard Schema after the Rust check.
    pub standard: bool,
    /// The model submits `{ value }`, because the part's schema is not an object's (D-15).
    pub wrapped: bool,
    pub persist: Persist,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Persist {
    Content,
    Ephemeral,
}

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
