//! Checks of arguments that the host makes together with the call (D-26): they spare a question, and decide nothing sooner.

use serde_json::{Value, json};

use crate::tests::script::{Script, Step, agent, call, calls, ok, text, tool};

/// A turn whose tool has a schema of the host's, and whose model's calls come with these checks.
fn checked<const N: usize>(arguments: [Value; N], checks: [Value; N]) -> Script {
    with_limits(arguments, checks, json!({}))
}

fn with_limits<const N: usize>(arguments: [Value; N], checks: [Value; N], limits: Value) -> Script {
    let number = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let look = tool("look").schema(number).set("prepares", json!(true));
    let mut script = Script::new([agent("a").limits(limits).tool(look)]);
    let Step::Answer(mut reply) = calls(arguments.map(|arguments| call("look", arguments))) else { unreachable!() };
    reply["ok"]["ahead"] = json!(checks.to_vec());
    script.on("a", [Step::Answer(reply), text("done")]);
    script.run();
    script
}

fn released(script: &Script) -> Vec<Value> {
    script.commands("release").iter().map(|release| release["kept"].clone()).collect()
}

#[test]
fn d_26_a_check_that_comes_with_the_call_is_not_asked_for() {
    let script = checked([json!({"n": 1})], [json!({"ok": [7]})]);
    assert_eq!((script.commands("prepare").len(), &script.commands("call")[0]["kept"]), (0, &json!(7)));
    assert_eq!((script.bodies("look"), released(&script)), (vec![Value::Null], vec![]));
}

#[test]
fn d_26_what_it_refuses_reaches_no_body() {
    let invalid = json!({"invalid": [{"path": "/n", "message": "must be even"}]});
    let thrown = json!({"thrown": {"code": null, "message": "it broke"}});
    let script = checked([json!({"n": 1}), json!({"n": 1})], [invalid, thrown]);
    assert_eq!((script.commands("prepare").len(), script.bodies("look").len()), (0, 0));
    let outputs = script.outputs("t");
    assert!(outputs[0]["value"].as_str().unwrap().contains("must be even"));
    assert!(outputs[1]["value"].as_str().unwrap().contains("it broke"));
}

#[test]
fn d_26_the_rust_check_comes_first() {
    let script = checked([json!({"n": "x"})], [json!({"ok": [7]})]);
    assert_eq!((script.bodies("look").len(), released(&script)), (0, vec![json!(7)]));
    assert!(script.outputs("t")[0]["value"].as_str().unwrap().contains("/n"));
}

#[test]
fn d_26_it_does_not_count_for_arguments_that_were_repaired() {
    let repairs = json!({"invalidArgs": "normalizeThenReturnToolError"});
    let script = with_limits([json!({"n": "1"})], [json!({"invalid": [{"path": "/n", "message": "a text"}]})], repairs);
    assert_eq!(script.commands("prepare")[0]["args"], json!({"n": 1}));
    assert_eq!(script.bodies("look").len(), 1);
}

#[test]
fn a_check_that_takes_its_time_is_asked_for_when_the_call_has_come_that_far() {
    let script = checked([json!({"n": 1})], [json!({"begun": [7]})]);
    assert_eq!(script.commands("prepare")[0]["begun"], 7);
    assert_eq!((script.bodies("look").len(), released(&script)), (1, vec![]));
}

#[test]
fn each_call_has_its_own_check_or_none() {
    let script = checked([json!({"n": 1}), json!({"n": 2})], [Value::Null, json!({"ok": [7, true]})]);
    assert_eq!(script.commands("prepare").len(), 1);
    assert_eq!(script.commands("prepare")[0]["args"], json!({"n": 1}));
    assert_eq!(script.commands("call")[1]["kept"], 7);
}

#[test]
fn nothing_is_kept_for_a_nested_call_that_is_refused_or_was_abandoned() {
    let mut script = Script::new([agent("a").limits(json!({"maxNestedDepth": 1})).tool(tool("x"))]);
    script.on("a", [calls([call("x", json!({}))])]).on("x", [Step::Hang]).start();
    let body = script.effect("call");
    script.letter(body, "callTool", json!([1, "unknown", {}, {"ok": [1]}]));
    script.letter(body, "callTool", json!([2, "x", {}, {"ok": [2]}, null, false, false, true]));
    script.letter(body, "callTool", json!([3, "x", null, {"begun": [3]}, "a cycle"]));
    assert_eq!(released(&script), [1, 2, 3]);
}

#[test]
fn a_failing_hook_between_reply_and_calls_leaves_nothing_kept() {
    let mut script = Script::new([agent("a").set("hooks", json!({"afterModel": true})).tool(tool("look"))]);
    let Step::Answer(mut reply) = calls([call("look", json!({}))]) else { unreachable!() };
    reply["ok"]["ahead"] = json!([{"ok": [7]}]);
    script.on("a", [Step::Answer(reply)]);
    script.on("hooks", [Step::Answer(json!({"refused": {"code": null, "message": "no"}}))]).run();
    assert_eq!((script.status("t").as_str(), released(&script)), ("failed", vec![json!(7)]));
}

#[test]
fn an_answered_check_is_released_when_its_call_is_refused_later() {
    let gate = json!({"hosted": {"allow": null, "failClosed": true, "authorizes": true}});
    let look = tool("look").set("prepares", json!(true));
    let mut script = Script::with_options([agent("a").tool(look)], gate);
    script.on("a", [calls([call("look", json!({}))]), text("done")]).on("prepare", [ok(json!({"kept": 9}))]);
    script.on("authorize", [Step::Answer(json!({"deny": "no"}))]).run();
    assert_eq!((script.bodies("look").len(), released(&script)), (0, vec![json!(9)]));
}
