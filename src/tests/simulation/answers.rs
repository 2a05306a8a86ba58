//! Random answers to what the kernel asks: good ones, bad ones, and those that never come.

use serde_json::{Value, json};

use super::definitions::{Drawn, DrawnTool};
use super::host::Asked;
use super::ledger::Rows;
use super::random::Random;
use crate::tests::script::call_as;

/// `None`: it never settles.
pub fn draw(random: &mut Random, asked: &Asked, agent: &Drawn, rows: &Rows) -> Option<Value> {
    if random.chance(3) {
        return None;
    }
    let thrown = json!({"thrown": {"code": null, "message": "it broke"}});
    Some(match asked.kind.as_str() {
        "model" => model(random, asked, agent),
        "call" | "wrap" => call(random),
        "hooks" => hooks(random, &asked.stage),
        "authorize" => match random.below(12) {
            0 => json!({"deny": null}),
            1 => json!({"deny": "no"}),
            2 => thrown,
            _ => json!("allow"),
        },
        "approve" => match random.below(4) {
            0 => json!("allow"),
            1 => json!({"deny": "no"}),
            _ => json!("defer"),
        },
        "inject" if random.chance(80) => json!({"ok": {"key": 1}}),
        "inject" => json!({"ok": {}}),
        "ledger" if random.chance(10) => thrown,
        "ledger" if asked.entry["type"] == "unresolved" => json!({"ok": rows.unresolved(random, &asked.turn_id)}),
        "ledger" => json!({"ok": null}),
        "prepare" if random.chance(75) => json!({"ok": {"exclusive": random.pick(&[Some(true), Some(false), None])}}),
        "preparePart" if random.chance(75) => json!({"ok": {"value": null}}),
        "prepare" | "preparePart" => json!({"invalid": [{"path": "/n", "message": "must be even"}]}),
        "access" => json!({"ok": random.chance(80)}),
        _ if random.chance(95) => json!({"ok": "text"}),
        _ => thrown,
    })
}

fn call(random: &mut Random) -> Value {
    match random.below(12) {
        0 => json!({"thrown": {"code": null, "message": "it broke"}}),
        1 => json!({"thrown": {"code": "TOOL_ERROR", "message": "no"}}),
        2 => json!({"thrown": {"code": "APPROVAL_REQUIRED", "message": "a human has to look"}}),
        3 => json!({"result": {"isError": true, "text": "no", "value": null, "metadata": null}}),
        _ => json!({"result": {"isError": false, "text": null, "value": {"n": 1}, "metadata": null}}),
    }
}

fn hooks(random: &mut Random, stage: &str) -> Value {
    let refused = |code: Option<&str>| json!({"refused": {"code": code, "message": "no"}});
    let around_model = matches!(stage, "beforeModel" | "afterModel");
    match random.below(if around_model { 90 } else { 30 }) {
        0 => refused(None),
        1 => refused(Some("TOOL_FAILED")),
        2 => refused(Some("APPROVAL_REQUIRED")),
        3 => refused(Some("REPEATED_CALL")),
        4..8 if matches!(stage, "beforeTool" | "checkNestedTool") => json!("needsApproval"),
        4..8 if stage == "afterTool" => {
            json!({"ok": {"isError": false, "text": "changed", "value": null, "metadata": null}})
        }
        _ => json!({"ok": null}),
    }
}

fn model(random: &mut Random, asked: &Asked, agent: &Drawn) -> Value {
    if random.chance(4) {
        let retry_after = *random.pick(&[None, None, Some(40)]);
        return json!({"error": {"message": "overloaded", "retryable": random.chance(70), "retryAfterMs": retry_after}});
    }
    let mut content = Vec::new();
    if random.chance(30) {
        content.push(json!({"type": "text", "text": "some text"}));
    }
    let calls = if random.chance(30) { 0 } else { random.within(1, 4) };
    for _ in 0..calls {
        content.push(draw_call(random, agent));
    }
    if asked.owes && random.chance(35) {
        let input = *random.pick(&[r#"{"n":1}"#, r#"{"n":1}"#, r#"{"n":"x"}"#, "{}", "not json"]);
        let at = random.index(content.len() + 1);
        content.insert(at, call_as(provider_id(random), "submit_note", input));
    }
    let tokens = random.within(0, 20);
    json!({"ok": {"content": content, "finishReason": "stop",
        "usage": {"inputTokens": tokens, "outputTokens": 1, "totalTokens": tokens + 1}}})
}

fn draw_call(random: &mut Random, agent: &Drawn) -> Value {
    let id = provider_id(random);
    if agent.tools.is_empty() || random.chance(5) {
        return call_as(id, "unknown", "{}");
    }
    let delegates = random.chance(60);
    let wanted: Vec<&DrawnTool> = agent.tools.iter().filter(|tool| tool.delegates == delegates).collect();
    let tool = if wanted.is_empty() { random.pick(&agent.tools) } else { *random.pick(&wanted) };
    let good = if tool.delegates { r#"{"brief":"go"}"# } else { r#"{"n":1}"# };
    let input = match random.below(20) {
        0 => r#"{"n":"1"}"#,
        1 => r#"{"n":"#,
        2 => "[]",
        _ => good,
    };
    call_as(id, &tool.id, input)
}

/// Ids as providers give them: none, restarting, our own spelling, unusable.
fn provider_id(random: &mut Random) -> &'static str {
    let ids = ["", "", "call_0", "call_1", "c1_0", "c1_1", "c2_0", "a/b"];
    ids[random.index(ids.len())]
}
