//! Steps, tokens, and what happens when they are spent.

use serde_json::json;

use crate::tests::script::{Script, agent, as_tool, ask, brief, call, calls, endless, look, text, tool};

#[test]
fn nt_14_the_last_step_may_answer() {
    let mut script = Script::new([agent("a").budget(json!({"steps": 2})).tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), text("done")]).on("b", [text("found")]);
    script.run();
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn nt_14_bl_015_delegation_on_the_last_step_fails_the_parent() {
    let mut script = Script::new([
        agent("a").budget(json!({"steps": 2})).tool(as_tool("b").deliverable("note", 0)).tool(tool("look")),
        agent("b").emits("note", json!({})),
    ]);
    script.on("a", [look(), ask("b")]).on("b", [calls([call("submit_note", json!("found"))])]);
    script.run();
    assert_eq!(script.code("t"), "BUDGET_STEPS");
    assert_eq!(script.model_calls("t").len(), 2);
    assert_eq!(script.status("t.1"), "completed");
    assert_eq!(script.record("t.1")["parts"][0]["value"], "found");
    assert_eq!(script.result().get("deliverable"), None);
}

#[test]
fn nt_14_on_exhausted_answer_grants_one_step_without_tools() {
    let mut script = endless(json!({"steps": 2, "onExhausted": "answer"}));
    script.on("a", [look(), look(), text("last word")]);
    script.run();
    let result = script.result();
    assert_eq!((&result["outcome"]["status"], &result["text"]), (&json!("completed"), &json!("last word")));
    let offers: Vec<_> = script.model_calls("t").iter().map(|call| call["offer"].clone()).collect();
    assert_eq!(offers, ["all", "all", "nothing"]);
    assert_eq!(script.record("t")["budget"]["answerStep"], true);
    assert_eq!(script.used("t")["steps"], 2);
    assert_eq!(script.events_of("t", "limit.reached")[0]["limit"], "steps");
}

#[test]
fn nt_14_the_answer_step_is_the_last_one() {
    let mut script = endless(json!({"steps": 2, "onExhausted": "answer"}));
    script.run();
    assert_eq!(script.code("t"), "BUDGET_STEPS");
    assert_eq!(script.model_calls("t").len(), 3);
    assert_eq!(script.bodies("look").len(), 2, "a forced call is refused");
}

#[test]
fn d_04_with_a_contract_the_answer_step_offers_the_submit_tool_only() {
    for (last, status, code) in [
        (calls([call("submit_note", json!("ok"))]), "completed", "none"),
        (text("no"), "failed", "DELIVERABLE_MISSING"),
    ] {
        let mut script = Script::new([
            agent("a").tool(as_tool("b").deliverable("note", 3)),
            agent("b").budget(json!({"steps": 1, "onExhausted": "answer"})).tool(tool("look")).emits("note", json!({})),
        ]);
        script.on("a", [ask("b"), text("done")]).on("b", [look(), last]);
        script.run();
        assert_eq!(script.model_calls("t.1")[1]["offer"], "submit");
        assert_eq!((script.status("t.1"), script.code("t.1")), (status.into(), code.into()));
    }
}

#[test]
fn nt_21_bl_007_every_turn_has_its_own_steps() {
    let mut script = Script::new([
        agent("a").budget(json!({"steps": 20})).tool(as_tool("b")).tool(as_tool("c")),
        agent("b").budget(json!({"steps": 3})).tool(tool("look")),
        agent("c").budget(json!({"steps": 12})).tool(tool("look")),
    ]);
    script.on("a", [calls([brief("b"), brief("c")]), text("done")]);
    script.always("b", look()).always("c", look());
    script.run();
    assert_eq!(script.model_calls("t.1").len(), 3);
    assert_eq!(script.model_calls("t.2").len(), 12);
    assert_eq!(script.used("t")["steps"], 2);
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn bl_006_a_child_may_use_all_its_steps_and_no_more() {
    for (granted, status, made) in [(30, "completed", 25), (25, "completed", 25), (24, "failed", 24)] {
        let mut script = Script::new([
            agent("a").tool(as_tool("b").child_budget(json!({"steps": granted}))),
            agent("b").budget(json!({"steps": 1})).tool(tool("look")),
        ]);
        script.on("a", [ask("b"), text("done")]);
        for _ in 0..24 {
            script.on("b", [look()]);
        }
        script.on("b", [text("found")]).run();
        assert_eq!((script.status("t.1").as_str(), script.model_calls("t.1").len()), (status, made));
    }
}

#[test]
fn bl_014_a_limit_is_named_only_where_it_caused_the_end() {
    let mut script = Script::new([agent("a").budget(json!({"steps": 3})).tool(tool("look"))]);
    script.on("a", [look(), look(), text("done")]).run();
    let record = script.record("t");
    assert_eq!((&record["budget"]["used"]["steps"], &record["budget"]["granted"]["steps"]), (&json!(3), &json!(3)));
    assert!(record["outcome"].get("cause").is_none() && record["budget"].get("ceiling").is_none());
    assert!(script.events_of("t", "limit.reached").is_empty());
}

#[test]
fn nt_26_bl_004_the_model_cannot_raise_a_limit() {
    let mut script =
        Script::new([agent("a").tool(as_tool("b")), agent("b").budget(json!({"steps": 4})).tool(tool("look"))]);
    let greedy = json!({"brief": "go", "maxSteps": 50, "budget": {"steps": 50}});
    script.on("a", [calls([call("run-b", greedy)]), text("done")]).always("b", look());
    script.run();
    assert_eq!(script.model_calls("t.1").len(), 4);
    assert_eq!(script.code("t.1"), "BUDGET_STEPS");
}

#[test]
fn d_06_tokens_are_checked_before_each_model_call() {
    for (tokens, made) in [(30, 2), (31, 3)] {
        let mut script = endless(json!({ "tokens": tokens }));
        script.run();
        assert_eq!(script.model_calls("t").len(), made, "15 tokens a call");
        assert_eq!(
            (script.code("t"), &script.cause("t")["limit"]),
            ("BUDGET_TOKENS".into(), &json!(f64::from(tokens)))
        );
    }
}
