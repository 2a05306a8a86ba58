//! Model calls: retries, replies that nobody should have to trust, and answers that are none.

use serde_json::json;

use crate::tests::script::{Script, Step, agent, as_tool, ask, call, calls, model_error, reply, text, tool};

fn alone(limits: serde_json::Value) -> Script {
    Script::new([agent("a").budget(json!({"steps": 1})).limits(limits).tool(tool("look"))])
}

#[test]
fn nt_40_retryable_errors_are_retried_within_the_step() {
    let mut script = alone(json!({}));
    script.on("a", [model_error(true), model_error(true), model_error(true), text("done")]).run();
    assert_eq!(script.status("t"), "completed");
    assert_eq!(script.used("t")["steps"], 1);
    assert_eq!(script.model_calls("t").len(), 4);
    let restarted = script.events_of("t", "step.restarted");
    let attempts: Vec<_> = restarted.iter().map(|event| (event["step"].clone(), event["attempt"].clone())).collect();
    assert_eq!(attempts, (2..=4).map(|attempt| (json!(1), json!(attempt))).collect::<Vec<_>>());
    assert_eq!(restarted[0]["reason"]["code"], "MODEL_ERROR");
    assert_eq!(script.model_calls("t")[1]["append"], json!([]), "the host has the messages already");
}

#[test]
fn nt_40_retries_are_bounded() {
    for (limits, made) in [(json!({}), 4), (json!({"maxModelRetries": 1}), 2), (json!({"maxModelRetries": 0}), 1)] {
        let mut script = alone(limits);
        script.always("a", model_error(true)).run();
        assert_eq!((script.code("t"), script.model_calls("t").len()), ("MODEL_ERROR".into(), made));
    }
}

#[test]
fn nt_40_other_errors_fail_at_once() {
    let mut script = alone(json!({}));
    script.on("a", [model_error(false)]).run();
    assert_eq!((script.code("t"), script.model_calls("t").len()), ("MODEL_ERROR".into(), 1));
    assert!(script.cause("t")["message"].as_str().unwrap().contains("overloaded"));
}

#[test]
fn nt_40_retry_after_is_honoured() {
    let mut script = alone(json!({}));
    let later = json!({"error": {"message": "busy", "retryable": true, "retryAfterMs": 9_000}});
    script.on("a", [Step::Answer(later), text("done")]).run();
    assert_eq!(script.used("t")["timeMs"], 9_000.0);
}

#[test]
fn nt_40_a_retry_that_would_come_too_late_is_not_waited_for() {
    for (time_ms, status) in [(9_001.0, "completed"), (9_000.0, "failed")] {
        let mut script = alone(json!({}));
        let later = json!({"error": {"message": "busy", "retryable": true, "retryAfterMs": 9_000}});
        script.on("a", [Step::Answer(later), text("done")]);
        script.run_with(json!({"budget": {"timeMs": time_ms}}));
        assert_eq!(script.status("t"), status);
    }
}

#[test]
fn d_07_jitter_is_a_pure_function_of_who_waits() {
    let waited = |id: &str| {
        let mut script = alone(json!({}));
        script.on("a", [model_error(true), text("done")]);
        script.run_with(json!({ "turnId": id }));
        script.used(id)["timeMs"].as_f64().unwrap()
    };
    assert_eq!(waited("t"), waited("t"));
    let all: Vec<f64> = ["r", "s", "t", "u"].map(waited).to_vec();
    assert!(all.iter().any(|ms| *ms != all[0]), "{all:?}");
    assert!(all.iter().all(|ms| (250.0..=500.0).contains(ms)), "{all:?}");
}

#[test]
fn d_08_a_cut_after_the_first_text_is_final_when_somebody_reads_along() {
    for (stream, status) in [(false, "completed"), (true, "failed")] {
        let mut script = alone(json!({}));
        script.on("a", [Step::Hang, text("done")]).start_with(json!({ "stream": stream }));
        let id = script.effect("model");
        script.letter(id, "delta", json!({"kind": "text", "text": "Hel"}));
        script.answer(id, &json!({"error": {"message": "cut", "retryable": true, "retryAfterMs": null}}));
        script.finish();
        assert_eq!(script.status("t"), status);
    }
}

#[test]
fn d_08_a_cut_before_any_text_is_retried_in_a_stream_too() {
    let mut script = alone(json!({}));
    script.on("a", [Step::Hang, text("done")]).start_with(json!({"stream": true}));
    let id = script.effect("model");
    script.letter(id, "delta", json!({"kind": "reasoning", "text": "Hm"}));
    script.answer(id, &json!({"error": {"message": "cut", "retryable": true, "retryAfterMs": null}})).finish();
    assert_eq!(script.status("t"), "completed");
}

#[test]
fn d_08_a_delta_of_a_call_that_is_over_is_ignored() {
    let mut script = alone(json!({}));
    script.on("a", [model_error(true), Step::Hang]).start_with(json!({"stream": true}));
    let first = script.effect("model");
    script.advance(1_000.0);
    let second = script.effect("model");
    for id in [first, second] {
        script.letter(id, "delta", json!({"kind": "text", "text": "x"}));
    }
    let deltas: Vec<_> =
        script.commands("event").into_iter().filter(|event| event["event"]["type"] == "text.delta").collect();
    assert_eq!((deltas.len(), &deltas[0]["event"]["attempt"]), (1, &json!(2)));
}

#[test]
fn d_08_finish_reasons_are_passed_through() {
    for reason in ["length", "content-filter"] {
        let mut script = alone(json!({}));
        script.on(
            "a",
            [Step::Answer(
                json!({"ok": {"content": [{"type": "text", "text": "half"}], "finishReason": reason, "usage": {}}}),
            )],
        );
        script.run();
        assert_eq!(script.result()["finishReason"], reason);
        assert_eq!(script.events_of("t", "step.completed")[0]["finishReason"], reason);
    }
}

#[test]
fn nt_41_an_empty_reply_ends_the_turn_as_empty() {
    let mut script = alone(json!({}));
    script.on("a", [reply(json!([]))]).run();
    assert_eq!((&script.result()["outcome"]["status"], &script.result()["empty"]), (&json!("completed"), &json!(true)));
    assert_eq!(script.events_of("t", "turn.completed")[0]["empty"], true);
}

#[test]
fn nt_41_parts_that_we_do_not_know_stay_in_the_transcript() {
    let mut script = alone(json!({}));
    let image = json!({"type": "file", "mediaType": "image/png", "data": "AA=="});
    script.on("a", [reply(json!([image, {"type": "text", "text": "done"}]))]).run();
    assert_eq!(script.transcript("t")[1]["content"][0], image);
}

#[test]
fn nt_41_a_call_that_the_provider_ran_is_not_run_again() {
    let mut script = alone(json!({}));
    let ran =
        json!({"type": "tool-call", "toolCallId": "p1", "toolName": "look", "input": "{}", "providerExecuted": true});
    script.on("a", [reply(json!([ran, {"type": "text", "text": "done"}]))]).run();
    assert!(script.bodies("look").is_empty());
    assert_eq!(script.status("t"), "completed");
    assert_eq!(script.transcript("t")[1]["content"][0]["providerExecuted"], true);
}

#[test]
fn d_34_bl_097_a_panic_ends_its_turn_alone() {
    let mut script = Script::new([agent("a").tool(as_tool("b")), agent("b")]);
    script.on("a", [ask("b"), text("coped")]).on("b", [Step::Answer(json!({"nonsense": 1}))]).run();
    assert_eq!(script.code("t.1"), "INTERNAL");
    assert_eq!(script.output("t")["cause"]["code"], "INTERNAL");
    assert_eq!(script.result()["text"], "coped");
    script.on("a", [text("still here")]).run_with(json!({"turnId": "u"}));
    assert_eq!(script.status("u"), "completed");
}

#[test]
fn d_34_a_panic_in_a_call_ends_the_turn_with_every_terminal_event() {
    let mut script = alone(json!({}));
    script.on("a", [calls([call("look", json!({})), call("look", json!({}))])]);
    script.on("look", [Step::Hang, Step::Answer(json!(3))]).run();
    assert_eq!(script.code("t"), "INTERNAL");
    assert_eq!(script.events_of("t", "tool.started").len(), script.events_of("t", "tool.failed").len());
    assert_eq!(script.waiting(), 0);
}
