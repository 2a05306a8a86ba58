//! Ceilings over a whole tree of turns, and its depth.

use serde_json::json;

use crate::tests::script::{
    Script, after, agent, as_tool, ask, brief, call, calls, endless, look, looks, ok, result, text, tool,
};

#[test]
fn nt_25_bl_016_the_trees_cost_is_known_before_the_next_model_call() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    let paid = |text: &str, cost: f64| {
        ok(json!({"content": [{"type": "text", "text": text}], "finishReason": "stop",
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2, "costUsd": cost}}))
    };
    script.on("a", [calls([brief("b"), brief("b")]), text("never sent")]);
    script.always("b", paid("found", 0.6));
    script.run_with(json!({"limits": {"tree": {"costUsd": 1.0}}}));
    assert_eq!(script.model_calls("t").len(), 1);
    assert_eq!(script.code("t"), "TREE_LIMIT");
    assert_eq!(script.record("t")["treeUsage"]["costUsd"], 1.2);
    assert!(script.record("t")["usage"].get("costUsd").is_none());
}

#[test]
fn nt_25_tree_steps_bind_every_turn_of_the_tree() {
    for (ceiling, root, child) in [(4, "completed", "completed"), (3, "failed", "completed"), (2, "failed", "failed")] {
        let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
        script.on("a", [ask("b"), text("done")]).on("b", [look(), text("found")]);
        script.run_with(json!({"limits": {"tree": {"steps": ceiling}}}));
        assert_eq!((script.status("t").as_str(), script.status("t.1").as_str()), (root, child));
        assert!(script.commands("model").len() <= ceiling);
        if child == "failed" {
            assert_eq!(script.code("t.1"), "TREE_LIMIT");
        }
    }
}

#[test]
fn nt_25_a_step_that_the_tree_refused_is_not_counted_as_used() {
    let mut script = endless(json!({}));
    script.run_with(json!({"limits": {"tree": {"steps": 2}}}));
    assert_eq!(script.code("t"), "TREE_LIMIT");
    assert_eq!(script.used("t")["steps"], 2);
}

#[test]
fn nt_25_tree_tool_calls_are_charged_at_reservation() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
    script.on("a", [calls([brief("b"), brief("b"), brief("b")]), text("done")]).always("b", looks(2));
    script.always("look", after(1.0, result(json!(1))));
    script.run_with(json!({"limits": {"tree": {"toolCalls": 6}}}));
    assert_eq!(script.bodies("look").len(), 3, "three delegations and three looks");
    assert_eq!(script.code("t.3"), "TREE_LIMIT");
    assert_eq!(script.events_of("t.2", "limit.reached")[0]["limit"], "tree");
}

#[test]
fn nt_25_a_narrower_tree_ceiling_binds_its_subtree() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").connect("limits", json!({"tree": {"steps": 2}}))).tool(tool("look")),
        agent("b").tool(tool("look")),
    ]);
    script.on("a", [ask("b"), look(), look(), text("done")]).always("b", look());
    script.run_with(json!({"limits": {"tree": {"steps": 100}}}));
    assert_eq!((script.code("t.1"), script.model_calls("t.1").len()), ("TREE_LIMIT".into(), 2));
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn bl_012_bl_013_bl_018_depth_is_bounded() {
    let mut script = Script::new([agent("a").budget(json!({"steps": 5})).tool(as_tool("a"))]);
    script.always("a", ask("a"));
    script.run_with(json!({"limits": {"maxDepth": 3}}));
    assert_eq!(script.offered("t.1.1"), ["run-a"]);
    assert!(script.offered("t.1.1.1").is_empty(), "at the cap it is not listed");
    assert_eq!(script.status("t.1.1.1.1"), "absent");
    let refused = script.events_of("t.1.1.1", "tool.refused");
    assert_eq!(refused[0]["error"]["code"], "DEPTH");
    assert_eq!(script.used("t.1.1.1")["toolCalls"], 0, "the slot is released");
    assert!(script.commands("open").iter().all(|open| open["turnId"].as_str().unwrap().len() <= "t.1.1.1".len()));
}

#[test]
fn d_18_an_agent_may_lower_the_depth_of_its_tree_but_not_raise_it() {
    for (run, keel, own, deepest) in [
        (json!({"maxDepth": 1}), json!({}), json!({"maxDepth": 5}), "t.1"),
        (json!({}), json!({"maxDepth": 1}), json!({"maxDepth": 5}), "t.1"),
        (json!({"maxDepth": 3}), json!({}), json!({"maxDepth": 1}), "t.1"),
        (json!({"maxDepth": 2}), json!({"maxDepth": 1}), json!({}), "t.1.1"),
        (json!({}), json!({}), json!({"maxDepth": 20}), "t.1.1.1.1.1.1.1.1"),
    ] {
        let agents = [agent("a").budget(json!({"steps": 2})).limits(own).tool(as_tool("a"))];
        let mut script = Script::with_options(agents, json!({ "limits": keel }));
        script.always("a", ask("a"));
        script.run_with(json!({ "limits": run }));
        let opens = script.commands("open").into_iter();
        let longest = opens.map(|open| open["turnId"].as_str().unwrap().len()).max();
        assert_eq!(longest, Some(deepest.len()));
    }
}

#[test]
fn d_18_an_agent_cannot_lift_the_ceiling_of_the_keels_trees() {
    let agents = [agent("a").limits(json!({"tree": {"steps": 9}})).tool(tool("look"))];
    let mut script = Script::with_options(agents, json!({"limits": {"tree": {"steps": 2}}}));
    script.always("a", look()).run();
    assert_eq!(script.model_calls("t").len(), 2);
}

#[test]
fn nt_25_a_refused_call_gives_its_slot_of_the_tree_back() {
    let mut script = Script::new([agent("a").tool(tool("look"))]);
    script.on("a", [calls([call("nothing", json!({})), call("look", json!({}))]), text("done")]);
    script.run_with(json!({"limits": {"tree": {"toolCalls": 1}}}));
    assert_eq!(script.status("t"), "completed");
    assert_eq!(script.bodies("look").len(), 1);
}
