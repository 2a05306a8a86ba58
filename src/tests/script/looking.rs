//! The scene of the budget tests: an agent that only ever looks.

use serde_json::{Value, json};

use super::{Script, Step, agent, call, calls, reply, tool};

pub fn look() -> Step {
    calls([call("look", json!({}))])
}

pub fn looks(count: usize) -> Step {
    reply((0..count).map(|_| call("look", json!({}))).collect())
}

/// An agent with a budget that only looks, and never ends by itself.
pub fn endless(budget: Value) -> Script {
    let mut script = Script::new([agent("a").budget(budget).tool(tool("look"))]);
    script.always("a", look());
    script
}
