//! The host's half of each command, and what must hold after every input.

use serde::Deserialize;
use serde_json::{Value, json};

use super::host::{Asked, Host, OpenTurn, root_of, within};
use super::invariants;
use super::prepared::By;
use crate::kernel::wait::Live;
use crate::tests::script::read;

/// A command as far as this host looks at it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    #[serde(rename = "type")]
    kind: String,
    id: Option<u32>,
    turn_id: Option<String>,
    agent_index: Option<usize>,
    submit: Option<usize>,
    kept: Option<u32>,
    begun: Option<u32>,
    ticket: Option<u32>,
    call_id: Option<String>,
    #[serde(default)]
    call: Value,
    #[serde(default)]
    stage: String,
    #[serde(default)]
    entry: Value,
    #[serde(default)]
    may_run_again: bool,
    #[serde(default)]
    error: Value,
    at: Option<f64>,
    #[serde(default)]
    event: Value,
    #[serde(default)]
    result: Value,
}

impl Host {
    pub fn perform(&mut self, commands: Option<String>) {
        if let Some(commands) = commands {
            let commands = read(&commands, &mut self.turns);
            // As values: the quick way in writes the keys of a message in an order of its own.
            self.log.extend(commands.iter().map(Value::to_string));
            for command in &commands {
                self.perform_one(Command::deserialize(command).expect("a command in its shape"));
            }
            for asked in commands.iter().filter(|command| command["type"] == "model") {
                self.prepared.check_step(asked["turnId"].as_str().expect("a turn"));
            }
        }
        self.check();
    }

    fn perform_one(&mut self, mut command: Command) {
        let turn_id = command.turn_id.take().unwrap_or_default();
        match command.kind.as_str() {
            "open" => {
                let agent = command.agent_index.expect("a turn has an agent");
                assert!(!self.agent_of.contains_key(&turn_id), "{turn_id} is opened once");
                self.agent_of.insert(turn_id.clone(), agent);
                let nested = command.ticket.and_then(|number| self.nesting.waiting.get(&number)?.nested.as_ref());
                if let Some(call_id) = nested.map(|nested| nested.call_id.clone()) {
                    let caller = turn_id.rsplit_once('.').expect("a call opened it").0.to_owned();
                    self.enter(&caller, &call_id, command.ticket);
                }
                let turn = OpenTurn {
                    owes: command.submit.is_some(),
                    ticket: command.ticket,
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
            "suspended" => self.suspended(&turn_id, &command.result),
            "append" => {}
            "resolve" => {
                let is_served = !command.result.is_null() || !command.error.is_null();
                let ticket = command.ticket.expect("a ticket");
                if !is_served {
                    self.prepared.forget(By::Ticket(ticket));
                }
                self.resolve(ticket, is_served);
            }
            "cancel" => {
                let id = command.id.expect("an effect");
                self.forget_nexts(id);
                self.prepared.forget(By::Prepare(id));
                self.prepared.forget(By::Reply(id));
                // A model that took too long may be asked again.
                let model = self.asked.iter().find(|asked| asked.id == id && asked.kind == "model");
                self.retrying.extend(model.map(|asked| asked.turn_id.clone()));
                self.retrying
                    .extend(self.answered_model.take_if(|(answered, _)| *answered == id).map(|(_, turn)| turn));
                self.asked.retain(|asked| asked.id != id);
                self.over.push(id);
            }
            "release" => self.prepared.take(&turn_id, command.kept.expect("what is kept")),
            "event" => {
                let root = command.event["rootTurnId"].as_str().expect("an event has a root").to_owned();
                self.streamed.entry(root).or_default().push(command.event);
            }
            _ => self.ask(command, turn_id),
        }
    }

    fn ask(&mut self, command: Command, turn_id: String) {
        let Command { kind, kept, begun, ticket, stage, entry, .. } = command;
        let id = command.id.expect("an effect");
        // A turn may be opened and asked for in one input; it is never asked for after its end.
        let turn = self.open.get(&turn_id).unwrap_or_else(|| panic!("{kind} for {turn_id}, which is not open"));
        let owes = turn.owes;
        if let Some(number) = kept.filter(|_| kind == "call" && !command.may_run_again).or(begun) {
            self.prepared.take(&turn_id, number);
        }
        self.retrying.remove(&turn_id);
        let viewed = command.call[1].as_str().map(str::to_owned);
        let call_id = command.call_id.or(viewed).unwrap_or_default();
        if kind == "call" || kind == "wrap" {
            self.enter(&turn_id, &call_id, ticket);
        }
        self.wraps |= kind == "wrap";
        if self.wraps {
            // Layers that no longer wait for what is inside of them bring their turn further without a human.
            self.pending.remove(root_of(&turn_id));
        }
        if kind == "brief" {
            *self.briefed.entry(turn_id.clone()).or_default() += 1;
        }
        if kind == "ledger" {
            self.rows.told(&entry);
        }
        self.asked.push(Asked { id, kind, turn_id, ticket, call_id, stage, entry, owes, nexts: 0, hangs: false });
    }

    fn close(&mut self, turn_id: &str) {
        self.pending.remove(turn_id);
        self.retrying.remove(turn_id);
        self.prepared.forget_turn(turn_id);
        assert!(self.open.remove(turn_id).is_some(), "{turn_id} is closed once");
        let child = self.open.keys().find(|id| within(id, turn_id));
        assert_eq!(child, None, "no child outlives {turn_id}");
    }

    /// What holds after every input.
    fn check(&mut self) {
        for asked in &self.asked {
            assert!(self.open.contains_key(&asked.turn_id), "{} outlives {}", asked.kind, asked.turn_id);
        }
        let live = self.tree.live();
        self.stood |= live.waiting > 0;
        for (turn_id, turn) in self.open.iter().filter(|_| !self.stood) {
            assert!(turn.deadline.is_none_or(|at| self.now < at), "{turn_id} outlives its deadline");
        }
        self.inputs += 1;
        if self.stood || self.inputs.is_multiple_of(8) {
            self.check_budgets();
        }
        self.check_calls();
        self.check_alive();
        self.check_standing();
        assert_eq!((live.turns, live.effects), (self.open.len(), self.asked.len()));
        assert!(live.timers == 0 || self.armed.is_some(), "somebody waits for a moment that never comes");
        if self.open.is_empty() {
            assert_eq!(live, Live::default(), "nothing is left of what is over");
        }
    }

    fn time_left(&self, turn_id: &str) -> Option<f64> {
        self.query("budget", &json!({"turnId": turn_id}))["timeLeftMs"].as_f64()
    }
}
