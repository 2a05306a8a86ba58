//! Deadlines: whose they are, and what they do.

use serde_json::json;

use crate::tests::script::{Script, Step, after, agent, as_tool, ask, call, calls, model_error, result, text, tool};

fn parent_and_child(parent_ms: Option<f64>, child_ms: Option<f64>) -> Script {
    let mut script = Script::new([
        agent("a").budget(json!({"timeMs": parent_ms})).tool(as_tool("b")),
        agent("b").budget(json!({"timeMs": child_ms})),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [Step::Hang]);
    script
}

#[test]
fn nt_22_d_02_a_turn_ends_at_its_own_deadline_and_not_before() {
    let mut script = Script::new([agent("a").budget(json!({"timeMs": 200}))]);
    script.on("a", [Step::Hang]).start().advance(199.999);
    assert_eq!(script.status("t"), "running");
    script.advance(0.001);
    let cause = script.cause("t");
    assert_eq!((&cause["code"], &cause["ceiling"]), (&json!("BUDGET_TIME"), &json!("own")));
    assert_eq!(script.record("t")["budget"]["ceiling"], "own");
    assert_eq!(script.used("t")["timeMs"], 200.0);
    assert_eq!(script.commands("cancel")[0]["code"], "TIMEOUT");
}

#[test]
fn nt_22_an_answer_in_the_last_moment_counts() {
    let mut script = Script::new([agent("a").budget(json!({"timeMs": 200}))]);
    script.on("a", [after(199.0, text("just in time"))]).run();
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn nt_22_bl_017_a_late_result_is_dropped() {
    for stream in [false, true] {
        let mut script = Script::new([agent("a").budget(json!({"timeMs": 200}))]);
        script.on("a", [after(300.0, text("late"))]);
        script.run_with(json!({ "stream": stream }));
        assert_eq!(script.code("t"), "BUDGET_TIME");
        assert_eq!(script.used("t")["timeMs"], 200.0);
        assert_eq!(script.transcript("t").len(), 1);
    }
}

#[test]
fn nt_22_the_record_says_whose_ceiling_bit() {
    for (parent, child, ceiling, code, at) in [
        (Some(100.0), Some(500.0), "caller", "BUDGET_TIME", 100.0),
        (Some(100.0), None, "caller", "BUDGET_TIME", 100.0),
        (Some(500.0), Some(100.0), "own", "none", 100.0),
        (None, Some(100.0), "own", "none", 100.0),
        (Some(100.0), Some(100.0), "own", "BUDGET_TIME", 100.0),
    ] {
        let mut script = parent_and_child(parent, child);
        script.run();
        assert_eq!(script.code("t.1"), "BUDGET_TIME");
        assert_eq!(script.record("t.1")["budget"]["ceiling"], ceiling);
        assert_eq!(script.used("t.1")["timeMs"], at);
        assert_eq!(script.code("t"), code);
    }
}

#[test]
fn nt_22_another_child_does_not_extend_the_parents_deadline() {
    let mut script = Script::new([
        agent("a").budget(json!({"timeMs": 100})).tool(as_tool("b")),
        agent("b").budget(json!({"timeMs": 80})),
    ]);
    script.always("a", ask("b")).always("b", Step::Hang);
    script.run();
    assert_eq!(script.used("t.1")["timeMs"], 80.0);
    assert_eq!(
        (script.used("t.2")["timeMs"].clone(), script.record("t.2")["budget"]["ceiling"].clone()),
        (json!(20.0), json!("caller"))
    );
    assert_eq!(script.used("t")["timeMs"], 100.0);
}

#[test]
fn nt_23_a_shorter_child_timeout_is_feedback() {
    let mut script = parent_and_child(Some(500.0), Some(100.0));
    script.run();
    let output = script.output("t");
    assert_eq!((&output["cause"]["code"], &output["cause"]["limit"]), (&json!("BUDGET_TIME"), &json!(100.0)));
    assert_eq!(script.result()["text"], "done");
}

#[test]
fn bl_029_a_child_that_timed_out_calls_nothing_more() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b")),
        agent("b").budget(json!({"timeMs": 100, "steps": 100})).tool(tool("count")),
    ]);
    script.on("a", [ask("b"), after(1_000.0, text("done"))]);
    script.always("b", calls([call("count", json!({}))])).always("count", after(30.0, result(json!(1))));
    script.run();
    assert_eq!(script.bodies("count").len(), 4);
    assert_eq!(script.code("t.1"), "BUDGET_TIME");
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn d_02_at_one_instant_children_expire_before_their_parent() {
    let mut script = parent_and_child(Some(100.0), Some(100.0));
    script.run();
    let ends: Vec<_> = script
        .tree_events("t")
        .iter()
        .filter(|event| event["type"] == "turn.failed")
        .map(|event| event["turnId"].clone())
        .collect();
    assert_eq!(ends, ["t.1", "t"]);
}

#[test]
fn d_02_a_host_that_comes_late_changes_nothing_but_the_time() {
    let mut script = parent_and_child(Some(200.0), Some(100.0));
    script.start().skip(5_000.0).letter(99, "progress", json!({"progress": {}}));
    assert_eq!((script.code("t.1"), script.code("t")), ("BUDGET_TIME".into(), "BUDGET_TIME".into()));
    assert_eq!(script.record("t.1")["budget"]["ceiling"], "own");
}

#[test]
fn nt_22_time_is_checked_during_the_wait_for_a_model_retry() {
    let mut script = Script::new([agent("a").budget(json!({"timeMs": 10}))]);
    script.on("a", [model_error(true)]).run();
    assert_eq!(script.code("t"), "MODEL_ERROR", "a retry that comes too late is not waited for");
    assert_eq!(script.used("t")["timeMs"], 0.0);
}

#[test]
fn d_20_a_tools_own_timeout_always_applies_and_is_clamped() {
    let limits = |fields| json!({"toolTimeout": fields});
    for (own, limits, ends) in [
        (json!(100), json!({}), Some(100.0)),
        (json!(100), limits(json!({"inheritedMs": 50})), Some(100.0)),
        (json!(100), limits(json!({"maxMs": 60})), Some(60.0)),
        (json!(100), limits(json!({"minMs": 150})), Some(150.0)),
        (json!(100), limits(json!({"graceMs": 20})), Some(120.0)),
        (json!(null), limits(json!({"inheritedMs": 50})), Some(50.0)),
        (json!(null), json!({}), None),
        (json!("unbounded"), limits(json!({"inheritedMs": 50})), None),
    ] {
        let mut script = Script::new([agent("a").limits(limits).tool(tool("slow").set("timeoutMs", own))]);
        script.on("a", [calls([call("slow", json!({}))]), text("done")]).on("slow", [Step::Hang]);
        script.run();
        let ended = script.events_of("t", "tool.completed");
        assert_eq!(ended.first().map(|event| event["durationMs"].clone()), ends.map(|ms| json!(ms)));
        assert_eq!(script.status("t"), if ends.is_some() { "completed" } else { "running" });
        if ends.is_some() {
            assert!(script.output("t").as_str().unwrap().contains("timed out"));
            assert_eq!(script.commands("cancel")[0]["code"], "TIMEOUT");
        }
    }
}

#[test]
fn d_08_a_model_call_is_bounded_by_its_own_timeouts() {
    let mut script = Script::new([agent("a").limits(json!({"modelCallTimeoutMs": 50, "maxModelRetries": 1}))]);
    script.on("a", [Step::Hang, Step::Hang]).run();
    assert_eq!((script.code("t"), script.model_calls("t").len()), ("MODEL_ERROR".into(), 2));
    assert_eq!(script.waiting(), 0);

    let mut script = Script::new([agent("a").limits(json!({"streamIdleTimeoutMs": 50, "maxModelRetries": 0}))]);
    script.on("a", [Step::Hang]).start_with(json!({"stream": true}));
    let id = script.effect("model");
    for _ in 0..3 {
        script.advance(40.0);
        script.letter(id, "delta", json!({"kind": "text", "text": "a"}));
    }
    script.advance(49.0);
    assert_eq!(script.status("t"), "running");
    script.advance(1.0);
    assert_eq!((script.code("t"), &script.used("t")["timeMs"]), ("MODEL_ERROR".into(), &json!(170.0)));
}

#[test]
fn a_late_tick_does_not_hide_the_next_deadline() {
    // The first deadline passes unnoticed, something else is handled first, and only then does the timer fire.
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), Step::Hang]).on("b", [Step::Hang]);
    script.start_with(json!({"budget": {"timeMs": 500}}));
    assert_eq!(script.commands("wake").len(), 1);
    script.on("slow", [Step::Hang]);
    script.skip(499.0).input("tick", json!(null));
    assert_eq!(script.commands("wake").len(), 2, "the timer has fired: it is armed anew");
    script.finish();
    assert_eq!(script.code("t"), "BUDGET_TIME");
}

#[test]
fn a_run_after_an_idle_time_arms_its_own_timer() {
    let mut script = Script::new([agent("a").budget(json!({"timeMs": 1_000}))]);
    script.on("a", [text("quick"), Step::Hang]).start();
    assert_eq!(script.commands("wake").len(), 1);
    script.skip(10.0).start_with(json!({"turnId": "u"}));
    assert_eq!(script.commands("wake").len(), 2, "nothing was armed any longer");
    script.finish();
    assert_eq!(script.code("u"), "BUDGET_TIME");
}

#[test]
fn d_05_a_clock_that_runs_backwards_gives_no_time_back() {
    let mut script = Script::new([agent("a").budget(json!({"timeMs": 100}))]);
    script.on("a", [Step::Hang]).start().skip(60.0).input("tick", json!(null));
    script.skip(-50.0).input("tick", json!(null));
    assert_eq!(script.query("budget", json!({"turnId": "t"}))["timeLeftMs"], 40.0);
}
