//! Child turns: what they begin with, and how they relate to their callers.

use serde_json::json;

use crate::tests::engine::engine;
use crate::tests::script::{Script, Step, agent, as_tool, ask, call, calls, model_error, ok, reply, text, tool};

fn three_levels() -> Script {
    Script::new([
        agent("assistant").set("instructions", json!("Assist.")).tool(as_tool("researcher")),
        agent("researcher").set("instructions", json!("Research.")).tool(as_tool("analyst")),
        agent("analyst").set("instructions", json!("Analyse.")),
    ])
}

#[test]
fn nt_01_a_child_has_its_own_transcript_of_instructions_and_brief() {
    let mut script = Script::new([
        agent("assistant").set("instructions", json!("Assist.")).tool(as_tool("researcher")),
        agent("researcher").set("instructions", json!("Research.")),
    ]);
    let delegates = calls([call("run-researcher", json!({"brief": "Look into it"}))]);
    script.on("assistant", [delegates, text("done")]).on("researcher", [text("found")]);
    script.run();
    assert_eq!(
        script.transcript("t.1"),
        [
            json!({"role": "system", "content": "Research."}),
            json!({"role": "user", "content": "Look into it"}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "found"}]}),
        ]
    );
    let transcript = script.transcript("t");
    assert_eq!(transcript.len(), 5, "the parent's own messages only: {transcript:?}");
    assert_eq!(script.record("t.1")["input"], "Look into it");
}

#[test]
fn nt_01_the_brief_of_a_connection_is_made_by_the_host() {
    let mut script = Script::new([agent("a").tool(as_tool("b").connect("briefs", json!(true))), agent("b")]);
    script.on("a", [ask("b"), text("done")]).on("b", [text("found")]);
    script.on("brief", [ok(json!("made"))]);
    script.run();
    assert_eq!(script.transcript("t.1")[0], json!({"role": "user", "content": "made"}));
    assert_eq!(script.commands("brief")[0]["args"], json!({"brief": "go"}));
}

#[test]
fn nt_02_results_return_to_the_immediate_caller() {
    let mut script = three_levels();
    script.on("assistant", [ask("researcher"), text("final")]);
    script.on("researcher", [ask("analyst"), text("from researcher")]);
    script.on("analyst", [text("from analyst")]);
    script.run();
    let order: Vec<String> = script
        .tree_events("t")
        .iter()
        .filter(|event| event["type"].as_str().is_some_and(|kind| kind.starts_with("turn.")))
        .map(|event| format!("{} {}", event["turnId"].as_str().unwrap(), event["type"].as_str().unwrap()))
        .collect();
    assert_eq!(
        order,
        [
            "t turn.started",
            "t.1 turn.started",
            "t.1.1 turn.started",
            "t.1.1 turn.completed",
            "t.1 turn.completed",
            "t turn.completed"
        ]
    );
    assert_eq!(script.output("t.1")["text"], "from analyst");
    assert_eq!(script.output("t")["text"], "from researcher");
    assert_eq!(script.result()["text"], "final");
    assert_eq!(script.record("t.1.1")["parentTurnId"], "t.1");
    assert_eq!(script.record("t.1.1")["rootTurnId"], "t");
}

#[test]
fn nt_02_a_completed_child_does_not_complete_its_parent() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), model_error(false)]).on("b", [text("found")]);
    script.run();
    assert_eq!(script.status("t.1"), "completed");
    assert_eq!((script.status("t"), script.code("t")), ("failed".into(), "MODEL_ERROR".into()));
}

#[test]
fn nt_03_an_outcome_is_written_once() {
    let mut script = Script::new([agent("a").tool(tool("slow"))]);
    script.on("a", [calls([call("slow", json!({}))])]);
    script.on("slow", [Step::Hang]);
    script.start();
    let late = script.effect("call");
    script.stop("t", false);
    let before = (script.record("t"), script.tree_events("t"), script.transcript("t"));
    script.answer(late, &json!({"result": {"isError": false, "text": "late", "value": null, "metadata": null}}));
    script.stop("t", false).finish();
    assert_eq!(before, (script.record("t"), script.tree_events("t"), script.transcript("t")));
    assert_eq!(script.commands("settled").len(), 1);
    assert_eq!(script.status("t"), "stopped");
}

#[test]
fn nt_04_bl_059_one_definition_runs_in_ten_isolated_turns_at_once() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]);
    let asks = (0..10).map(|index| call("run-b", json!({"brief": format!("brief {index}")})));
    script.on("a", [reply(asks.collect()), text("done")]);
    for index in 1..=10 {
        let look = calls([call("look", json!({ "index": index }))]);
        script.on(&format!("t.{index}"), [look, text(&format!("text {index}"))]);
    }
    script.run();
    for index in 1..=10 {
        let transcript = script.transcript(&format!("t.{index}"));
        assert_eq!(transcript.len(), 4);
        assert_eq!(transcript[0]["content"], format!("brief {}", index - 1));
        assert_eq!(transcript[1]["content"][0]["input"], json!({ "index": index }));
        assert_eq!(transcript[1]["content"][0]["toolCallId"], transcript[2]["content"][0]["toolCallId"]);
    }
    let texts: Vec<_> = script.outputs("t").iter().map(|output| output["value"]["text"].clone()).collect();
    assert_eq!(texts, (1..=10).map(|index| json!(format!("text {index}"))).collect::<Vec<_>>());
}

#[test]
fn bl_060_runs_of_one_session_keep_their_own_transcripts() {
    let engine = engine(&json!({}));
    let mut scripts = ["r1", "r2"].map(|id| {
        let mut script = Script::within(&engine, id, [agent("a").tool(tool("look"))]);
        script.on(id, [calls([call("look", json!({"of": id}))]), text(id)]);
        script.start_with(json!({"messages": [{"role": "user", "content": id}]}));
        script
    });
    for (id, script) in ["r1", "r2"].into_iter().zip(&mut scripts) {
        script.finish();
        let roles: Vec<_> = script.transcript(id).iter().map(|message| message["role"].clone()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
        assert_eq!(script.transcript(id)[0]["content"], id);
        assert_eq!(script.transcript(id)[1]["content"][0]["input"]["of"], id);
    }
}
