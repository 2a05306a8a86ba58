//! What a scripted host answers: replies of models, answers of tools, and when.

use serde_json::{Value, json};

/// One scripted answer.
#[derive(Clone)]
pub enum Step {
    /// The answer in the protocol's shape.
    Answer(Value),
    Hang,
    /// The same, that many milliseconds later; also when nobody waits for it any longer.
    After(f64, Box<Step>),
}

/// A reply with 10 input and 5 output tokens.
pub fn reply(content: Value) -> Step {
    let calls = content.as_array().expect("a list of parts");
    let asks = calls.iter().any(|part| part["type"] == "tool-call");
    let finish_reason = if asks { "tool-calls" } else { "stop" };
    Step::Answer(json!({"ok": {
        "content": content, "finishReason": finish_reason,
        "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
    }}))
}

pub fn text(text: &str) -> Step {
    reply(json!([{"type": "text", "text": text}]))
}

/// A reply that asks for these calls.
pub fn calls<const N: usize>(calls: [Value; N]) -> Step {
    reply(Value::Array(calls.to_vec()))
}

/// One call's part of a reply; without an id of the provider's.
pub fn call(tool: &str, arguments: Value) -> Value {
    call_as("", tool, &arguments.to_string())
}

/// A call with the provider's id and the arguments' text as the model wrote it.
pub fn call_as(id: &str, tool: &str, input: &str) -> Value {
    json!({"type": "tool-call", "toolCallId": id, "toolName": tool, "input": input})
}

/// A reply that delegates.
pub fn ask(agent: &str) -> Step {
    calls([brief(agent)])
}

/// A call to `run-<agent>`.
pub fn brief(agent: &str) -> Value {
    call(&format!("run-{agent}"), json!({"brief": "go"}))
}

pub fn model_error(retryable: bool) -> Step {
    Step::Answer(json!({"error": {"message": "overloaded", "retryable": retryable, "retryAfterMs": null}}))
}

pub fn result(value: Value) -> Step {
    Step::Answer(json!({"result": {"isError": false, "text": null, "value": value, "metadata": null}}))
}

pub fn error_result(text: &str) -> Step {
    Step::Answer(json!({"result": {"isError": true, "text": text, "value": null, "metadata": null}}))
}

pub fn thrown(message: &str) -> Step {
    Step::Answer(json!({"thrown": {"code": null, "message": message}}))
}

pub fn keel_error(code: &str, message: &str) -> Step {
    Step::Answer(json!({"thrown": {"code": code, "message": message}}))
}

pub fn ok(value: Value) -> Step {
    Step::Answer(json!({ "ok": value }))
}

pub fn after(ms: f64, step: Step) -> Step {
    Step::After(ms, Box::new(step))
}
