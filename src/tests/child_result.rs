//! What a child returns to its caller: results, failures, and what stays private.

use serde_json::json;

use crate::tests::script::{
    Script, Step, after, agent, as_tool, ask, brief, call, calls, error_result, model_error, reply, result, text, tool,
};

#[test]
fn nt_12_without_a_contract_the_caller_gets_text_and_parts() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b")),
        agent("b").tool(tool("look")).emits("finding", json!({"type": "object"})),
    ]);
    script.on("a", [ask("b"), text("done")]);
    script.on("b", [calls([call("look", json!({}))]), text("found")]);
    script.on("look", [after(5.0, result(json!(1)))]);
    script.start();
    let key = script.call_key("look");
    for value in [1, 2] {
        script.letter(key, "emit", json!({"part": 0, "value": {"n": value}}));
    }
    script.finish();
    let parts = json!([{"part": "finding", "value": {"n": 1}}, {"part": "finding", "value": {"n": 2}}]);
    assert_eq!(script.output("t"), json!({"ok": true, "text": "found", "parts": parts}));
    assert_eq!(script.record("t.1")["parts"], parts);
    assert_eq!(script.result()["parts"], json!([]));
}

#[test]
fn nt_12_bl_039_an_empty_success_is_never_silent() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), text("done")]).on("b", [reply(json!([]))]);
    script.run();
    assert_eq!(script.output("t"), json!({"ok": true, "text": "", "parts": [], "empty": true}));
    assert_eq!(script.record("t.1")["empty"], true);
    assert!(script.record("t").get("empty").is_none());
}

#[test]
fn nt_12_bl_052_the_text_is_that_of_the_last_step_that_had_any() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
    let said = json!([{"type": "text", "text": "substance"}, call("look", json!({}))]);
    script.on("a", [ask("b"), text("done")]).on("b", [reply(said), reply(json!([]))]);
    script.run();
    assert_eq!(script.output("t")["text"], "substance");
    assert!(script.output("t").get("empty").is_none());
}

#[test]
fn nt_12_bl_008_a_failure_names_its_cause_and_turn() {
    let mut script =
        Script::new([agent("a").tool(as_tool("b")), agent("b").budget(json!({"steps": 1})).tool(tool("look"))]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("look", json!({}))])]);
    script.run();
    let output = script.output("t");
    assert_eq!(output["ok"], false);
    assert_eq!((&output["cause"]["code"], &output["cause"]["limit"]), (&json!("BUDGET_STEPS"), &json!(1.0)));
    assert_eq!((&output["turnId"], &output["cause"]["turnId"]), (&json!("t.1"), &json!("t.1")));
    assert_eq!(script.outputs("t")[0]["type"], "error-json");
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn nt_13_bl_040_any_value_is_answered_as_valid_json() {
    for value in [json!(null), json!(""), json!(0), json!(false), json!([]), json!({})] {
        let mut script = Script::new([agent("a").tool(tool("look"))]);
        script.on("a", [calls([call("look", json!({}))]), text("done")]);
        script.on("look", [result(value.clone())]);
        script.run();
        assert_eq!(script.output("t"), value);
        let transcript = script.transcript("t");
        assert_eq!(transcript[1]["content"][0]["toolCallId"], transcript[2]["content"][0]["toolCallId"]);
    }
}

#[test]
fn nt_28_a_failed_child_is_feedback_by_default() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), text("coped")]).on("b", [model_error(false)]);
    script.run();
    assert_eq!(script.output("t")["cause"]["code"], "MODEL_ERROR");
    assert_eq!(script.result()["text"], "coped");
}

#[test]
fn nt_28_on_error_fail_fails_the_caller_and_aborts_its_other_calls() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").fails_caller()).tool(tool("slow")).tool(as_tool("c")),
        agent("b"),
        agent("c"),
    ]);
    script.on("a", [calls([call("slow", json!({})), brief("b"), brief("c")])]);
    script.on("b", [model_error(false)]);
    script.on("c", [Step::Hang]).on("slow", [Step::Hang]);
    script.run();
    let cause = script.cause("t");
    assert_eq!((&cause["code"], &cause["cause"]["code"]), (&json!("CHILD_FAILED"), &json!("MODEL_ERROR")));
    assert_eq!(cause["cause"]["turnId"], "t.1");
    assert_eq!(script.code("t.2"), "PARENT_ENDED");
    assert_eq!(script.commands("cancel").len(), 2);
    assert_eq!(script.waiting(), 0);
}

#[test]
fn nt_34_bl_113_a_child_is_private_by_default() {
    let mut script =
        Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look")).emits("note", json!({}))]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("look", json!({}))]), text("secret")]);
    script.on("look", [after(5.0, result(json!(1)))]);
    script.start();
    let key = script.call_key("look");
    script.letter(key, "emit", json!({"part": 0, "value": 1}));
    script.letter(key, "progress", json!({"progress": {"message": "half"}}));
    script.finish();
    let kinds: Vec<_> = script.events("t").iter().map(|event| event["type"].clone()).collect();
    assert!(!kinds.contains(&json!("part.emitted")) && !kinds.contains(&json!("tool.progress")));
    assert_eq!(script.result()["text"], "done");
    assert!(script.tree_events("t").iter().all(|event| event["rootTurnId"] == "t"));
    assert!(script.events("t.1").iter().all(|event| event["parentTurnId"] == "t"));
}

#[test]
fn nt_34_a_connection_forwards_progress_and_named_parts_only() {
    let forward = json!({"progress": true, "parts": ["open"]});
    let mut script = Script::new([
        agent("a").tool(as_tool("b").connect("forward", forward)),
        agent("b").tool(tool("look")).emits("open", json!({})).emits("closed", json!({})),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("look", json!({}))]), text("secret")]);
    script.on("look", [after(5.0, result(json!(1)))]);
    script.start();
    let key = script.call_key("look");
    for part in [0, 1] {
        script.letter(key, "emit", json!({"part": part, "value": part}));
    }
    script.letter(key, "progress", json!({"progress": {"message": "half", "done": 1, "total": 2}}));
    script.finish();
    let parts = script.events_of("t", "part.emitted");
    assert_eq!(parts.len(), 1);
    assert_eq!((&parts[0]["part"], &parts[0]["forwardedFrom"]), (&json!("open"), &json!("t.1")));
    let progress = script.events_of("t", "tool.progress");
    let messages: Vec<_> = progress.iter().map(|event| event["message"].clone()).collect();
    assert_eq!(messages, ["b step 1", "half", "b step 2"]);
    assert_eq!(script.result()["parts"], json!([]), "a forwarded part is not the parent's own");
}

#[test]
fn nt_34_a_forwarded_part_does_not_satisfy_the_callers_contract() {
    let forward = json!({"progress": false, "parts": ["note"]});
    let mut script = Script::new([
        agent("a").tool(as_tool("b").deliverable("note", 0)),
        agent("b").tool(as_tool("c").connect("forward", forward)).emits("note", json!({})),
        agent("c").tool(tool("look")).emits("note", json!({})),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [ask("c"), text("nothing submitted")]);
    script.on("c", [calls([call("look", json!({}))]), text("found")]);
    script.on("look", [after(5.0, result(json!(1)))]);
    script.start();
    let key = script.call_key("look");
    script.letter(key, "emit", json!({"part": 0, "value": 1})).finish();
    assert_eq!(script.events_of("t.1", "part.emitted").len(), 1);
    assert_eq!(script.code("t.1"), "DELIVERABLE_MISSING");
}

#[test]
fn bl_041_a_failed_call_of_a_child_is_readable_beside_its_success() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("look", json!({}))]), text("anyway")]);
    script.on("look", [error_result("no such thing")]);
    script.run();
    assert_eq!(script.output("t")["ok"], true);
    let ended = script.events_of("t.1", "tool.completed");
    assert_eq!((&ended[0]["isError"], &ended[0]["error"]), (&json!(true), &json!("no such thing")));
}

#[test]
fn bl_066_a_crash_of_one_delegate_leaves_the_others_alone() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [calls([brief("b"), brief("b"), brief("b"), brief("b")]), text("done")]);
    script.on("t.3", [model_error(false)]).always("b", text("fine"));
    script.run();
    let oks: Vec<_> = script.outputs("t").iter().map(|output| output["value"]["ok"].clone()).collect();
    assert_eq!(oks, [true, true, false, true]);
    assert_eq!(script.status("t.3"), "failed");
    assert!(script.outputs("t")[2]["value"]["cause"]["message"].as_str().unwrap().contains("'b'"));
}
