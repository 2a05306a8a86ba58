//! The rows of the effect ledger, as its owner sees them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::host::Asked;
use super::random::Random;

#[derive(Default)]
pub struct Rows(BTreeMap<(String, String), Row>);

#[derive(Default)]
pub struct Row {
    /// The ledger could not write the start.
    pub refused: bool,
    /// How it was told that the call ended.
    pub settled: Option<String>,
}

impl Rows {
    pub fn told(&mut self, entry: &Value) {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let key = (text("turnId"), text("callId"));
        match entry["type"].as_str() {
            Some("started") => {
                assert!(self.0.insert(key, Row::default()).is_none(), "a row is started once: {entry}");
            }
            Some("settled") => {
                let row = self.0.get_mut(&key).expect("a row is started before it settles");
                assert!(row.settled.replace(text("status")).is_none(), "a row is settled once: {entry}");
            }
            _ => {}
        }
    }

    pub fn answered(&mut self, asked: &Asked, answer: &Value) {
        if asked.entry["type"] == "started" {
            let call_id = asked.entry["callId"].as_str().expect("an id").to_owned();
            let row = self.0.get_mut(&(asked.turn_id.clone(), call_id)).expect("a row that was told");
            row.refused = !answer["thrown"].is_null();
        }
    }

    /// What a ledger tells of a turn: what it knows, or what an earlier process left in it.
    pub fn unresolved(&self, random: &mut Random, turn_id: &str) -> Value {
        let open = self.0.iter().filter(|((of, _), row)| of == turn_id && row.settled.is_none());
        let mut open: Vec<&str> = open.map(|((_, call_id), _)| call_id.as_str()).collect();
        if random.chance(15) {
            open.extend(["c1_0/1", "c1_0/2", "call_0/1", "call_0/1/1"]);
        }
        json!(open)
    }

    pub fn of(&self, turn_id: &str, call_id: &str) -> Option<&Row> {
        self.0.get(&(turn_id.to_owned(), call_id.to_owned()))
    }
}
