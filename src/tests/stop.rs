//! Stops, what they reach, and what comes too late.

use serde_json::json;

use crate::tests::script::{
    Script, Step, after, agent, as_tool, ask, brief, call, calls, model_error, result, text, thrown, tool,
};

/// Three levels; the deepest waits for a tool that never settles.
fn hanging() -> Script {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").connect("retries", json!(3))),
        agent("b").tool(as_tool("c").connect("retries", json!(3))),
        agent("c").tool(tool("slow")),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [ask("c"), text("done")]);
    script.on("c", [calls([call("slow", json!({}))])]).on("slow", [Step::Hang]);
    script
}

#[test]
fn nt_27_bl_019_a_stop_reaches_every_level_at_once() {
    let mut script = hanging();
    script.start().advance(50.0).stop("t", false);
    for turn_id in ["t", "t.1", "t.1.1"] {
        assert_eq!(script.record(turn_id)["outcome"], json!({"status": "stopped", "reason": "enough"}));
        assert_eq!(script.used(turn_id)["timeMs"], 50.0);
    }
    assert_eq!(script.commands("cancel").len(), 1);
    assert_eq!(script.commands("cancel")[0]["code"], "CANCELLED");
    script.finish();
    assert_eq!(script.commands("model").len(), 3, "no further model call");
    assert_eq!(script.commands("open").len(), 3, "nobody is retried");
}

#[test]
fn nt_27_a_stop_of_any_turn_stops_the_whole_tree() {
    let mut script = hanging();
    script.start().stop("t.1.1", false);
    assert_eq!(script.status("t"), "stopped");
}

#[test]
fn nt_27_bl_023_an_aborted_signal_lets_nothing_begin() {
    let mut script = hanging();
    script.run_with(json!({"stopped": {"reason": "x"}}));
    assert_eq!(script.result()["outcome"], json!({"status": "stopped", "reason": "x"}));
    assert!(script.commands("model").is_empty() && script.commands("call").is_empty());
}

#[test]
fn nt_27_a_subtree_stop_is_feedback_to_its_caller() {
    let mut script = hanging();
    script.start().stop("t.1.1", true).finish();
    assert_eq!(script.status("t.1.1"), "stopped");
    let output = script.output("t.1");
    assert_eq!((&output["ok"], &output["cause"]["code"]), (&json!(false), &json!("STOPPED")));
    assert_eq!(script.status("t.1.2"), "absent", "a stopped child is never retried");
    assert_eq!((script.status("t.1"), script.status("t")), ("completed".into(), "completed".into()));
}

#[test]
fn nt_27_the_first_reason_stays() {
    let mut script = hanging();
    script.start().stop("t", false);
    script.input("stop", json!({"turnId": "t", "subtree": false, "reason": "later"}));
    assert_eq!(script.record("t")["outcome"]["reason"], "enough");
}

#[test]
fn nt_03_bl_020_bl_028_what_comes_after_the_stop_changes_nothing() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("slow"))]);
    script.on("a", [calls([brief("b"), brief("b")])]);
    script.on("t.1", [calls([call("slow", json!({}))])]).on("t.2", [after(100.0, text("late"))]);
    script.on("slow", [after(100.0, result(json!("late")))]);
    script.start().advance(50.0).stop("t", false);
    let seen = |script: &Script| {
        let turns = ["t", "t.1", "t.2"].map(|id| (script.record(id), script.transcript(id), script.events(id)));
        (turns, script.log.len())
    };
    let before = seen(&script);
    script.advance(1_000.0);
    assert_eq!(before, seen(&script));
    for turn_id in ["t", "t.1", "t.2"] {
        assert_eq!(script.status(turn_id), "stopped");
    }
}

#[test]
fn bl_027_a_stop_before_the_last_answer_wins() {
    let mut script = Script::new([agent("a").tool(tool("slow"))]);
    script.on("a", [calls([call("slow", json!({}))]), text("done")]).on("slow", [Step::Hang]);
    script.start();
    let id = script.effect("call");
    script.stop("t", false);
    script.answer(id, &json!({"result": {"isError": false, "text": null, "value": 1, "metadata": null}}));
    assert_eq!(script.status("t"), "stopped");

    let mut script = Script::new([agent("a")]);
    script.on("a", [text("done")]).run().stop("t", false);
    assert_eq!(script.status("t"), "completed", "a stop after the end is none");
}

#[test]
fn nt_38_bl_036_no_child_outlives_its_caller() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b")).tool(as_tool("c").fails_caller()),
        agent("b").tool(as_tool("d")),
        agent("c"),
        agent("d"),
    ]);
    script.on("a", [calls([brief("b"), brief("b"), brief("c")])]).always("b", ask("d"));
    script.always("d", Step::Hang).on("c", [model_error(false)]);
    script.run();
    for turn_id in ["t.1", "t.2", "t.1.1", "t.2.1"] {
        assert_eq!((script.status(turn_id), script.code(turn_id)), ("failed".into(), "PARENT_ENDED".into()));
    }
    assert_eq!(script.code("t"), "CHILD_FAILED");
    assert_eq!(script.waiting(), 0);
    let ends = script.tree_events("t");
    let ends: Vec<_> = ends.iter().filter(|event| event["type"] == "turn.failed").collect();
    assert_eq!(ends.last().unwrap()["turnId"], "t");
    let place = |id: &str| ends.iter().position(|event| event["turnId"] == *id);
    assert!(place("t.1.1") < place("t.1") && place("t.2.1") < place("t.2"));
}

#[test]
fn bl_031_four_ways_to_end_have_four_causes() {
    let mut user = hanging();
    user.start().stop("t", false);
    assert_eq!(user.status("t.1"), "stopped");

    let mut own = hanging();
    own.on("t.1", [ask("c")]).start_with(json!({})).advance(1.0);
    let mut own = Script::new([agent("a").tool(as_tool("b").child_budget(json!({"timeMs": 5}))), agent("b")]);
    own.on("a", [ask("b"), text("done")]).on("b", [Step::Hang]).run();
    assert_eq!(own.cause("t.1")["ceiling"], "own");

    let mut callers = hanging();
    callers.run_with(json!({"budget": {"timeMs": 5}}));
    assert_eq!((callers.code("t.1.1"), &callers.cause("t.1.1")["ceiling"]), ("BUDGET_TIME".into(), &json!("caller")));

    let mut ended =
        Script::new([agent("a").tool(as_tool("b")).tool(as_tool("c").fails_caller()), agent("b"), agent("c")]);
    ended.on("a", [calls([brief("b"), brief("c")])]).on("b", [Step::Hang]);
    ended.on("c", [model_error(false)]).run();
    assert_eq!(ended.code("t.1"), "PARENT_ENDED");
}

#[test]
fn bl_035_a_dropped_call_does_not_claim_that_nothing_happened() {
    let mut script = hanging();
    script.start().advance(7.0).stop("t", false);
    let failed = script.events_of("t.1.1", "tool.failed");
    assert_eq!(failed[0]["error"]["code"], "CANCELLED");
    assert!(failed[0]["error"]["message"].as_str().unwrap().contains("unknown"));
    assert_eq!(failed[0]["durationMs"], 7.0);
}

#[test]
fn bl_026_a_call_that_fails_by_itself_is_no_cancellation() {
    let mut script = Script::new([agent("a").tool(tool("look"))]);
    let three = calls([call("look", json!({})), call("look", json!({})), call("look", json!({}))]);
    script.on("a", [three, text("done")]);
    script.on("look", [result(json!(1)), thrown("AbortError"), result(json!(3))]);
    script.run();
    let kinds: Vec<_> = script.outputs("t").iter().map(|output| output["type"].clone()).collect();
    assert_eq!(kinds, ["json", "error-text", "json"]);
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn d_03_a_stop_before_the_siblings_settle_wins_over_an_accepted_submit() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").deliverable("note", 0)),
        agent("b").tool(tool("slow")).emits("note", json!({})),
    ]);
    script.on("a", [ask("b")]).on("slow", [Step::Hang]);
    script.on("b", [calls([call("submit_note", json!("done")), call("slow", json!({}))])]);
    script.start().stop("t", false);
    let record = script.record("t.1");
    assert_eq!((&record["status"], &record["submits"]["accepted"]), (&json!("stopped"), &json!(1)));
    assert_eq!(record["parts"][0]["value"], "done");
}
