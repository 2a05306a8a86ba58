//! What a turn is granted (NT-8).

use serde::{Deserialize, Serialize};

/// The grant, as given: `None` is the default, or no ceiling.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exhausted: Option<OnExhausted>,
}

/// What happens when the last granted step has been used without an answer (NT-14, D-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OnExhausted {
    Fail,
    /// One more step without tools (with a contract: with the submit tool only).
    Answer,
}

impl Budget {
    pub const STEPS: u32 = 25;
    pub const TOOL_CALLS: u32 = 50;

    /// These options over `weaker`, field by field (D-18).
    pub fn over(&self, weaker: &Self) -> Self {
        Self {
            steps: self.steps.or(weaker.steps),
            time_ms: self.time_ms.or(weaker.time_ms),
            tool_calls: self.tool_calls.or(weaker.tool_calls),
            tokens: self.tokens.or(weaker.tokens),
            cost_usd: self.cost_usd.or(weaker.cost_usd),
            on_exhausted: self.on_exhausted.or(weaker.on_exhausted),
        }
    }

    /// The grant with its defaults filled in, as a turn carries it.
    pub fn granted(self) -> Self {
        Self {
            steps: Some(self.steps.unwrap_or(Self::STEPS)),
            tool_calls: Some(self.tool_calls.unwrap_or(Self::TOOL_CALLS)),
            ..self
        }
    }

    pub fn steps_max(&self) -> u32 {
        self.steps.unwrap_or(Self::STEPS)
    }

    pub fn tool_calls_max(&self) -> u32 {
        self.tool_calls.unwrap_or(Self::TOOL_CALLS)
    }
}

/// Whose time limit ended a turn: its own, or its caller's remaining time (NT-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Ceiling {
    Own,
    Caller,
}
