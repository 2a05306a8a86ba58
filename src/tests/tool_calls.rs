//! The budget of tool calls.

use serde_json::json;

use crate::tests::script::{
    Script, after, agent, as_tool, ask, brief, call, calls, endless, error_result, looks, reply, result, text, thrown,
    tool,
};

#[test]
fn d_06_d_09_bl_003_calls_beyond_the_cap_are_refused_before_any_body_starts() {
    let mut script = Script::new([agent("a").budget(json!({"toolCalls": 6})).tool(tool("look"))]);
    script.on("a", [looks(8)]).run();
    assert_eq!(script.bodies("look").len(), 6);
    assert_eq!(script.events_of("t", "tool.started").len(), 6);
    assert_eq!(script.events_of("t", "tool.completed").len(), 6);
    let refused = script.events_of("t", "tool.refused");
    assert_eq!(refused.len(), 2);
    assert_eq!(refused[0]["error"], json!({"code": "LIMIT_EXCEEDED", "message": "max tool calls (6) exceeded"}));
    assert_eq!((script.code("t"), &script.cause("t")["limit"]), ("BUDGET_TOOL_CALLS".into(), &json!(6.0)));
    assert_eq!(script.outputs("t").len(), 8, "every call is answered");
    let all: Vec<_> = script.events("t").iter().map(|event| event["type"].clone()).collect();
    let last_refusal = all.iter().rposition(|kind| kind == "tool.refused");
    let first_start = all.iter().position(|kind| kind == "tool.started");
    assert!(last_refusal < first_start, "admission comes first");
}

#[test]
fn d_09_the_last_allowed_call_is_not_one_too_many() {
    let mut script = Script::new([agent("a").budget(json!({"toolCalls": 6})).tool(tool("look"))]);
    script.on("a", [looks(6), text("done")]).run();
    assert_eq!(script.status("t"), "completed");
    assert!(script.events_of("t", "limit.reached").is_empty());
    assert_eq!(script.used("t")["toolCalls"], 6);
}

#[test]
fn d_04_stop_with_partial_ends_a_turn_as_partial() {
    let mut script = Script::new([agent("a")
        .budget(json!({"toolCalls": 2}))
        .limits(json!({"behavior": "stopWithPartial"}))
        .tool(tool("look"))]);
    script.on("a", [looks(3)]).run();
    let result = script.result();
    assert_eq!((&result["outcome"]["status"], &result["partial"]), (&json!("completed"), &json!(true)));
    assert_eq!(script.bodies("look").len(), 2);
    assert_eq!(script.record("t")["partial"], true);
}

#[test]
fn d_09_a_refused_call_gives_its_slot_back() {
    let mut script = Script::new([agent("a").budget(json!({"toolCalls": 1})).tool(tool("look"))]);
    script.on("a", [calls([call("nothing", json!({})), call("look", json!({}))]), text("done")]).run();
    assert_eq!(script.status("t"), "completed");
    assert_eq!(script.bodies("look").len(), 1);
    assert_eq!(script.used("t")["toolCalls"], 1);
}

#[test]
fn d_13_a_limit_is_told_once_in_a_turn() {
    let mut script = endless(json!({"toolCalls": 1}));
    script.on("a", [looks(4)]).run();
    assert_eq!(script.events_of("t", "limit.reached").len(), 1);
    assert_eq!(script.events_of("t", "tool.refused").len(), 3);
}

#[test]
fn bl_011_failing_calls_are_counted_like_others() {
    for failing in [error_result("no"), thrown("boom")] {
        let mut script = endless(json!({"steps": 30, "toolCalls": 10}));
        script.always("look", failing).run();
        assert_eq!(script.bodies("look").len(), 10);
        assert_eq!(script.code("t"), "BUDGET_TOOL_CALLS");
    }
}

#[test]
fn bl_010_a_tool_budget_holds_in_every_mode() {
    for stream in [false, true] {
        for width in [1, 3] {
            let mut script = Script::new([
                agent("a").tool(as_tool("b")),
                agent("b").tool(as_tool("c")),
                agent("c").budget(json!({"toolCalls": 4})).tool(tool("look")),
            ]);
            script.on("a", [reply((0..width).map(|_| brief("b")).collect())]).always("a", text("done"));
            for child in 1..=width {
                script.on(&format!("t.{child}"), [ask("c"), text("done")]);
            }
            script.always("c", looks(3));
            script.run_with(json!({ "stream": stream }));
            for child in 1..=width {
                let grandchild = format!("t.{child}.1");
                assert_eq!(script.events_of(&grandchild, "tool.started").len(), 4);
                assert_eq!(script.events_of(&grandchild, "limit.reached").len(), 1);
            }
        }
    }
}

#[test]
fn bl_002_every_call_is_counted() {
    let mut script = Script::new([agent("a").budget(json!({"steps": 101, "toolCalls": 1000})).tool(tool("look"))]);
    script.always("look", after(1.0, result(json!(1))));
    for _ in 0..100 {
        script.on("a", [looks(3)]);
    }
    script.on("a", [text("done")]).run();
    assert_eq!(script.used("t")["toolCalls"], 300);
    assert_eq!(script.bodies("look").len(), 300);
}
