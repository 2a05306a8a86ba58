//! Deliverables: the submit tool, and what a completed contract means.

use serde_json::{Value, json};

use crate::tests::script::{
    Script, Step, after, agent, as_tool, ask, call, call_as, calls, note, note_schema, owing, result, submit, text,
    tool,
};

#[test]
fn nt_15_the_submit_tool_is_offered_and_costs_no_tool_call() {
    let mut script = owing(0, 5);
    script.on("b", [calls([submit(note())])]).run();
    assert_eq!(script.output("t"), json!({"ok": true, "deliverable": note()}));
    assert_eq!(script.used("t.1")["toolCalls"], 0);
    let open = script.commands("open")[1];
    assert_eq!((&open["submit"], &open["tools"]), (&json!(0), &json!([0])));
    assert!(script.commands("open")[0]["submit"].is_null());
}

#[test]
fn nt_15_without_a_contract_there_is_no_submit_tool() {
    let mut script = Script::new([agent("a").emits("note", note_schema())]);
    script.on("a", [calls([submit(note())]), text("done")]).run();
    assert!(script.output("t").as_str().unwrap().starts_with("tool not found: submit_note"));
}

#[test]
fn nt_16_the_other_calls_of_the_step_settle_first() {
    let mut script = owing(0, 5);
    script.on("b", [calls([submit(note()), call("look", json!({})), submit(json!({"agent": "y", "id": 2}))])]);
    script.on("look", [after(20.0, result(json!("seen")))]).run();
    let values: Vec<_> = script.outputs("t.1").iter().map(|output| output["value"].clone()).collect();
    assert_eq!(
        values,
        [json!({"ok": true}), json!("seen"), json!("the deliverable was already accepted in this step")]
    );
    assert_eq!(script.output("t")["deliverable"], note());
    assert_eq!(script.used("t.1")["timeMs"], 20.0);
    assert_eq!(script.model_calls("t.1").len(), 1);
}

#[test]
fn nt_16_bl_051_a_deliverable_is_never_cut() {
    let long = "x".repeat(200_000);
    let mut script = Script::new([
        agent("a").limits(json!({"toolResultBytes": 16_384})).tool(as_tool("b").deliverable("note", 0)),
        agent("b").limits(json!({"toolResultBytes": 16_384})).emits("note", json!({"type": "string"})),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([submit(json!(long))])]).run();
    assert_eq!(script.output("t")["deliverable"], json!(long));
}

#[test]
fn nt_17_bl_046_an_invalid_submit_is_answered_with_paths_and_rules() {
    let mut script = owing(0, 5);
    script.on("b", [calls([submit(json!({"to": "x"}))]), calls([submit(note())])]).run();
    let answer = &script.outputs("t.1")[0];
    assert_eq!(answer["type"], "error-text");
    let answer = answer["value"].as_str().unwrap().to_owned();
    assert!(["/agent", "/id", "to"].iter().all(|word| answer.contains(word)), "{answer}");
    let submits = &script.record("t.1")["submits"];
    assert_eq!((&submits["tried"], &submits["accepted"]), (&json!(2), &json!(2)));
    assert_eq!(submits["rejected"][0]["payload"], json!({"to": "x"}));
    assert_eq!(script.model_calls("t.1").len(), 2);
}

#[test]
fn nt_17_the_explanation_is_bounded() {
    let properties: Value = (0..40)
        .map(|index| (format!("field{index}"), json!({"type": "string"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let names: Vec<String> = (0..40).map(|index| format!("field{index}")).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names});
    let mut script =
        Script::new([agent("a").tool(as_tool("b").deliverable("note", 0)), agent("b").emits("note", schema)]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([submit(json!({}))]), text("I give up")]).run();
    let cause = script.cause("t.1");
    assert_eq!(cause["issues"].as_array().unwrap().len(), 10);
    assert!(script.outputs("t.1")[0]["value"].as_str().unwrap().len() < 2_200);
}

#[test]
fn nt_17_a_submit_that_is_not_json_says_so() {
    let mut script = owing(0, 5);
    script.on("b", [calls([call_as("x", "submit_note", "{\"agent\":")]), calls([submit(note())])]).run();
    assert!(script.outputs("t.1")[0]["value"].as_str().unwrap().contains("invalid JSON"));
    assert_eq!(script.status("t.1"), "completed");
}

#[test]
fn nt_19_bl_044_the_record_tells_how_many_submits_were_tried() {
    let mut script = owing(2, 1);
    script.on("b", [text("no"), calls([submit(json!({}))]), calls([submit(note())])]).run();
    let submits = &script.record("t.1")["submits"];
    assert_eq!((&submits["tried"], &submits["accepted"]), (&json!(2), &json!(2)));
}

#[test]
fn nt_20_bl_048_a_contract_changes_no_argument_of_other_tools() {
    let raw = "{ \"b\": 1.0, \"a\" : [1e3,null] }";
    let args = |contract: bool| {
        let connection = as_tool("b");
        let connection = if contract { connection.deliverable("note", 0) } else { connection };
        let mut script =
            Script::new([agent("a").tool(connection), agent("b").tool(tool("look")).emits("note", note_schema())]);
        script.on("a", [ask("b"), text("done")]);
        script.on("b", [calls([call_as("x", "look", raw)]), calls([submit(note())]), text("done")]).run();
        script.bodies("look")
    };
    assert_eq!(args(true), args(false));
}

#[test]
fn bl_049_a_child_may_have_tools_and_a_contract() {
    let mut script = owing(0, 5);
    script.on(
        "b",
        [calls([call("look", json!({"n": 1}))]), calls([call("look", json!({"n": 2}))]), calls([submit(note())])],
    );
    script.run();
    assert_eq!(script.bodies("look").len(), 2);
    assert_eq!(script.output("t")["deliverable"], note());
}

#[test]
fn d_15_the_submit_tool_is_no_call() {
    let mut script = owing(0, 5);
    script.on("b", [calls([submit(note())])]).run();
    let kinds: Vec<_> = script.events("t.1").iter().map(|event| event["type"].clone()).collect();
    assert_eq!(kinds, ["turn.started", "step.started", "step.completed", "part.emitted", "turn.completed"]);
}

#[test]
fn d_15_parts_that_are_no_objects_are_wrapped_for_the_model() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").deliverable("note", 0)),
        agent("b").emits_as("note", json!({"type": "string"}), json!({"wrapped": true})),
    ]);
    script.on("a", [ask("b"), text("done")]);
    script.on("b", [calls([submit(json!("bare"))]), calls([submit(json!({"value": "wrapped"}))])]).run();
    assert_eq!(script.output("t")["deliverable"], "wrapped");
    assert_eq!(script.outputs("t.1")[0]["type"], "error-text");
}

#[test]
fn d_26_a_standard_schema_has_the_last_word_on_a_part() {
    let mut script = Script::new([
        agent("a").tool(as_tool("b").deliverable("note", 0)),
        agent("b").emits_as("note", note_schema(), json!({"standard": true})),
    ]);
    script.on("a", [ask("b"), text("done")]).on("b", [calls([submit(note())]), calls([submit(note())])]);
    let issues = json!([{"path": "/id", "message": "must be even"}]);
    script.on(
        "preparePart",
        [Step::Answer(json!({"invalid": issues})), Step::Answer(json!({"ok": {"value": {"id": 2}}}))],
    );
    script.run();
    assert!(script.outputs("t.1")[0]["value"].as_str().unwrap().contains("must be even"));
    assert_eq!(script.output("t")["deliverable"], json!({"id": 2}));
}

#[test]
fn d_30_a_contract_may_stand_on_the_root() {
    let mut script = Script::new([agent("a").emits("note", note_schema())]);
    script.on("a", [text("no"), calls([submit(note())])]);
    script.run_with(json!({"contract": {"part": 0, "nudges": 1}}));
    assert_eq!(script.result()["deliverable"], note());
}
