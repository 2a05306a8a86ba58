//! The host's half of each command, and what must hold after every input.

use std::hash::Hash;

use serde::Deserialize;
use serde_json::{Value, json};

use super::host::{Asked, Host, OpenTurn, within};
use super::invariants;
use crate::kernel::port::Live;

/// A command as far as this host looks at it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    #[serde(rename = "type")]
    kind: String,
    id: Option<u32>,
    turn_id: Option<String>,
    agent: Option<usize>,
    submit: Option<usize>,
    key: Option<u32>,
    at: Option<f64>,
    #[serde(default)]
    event: Value,
    #[serde(default)]
    result: Value,
}
impl Host {
    pub fn perform(&mut self, commands: Option<String>) {
        if let Some(commands) = commands {
            commands.hash(&mut self.log);
            let commands: Vec<Command> = serde_json::from_str(&commands).expect("commands are a JSON array");
            for command in commands {
                self.perform_one(command);
            }
        }
        self.check();
    }

    fn perform_one(&mut self, command: Command) {
        let turn_id = command.turn_id.unwrap_or_default();
        match command.kind.as_str() {
            "open" => {
                let agent = command.agent.expect("a turn has an agent");
                assert!(!self.agent_of.contains_key(&turn_id), "{turn_id} is opened once");
                self.agent_of.insert(turn_id.clone(), agent);
                let turn = OpenTurn {
                    owes: command.submit.is_some(),
                    deadline: self.time_left(&turn_id).map(|left| self.now + left),
                };
                self.open.insert(turn_id, turn);
            }
            "close" => self.close(&turn_id),
            "settled" => {
                self.close(&turn_id);
                assert_eq!(command.result["outcome"], command.result["record"]["outcome"]);
                invariants::check_tree(self, &turn_id);
                self.settled.insert(turn_id.clone(), self.record(&turn_id));
                if !self.open.keys().any(|id| !id.contains('.')) {
                    self.armed = None;
                }
            }
            "wake" => {
                let at = command.at.expect("a moment");
                if self.armed.is_none_or(|armed| at < armed) {
                    self.armed = Some(at);
                }
            }
            "cancel" => {
                let id = command.id.expect("an effect");
                self.asked.retain(|asked| asked.id != id);
                self.over.push(id);
            }
            "release" => {
                self.prepared.remove(&command.key.expect("a call"));
            }
            "event" => {
                let root = command.event["rootTurnId"].as_str().expect("an event has a root").to_owned();
                self.streamed.entry(root).or_default().push(command.event);
            }
            _ => self.ask(command.kind, command.id.expect("an effect"), turn_id, command.key),
        }
    }

    fn ask(&mut self, kind: String, id: u32, turn_id: String, key: Option<u32>) {
        // A turn may be opened and asked for in one input; it is never asked for after its end.
        let turn = self.open.get(&turn_id).unwrap_or_else(|| panic!("{kind} for {turn_id}, which is not open"));
        let owes = turn.owes;
        if kind == "call" {
            self.prepared.remove(&key.expect("a call has a key"));
        }
        self.asked.push(Asked { id, kind, turn_id, key, owes, hangs: false });
    }

    fn close(&mut self, turn_id: &str) {
        assert!(self.open.remove(turn_id).is_some(), "{turn_id} is closed once");
        let child = self.open.keys().find(|id| within(id, turn_id));
        assert_eq!(child, None, "no child outlives {turn_id}");
    }

    /// What holds after every input.
    fn check(&self) {
        for asked in &self.asked {
            assert!(self.open.contains_key(&asked.turn_id), "{} outlives {}", asked.kind, asked.turn_id);
        }
        for (turn_id, turn) in &self.open {
            assert!(turn.deadline.is_none_or(|at| self.now < at), "{turn_id} outlives its deadline");
        }
        let live = self.engine.live();
        assert_eq!((live.turns, live.effects), (self.open.len(), self.asked.len()));
        assert!(live.timers == 0 || self.armed.is_some(), "somebody waits for a moment that never comes");
        if self.open.is_empty() {
            assert_eq!(live, Live::default(), "nothing is left of what is over");
            assert!(self.prepared.is_empty(), "prepared and never released: {:?}", self.prepared);
        }
    }

    fn time_left(&self, turn_id: &str) -> Option<f64> {
        self.query("budget", &json!({"turnId": turn_id}))["timeLeftMs"].as_f64()
    }
}
