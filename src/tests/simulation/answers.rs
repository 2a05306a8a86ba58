//! Random answers to what the kernel asks: good ones, bad ones, and those that never come.

use serde_json::{Value, json};

use super::definitions::{Drawn, DrawnTool};
use super::host::Asked;
use super::random::Random;
use crate::tests::script::call_as;

/// `None`: it never settles.
pub fn draw(random: &mut Random, asked: &Asked, agent: &Drawn) -> Option<Value> {
    if random.chance(3) {
        return None;
    }
    let thrown = json!({"thrown": {"code": null, "message": "it broke"}});
    Some(match asked.kind.as_str() {
        "model" => model(random, asked, agent),
        "call" => call(random),
        "prepare" if random.chance(75) => json!({"ok": {"exclusive": random.pick(&[Some(true), Some(false), None])}}),
        "preparePart" if random.chance(75) => json!({"ok": {"value": null}}),
        "prepare" | "preparePart" => json!({"invalid": [{"path": "/n", "message": "must be even"}]}),
        "access" => json!({"ok": random.chance(80)}),
        _ if random.chance(95) => json!({"ok": "text"}),
        _ => thrown,
    })
}

fn call(random: &mut Random) -> Value {
    match random.below(10) {
        0 => json!({"thrown": {"code": null, "message": "it broke"}}),
        1 => json!({"thrown": {"code": "TOOL_ERROR", "message": "no"}}),
        2 => json!({"result": {"isError": true, "text": "no", "value": null, "metadata": null}}),
        _ => json!({"result": {"isError": false, "text": null, "value": {"n": 1}, "metadata": null}}),
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
