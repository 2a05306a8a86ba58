//! Model usage, added up per turn and per subtree (D-32).

use serde::{Deserialize, Serialize};

/// Token counts are whole numbers in floating point, as JavaScript has them; a provider that reports none gives 0.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input_tokens: f64,
    pub output_tokens: f64,
    pub total_tokens: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<f64>,
    /// Nudge rounds, granted on top of the steps (NT-18).
    pub nudges: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    pub fn add(&mut self, more: &Self) {
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
        self.total_tokens += more.total_tokens;
        add_optional(&mut self.cache_read_tokens, more.cache_read_tokens);
        add_optional(&mut self.reasoning_tokens, more.reasoning_tokens);
        self.nudges += more.nudges;
        add_optional(&mut self.cost_usd, more.cost_usd);
    }
}

fn add_optional(sum: &mut Option<f64>, more: Option<f64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0.0) + more);
    }
}
