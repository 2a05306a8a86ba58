//! What comes in by itself.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::kernel::program::{Budget, ContractSpec, HookFlags, Limits};
use crate::kernel::protocol::{Decision, DeltaKind, PrepareAnswer, Progress, ToolName};
use crate::kernel::value::{Json, Text, Ticket, TurnId};

/// The start of a root turn. What is not told is empty.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Start {
    pub turn_id: TurnId,
    /// Wall clock minus monotonic clock, in milliseconds.
    pub wall_offset_ms: f64,
    /// Earlier messages and the input, in the AI SDK's shape.
    pub messages: Vec<Json>,
    /// What the record shows as the input.
    pub input: Json,
    pub budget: Budget,
    pub limits: Limits,
    pub contract: Option<ContractSpec>,
    pub authenticated: bool,
    pub scopes: Vec<String>,
    /// Somebody reads the tree's events as they happen; text comes as deltas.
    pub stream: bool,
    /// What the run's own middleware has hooks for.
    pub hooks: HookFlags,
    /// A signal was aborted before the start.
    pub stopped: Option<StoppedBefore>,
}

/// A stop that came before the start, or before the turn went on; its reason may be `null`.
#[derive(Deserialize)]
pub struct StoppedBefore {
    pub reason: Json,
}

/// What happens to a tree between start and end, besides answers and letters. The tag stands first, so that bodies are read in
/// place.
#[derive(Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input {
    /// A moment has come.
    Tick,
    /// A turn of the tree is stopped: with all of the tree, or with what is below it.
    Stop { turn_id: TurnId, subtree: bool, reason: Json },
    /// What humans decided, by the id of what is pending.
    Resume { stream: bool, decisions: BTreeMap<String, Decision>, stopped: Option<StoppedBefore> },
}

/// What a command sends while it runs on the host, before its answer.
#[derive(Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Letter {
    /// A model call streams text.
    Delta { kind: DeltaKind, text: Text },
    /// The `ctx.emit` of a body: the value is validated.
    Emit { part: usize, value: Json },
    /// The `ctx.progress` of a body.
    Progress { progress: Progress },
    /// The `ctx.callTool` of a body.
    CallTool(ToolRequest),
    /// A `callTool` of the body is no longer waited for.
    Abandon { ticket: Ticket },
    /// A `next()` of wrap layers; with arguments where the layer rewrote them.
    Next { ticket: Ticket, args: Option<Json> },
}

/// A `ctx.callTool`. It may come as an array of the fields in this order.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest {
    pub ticket: Ticket,
    pub tool: ToolName,
    pub args: Option<Json>,
    /// The host's check of the arguments, made ahead.
    #[serde(default)]
    pub ahead: Option<PrepareAnswer>,
    /// Why there are no arguments.
    #[serde(default)]
    pub broken: Option<Text>,
    /// The arguments nest deeper than the host can write.
    #[serde(default)]
    pub too_deep: bool,
    /// A tool object was given that is not among the agent's tools, whatever its name.
    #[serde(default)]
    pub unlisted: bool,
    /// Its own signal had fired before it was made: nothing of it is to happen.
    #[serde(default)]
    pub abandoned: bool,
}
