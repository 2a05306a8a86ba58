//! Turns that stand still for a human: their clocks, their order, and what brings them further.

use serde_json::{Value, json};

use crate::tests::script::{Script, Step, after, agent, as_tool, brief, call, calls, reply, result, text, tool};

/// A root with a child that waits for a human, and what else its first step does.
fn tree(beside: &[Value], child_ms: Option<u32>) -> Script {
    let mut script = Script::new([
        agent("a").budget(json!({"timeMs": 500})).tool(as_tool("b")).tool(tool("slow")),
        agent("b").budget(json!({"timeMs": child_ms})).tool(tool("pay").set("approvalRequired", json!(true))),
    ]);
    let mut asked = vec![brief("b")];
    asked.extend_from_slice(beside);
    script.on("a", [reply(Value::Array(asked)), text("done")]);
    script.on("b", [calls([call("pay", json!({}))]), after(10.0, text("paid"))]);
    script
}

fn resume(script: &mut Script, decision: Value) {
    let decisions = json!({"t.1:c1_0": decision});
    script.input("resume", json!({"stream": false, "decisions": decisions, "stopped": null}));
}

fn kinds(script: &Script) -> Vec<String> {
    let wanted =
        ["approval.requested", "turn.suspended", "turn.resumed", "turn.completed", "turn.failed", "turn.stopped"];
    let named = |event: &Value| format!("{} {}", event["turnId"].as_str().unwrap(), event["type"].as_str().unwrap());
    let events = script.tree_events("t");
    events.iter().filter(|event| wanted.contains(&event["type"].as_str().unwrap())).map(named).collect()
}

#[test]
fn d_05_the_clocks_of_a_suspended_tree_stand_still() {
    let mut script = tree(&[], Some(100));
    script.start().advance(10_000.0);
    assert_eq!((script.status("t"), script.status("t.1")), ("suspended".into(), "suspended".into()));
    resume(&mut script, json!("allow"));
    script.finish();
    assert_eq!(script.used("t")["timeMs"], 10.0);
    assert_eq!(script.status("t"), "completed");
    assert_eq!(
        kinds(&script),
        [
            "t.1 approval.requested",
            "t.1 turn.suspended",
            "t turn.suspended",
            "t turn.resumed",
            "t.1 turn.resumed",
            "t.1 turn.completed",
            "t turn.completed",
        ]
    );
}

#[test]
fn d_05_a_sibling_runs_on_while_a_child_stands_still() {
    let mut script = tree(&[call("slow", json!({}))], Some(100));
    script.on("slow", [after(300.0, result(json!(1)))]).start().advance(299.0);
    assert_eq!((script.status("t"), script.status("t.1")), ("running".into(), "suspended".into()));
    assert!(script.commands("suspended").is_empty());
    script.advance(1_000.0);
    assert_eq!((script.status("t"), script.commands("suspended").len()), ("suspended".into(), 1));
    resume(&mut script, json!({"deny": "no"}));
    script.finish();
    assert_eq!((&script.used("t")["timeMs"], &script.used("t.1")["timeMs"]), (&json!(310.0), &json!(10.0)));
}

#[test]
fn d_02_a_child_that_stood_longer_than_its_caller_ends_with_the_callers_time() {
    let mut script = tree(&[call("slow", json!({}))], Some(450));
    script.on("slow", [after(300.0, result(json!(1)))]).start().advance(1_000.0);
    script.always("pay", Step::Hang);
    resume(&mut script, json!("allow"));
    script.finish();
    assert_eq!((script.code("t.1"), script.code("t")), ("BUDGET_TIME".into(), "BUDGET_TIME".into()));
    assert_eq!(script.cause("t.1")["ceiling"], "caller");
    assert_eq!((&script.used("t")["timeMs"], &script.used("t.1")["timeMs"]), (&json!(500.0), &json!(200.0)));
}

#[test]
fn d_01_a_stop_of_a_child_that_stands_still_brings_its_caller_further() {
    let mut script = tree(&[], None);
    script.start().advance(1_000.0).stop("t.1", true).finish();
    assert_eq!((script.status("t.1"), script.status("t")), ("stopped".into(), "completed".into()));
    let kinds = kinds(&script);
    assert_eq!(kinds[3..], ["t turn.resumed", "t.1 turn.stopped", "t turn.completed"]);
    assert_eq!(script.used("t")["timeMs"], 0.0);
}

/// What comes in is looked at where it arrives: nothing walks all turns of a tree per input.
#[test]
fn many_suspended_children_are_looked_at_a_few_times_each() {
    const CHILDREN: usize = 2_000;
    let mut script = Script::new([
        agent("a").budget(json!({"toolCalls": CHILDREN})).limits(json!({})).tool(as_tool("b")),
        agent("b").tool(tool("pay").set("approvalRequired", json!(true))),
    ]);
    script.on("a", [reply(Value::Array(vec![brief("b"); CHILDREN])), text("done")]);
    for child in 1..=CHILDREN {
        script.on(&format!("t.{child}"), [calls([call("pay", json!({}))]), text("paid")]);
    }
    script.start();
    assert_eq!(script.status("t"), "suspended");
    assert_eq!(script.commands("suspended").len(), 1, "the root comes to stand still once, after all its children");
    let suspended = script.tree.looks();

    let decisions: Value = (1..=CHILDREN).map(|child| (format!("t.{child}:c1_0"), json!("allow"))).collect();
    script.input("resume", json!({"stream": false, "decisions": decisions, "stopped": null})).finish();
    assert_eq!(script.status("t"), "completed");
    let looks = usize::try_from(script.tree.looks()).expect("few");
    assert!(looks < 10 * CHILDREN, "{suspended} looks until all stood still, {looks} in the end");
}
