//! Who may use what, and what a model is offered.

use serde_json::{Value, json};

use crate::tests::script::{Script, Step, agent, as_tool, ask, call, calls, ok, text, tool};

fn identity(scopes: &[&str]) -> Value {
    json!({"authenticated": true, "scopes": scopes})
}

/// An agent with one tool of each rule.
fn guarded(grants: &[&str]) -> Script {
    let mut script = Script::new([agent("a")
        .set("grants", json!(grants))
        .tool(tool("open"))
        .tool(tool("known").access("authenticated"))
        .tool(tool("scoped").scopes(&["read", "write"]))
        .tool(tool("asked").access("predicate"))]);
    let all = ["open", "known", "scoped", "asked"].map(|id| call(id, json!({})));
    script.on("a", [calls(all), text("done")]);
    script
}

fn refused(script: &Script) -> Vec<Value> {
    let refusals = script.events_of("t", "tool.refused");
    refusals.iter().map(|event| event["toolId"].clone()).collect()
}

#[test]
fn nt_33_every_rule_is_checked_before_anything_runs() {
    let mut script = guarded(&["read", "write"]);
    script.on("access", [ok(json!(true))]).run_with(identity(&["read", "write"]));
    assert!(refused(&script).is_empty());

    let mut script = guarded(&["read", "write"]);
    script.on("access", [ok(json!(false))]).run_with(identity(&["read"]));
    assert_eq!(refused(&script), ["scoped", "asked"]);
    assert!(script.bodies("scoped").is_empty() && script.bodies("asked").is_empty());
    assert_eq!(script.events_of("t", "tool.refused")[0]["error"]["code"], "ACCESS_DENIED");
    assert_eq!(script.used("t")["toolCalls"], 2, "a refused call gives its slot back");

    let mut script = guarded(&["read", "write"]);
    script.on("access", [ok(json!(false))]).run();
    assert_eq!(refused(&script), ["known", "scoped", "asked"]);
}

#[test]
fn nt_33_bl_076_a_predicate_admits_by_an_explicit_yes_only() {
    for answer in [json!({"ok": false}), json!({"thrown": {"code": null, "message": "broken"}})] {
        let mut script = guarded(&[]);
        script.on("access", [Step::Answer(answer)]).run();
        assert!(script.bodies("asked").is_empty());
    }
}

#[test]
fn nt_33_tools_that_can_never_be_used_are_not_offered() {
    let mut script = guarded(&["read", "write"]);
    script.run_with(identity(&["read"]));
    assert_eq!(script.offered("t"), ["open", "known", "asked"]);
    let mut script = guarded(&["read", "write"]);
    script.run();
    assert_eq!(script.offered("t"), ["open", "asked"]);
}

#[test]
fn nt_32_a_turn_may_use_the_ambient_scopes_within_its_agents_grants() {
    for (ambient, grants, may) in [
        (vec!["read", "write"], vec!["read", "write"], true),
        (vec!["read", "write", "more"], vec!["read", "write", "other"], true),
        (vec!["read", "write"], vec!["read"], false),
        (vec!["read"], vec!["read", "write"], false),
        (vec!["read", "write"], vec![], false),
    ] {
        let mut script = guarded(&grants);
        script.run_with(identity(&ambient));
        assert_eq!(script.bodies("scoped").len() == 1, may, "{ambient:?} within {grants:?}");
    }
}

#[test]
fn nt_31_a_child_gets_the_roots_scopes_not_its_callers_grants() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b")),
        agent("b").set("grants", json!(["read"])).tool(tool("look").scopes(&["read"])),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("look", json!({}))]), text("found")]);
    script.run_with(identity(&["read"]));
    assert_eq!(script.bodies("look").len(), 1);
    assert_eq!(script.commands("open")[0]["scopes"], json!([]));
    assert_eq!(script.commands("open")[1]["scopes"], json!(["read"]));
}

#[test]
fn nt_31_narrow_removes_scopes_for_the_whole_subtree_and_adds_none() {
    let reader =
        |id: &str| agent(id).set("grants", json!(["read", "write", "root"])).tool(tool("look").scopes(&["write"]));
    for (narrow, may) in [(vec!["write", "root"], true), (vec!["read"], false)] {
        let mut script = Script::new([
            agent("a").tool(as_tool("b").connect("narrow", json!(narrow))),
            reader("b").tool(as_tool("c")),
            reader("c"),
        ]);
        script.on("a", [ask("b"), text("done")]).on("b", [ask("c"), text("done")]);
        script.on("c", [calls([call("look", json!({}))]), text("done")]);
        script.run_with(identity(&["read", "write"]));
        assert_eq!(script.bodies("look").len() == 1, may);
        let scopes = script.commands("open")[2]["scopes"].clone();
        assert!(!scopes.as_array().unwrap().contains(&json!("root")));
    }
}

#[test]
fn nt_32_a_source_that_the_turn_may_not_read_fails_it() {
    for (scopes, status) in [(vec!["read"], "completed"), (vec![], "failed")] {
        let mut script = Script::new([agent("a")
            .set("grants", json!(["read"]))
            .reads("handbook", json!({"type": "scopes", "scopes": ["read"]}))]);
        script.on("instructions", [ok(json!("By the book."))]).on("a", [text("done")]);
        script.run_with(identity(&scopes));
        assert_eq!(script.status("t"), status);
        if status == "failed" {
            assert_eq!(script.code("t"), "ACCESS_DENIED");
            assert!(script.commands("model").is_empty());
        } else {
            assert_eq!(script.transcript("t")[0], json!({"role": "system", "content": "By the book."}));
        }
    }
}

#[test]
fn instructions_that_throw_fail_the_turn_before_its_first_step() {
    let mut script = Script::new([agent("a").set("prepares", json!(true))]);
    script.on("instructions", [crate::tests::script::thrown("no template")]).run();
    assert_eq!(script.code("t"), "INSTRUCTIONS_FAILED");
    assert!(script.cause("t")["message"].as_str().unwrap().contains("no template"));
}

#[test]
fn d_21_deferred_tools_are_callable_and_hidden_ones_are_not() {
    let mut script = Script::new([agent("a")
        .tool(tool("listed"))
        .tool(tool("deferred").set("exposure", json!("deferred")))
        .tool(tool("hidden").set("exposure", json!("hidden")))]);
    let all = ["listed", "deferred", "hidden"].map(|id| call(id, json!({})));
    script.on("a", [calls(all), text("done")]).run();
    assert_eq!(script.offered("t"), ["listed"]);
    assert_eq!(script.bodies("deferred").len(), 1);
    assert!(script.bodies("hidden").is_empty());
    assert_eq!(script.events_of("t", "tool.refused")[0]["error"]["message"], "tool not found: hidden");
}

#[test]
fn bl_072_a_child_cannot_call_its_parents_tools() {
    let mut script = Script::new([agent("a").tool(as_tool("b")).tool(tool("mine")), agent("b").tool(tool("yours"))]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([call("mine", json!({}))]), text("done")]).run();
    assert_eq!(script.output("t.1"), "tool not found: mine\navailable tools: yours");
}

#[test]
fn max_uses_bounds_the_bodies_of_a_turn() {
    let mut script = Script::new([agent("a").tool(tool("look").set("maxUses", json!(2)))]);
    let look = || call("look", json!({}));
    script.on("a", [calls([look(), look(), look()]), text("done")]).run();
    assert_eq!(script.bodies("look").len(), 2);
    assert_eq!(script.events_of("t", "tool.refused").len(), 1);
    assert_eq!(script.status("t"), "completed");
}
