//! The scene of the contract tests: a child that owes its caller a note.

use serde_json::{Value, json};

use super::{Script, agent, as_tool, ask, call, text, tool};

pub fn note_schema() -> Value {
    json!({"type": "object", "required": ["agent", "id"], "additionalProperties": false,
        "properties": {"agent": {"type": "string"}, "id": {"type": "integer"}}})
}

pub fn note() -> Value {
    json!({"agent": "x", "id": 1})
}

pub fn submit(value: Value) -> Value {
    call("submit_note", value)
}

/// A child that owes a note, with that many nudges and steps.
pub fn owing(nudges: u32, steps: u32) -> Script {
    let mut script = Script::with_options(
        [
            agent("a").tool(as_tool("b").deliverable("note", nudges)),
            agent("b").budget(json!({ "steps": steps })).tool(tool("look")).emits("note", note_schema()),
        ],
        json!({"captureToolIo": true}),
    );
    script.on("a", [ask("b"), text("done")]);
    script
}
