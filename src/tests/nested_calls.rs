//! Nested calls among themselves: gates, slots, refusals, and what a dropped one leaves.

use serde_json::{Value, json};

use crate::tests::script::{Script, Step, agent, call, calls, text, tool};

/// A turn whose model calls `parent` as often as said; all bodies wait to be told to return.
fn turn(parents: usize, limits: Value, options: Value) -> Script {
    let shared = || json!("shared");
    let mut own = json!({"maxNestedDepth": 3});
    own.as_object_mut().expect("an object").extend(limits.as_object().expect("an object").clone());
    let mut script = Script::with_options(
        [agent("a")
            .limits(own)
            .tool(tool("parent").set("concurrency", shared()))
            .tool(tool("read").set("concurrency", shared()))
            .tool(tool("write"))
            .tool(tool("brief").set("concurrency", shared()).set("timeoutMs", json!(50)))],
        options,
    );
    let asked = vec![call("parent", json!({})); parents];
    script.on("a", [super::script::reply(Value::Array(asked)), text("done")]);
    for id in ["parent", "read", "write", "brief"] {
        script.always(id, Step::Hang);
    }
    script.start();
    script
}

fn message(script: &Script, ticket: u32) -> String {
    script.resolved(ticket)["error"]["message"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn nc_62_63_gates_are_first_come_first_served_and_writers_do_not_starve() {
    let mut script = turn(1, json!({}), json!({}));
    for (ticket, tool) in ["read", "read", "write", "read", "write"].into_iter().enumerate() {
        script.call_tool("c1_0", u32::try_from(ticket).unwrap(), tool);
    }
    assert_eq!(script.running(), ["c1_0", "c1_0/1", "c1_0/2"], "the writer waits, and the reader behind it");
    script.return_from("c1_0/1");
    assert_eq!(script.running(), ["c1_0", "c1_0/2"]);
    script.return_from("c1_0/2");
    assert_eq!(script.running(), ["c1_0", "c1_0/3"]);
    script.return_from("c1_0/3");
    assert_eq!(script.running(), ["c1_0", "c1_0/4"]);
    script.return_from("c1_0/4");
    assert_eq!(script.running(), ["c1_0", "c1_0/5"]);
    script.return_from("c1_0/5").return_from("c1_0");
    assert_eq!((script.status("t"), &script.used("t")["nestedCalls"]), ("completed".into(), &json!(5)));
}

#[test]
fn nc_62_callers_of_one_turn_share_its_gate() {
    let mut script = turn(2, json!({}), json!({}));
    script.call_tool("c1_0", 1, "write").call_tool("c1_1", 2, "write");
    assert_eq!(script.running(), ["c1_0", "c1_1", "c1_0/1"]);
    script.return_from("c1_0");
    assert_eq!(script.running(), ["c1_1", "c1_1/1"], "a dropped call gives its gates back at once");
    assert_eq!(script.resolved(1)["error"]["code"], "TOOL_FAILED");
}

#[test]
fn nc_64_a_chain_of_unsafe_calls_ends() {
    let mut script = turn(1, json!({}), json!({}));
    script.call_tool("c1_0", 1, "write").call_tool("c1_0/1", 2, "write").call_tool("c1_0/1/1", 3, "write");
    assert_eq!(script.running(), ["c1_0", "c1_0/1", "c1_0/1/1", "c1_0/1/1/1"]);
    for call_id in ["c1_0/1/1/1", "c1_0/1/1", "c1_0/1", "c1_0"] {
        script.return_from(call_id);
    }
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn nc_65_a_refusal_under_a_shared_gate_is_counted() {
    let mut script = turn(1, json!({}), json!({}));
    script.call_tool("c1_0", 0, "read");
    for ticket in 1..=9 {
        script.call_tool("c1_0/1", ticket, "write");
    }
    assert!(message(&script, 1).contains("not concurrency-safe"), "{}", message(&script, 1));
    assert!(message(&script, 8).contains("shared nested-call gate"));
    assert!(message(&script, 9).contains("already had 8 nested calls refused"), "{}", message(&script, 9));
    assert_eq!(script.used("t")["nestedCalls"], 1);
}

#[test]
fn nc_54_of_20_ghosts_8_are_looked_at() {
    let mut script = turn(1, json!({}), json!({}));
    for ticket in 1..=20 {
        script.call_tool("c1_0", ticket, "ghost");
    }
    let unseen = (1..=20).filter(|ticket| message(&script, *ticket).contains("already had 8")).count();
    let seen = (1..=20).filter(|ticket| message(&script, *ticket) == "tool not found: ghost").count();
    assert_eq!((seen, unseen), (8, 12));
    assert_eq!(script.events_of("t", "tool.refused").len(), 20);
}

#[test]
fn nc_54_55_admissions_queue_for_what_is_left_of_the_8() {
    let options = json!({"hooks": {"checkNestedTool": true}});
    let refused = json!({"refused": {"code": null, "message": "no"}});
    for (answer, looked_at, ran) in [(json!({"ok": null}), 12, 12), (refused, 8, 0)] {
        let mut script = turn(1, json!({}), options.clone());
        script.always("hooks", Step::Hang);
        for ticket in 1..=12 {
            script.call_tool("c1_0", ticket, "read");
        }
        assert_eq!(script.commands("hooks").len(), 8);
        let mut next = 0;
        while let Some(hook) = script.commands("hooks").get(next).map(|hook| hook["id"].clone()) {
            script.answer(u32::try_from(hook.as_u64().unwrap()).unwrap(), &answer);
            next += 1;
        }
        assert_eq!((next, script.running().len() - 1), (looked_at, ran));
    }
}

#[test]
fn d_19_a_lent_slot_comes_back_ahead_of_new_calls() {
    let mut script = turn(3, json!({"maxToolConcurrency": 1}), json!({}));
    assert_eq!(script.running(), ["c1_0"]);
    script.call_tool("c1_0", 1, "read");
    assert_eq!(script.running(), ["c1_0", "c1_1"], "the slot goes to who waited first");
    script.return_from("c1_1");
    assert_eq!(script.running(), ["c1_0", "c1_2"]);
    script.return_from("c1_2");
    assert_eq!(script.running(), ["c1_0", "c1_0/1"]);
    script.call_tool("c1_0", 2, "read").return_from("c1_0/1");
    assert_eq!(script.resolved(1)["result"]["text"], "ok", "one more is in flight: the slot stays lent");
    script.return_from("c1_0/2");
    assert_eq!(script.resolved(2)["result"]["text"], "ok");
    script.return_from("c1_0");
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn a_call_that_never_got_a_slot_is_not_paid_for() {
    let mut script = turn(2, json!({"maxToolConcurrency": 1}), json!({}));
    script.stop("t", false);
    assert_eq!(script.used("t")["toolCalls"], 1);
    assert_eq!(script.events_of("t", "tool.failed").len(), 2);
}

#[test]
fn nc_67_time_passes_while_a_call_waits_for_a_gate() {
    let mut script = turn(1, json!({}), json!({}));
    script.call_tool("c1_0", 1, "brief").call_tool("c1_0", 2, "write").call_tool("c1_0/1", 3, "read");
    script.advance(49.0);
    assert_eq!(script.running().len(), 3);
    script.advance(1.0);
    assert_eq!(script.running(), ["c1_0", "c1_0/2"], "the writer's own time begins with its body");
    assert!(script.resolved(1)["result"]["text"].as_str().unwrap().contains("timed out after 50 ms"));
    assert!(message(&script, 3).starts_with("parent settled: "));
    let events = script.events("t");
    let of = |kind: &str, id: &str| events.iter().position(|event| event["type"] == kind && event["callId"] == id);
    assert!(of("tool.failed", "c1_0/1/1").unwrap() < of("tool.completed", "c1_0/1").unwrap());
}

#[test]
fn nc_69_one_terminal_event_although_an_observer_hangs() {
    let mut script = turn(1, json!({"hookTimeoutMs": 1_000}), json!({"hooks": {"observeNestedResult": true}}));
    script.always("hooks", Step::Hang).call_tool("c1_0", 1, "read").return_from("c1_0/1");
    assert_eq!(script.resolved(1), Value::Null);
    script.stop("t", false);
    let ends = |kind: &str| script.events_of("t", kind).iter().filter(|event| event["callId"] == "c1_0/1").count();
    assert_eq!((ends("tool.failed"), ends("tool.completed")), (1, 0));
    assert_eq!((script.resolved(1)["error"]["code"].clone(), script.waiting()), (json!("CANCELLED"), 0));
}

#[test]
fn what_was_prepared_for_a_body_that_never_runs_is_released() {
    let mut script =
        Script::with_options([agent("a").tool(tool("x").set("prepares", json!(true)))], json!({"ledger": "abort"}));
    script.on("a", [calls([call("x", json!({}))]), text("done")]).on("ledger", [super::script::thrown("no disk")]);
    script.run();
    assert_eq!((script.commands("release").len(), script.bodies("x").len()), (1, 0));
}
