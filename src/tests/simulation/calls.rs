//! What the events of a turn tell of its calls, once it is over, held against the rows of the ledger and the counters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::host::Host;
use super::invariants::Seen;

/// Refusals that a call's nested calls may cost it, before all others are refused unseen.
const REFUSALS_MAX: u32 = 8;

#[derive(Default)]
pub struct Calls {
    started: BTreeSet<String>,
    pub running: BTreeSet<String>,
    /// Every id that was heard of.
    known: BTreeSet<String>,
    refused: BTreeMap<String, Refused>,
    ended: BTreeMap<String, Value>,
}

#[derive(Default)]
struct Refused {
    /// By an admission.
    seen: u32,
    /// After it, by what ran.
    late: u32,
}

impl Calls {
    pub fn see(&mut self, event: &Value) {
        let call_id = event["callId"].as_str().expect("a call has an id");
        let parent = event["parentCallId"].as_str();
        assert_eq!(parent, call_id.rsplit_once('/').map(|(parent, _)| parent), "{event}");
        match event["type"].as_str().expect("an event has a type") {
            "tool.started" => {
                assert!(
                    parent.is_none_or(|parent| self.running.contains(parent)),
                    "{call_id} begins below a running call"
                );
                assert!(self.known.insert(call_id.to_owned()), "call ids are unique");
                self.started.insert(call_id.to_owned());
                self.running.insert(call_id.to_owned());
            }
            "tool.refused" => {
                assert!(self.known.insert(call_id.to_owned()), "a refused call never begins");
                if let Some(parent) = parent {
                    self.refuse(parent, event);
                }
            }
            "tool.progress" => {
                assert!(event["forwardedFrom"].is_string() || parent.is_none(), "a nested call reports nothing");
                assert!(self.running.contains(call_id), "progress of a running call");
            }
            _ => {
                assert!(self.running.remove(call_id), "{call_id} ends once");
                let below =
                    self.running.iter().find(|id| id.strip_prefix(call_id).is_some_and(|rest| rest.starts_with('/')));
                assert_eq!(below, None, "{call_id} ends after what it called");
                if let Some(parent) = parent.filter(|_| message(event).contains("requires approval")) {
                    self.refused.entry(parent.to_owned()).or_default().late += 1;
                }
                self.ended.insert(call_id.to_owned(), event.clone());
            }
        }
    }

    fn refuse(&mut self, parent: &str, event: &Value) {
        assert!(self.running.contains(parent), "{parent} is told of a refusal while it runs");
        let refused = self.refused.entry(parent.to_owned()).or_default();
        let message = message(event);
        if message.contains("already had 8 nested calls refused") {
            assert!(refused.seen + refused.late >= REFUSALS_MAX, "{event}");
        } else if !message.contains("never settled") && event["error"]["code"] != "LEDGER" {
            refused.seen += 1;
            assert!(refused.seen <= REFUSALS_MAX, "{parent} had more refused than it may");
        }
    }
}

pub fn check(host: &Host, turn_id: &str, used: &Value, seen: &Seen) {
    for (call_id, event) in &seen.calls.ended {
        check_row(host, turn_id, call_id, event);
    }
    for (nested, name) in [(false, "toolCalls"), (true, "nestedCalls")] {
        let of_kind = |id: &&String| id.contains('/') == nested;
        let code = host.nesting.entered.iter().filter(|(turn, _)| turn == turn_id).map(|(_, call_id)| call_id);
        let entered: BTreeSet<&String> = code.chain(&seen.delegated).filter(of_kind).collect();
        let briefed = host.briefed.get(turn_id).copied().unwrap_or_default();
        let brought = host.brought.iter().filter(|(turn, _)| turn == turn_id).count();
        let used = used[name].as_u64().and_then(|used| usize::try_from(used).ok()).expect("a count");
        let unseen = briefed + if nested { 0 } else { brought };
        assert!(entered.len() <= used, "{turn_id}: {} calls ran, {used} are counted ({name})", entered.len());
        assert!(used <= entered.len() + unseen, "{turn_id}: {used} are counted, {} ran ({name})", entered.len());
    }
}

/// A row that was started and never settled is that of a call that nobody waited for any longer, or one whose start the
/// ledger refused.
fn check_row(host: &Host, turn_id: &str, call_id: &str, event: &Value) {
    let Some(row) = host.rows.of(turn_id, call_id) else { return };
    let dropped = message(event).starts_with("parent settled: ");
    let aborted = event["error"]["code"] == "LEDGER";
    assert!(!aborted || row.refused || message(event).contains("ran longer than"), "{event}");
    match row.settled.as_deref() {
        Some("completed") => assert!(dropped || event["type"] == "tool.completed", "{event}"),
        Some(_) => assert!(dropped || event["type"] == "tool.failed", "{event}"),
        None => assert!(dropped || aborted, "{event} has a row that never settled"),
    }
}

fn message(event: &Value) -> &str {
    event["error"]["message"].as_str().unwrap_or_default()
}
