//! What holds of calls in flight after every input: who may run beside whom, who waits for what.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::host::{Asked, Host, within};
use super::nesting::Ticket;

impl Host {
    pub fn check_calls(&self) {
        self.check_tickets();
        self.check_gates();
        self.check_slots();
    }

    /// Every promise has somebody who made it and still runs.
    fn check_tickets(&self) {
        for (number, ticket) in &self.nesting.waiting {
            let kind = if ticket.nested.is_some() { "call" } else { "wrap" };
            let by = self.asked.iter().find(|asked| asked.id == ticket.by);
            assert_eq!(by.map(|asked| asked.kind.as_str()), Some(kind), "ticket {number} of {}", ticket.caller);
        }
    }

    /// Nested calls of one turn overlap only where both are safe, or one has called the other.
    fn check_gates(&self) {
        let mut running: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (turn_id, ticket) in self.entered_tickets() {
            if let Some(nested) = self.nesting.waiting.get(&ticket).and_then(|ticket| ticket.nested.as_ref()) {
                running.entry(turn_id).or_default().insert(&nested.call_id);
            }
        }
        for (turn_id, calls) in &running {
            for call in calls {
                self.check_hold(turn_id, call);
                for other in calls.iter().filter(|other| *other > call) {
                    self.check_pair(turn_id, call, other);
                }
            }
        }
    }

    fn entered_tickets(&self) -> impl Iterator<Item = (&str, u32)> {
        let code = self.asked.iter().filter(|asked| matches!(asked.kind.as_str(), "call" | "wrap"));
        let code = code.filter_map(|asked| Some((asked.turn_id.as_str(), asked.ticket?)));
        let caller = |id: &'_ str| id.rsplit_once('.').map_or(0, |(parent, _)| parent.len());
        let turns = self.open.iter().filter_map(move |(id, turn)| Some((&id[..caller(id)], turn.ticket?)));
        code.chain(turns)
    }

    fn check_pair(&self, turn_id: &str, call: &str, other: &str) {
        if below(call, other) || below(other, call) {
            return;
        }
        for (one, beside) in [(call, other), (other, call)] {
            let apart = ancestors(one).find(|ancestor| !below(beside, ancestor)).expect("they are two calls");
            assert!(!self.is_exclusive(turn_id, apart), "{apart} runs alone, yet {call} and {other} run in {turn_id}");
        }
    }

    /// Below a call that shares the turn's gate nothing runs that needs it alone.
    fn check_hold(&self, turn_id: &str, call: &str) {
        let top = ancestors(call).next().expect("a nested call");
        let upgrades = self.is_exclusive(turn_id, call) && !self.is_exclusive(turn_id, top);
        assert!(!upgrades, "{call} of {turn_id} needs the gate that {top} shares");
    }

    fn is_exclusive(&self, turn_id: &str, call_id: &str) -> bool {
        // A caller in a wrap layer's body has entered before its calls.
        self.nesting.exclusive[&(turn_id.to_owned(), call_id.to_owned())]
    }

    /// No more calls run than there are slots; one that waits for what it called has lent its own.
    fn check_slots(&self) {
        for (root, max) in &self.concurrency {
            let mut running = BTreeSet::new();
            for asked in self.asked.iter().filter(|asked| within(&asked.turn_id, root)) {
                let call = (asked.turn_id.clone(), asked.call_id.clone());
                let is_code = matches!(asked.kind.as_str(), "call" | "wrap");
                if is_code && !self.nesting.run_on.contains(&call) && !self.has_lent(&asked.turn_id, &asked.call_id) {
                    running.insert(call);
                }
            }
            assert!(running.len() <= *max, "{running:?} run, where {max} may");
        }
    }

    /// Its code waits for calls, or its layers for what is inside of them and does not run.
    fn has_lent(&self, turn_id: &str, call_id: &str) -> bool {
        let own = |ticket: &&Ticket| ticket.turn_id == turn_id && ticket.caller == call_id;
        let is_body = |asked: &Asked| asked.kind == "call" && asked.turn_id == turn_id && asked.call_id == call_id;
        let runs = self.asked.iter().any(is_body);
        self.nesting.waiting.values().filter(own).any(|ticket| ticket.nested.is_some() || !runs)
    }

    /// Whatever is not over waits for this host, for a moment that it has chosen, or for a human.
    pub fn check_alive(&self) {
        for root in self.open.keys().filter(|id| !id.contains('.') && !self.pending.contains_key(*id)) {
            let asks = self.asked.iter().any(|asked| within(&asked.turn_id, root));
            let retries = self.retrying.iter().any(|id| within(id, root));
            assert!(asks || retries, "{root} waits for nobody, and is not over");
        }
    }

    /// Budgets of turns that run, and clocks of those that stand still.
    pub fn check_budgets(&mut self) {
        let open: Vec<String> = self.open.keys().cloned().collect();
        for turn_id in open {
            let record = &self.query("record", &json!({"turnId": turn_id}))["record"];
            let used = &record["budget"]["used"];
            let count = |name: &str| used[name].as_u64().expect("a count");
            let granted = record["budget"]["granted"]["toolCalls"].as_u64().expect("a grant");
            assert!(count("toolCalls") + count("nestedCalls") <= granted, "{turn_id}: {used} of {granted}");
            let used_ms = used["timeMs"].as_f64().expect("a time");
            if record["status"] == "suspended" {
                let stood = *self.stood_at.entry(turn_id.clone()).or_insert(used_ms);
                assert!((used_ms - stood).abs() < 0.001, "{turn_id} used {used_ms} ms of {stood} while it stood still");
            } else {
                self.stood_at.remove(&turn_id);
                let left = self.query("budget", &json!({"turnId": turn_id}))["timeLeftMs"].as_f64();
                assert!(left.is_none_or(|left| left > 0.0), "{turn_id} outlives its time");
            }
        }
    }
}

/// Whether a call is `top`, or was made by it or below it.
fn below(call_id: &str, top: &str) -> bool {
    call_id.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The nested calls from the model's call down to this one.
fn ancestors(call_id: &str) -> impl Iterator<Item = &str> {
    let ends = call_id.match_indices('/').map(|(at, _)| at).skip(1).chain([call_id.len()]);
    ends.map(|end| &call_id[..end])
}
