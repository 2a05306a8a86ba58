//! What a model writes: call ids, tool names and arguments that nobody should have to trust.

use serde_json::{Value, json};

use crate::tests::script::{Script, Step, agent, call, call_as, calls, ok, reply, text, tool};

fn needs_a() -> Value {
    json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}})
}

fn with_look() -> Script {
    Script::new([agent("a").tool(tool("look"))])
}

#[test]
fn d_14_bl_063_ids_that_restart_with_each_reply_are_told_apart() {
    let mut script = with_look();
    for n in 0..5 {
        script.on("a", [calls([call_as("call_0", "look", &json!({ "n": n }).to_string())])]);
    }
    script.on("a", [text("done")]).run();
    assert_eq!(script.bodies("look").len(), 5);
    let ids: Vec<_> = script.events_of("t", "tool.started").iter().map(|event| event["callId"].clone()).collect();
    assert_eq!(ids, ["call_0", "c2_0", "c3_0", "c4_0", "c5_0"]);
    for message in script.transcript("t").iter().filter(|message| message["content"].is_array()) {
        let id = &message["content"][0]["toolCallId"];
        assert!(id.is_null() || id == "call_0", "the provider's id stays paired: {id}");
    }
}

#[test]
fn d_14_ids_that_cannot_serve_get_one_of_ours() {
    let fits = "x".repeat(64);
    let too_long = "x".repeat(65);
    for (given, ours, paired) in [
        (fits.as_str(), fits.as_str(), fits.as_str()),
        (&too_long, "c1_0", &too_long),
        ("a/b", "c1_0", "a/b"),
        ("", "c1_0", "c1_0"),
    ] {
        let mut script = with_look();
        script.on("a", [calls([call_as(given, "look", "{}")]), text("done")]).run();
        assert_eq!(script.events_of("t", "tool.started")[0]["callId"], ours);
        for index in [1, 2] {
            assert_eq!(script.transcript("t")[index]["content"][0]["toolCallId"], paired);
        }
    }
}

#[test]
fn d_14_a_provider_that_writes_our_ids_confuses_nobody() {
    for ids in [["", "c1_0"], ["c1_1", "c1_1"], ["c1_1", ""], ["c1_0", "c1_0"]] {
        let mut script = with_look();
        script.on("a", [reply(ids.iter().map(|id| call_as(id, "look", "{}")).collect()), text("done")]).run();
        let started = script.events_of("t", "tool.started");
        assert_ne!(started[0]["callId"], started[1]["callId"], "{ids:?}");
        let transcript = script.transcript("t");
        let paired = |message: usize, part: usize| transcript[message]["content"][part]["toolCallId"].clone();
        assert_ne!(paired(1, 0), paired(1, 1), "{ids:?}");
        assert_eq!((paired(1, 0), paired(1, 1)), (paired(2, 0), paired(2, 1)));
    }
}

#[test]
fn nt_41_bl_085_an_unknown_tool_is_answered_with_those_that_exist() {
    let mut script = Script::new([agent("a").tool(tool("look")).tool(tool("find"))]);
    script.on("a", [calls([call("lok", json!({}))]), text("done")]).run();
    assert_eq!(script.output("t"), "tool not found: lok\navailable tools: look, find");
    let refused = script.events_of("t", "tool.refused");
    assert_eq!(refused[0]["error"], json!({"code": "TOOL_NOT_FOUND", "message": "tool not found: lok"}));
    assert!(script.events_of("t", "tool.started").is_empty());
}

#[test]
fn nt_41_bl_080_arguments_that_are_not_json_enter_no_body() {
    for input in ["{\"a\":", "abc", "{\"a\":1}}"] {
        let mut script = Script::new([agent("a").tool(tool("look").schema(needs_a()))]);
        script.on("a", [calls([call_as("x", "look", input)]), text("done")]).run();
        let answer = script.output("t").as_str().unwrap().to_owned();
        assert!(answer.contains("invalid JSON") && answer.contains("'look'"), "{answer}");
        assert!(script.bodies("look").is_empty());
        assert_eq!(script.used("t")["toolCalls"], 0);
    }
}

#[test]
fn nt_41_bl_081_arguments_that_are_no_objects_hurt_nobody_else() {
    let garbage = "g".repeat(5_000_000);
    for input in ["null", "[]", "\"x\"", "3", "true", &garbage] {
        let mut script = with_look();
        script.on("a", [calls([call_as("x", "look", input), call("look", json!({"a": 1}))]), text("done")]).run();
        let outputs = script.outputs("t");
        assert_eq!(outputs[0]["type"], "error-text");
        assert!(outputs[0]["value"].as_str().unwrap().len() < 2_048);
        assert_eq!(script.bodies("look"), [json!({"a": 1})]);
    }
}

#[test]
fn bl_082_empty_arguments_are_an_empty_object() {
    for input in ["", "   "] {
        let mut script = with_look();
        script.on("a", [calls([call_as("x", "look", input)]), text("done")]).run();
        assert_eq!(script.bodies("look"), [json!({})]);

        let mut script = Script::new([agent("a").tool(tool("look").schema(needs_a()))]);
        script.on("a", [calls([call_as("x", "look", input)]), text("done")]).run();
        assert!(script.output("t").as_str().unwrap().contains("/a"));
        assert_eq!(script.status("t"), "completed");
    }
}

#[test]
fn nt_41_invalid_arguments_are_answered_or_fail_the_turn_or_are_repaired() {
    for (policy, status, bodies) in [
        (json!({}), "completed", 0),
        (json!({"invalidArgs": "returnToolError"}), "completed", 0),
        (json!({"invalidArgs": "fail"}), "failed", 0),
        (json!({"invalidArgs": "normalizeThenReturnToolError"}), "completed", 1),
    ] {
        let mut script = Script::new([agent("a").limits(policy).tool(tool("look").schema(needs_a()))]);
        script.on("a", [calls([call("look", json!({"a": "5"}))]), text("done")]).run();
        assert_eq!((script.status("t").as_str(), script.bodies("look").len()), (status, bodies));
        if status == "failed" {
            assert_eq!(
                (script.code("t"), &script.cause("t")["issues"][0]["path"]),
                ("VALIDATION".into(), &json!("/a"))
            );
        }
    }
}

#[test]
fn d_25_arguments_reach_the_body_byte_for_byte_and_bounded_in_depth() {
    let mut script = with_look();
    let raw = "{ \"n\": 1.00, \"s\":\"\\ud800\", \"b\" : 12345678901234567890123 }";
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(128), "]".repeat(128));
    script.on("a", [calls([call_as("x", "look", raw), call_as("y", "look", &deep)]), text("done")]);
    script.run();
    let call = &script.commands("call")[0];
    assert_eq!(call["args"]["s"], "\u{fffd}", "as far as this reader can tell");
    assert!(script.text.contains(&format!("\"x\",{raw},null,false]")), "the last fields of its call");
    assert_eq!(script.commands("call").len(), 1);
    assert_eq!(script.events_of("t", "tool.refused")[0]["error"]["code"], "VALUE_TOO_DEEP");
}

#[test]
fn d_26_the_host_has_the_last_word_on_prepared_arguments() {
    let mut script = Script::new([agent("a").tool(tool("look").set("prepares", json!(true)))]);
    script.on("a", [calls([call("look", json!({"n": 1})), call("look", json!({"n": 2}))]), text("done")]);
    let invalid = json!({"invalid": [{"path": "/n", "message": "must be even"}]});
    script.on("prepare", [Step::Answer(invalid), ok(json!({"kept": 1}))]).run();
    assert!(script.outputs("t")[0]["value"].as_str().unwrap().contains("must be even"));
    assert_eq!(script.bodies("look"), [Value::Null], "the host kept the arguments");
}
