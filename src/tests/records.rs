//! Records: what can be read of a turn while it runs and when it is over.

use insta::assert_json_snapshot;
use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::tests::engine::engine;
use crate::tests::script::{
    Script, Step, WALL_OFFSET_MS, after, agent, as_tool, ask, brief, call, calls, merge, model_error, result, text,
    tool,
};

#[test]
fn the_record_of_a_turn_that_had_everything() {
    let mut script = Script::new([
        agent("a")
            .budget(json!({"steps": 5, "timeMs": 1_000}))
            .tool(as_tool("b"))
            .tool(tool("look"))
            .emits("note", json!({})),
        agent("b"),
    ]);
    script.on("a", [calls([brief("b"), call("look", json!({}))]), calls([call("submit_note", json!("x"))])]);
    script.on("b", [after(25.0, text("found"))]);
    script.run_with(json!({"contract": {"part": 0, "nudges": 1}}));
    assert_json_snapshot!(script.record("t"));
}

#[test]
fn nt_36_bl_114_usage_is_kept_of_a_turn_and_of_its_subtree() {
    let spends = |tokens: f64, content: Value| {
        Step::Answer(json!({"ok": {"content": content, "finishReason": "stop",
            "usage": {"inputTokens": tokens, "outputTokens": 0, "totalTokens": tokens}}}))
    };
    let mut script = Script::new([
        agent("a").tool(as_tool("b").connect("retries", json!(1))),
        agent("b").budget(json!({"steps": 1})).tool(as_tool("c")),
        agent("c"),
    ]);
    script.on("a", [spends(10.0, json!([brief("b")])), spends(0.0, json!([{"type": "text", "text": "done"}]))]);
    script.on("b", [spends(20.0, json!([brief("c")])), spends(20.0, json!([{"type": "text", "text": "done"}]))]);
    script.on("c", [spends(40.0, json!([{"type": "text", "text": "done"}]))]).run();
    let total = |turn_id: &str, field: &str| script.record(turn_id)[field]["totalTokens"].as_f64().unwrap();
    assert_eq!((total("t", "usage"), total("t", "treeUsage")), (10.0, 90.0));
    assert_eq!((total("t.1", "usage"), total("t.1", "treeUsage")), (20.0, 60.0));
    assert_eq!((total("t.2", "usage"), total("t.2", "treeUsage")), (20.0, 20.0));
    assert_eq!((total("t.1.1", "usage"), total("t.1.1", "treeUsage")), (40.0, 40.0));
    assert_eq!(script.result()["usage"]["totalTokens"], 10.0);
}

#[test]
fn bl_115_what_a_failed_or_stopped_child_spent_is_in_its_record() {
    for stopped in [false, true] {
        let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
        script.on("a", [ask("b"), text("done")]);
        script.on("b", [calls([call("look", json!({}))]), if stopped { Step::Hang } else { model_error(false) }]);
        script.start();
        if stopped {
            script.stop("t.1", true);
        }
        script.finish();
        assert_eq!(script.record("t.1")["usage"]["totalTokens"], 15.0);
        assert_eq!(script.record("t")["treeUsage"]["totalTokens"], 45.0);
    }
}

#[test]
fn nt_37_a_failed_child_under_a_completed_root() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), text("it did not work")]).on("b", [model_error(false)]).run();
    assert_eq!((script.status("t"), script.status("t.1")), ("completed".into(), "failed".into()));
    let tree = script.query("tree", json!({"turnId": "t"}));
    assert_eq!(tree["children"][0]["record"]["record"]["parentTurnId"], "t");
}

#[test]
fn bl_111_every_child_knows_its_parent() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), calls([call("nothing", json!({}))]), ask("b"), ask("b"), text("done")]);
    script.on("b", [text("one"), Step::Hang, text("three")]).start().stop("t.2", true).finish();
    for turn_id in ["t.1", "t.2", "t.3"] {
        let record = script.record(turn_id);
        assert_eq!((&record["parentTurnId"], &record["turnId"]), (&json!("t"), &json!(turn_id)));
    }
    let calls: Vec<_> = ["t.1", "t.2", "t.3"].map(|id| script.record(id)["callId"].clone()).to_vec();
    assert_eq!(calls, ["c1_0", "c3_0", "c4_0"]);
}

#[test]
fn nt_36_a_running_turn_has_a_record_too() {
    let mut script = Script::new([agent("a")]);
    script.on("a", [Step::Hang]).start().advance(7.0);
    let record = script.record("t");
    assert_eq!((&record["status"], &record["startedAt"]), (&json!("running"), &json!(WALL_OFFSET_MS)));
    assert!(record.get("outcome").is_none() && record.get("endedAt").is_none());
    assert_eq!(script.query("budget", json!({"turnId": "t"})), json!({"stepsLeft": 24, "toolCallsLeft": 50}));
    assert_eq!(script.query("record", json!({"turnId": "nobody"})), Value::Null);
}

#[test]
fn nt_36_ephemeral_parts_are_not_recorded() {
    let mut script =
        Script::new([agent("a").tool(tool("look")).emits_as("draft", json!({}), json!({"persist": "ephemeral"}))]);
    script.on("a", [calls([call("look", json!({}))]), text("done")]).on("look", [after(1.0, result(json!(1)))]).start();
    let key = script.call_key("look");
    script.letter(key, "emit", json!({"part": 0, "value": 1})).finish();
    assert_eq!(script.record("t")["parts"], json!([]));
    assert_eq!(script.result()["parts"], json!([{"part": "draft", "value": 1}]));
}

#[test]
fn d_40_the_memory_store_keeps_the_last_trees() {
    let engine = engine(&json!({"keepTrees": 2}));
    let script = delegations(&engine, ["r1", "r2", "r3"]);
    let status = ["r1", "r1.1", "r2", "r2.1", "r3.1"].map(|id| script.status(id));
    assert_eq!(status, ["absent", "absent", "completed", "completed", "completed"]);
}

/// Trees of two turns that are over, one after the other; the script of the last.
fn delegations<const N: usize>(engine: &Rc<RefCell<Engine>>, roots: [&str; N]) -> Script {
    let scripts = roots.map(|root| {
        let mut script = Script::within(engine, root, [agent("a").tool(as_tool("b")), agent("b")]);
        script.always("b", text("found"));
        script.on("a", [ask("b"), text("done")]).run();
        script.tree.release();
        script
    });
    scripts.into_iter().last().expect("some tree")
}

#[test]
fn records_are_listed_newest_first_in_pages() {
    let engine = engine(&json!({}));
    let script = delegations(&engine, ["r1", "r2"]);
    let list = |filter: Value| {
        let mut whole = json!({"agentId": null, "status": null, "rootTurnId": null, "parentTurnId": null, "cursor": null, "limit": 3});
        merge(&mut whole, filter);
        script.query("list", whole)
    };
    let ids = |page: &Value| -> Vec<Value> {
        page["items"].as_array().unwrap().iter().map(|item| item["record"]["turnId"].clone()).collect()
    };
    let first = list(json!({}));
    assert_eq!(ids(&first), ["r2.1", "r2", "r1.1"]);
    assert_eq!(ids(&list(json!({"cursor": first["cursor"]}))), ["r1"]);
    assert_eq!(ids(&list(json!({"agentId": "b"}))), ["r2.1", "r1.1"]);
    assert_eq!(ids(&list(json!({"parentTurnId": "r1"}))), ["r1.1"]);
    assert!(ids(&list(json!({"status": "running"}))).is_empty());
}
