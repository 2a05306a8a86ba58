//! Definitions as they cross the boundary: parsed once into types that cannot be wrong, shared by every turn that runs
//! them (NT-4). The gates that need the user's stack are in `js/`; here is only what a running turn looks up.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;

use crate::kernel::program::{AccessRule, Budget, Exposure, HookFlags, Limits, ToolSpec};
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
