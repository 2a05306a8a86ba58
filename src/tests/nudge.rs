//! What becomes of a turn that does not deliver: nudges, and the causes of its failure.

use serde_json::json;

use crate::tests::script::{
    Script, Step, agent, as_tool, ask, brief, call, calls, model_error, note, note_schema, owing, reply, submit, text,
};

#[test]
fn nt_18_bl_047_a_nudge_names_the_submit_tool_and_the_issues() {
    let mut script = owing(1, 2);
    script.on("b", [calls([submit(json!({"to": "x"}))]), text("done?"), calls([submit(note())])]).run();
    assert_eq!(script.status("t.1"), "completed");
    let transcript = script.transcript("t.1");
    let nudge = transcript.iter().rfind(|message| message["role"] == "user").unwrap()["content"].clone();
    let nudge = nudge.as_str().unwrap();
    assert!(["submit_note", "/agent", "/id", "to"].iter().all(|word| nudge.contains(word)), "{nudge}");
    assert_eq!(script.model_calls("t.1")[2]["offer"], "submit");
    assert_eq!(script.record("t.1")["usage"]["nudges"], 1);
    assert_eq!(script.used("t.1")["steps"], 2, "a nudge comes on top of the steps");
    assert_eq!(script.events_of("t.1", "nudge.sent").len(), 1);
}

#[test]
fn nt_18_without_nudges_left_the_deliverable_is_missing_or_invalid() {
    for (nudges, replies, code) in [
        (0, vec![text("no")], "DELIVERABLE_MISSING"),
        (2, vec![text("no"), text("no"), text("no")], "DELIVERABLE_MISSING"),
        (1, vec![text("no"), calls([submit(json!({}))])], "DELIVERABLE_INVALID"),
        (1, vec![text("no"), reply(json!([]))], "DELIVERABLE_MISSING"),
    ] {
        let mut script = owing(nudges, 5);
        let made = replies.len();
        for step in replies {
            script.on("b", [step]);
        }
        script.run();
        assert_eq!((script.code("t.1").as_str(), script.model_calls("t.1").len()), (code, made));
        assert_eq!(script.cause("t.1").get("issues").is_some(), code == "DELIVERABLE_INVALID");
    }
}

#[test]
fn nt_18_other_tools_are_refused_in_a_nudge_round() {
    let mut script = owing(2, 5);
    script.on("b", [text("no"), calls([call("look", json!({}))]), calls([submit(note())])]).run();
    assert!(script.bodies("look").is_empty());
    assert_eq!(script.record("t.1")["usage"]["nudges"], 2);
    assert_eq!(script.status("t.1"), "completed");
}

#[test]
fn nt_18_a_nudge_is_bound_by_time() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").deliverable("note", 1).child_budget(json!({"timeMs": 10}))),
        agent("b").emits("note", note_schema()),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [text("no"), Step::Hang]).run();
    assert_eq!(script.code("t.1"), "BUDGET_TIME");
}

#[test]
fn d_03_an_invalid_submit_on_the_last_step_is_a_spent_budget_with_issues() {
    let mut script = owing(3, 1);
    script.on("b", [calls([submit(json!({}))])]).run();
    assert_eq!(script.code("t.1"), "BUDGET_STEPS");
    assert_eq!(script.cause("t.1")["issues"].as_array().unwrap().len(), 2);
    assert_eq!(script.record("t.1")["usage"]["nudges"], 0);
}

#[test]
fn d_03_a_failing_sibling_wins_over_an_accepted_submit() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").deliverable("note", 0)),
        agent("b").tool(as_tool("c").fails_caller()).emits("note", note_schema()),
        agent("c"),
    ]);
    script.on("a", [ask("b"), text("done")]).on("c", [model_error(false)]);
    script.on("b", [calls([submit(note()), brief("c")])]).run();
    assert_eq!(script.code("t.1"), "CHILD_FAILED");
    assert_eq!(script.record("t.1")["submits"]["accepted"], 1);
    assert_eq!(script.output("t")["ok"], false);
}

#[test]
fn bl_045_one_child_without_its_deliverable_leaves_the_fan_out_alone() {
    for fails in [false, true] {
        let connection = as_tool("b").deliverable("note", 0);
        let connection = if fails { connection.fails_caller() } else { connection };
        let mut script = Script::new([
            agent("a").budget(json!({"toolCalls": 75})).tool(connection),
            agent("b").emits("note", note_schema()),
        ]);
        script.on("a", [reply((0..75).map(|_| brief("b")).collect()), text("done")]);
        script.on("t.40", [text("prose")]).always("b", calls([submit(note())]));
        script.run();
        assert_eq!(script.status("t"), if fails { "failed" } else { "completed" });
        if !fails {
            let oks = script.outputs("t").iter().filter(|output| output["value"]["ok"] == true).count();
            assert_eq!(oks, 74);
        }
    }
}
