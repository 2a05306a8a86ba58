//! What holds of every tree that is over, whatever happened: read from its events and records, as anybody could.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::calls::{self, Calls};
use super::host::{Host, within};

pub fn check_tree(host: &Host, root: &str) {
    let events = host.query("events", &json!({"turnId": root, "tree": true}));
    let events = events.as_array().expect("the tree has events");
    let log = Log::read(host, events);
    check_stream(host, root, events);
    let turns: Vec<&String> = host.agent_of.keys().filter(|id| within(id, root)).collect();
    assert_eq!(turns.len(), log.turns.len(), "every turn tells its start");
    for turn_id in turns {
        let view = host.query("record", &json!({"turnId": turn_id}));
        let seen = &log.turns[turn_id.as_str()];
        check_record(&view["record"], seen);
        calls::check(host, turn_id, &view["record"]["budget"]["used"], seen);
        // Who was called by a tool or through wrap layers may be dropped by these, too.
        if !host.wraps && !seen.called_by.as_ref().is_some_and(|call| call.contains('/')) {
            check_cut(host, &view["record"]);
        }
        check_transcript(&view);
        check_usage(host, turn_id, &view["record"]);
        let ceiling = &host.agents[host.agent_of[turn_id]].tree;
        check_ceiling(host, &log, turn_id, ceiling);
    }
    check_ceiling(host, &log, root, &host.run_trees[root]);
}

#[derive(Default)]
pub struct Seen {
    called_by: Option<String>,
    ended: Option<String>,
    steps: u32,
    pub calls: Calls,
    /// Calls that opened turns.
    pub delegated: BTreeSet<String>,
    limits: BTreeSet<String>,
}

struct Log<'a> {
    turns: BTreeMap<&'a str, Seen>,
    /// One call may open several turns: its wrap layers may run it several times.
    wraps: bool,
}

impl<'a> Log<'a> {
    fn read(host: &Host, events: &'a [Value]) -> Self {
        let mut log = Self { turns: BTreeMap::new(), wraps: host.wraps };
        let mut last_seq = 0;
        for event in events {
            let seq = event["seq"].as_u64().expect("an event has a number");
            assert!(seq > last_seq, "seq {seq} after {last_seq}");
            last_seq = seq;
            log.see(event);
        }
        for (turn_id, seen) in &log.turns {
            assert!(seen.ended.is_some(), "{turn_id} has no terminal event");
        }
        log
    }

    fn see(&mut self, event: &'a Value) {
        let turn_id = event["turnId"].as_str().expect("an event has a turn");
        let kind = event["type"].as_str().expect("an event has a type");
        if kind == "turn.started" {
            let parent = event["parentTurnId"].as_str();
            assert!(parent.is_none_or(|parent| self.turns[parent].ended.is_none()), "{turn_id} begins too late");
            let seen =
                Seen { called_by: parent.map(|parent| format!("{parent} {}", event["callId"])), ..Seen::default() };
            let attempts = self.turns.values().filter(|other| parent.is_some() && other.called_by == seen.called_by);
            let attempts: Vec<&Seen> = attempts.collect();
            if !self.wraps {
                assert!(attempts.iter().all(|other| other.ended.is_some()), "one attempt at a time");
                assert_eq!(event["attempt"], attempts.len() + 1, "{turn_id}: attempts are counted");
            }
            assert!(self.turns.insert(turn_id, seen).is_none(), "{turn_id} begins once");
            if let Some(caller) = parent.and_then(|parent| self.turns.get_mut(parent)) {
                caller.delegated.extend(event["callId"].as_str().map(str::to_owned));
            }
            return;
        }
        let is_end = matches!(kind, "turn.completed" | "turn.failed" | "turn.stopped");
        if is_end {
            let mut below = self.turns.iter().filter(|(id, _)| **id != turn_id && within(id, turn_id));
            assert!(below.all(|(_, seen)| seen.ended.is_some()), "{turn_id} ends before its children");
        }
        let seen = self.turns.get_mut(turn_id).expect("a turn begins first");
        assert_eq!(seen.ended, None, "{kind} of {turn_id} after its end");
        match kind {
            _ if is_end => {
                assert!(seen.calls.running.is_empty(), "{turn_id} ends before {:?}", seen.calls.running);
                seen.ended = Some(kind.trim_start_matches("turn.").to_owned());
            }
            "step.started" => seen.steps += 1,
            _ if kind.starts_with("tool.") => seen.calls.see(event),
            "limit.reached" => assert!(seen.limits.insert(event["limit"].to_string()), "a limit is told once"),
            _ => {}
        }
    }
}

/// Whoever reads along sees what the records tell later, and the deltas besides.
fn check_stream(host: &Host, root: &str, events: &[Value]) {
    if let Some(streamed) = host.streamed.get(root) {
        let told: Vec<&Value> = streamed.iter().filter(|event| event["type"] != "text.delta").collect();
        assert_eq!(told, events.iter().collect::<Vec<_>>());
    }
}

fn check_record(record: &Value, seen: &Seen) {
    let turn_id = &record["turnId"];
    assert_eq!(record["status"].as_str(), seen.ended.as_deref(), "{turn_id}: record and event agree");
    assert_eq!(record["status"], record["outcome"]["status"]);
    let count = |value: &Value| value.as_u64().expect("a count");
    let (used, granted) = (&record["budget"]["used"], &record["budget"]["granted"]);
    let nudges = count(&record["usage"]["nudges"]);
    let last_word = u64::from(record["budget"]["answerStep"] == true);
    assert!(count(&used["steps"]) <= count(&granted["steps"]), "{turn_id}: steps within the budget");
    assert!(u64::from(seen.steps) <= count(&used["steps"]) + nudges + last_word, "{turn_id}: every step is paid for");
    let calls = count(&used["toolCalls"]) + count(&used["nestedCalls"]);
    assert!(calls <= count(&granted["toolCalls"]), "{turn_id}: calls within the budget");
    if record["status"] == "completed" && !record["submits"].is_null() {
        assert!(record["submits"]["accepted"].is_u64(), "{turn_id}: a completed contract has its deliverable");
    }
    let failed_code = record["outcome"]["cause"]["code"].as_str();
    assert_ne!(failed_code, Some("INTERNAL"), "{turn_id}: {}", record["outcome"]);
}

/// Who was cut off by its caller's end had a caller that failed, and not for want of time (D-2).
fn check_cut(host: &Host, record: &Value) {
    let code = |record: &Value| record["outcome"]["cause"]["code"].clone();
    if code(record) == "PARENT_ENDED" {
        let parent = host.query("record", &json!({"turnId": record["parentTurnId"]}));
        assert_eq!(parent["record"]["status"], "failed", "{}", record["turnId"]);
        assert_ne!(code(&parent["record"]), "BUDGET_TIME", "{}", record["turnId"]);
    }
}

/// Every call of a message is answered in the next one, in order; only the last step of a turn that was cut off may
/// leave its calls unanswered.
fn check_transcript(view: &Value) {
    let messages = view["transcript"].as_array().expect("a transcript");
    let ids = |message: &Value, kind: &str| -> Vec<String> {
        let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let parts = parts.iter().filter(|part| part["type"] == *kind);
        parts.map(|part| part["toolCallId"].to_string()).collect()
    };
    for (index, message) in messages.iter().enumerate() {
        let asked = ids(message, "tool-call");
        let is_last = index + 1 == messages.len();
        let answered = messages.get(index + 1).map(|next| ids(next, "tool-result")).unwrap_or_default();
        let cut_off = is_last && view["record"]["status"] != "completed";
        assert!(asked == answered || cut_off, "{asked:?} are answered by {answered:?}");
        assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len(), "ids of one message differ");
    }
}

fn check_usage(host: &Host, turn_id: &str, record: &Value) {
    let total = |usage: &Value| usage["totalTokens"].as_f64().expect("a count");
    let children = host.agent_of.keys().filter(|id| {
        let parent = id.rsplit_once('.').map(|(parent, _)| parent);
        parent == Some(turn_id)
    });
    let below: f64 =
        children.map(|id| total(&host.query("record", &json!({"turnId": id}))["record"]["treeUsage"])).sum();
    let sum = total(&record["usage"]) + below;
    assert!((total(&record["treeUsage"]) - sum).abs() < 0.5, "{turn_id}: usage adds up");
}

fn check_ceiling(host: &Host, log: &Log<'_>, top: &str, ceiling: &Value) {
    let turns = || log.turns.iter().filter(|(id, _)| within(id, top)).map(|(_, seen)| seen);
    let steps: u32 = turns().map(|seen| seen.steps).sum();
    let used = |id: &&str| host.query("record", &json!({"turnId": id}))["record"]["budget"]["used"].clone();
    let used = log.turns.keys().filter(|id| within(id, top)).map(used);
    let calls: u64 =
        used.map(|used| used["toolCalls"].as_u64().unwrap_or(0) + used["nestedCalls"].as_u64().unwrap_or(0)).sum();
    let max = |name: &str| ceiling[name].as_u64().unwrap_or(u64::MAX);
    assert!(u64::from(steps) <= max("steps"), "{top}: {steps} steps under {ceiling}");
    assert!(calls <= max("toolCalls"), "{top}: {calls} calls under {ceiling}");
}
