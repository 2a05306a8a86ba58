//! What the host keeps of its checks of arguments. Each value has a number and goes once: to a body, to whoever asks for a
//! check that was begun, or by a release. None outlives its turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::host::{Host, within};

/// What brought the kernel a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The answer to this `prepare`.
    Prepare(u32),
    /// The reply to this `model`.
    Reply(u32),
    /// The nested call with this ticket.
    Ticket(u32),
}

#[derive(Default)]
pub struct Prepared {
    kept: BTreeMap<(String, u32), By>,
    /// What died with its turn; it may still be released by name.
    left: BTreeSet<u32>,
    next: u32,
}

impl Prepared {
    fn keep(&mut self, turn_id: &str, by: By) -> u32 {
        self.next += 1;
        self.kept.insert((turn_id.to_owned(), self.next), by);
        self.next
    }

    pub fn take(&mut self, turn_id: &str, number: u32) {
        // What came with a call to a body that was cut off is released in the name of the root.
        let key = self.kept.keys().find(|(of, kept)| *kept == number && within(of, turn_id)).cloned();
        let kept = key.and_then(|key| self.kept.remove(&key)).is_some() || self.left.remove(&number);
        assert!(kept, "{number} is kept in {turn_id}, and goes once");
    }

    /// What brought it was not taken notice of.
    pub fn forget(&mut self, by: By) {
        self.kept.retain(|_, brought_by| *brought_by != by);
    }

    /// What came with an answer that the end of a turn overtook dies with the turn.
    pub fn forget_turn(&mut self, turn_id: &str) {
        self.left.extend(self.kept.keys().filter(|(of, _)| of == turn_id).map(|(_, number)| number));
        self.kept.retain(|(of, _), _| of != turn_id);
    }

    /// A turn asks its model again: all calls of the step before are over. An answer to `prepare` may have been overtaken by
    /// the end of its call, and stays until the end of the turn.
    pub fn check_step(&self, turn_id: &str) {
        let left = self.kept.iter().find(|((of, _), by)| of == turn_id && !matches!(by, By::Prepare(_)));
        assert_eq!(left, None, "kept beyond its step");
    }
}

impl Host {
    /// A model's answer with checks of its calls' arguments, or the answer to `prepare` with what is kept.
    pub fn with_checks(&mut self, kind: &str, turn_id: &str, id: u32, mut answer: Value) -> Value {
        if kind == "prepare" && !answer["ok"].is_null() {
            answer["ok"]["kept"] = json!(self.prepared.keep(turn_id, By::Prepare(id)));
        }
        if kind == "model" && !answer["ok"].is_null() {
            let parts = answer["ok"]["content"].as_array().cloned().unwrap_or_default();
            let calls = parts.iter().filter(|part| part["type"] == "tool-call");
            let ahead: Vec<Value> = calls.map(|_| self.check_ahead(turn_id, By::Reply(id))).collect();
            answer["ok"]["ahead"] = json!(ahead);
        }
        answer
    }

    /// What the host says of arguments ahead; mostly nothing.
    pub fn check_ahead(&mut self, turn_id: &str, by: By) -> Value {
        match self.random.below(20) {
            0 => json!({"invalid": [{"path": "/n", "message": "must be even"}]}),
            1 => json!({"thrown": {"code": null, "message": "it broke"}}),
            2..4 => json!({"begun": {"kept": self.prepared.keep(turn_id, by)}}),
            4..10 => {
                let exclusive = *self.random.pick(&[Some(true), Some(false), None]);
                json!({"ok": {"kept": self.prepared.keep(turn_id, by), "exclusive": exclusive}})
            }
            _ => Value::Null,
        }
    }
}
