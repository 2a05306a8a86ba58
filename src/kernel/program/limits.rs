//! The limits that bind a turn besides its budget, and who may set them (D-18): for each field the connection or run
//! wins over the agent, the agent over the keel. What binds the whole tree may only be lowered on the way down.

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    pub tool_execution: Option<ToolExecution>,
    pub hook_timeout_ms: Option<f64>,
    pub model_call_timeout_ms: Option<f64>,
    pub stream_idle_timeout_ms: Option<f64>,
    pub tool_result_bytes: Option<usize>,
    pub max_depth: Option<u32>,
    pub max_nested_depth: Option<u32>,
    pub max_tool_concurrency: Option<u32>,
    pub max_model_retries: Option<u32>,
    pub behavior: Option<LimitBehavior>,
    pub invalid_args: Option<InvalidArgs>,
    pub tool_timeout: Option<ToolTimeoutLimits>,
    pub tree: Option<TreeCeilings>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolExecution {
    Parallel,
    Sequential,
}

/// What a spent tool-call cap does to the turn (D-4, D-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LimitBehavior {
    Error,
    StopWithPartial,
}

/// What arguments that do not fit their schema do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InvalidArgs {
    Fail,
    ReturnToolError,
    NormalizeThenReturnToolError,
}

/// How per-tool timeouts are clamped and inherited (D-20), in milliseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolTimeoutLimits {
    pub inherited_ms: Option<f64>,
    pub min_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub grace_ms: Option<f64>,
}

/// Ceilings for a whole tree of turns (NT-25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TreeCeilings {
    pub steps: Option<u32>,
    pub tool_calls: Option<u32>,
    pub tokens: Option<f64>,
    pub cost_usd: Option<f64>,
}

impl Limits {
    pub const MAX_DEPTH: u32 = 8;
    pub const MAX_MODEL_RETRIES: u32 = 3;
    pub const HOOK_TIMEOUT_MS: f64 = 30_000.0;
    pub const STREAM_IDLE_TIMEOUT_MS: f64 = 120_000.0;

    /// This set of options over `weaker`, field by field.
    pub fn over(&self, weaker: &Self) -> Self {
        Self {
            tool_execution: self.tool_execution.or(weaker.tool_execution),
            hook_timeout_ms: self.hook_timeout_ms.or(weaker.hook_timeout_ms),
            model_call_timeout_ms: self.model_call_timeout_ms.or(weaker.model_call_timeout_ms),
            stream_idle_timeout_ms: self.stream_idle_timeout_ms.or(weaker.stream_idle_timeout_ms),
            tool_result_bytes: self.tool_result_bytes.or(weaker.tool_result_bytes),
            max_depth: self.max_depth.or(weaker.max_depth),
            max_nested_depth: self.max_nested_depth.or(weaker.max_nested_depth),
            max_tool_concurrency: self.max_tool_concurrency.or(weaker.max_tool_concurrency),
            max_model_retries: self.max_model_retries.or(weaker.max_model_retries),
            behavior: self.behavior.or(weaker.behavior),
            invalid_args: self.invalid_args.or(weaker.invalid_args),
            tool_timeout: self.tool_timeout.or(weaker.tool_timeout),
            tree: self.tree.or(weaker.tree),
        }
    }

    /// What a root turn gets. What binds the whole tree is the run's or the keel's; its agent may only lower it.
    pub fn root(run: &Self, agent: &Self, keel: &Self) -> Self {
        let bound = run.over(keel);
        Self {
            max_depth: lower(Some(bound.max_depth()), agent.max_depth),
            max_nested_depth: lower(bound.max_nested_depth, agent.max_nested_depth),
            max_tool_concurrency: lower(bound.max_tool_concurrency, agent.max_tool_concurrency),
            tree: bound.tree,
            ..run.over(agent).over(keel)
        }
    }

    /// What a child turn gets: `own` (its connection's options over its agent's) over the `keel`'s, and for what binds
    /// the whole tree never more than this turn's.
    pub fn child(&self, own: &Self, keel: &Self) -> Self {
        let wanted = own.over(keel);
        Self {
            max_depth: lower(Some(self.max_depth()), own.max_depth),
            max_nested_depth: lower(Some(self.max_nested_depth()), own.max_nested_depth),
            tree: own.tree,
            ..wanted
        }
    }

    pub fn max_depth(&self) -> u32 {
        self.max_depth.unwrap_or(Self::MAX_DEPTH)
    }

    pub fn max_nested_depth(&self) -> u32 {
        self.max_nested_depth.unwrap_or(0)
    }

    pub fn hook_timeout_ms(&self) -> f64 {
        self.hook_timeout_ms.unwrap_or(Self::HOOK_TIMEOUT_MS)
    }

    pub fn max_model_retries(&self) -> u32 {
        self.max_model_retries.unwrap_or(Self::MAX_MODEL_RETRIES)
    }

    pub fn stream_idle_timeout_ms(&self) -> f64 {
        self.stream_idle_timeout_ms.unwrap_or(Self::STREAM_IDLE_TIMEOUT_MS)
    }
}

fn lower<T: PartialOrd>(bound: Option<T>, wanted: Option<T>) -> Option<T> {
    match (bound, wanted) {
        (Some(bound), Some(wanted)) => Some(if wanted < bound { wanted } else { bound }),
        (bound, wanted) => bound.or(wanted),
    }
}
