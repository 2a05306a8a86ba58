//! A connection that retries a failed child.

use serde_json::json;

use crate::tests::script::{Script, Step, agent, as_tool, ask, call, calls, text, tool};

#[test]
fn nt_24_retries_run_one_after_the_other_on_fresh_grants() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").connect("retries", json!(2))),
        agent("b").budget(json!({"timeMs": 10, "steps": 2})).tool(tool("look")),
    ]);
    script.on("a", [ask("b"), text("done")]);
    script.on("b", [calls([call("look", json!({}))]), Step::Hang, Step::Hang, text("third time")]);
    script.run();
    assert_eq!(script.output("t")["text"], "third time");
    for (turn_id, attempt) in [("t.1", 1), ("t.2", 2), ("t.3", 3)] {
        let record = script.record(turn_id);
        assert_eq!((&record["attempt"], &record["callId"]), (&json!(attempt), &json!("c1_0")));
        assert_eq!(script.transcript(turn_id)[0], json!({"role": "user", "content": "go"}));
    }
    assert_eq!(script.used("t.3")["steps"], 1, "nothing carries over");
    let retried = script.events_of("t", "turn.retried");
    assert_eq!((&retried[1]["attempt"], &retried[1]["failedTurnId"]), (&json!(3), &json!("t.2")));
    assert_eq!(script.used("t")["toolCalls"], 1);
}

#[test]
fn nt_24_bl_030_the_last_attempt_is_the_answer_and_no_two_live_at_once() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").connect("retries", json!(2))),
        agent("b").budget(json!({"timeMs": 10})),
    ]);
    script.on("a", [ask("b"), text("done")]).always("b", Step::Hang);
    script.run();
    assert_eq!(script.output("t")["turnId"], "t.3");
    let events = script.tree_events("t");
    let mut live = 0_i32;
    for event in events.iter().filter(|event| event["parentTurnId"] == "t") {
        match event["type"].as_str().unwrap() {
            "turn.started" => live += 1,
            "turn.failed" => live -= 1,
            _ => {}
        }
        assert!(live <= 1);
    }
    assert_eq!(script.commands("open").len(), 4);
}

#[test]
fn nt_24_no_retry_once_the_caller_is_out_of_time() {
    let mut script = Script::new([
        agent("a").budget(json!({"timeMs": 10})).tool(as_tool("b").connect("retries", json!(5))),
        agent("b").budget(json!({"timeMs": 10})),
    ]);
    script.on("a", [ask("b")]).always("b", Step::Hang).run();
    assert_eq!(script.status("t.2"), "absent");
    assert_eq!(script.code("t"), "BUDGET_TIME");
}
