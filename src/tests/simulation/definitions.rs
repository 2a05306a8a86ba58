//! Random definitions: a handful of agents that may call each other, with every option that changes how a turn ends.

use serde_json::{Value, json};

use super::keel;
use super::random::Random;
use crate::tests::script::{Agent, Tool, agent, as_tool, tool};

/// What the host has to know of an agent.
pub struct Drawn {
    pub tools: Vec<DrawnTool>,
    /// The ceiling that it puts over its subtree.
    pub tree: Value,
    /// It allows that many bodies at once in a tree of which it is the root.
    pub concurrency_max: Value,
    /// Its own middleware is not safe to run concurrently.
    pub serial: bool,
}

#[derive(Clone)]
pub struct DrawnTool {
    pub id: String,
    pub delegates: bool,
    /// A check that comes with a nested call counts.
    pub checked_ahead: bool,
    /// A nested call to it runs alone, unless its `concurrency` function says otherwise.
    pub exclusive: bool,
    pub injects: bool,
    pub replay_safe: bool,
}

/// Two to five agents; the first is the root.
pub fn draw(random: &mut Random) -> (Vec<Agent>, Vec<Drawn>) {
    let count = random.within(2, 5);
    (0..count).map(|index| draw_agent(random, index, count)).unzip()
}

fn draw_agent(random: &mut Random, index: u32, count: u32) -> (Agent, Drawn) {
    let limits = limits(random);
    let note = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let hooks = if random.chance(10) { keel::hooks(random) } else { json!({}) };
    let mut drawn = Drawn {
        tools: Vec::new(),
        tree: limits["tree"].clone(),
        concurrency_max: limits["maxToolConcurrency"].clone(),
        serial: hooks["serial"] == true,
    };
    let mut built = agent(&format!("agent{index}"))
        .budget(budget(random))
        .limits(limits)
        .emits("note", note)
        .set("prepares", json!(random.chance(8)))
        .set("hooks", hooks);
    for number in 0..random.within(0, 2) {
        let (tool, known) = draw_tool(random, &format!("tool{number}"));
        built = built.tool(tool);
        drawn.tools.push(known);
    }
    if random.chance(12) {
        let (tool, known) = draw_tool(random, "asks");
        let human = *random.pick(&["external", "approvalRequired", "approvalRequired"]);
        built = built.tool(tool.set(human, json!(true)));
        drawn.tools.push(known);
    }
    for child in 0..count {
        if random.chance(if child > index { 90 } else { 25 }) {
            let prepares = random.chance(15);
            built = built.tool(draw_connection(random, &format!("agent{child}"), prepares));
            drawn.tools.push(DrawnTool {
                id: format!("run-agent{child}"),
                delegates: true,
                checked_ahead: prepares,
                exclusive: false,
                injects: false,
                replay_safe: false,
            });
        }
    }
    (built, drawn)
}

fn draw_tool(random: &mut Random, id: &str) -> (Tool, DrawnTool) {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let timeout = if random.chance(20) { json!(random.within(5, 60)) } else { Value::Null };
    let max_uses = if random.chance(10) { json!(random.within(1, 3)) } else { Value::Null };
    let access = *random.pick(&["public", "public", "public", "predicate", "authenticated"]);
    let concurrency = *random.pick(&["unset", "unset", "shared", "shared", "exclusive", "dynamic"]);
    let injects = match random.below(20) {
        0 => json!([{"name": "key", "from": "host"}]),
        1 => json!([{"name": "key", "from": "toolCallId"}]),
        _ => json!([]),
    };
    let prepares = random.chance(30);
    let known = DrawnTool {
        id: id.to_owned(),
        delegates: false,
        checked_ahead: prepares && injects == json!([]),
        exclusive: concurrency != "shared",
        injects: injects != json!([]),
        replay_safe: random.chance(40),
    };
    let tool = tool(id)
        .schema(schema)
        .access(access)
        .set("concurrency", json!(concurrency))
        .set("prepares", json!(prepares))
        .set("timeoutMs", timeout)
        .set("maxUses", max_uses)
        .set("exposure", json!(random.pick(&["direct", "direct", "direct", "direct", "deferred", "hidden"])))
        .set("replaySafe", json!(known.replay_safe))
        .set("injects", injects);
    (tool, known)
}

fn draw_connection(random: &mut Random, agent_id: &str, prepares: bool) -> Tool {
    let mut connection = as_tool(agent_id)
        .connect("retries", json!(if random.chance(30) { random.within(1, 2) } else { 0 }))
        .connect("briefs", json!(random.chance(15)))
        .set("prepares", json!(prepares))
        .connect(
            "forward",
            json!({"progress": random.chance(20), "parts": if random.chance(20) { vec!["note"] } else { vec![] }}),
        )
        .child_budget(if random.chance(40) { budget(random) } else { json!({}) });
    if random.chance(40) {
        connection = connection.deliverable("note", random.within(0, 2));
    }
    if random.chance(25) {
        connection = connection.fails_caller();
    }
    connection
}

pub fn budget(random: &mut Random) -> Value {
    let mut budget = json!({"steps": random.within(1, 6)});
    if random.chance(30) {
        budget["timeMs"] = json!(random.within(20, 600));
    }
    if random.chance(30) {
        budget["toolCalls"] = json!(random.within(1, 5));
    }
    if random.chance(10) {
        budget["tokens"] = json!(random.within(1, 90));
    }
    if random.chance(30) {
        budget["onExhausted"] = json!("answer");
    }
    budget
}

pub fn limits(random: &mut Random) -> Value {
    let mut limits = json!({"maxDepth": random.within(2, 5), "maxModelRetries": random.within(0, 2)});
    if random.chance(20) {
        limits["tree"] = json!({"steps": random.within(1, 30), "toolCalls": random.within(1, 25)});
    }
    if random.chance(10) {
        limits["tree"]["tokens"] = json!(random.within(1, 300));
    }
    if random.chance(20) {
        limits["toolExecution"] = json!("sequential");
    }
    if random.chance(30) {
        limits["behavior"] = json!("stopWithPartial");
    }
    if random.chance(20) {
        limits["toolTimeout"] = json!({"inheritedMs": random.within(5, 60)});
    }
    if random.chance(20) {
        limits["modelCallTimeoutMs"] = json!(random.within(10, 100));
    }
    if random.chance(20) {
        limits["streamIdleTimeoutMs"] = json!(random.within(10, 100));
    }
    if random.chance(15) {
        limits["maxNestedDepth"] = json!(random.within(0, 3));
    }
    if random.chance(15) {
        limits["maxToolConcurrency"] = json!(random.within(1, 3));
    }
    if random.chance(20) {
        limits["hookTimeoutMs"] = json!(random.within(10, 80));
    }
    let policies = ["fail", "returnToolError", "normalizeThenReturnToolError"];
    if random.chance(20) {
        limits["invalidArgs"] = json!(random.pick(&policies));
    }
    limits
}
