//! The calls of one step: arguments, ids, order, failures.

use serde_json::{Value, json};

use crate::tests::script::{
    Script, Step, after, agent, call, call_as, calls, error_result, keel_error, ok, reply, result, text, thrown, tool,
};

fn with_look() -> Script {
    Script::new([agent("a").tool(tool("look"))])
}

/// The moments at which bodies began and ended, in order.
fn overlap(fields: &[(&str, Value)], limits: Value) -> Vec<String> {
    let mut agent = agent("a").limits(limits);
    for (id, concurrency) in fields {
        agent = agent
            .tool(tool(id).set("concurrency", concurrency.clone()).set("prepares", json!(concurrency == "dynamic")));
    }
    let mut script = Script::new([agent]);
    script.on("a", [reply(fields.iter().map(|(id, _)| call(id, json!({}))).collect()), text("done")]);
    for (id, _) in fields {
        script.always(id, after(5.0, result(json!(1))));
    }
    script.on("prepare", [ok(json!([1, true])), ok(json!([2, false]))]);
    script.run();
    let events = script.events("t");
    let tools = events.iter().filter(|event| event["toolId"].is_string());
    tools
        .map(|event| {
            format!("{}{}", if event["type"] == "tool.started" { "+" } else { "-" }, event["toolId"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn nt_29_bl_053_one_failing_call_hurts_no_sibling() {
    let mut script = with_look();
    let three = (1..=3).map(|n| call("look", json!({ "n": n })));
    script.on("a", [reply(three.collect()), text("done")]);
    script.on(
        "look",
        [after(5.0, result(json!("first"))), after(10.0, thrown("boom")), after(50.0, result(json!("third")))],
    );
    script.run();
    let values: Vec<_> = script.outputs("t").iter().map(|output| output["value"].clone()).collect();
    assert_eq!(values, ["first", "tool dispatch failed", "third"]);
    assert_eq!(script.model_calls("t").len(), 2);
}

#[test]
fn nt_29_bl_055_results_keep_the_requests_order_and_events_come_as_calls_end() {
    let mut script = with_look();
    script.on("a", [calls([call_as("x", "look", "{}"), call_as("y", "look", "{}")]), text("done")]);
    script.on("look", [after(50.0, result(json!(1))), after(5.0, result(json!(2)))]).start().advance(10.0);
    let ended = script.events_of("t", "tool.completed");
    assert_eq!(ended.len(), 1, "the fast call's end is told while its sibling runs");
    assert_eq!(ended[0]["callId"], "y");
    script.finish();
    let ids: Vec<_> = script.transcript("t")[2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["toolCallId"].clone())
        .collect();
    assert_eq!(ids, ["x", "y"]);
}

#[test]
fn bl_055_a_call_that_ended_stays_ended_when_its_sibling_is_dropped() {
    let mut script = with_look();
    script.on("a", [calls([call_as("x", "look", "{}"), call_as("y", "look", "{}")])]);
    script.on("look", [after(5.0, result(json!(1))), Step::Hang]).start().advance(50.0).stop("t", false);
    assert_eq!(script.events_of("t", "tool.completed")[0]["callId"], "x");
    assert_eq!(script.events_of("t", "tool.failed")[0]["callId"], "y");
}

#[test]
fn bl_054_an_error_result_cancels_nothing() {
    let mut script = with_look();
    script.on("a", [reply((0..27).map(|_| call("look", json!({}))).collect()), text("done")]);
    script.on("look", [error_result("no")]).always("look", after(5.0, result(json!(1)))).run();
    assert_eq!(script.outputs("t").iter().filter(|output| output["type"] == "json").count(), 26);
    assert!(script.commands("cancel").is_empty());
}

#[test]
fn bl_061_one_tool_may_be_called_twice_in_a_step() {
    let mut script = with_look();
    script.on("a", [calls([call("look", json!({"q": "X"})), call("look", json!({"q": "Y"}))]), text("done")]).run();
    assert_eq!(script.bodies("look"), [json!({"q": "X"}), json!({"q": "Y"})]);
    let started = script.events_of("t", "tool.started");
    assert_ne!(started[0]["callId"], started[1]["callId"]);
}

#[test]
fn d_11_an_exception_answers_its_call_and_stays_private() {
    let thrown_text = |options: Value, tool_option: Value| {
        let agents = [agent("a").tool(tool("look").set("exposeErrors", tool_option))];
        let mut script = Script::with_options(agents, options);
        script.on("a", [calls([call("look", json!({}))]), text("done")]).on("look", [thrown("password is 1234")]);
        script.run();
        assert_eq!(script.status("t"), "completed");
        let failed = script.events_of("t", "tool.failed");
        assert_eq!(failed[0]["error"], json!({"code": "TOOL_ERROR", "message": "tool dispatch failed"}));
        script.output("t")
    };
    assert_eq!(thrown_text(json!({}), json!(null)), "tool dispatch failed");
    assert_eq!(thrown_text(json!({"exposeErrors": true}), json!(null)), "password is 1234");
    assert_eq!(thrown_text(json!({"exposeErrors": true}), json!(false)), "tool dispatch failed");
    assert_eq!(thrown_text(json!({}), json!(true)), "password is 1234");
}

#[test]
fn d_11_an_error_of_ours_is_answered_verbatim_and_ends_no_turn() {
    let mut script = with_look();
    script.on("a", [calls([call("look", json!({}))]), text("done")]);
    script.on("look", [keel_error("BUDGET_STEPS", "not enough")]).run();
    assert_eq!(script.output("t"), "not enough");
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn d_10_calls_run_together_unless_they_are_exclusive() {
    let run = |concurrency: &str| overlap(&[("x", json!(concurrency)), ("y", json!(concurrency))], json!({}));
    assert_eq!(run("unset"), ["+x", "+y", "-x", "-y"]);
    assert_eq!(run("shared"), ["+x", "+y", "-x", "-y"]);
    assert_eq!(run("exclusive"), ["+x", "-x", "+y", "-y"]);
    assert_eq!(run("dynamic"), ["+x", "+y", "-x", "-y"], "one of the two alone is exclusive");
    let mixed = [("x", json!("exclusive")), ("s", json!("shared")), ("y", json!("exclusive"))];
    assert_eq!(overlap(&mixed, json!({})), ["+x", "+s", "-x", "+y", "-s", "-y"]);
}

#[test]
fn d_10_tool_execution_sequential_serialises_a_step() {
    let tools = [("x", json!("shared")), ("y", json!("unset"))];
    assert_eq!(overlap(&tools, json!({"toolExecution": "sequential"})), ["+x", "-x", "+y", "-y"]);
    assert_eq!(overlap(&tools, json!({"toolExecution": "parallel"})), ["+x", "+y", "-x", "-y"]);
}

#[test]
fn what_the_host_prepared_is_released_when_the_call_never_begins() {
    let mut script = Script::new([agent("a")
        .limits(json!({"toolExecution": "sequential"}))
        .tool(tool("look").set("prepares", json!(true)))]);
    script.on("a", [calls([call("look", json!({})), call("look", json!({}))])]).on("look", [Step::Hang]);
    script.start().stop("t", false);
    let released: Vec<_> = script.commands("release").iter().map(|release| release["kept"].clone()).collect();
    assert_eq!(released, [2], "what the first call's body took is its own");
}

#[test]
fn d_39_a_large_result_is_cut_for_the_model_with_a_mark() {
    let mut script = Script::new([agent("a").limits(json!({"toolResultBytes": 10})).tool(tool("look"))]);
    script.on("a", [calls([call("look", json!({})), call("look", json!({}))]), text("done")]);
    script.on("look", [result(json!("0123456789")), result(json!("012345678é"))]).run();
    let outputs = script.outputs("t");
    assert_eq!(outputs[0]["value"], "0123456789");
    assert_eq!(outputs[1]["value"], "012345678\n[truncated: the first 9 of 11 bytes]");
    assert_eq!(script.events_of("t", "tool.completed")[1]["outputBytes"], 11);
}

#[test]
fn d_23_the_idempotency_key_tells_two_equal_calls_apart() {
    let mut script = with_look();
    script.on("a", [calls([call("look", json!({"pay": 5})), call("look", json!({"pay": 5}))])]);
    script.always("look", Step::Hang).start();
    let key = |index: usize| {
        let call = script.commands("call")[index]["id"].clone();
        script.query("idempotencyKey", json!({ "id": call }))
    };
    assert_ne!(key(0), key(1));
    assert_eq!(key(0), key(0));
    assert_eq!(key(0).as_str().unwrap().len(), 64);
}
