//! Events: what a turn tells while it runs.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::tests::script::{
    Script, Step, WALL_OFFSET_MS, after, agent, as_tool, ask, brief, call, calls, error_result, model_error, reply,
    result, text, thrown, tool,
};

/// Every event in a line: who, what, and the fields that a reader looks for first.
fn lines(events: &[Value]) -> Vec<String> {
    let line = |event: &Value| {
        let mut line =
            format!("{} {} {}", event["seq"], event["turnId"].as_str().unwrap(), event["type"].as_str().unwrap());
        for field in ["step", "attempt", "callId", "toolId", "isError", "part", "nudge", "limit", "forwardedFrom"] {
            if !event[field].is_null() {
                line.push_str(&format!(" {field}={}", event[field]));
            }
        }
        for holder in ["error", "cause"] {
            if let Some(code) = event[holder]["code"].as_str() {
                line.push_str(&format!(" {code}"));
            }
        }
        line
    };
    events.iter().map(line).collect()
}

#[test]
fn bl_107_the_log_of_a_step_with_every_kind_of_end() {
    let mut script = Script::new([agent("a").tool(tool("look").set("timeoutMs", json!(20))).tool(tool("slow"))]);
    let look = || call("look", json!({}));
    script.on("a", [calls([look(), look(), look(), look(), call("lok", json!({})), call("slow", json!({}))])]);
    script.on("look", [result(json!(1)), error_result("no"), thrown("boom"), Step::Hang]).on("slow", [Step::Hang]);
    script.start().advance(50.0).stop("t", false);
    assert_json_snapshot!(lines(&script.events("t")));
}

#[test]
fn the_log_of_a_tree_with_a_retry_a_nudge_and_a_forwarded_part() {
    let connection = as_tool("b")
        .deliverable("note", 1)
        .connect("retries", json!(1))
        .connect("forward", json!({"progress": true, "parts": ["note"]}));
    let mut script = Script::new([
        agent("a").tool(connection),
        agent("b").emits("note", json!({"type": "object", "required": ["n"]})),
    ]);
    script.on("a", [ask("b"), text("done")]);
    script.on("b", [model_error(false), calls([call("submit_note", json!({}))]), text("no")]);
    script.on("b", [calls([call("submit_note", json!({"n": 1}))])]).run();
    assert_json_snapshot!(lines(&script.tree_events("t")));
}

#[test]
fn bl_108_durations_of_overlapping_calls_are_their_own() {
    let mut script = Script::new([agent("a").tool(tool("x")).tool(tool("y"))]);
    script.on("a", [calls([call("x", json!({})), call("y", json!({}))]), text("done")]);
    script.on("x", [after(3.0, result(json!(1)))]).on("y", [after(4.0, result(json!(1)))]).run();
    let durations: Vec<_> =
        script.events_of("t", "tool.completed").iter().map(|event| event["durationMs"].clone()).collect();
    assert_eq!(durations, [3.0, 4.0]);
}

#[test]
fn bl_109_no_event_goes_missing_in_parallel() {
    let counted = |execution: &str| {
        let mut script = Script::new([
            agent("a").limits(json!({ "toolExecution": execution })).tool(as_tool("b")),
            agent("b").limits(json!({ "toolExecution": execution })).tool(tool("look")),
        ]);
        script.on("a", [reply((0..8).map(|_| brief("b")).collect()), text("done")]);
        for child in 1..=8 {
            let looks = reply((0..5).map(|_| call("look", json!({}))).collect());
            script.on(&format!("t.{child}"), [looks, text("done")]);
        }
        script.always("look", after(1.0, result(json!(1)))).run();
        let events = script.tree_events("t");
        for turn_id in ["t", "t.1", "t.8"] {
            let seqs: Vec<_> = script.events(turn_id).iter().map(|event| event["seq"].as_u64().unwrap()).collect();
            assert!(seqs.is_sorted_by(|earlier, later| earlier < later));
        }
        let mut kinds: Vec<String> =
            events.iter().map(|event| format!("{} {}", event["turnId"], event["type"])).collect();
        kinds.sort();
        kinds
    };
    let parallel = counted("parallel");
    assert_eq!(parallel.iter().filter(|kind| kind.contains("tool.started")).count(), 48);
    assert_eq!(parallel, counted("sequential"));
}

#[test]
fn bl_116_ends_come_before_the_next_step_and_name_what_was_announced() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("look", json!({}))]), text("found")]);
    script.on("look", [after(9.0, result(json!(1)))]).run();
    let events = script.tree_events("t");
    let mut announced = Vec::new();
    for event in &events {
        if event["type"] == "turn.started" {
            announced.push(event["turnId"].clone());
        }
        assert!(announced.contains(&event["turnId"]));
        assert!(event["parentTurnId"].is_null() || announced.contains(&event["parentTurnId"]));
    }
    let at = |kind: &str, nth: usize| script.events_of("t.1", kind)[nth]["at"].as_f64().unwrap();
    assert_eq!(at("tool.completed", 0), WALL_OFFSET_MS + 9.0);
    assert!(at("tool.completed", 0) <= at("step.started", 1));
}

#[test]
fn bl_136_a_tight_loop_of_progress_is_thinned_out() {
    let mut script = Script::new([agent("a").tool(tool("look"))]);
    script
        .on("a", [calls([call("look", json!({}))]), text("done")])
        .on("look", [after(10.0, result(json!(1)))])
        .start();
    let key = script.call_key("look");
    for done in 0..1_000 {
        script.letter(key, "progress", json!({"progress": {"done": done}}));
    }
    script.finish();
    let progress = script.events_of("t", "tool.progress");
    assert_eq!((progress.len(), &progress[32]["done"]), (33, &json!(999.0)), "the newest is never lost");
}
