//! The one harness of the scenario tests: a scripted host on virtual time, speaking the engine's text protocol. A test
//! is a script (who answers what, when) plus expectations on what the kernel did (`view.rs`).

mod commands;
mod looking;
mod nested;
mod owing;
mod program;
mod reply;
mod view;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::kernel::program::Program;
use crate::tests::one_tree::OneTree;

pub use self::commands::{Turns, camel_case, read};
pub use self::looking::{endless, look, looks};
pub use self::owing::{note, note_schema, owing, submit};
pub use self::program::{Agent, Tool, agent, as_tool, build, merge, tool};
pub use self::reply::{
    Step, after, ask, brief, call, call_as, calls, error_result, keel_error, model_error, ok, reply, result, text,
    thrown,
};

/// The wall clock's lead over the monotonic one.
pub const WALL_OFFSET_MS: f64 = 1_000_000.0;
/// More inputs than any script needs: beyond it the kernel does not come to an end.
const INPUTS_MAX: u32 = 20_000;

pub struct Script {
    pub tree: OneTree,
    root: String,
    program: Rc<Program>,
    now: f64,
    wake: Option<f64>,
    scripts: BTreeMap<String, VecDeque<Step>>,
    defaults: BTreeMap<String, Step>,
    /// Answers on their way: when, in which order, to which effect.
    due: BTreeMap<(u64, u32), (u32, Value)>,
    next_due: u32,
    agent_of: BTreeMap<String, usize>,
    turns: Turns,
    outstanding: BTreeMap<u32, Value>,
    /// What bodies answered, which the kernel does not send back where it stands as it was.
    answers: BTreeMap<u32, Value>,
    kept: u32,
    /// Every command, parsed and as it came.
    pub log: Vec<Value>,
    pub text: String,
}

impl Script {
    /// A host whose tree, of that root turn, lives in an engine that others share.
    pub fn within<const N: usize>(engine: &Rc<RefCell<Engine>>, root: &str, agents: [Agent; N]) -> Self {
        Self { root: root.to_owned(), tree: OneTree::within(engine), ..Self::new(agents) }
    }

    /// A host for these agents; the first is the root.
    pub fn new<const N: usize>(agents: [Agent; N]) -> Self {
        Self::with_options(agents, json!({}))
    }

    pub fn with_options<const N: usize>(agents: [Agent; N], options: Value) -> Self {
        Self {
            tree: OneTree::new(&options.to_string()),
            root: "t".to_owned(),
            program: build(&agents),
            now: 0.0,
            wake: None,
            scripts: BTreeMap::new(),
            defaults: BTreeMap::new(),
            due: BTreeMap::new(),
            next_due: 0,
            agent_of: BTreeMap::new(),
            turns: Turns::default(),
            outstanding: BTreeMap::new(),
            answers: BTreeMap::new(),
            kept: 0,
            log: Vec::new(),
            text: String::new(),
        }
    }

    /// The next answers for an agent's model, a turn's model, a tool or a kind of command, in the order in which they
    /// are asked.
    pub fn on<const N: usize>(&mut self, who: &str, steps: [Step; N]) -> &mut Self {
        self.scripts.entry(who.to_owned()).or_default().extend(steps);
        self
    }

    /// What is answered when the script has nothing left.
    pub fn always(&mut self, who: &str, step: Step) -> &mut Self {
        self.defaults.insert(who.to_owned(), step);
        self
    }

    pub fn start(&mut self) -> &mut Self {
        self.start_with(json!({}))
    }

    /// Starts the root turn, mostly `t`, with some of the start's fields as given.
    pub fn start_with(&mut self, fields: Value) -> &mut Self {
        let mut start = json!({
            "turnId": self.root, "wallOffsetMs": WALL_OFFSET_MS, "messages": [{"role": "user", "content": "hello"}],
            "input": "hello", "budget": {}, "limits": {}, "contract": null, "authenticated": false, "scopes": [],
            "stream": false, "hooks": {}, "stopped": null,
        });
        merge(&mut start, fields);
        let program = Rc::clone(&self.program);
        let commands = self.tree.start(&program, &start.to_string(), self.now);
        self.perform(commands);
        self.settle();
        self
    }

    /// Starts, and goes on until nothing is left to wait for.
    pub fn run(&mut self) -> &mut Self {
        self.start().finish()
    }

    pub fn run_with(&mut self, fields: Value) -> &mut Self {
        self.start_with(fields).finish()
    }

    /// Goes from moment to moment until nothing is left to wait for.
    pub fn finish(&mut self) -> &mut Self {
        for _ in 0..INPUTS_MAX {
            let Some(at) = self.next_moment() else {
                return self;
            };
            self.go_to(at);
        }
        panic!("the script does not come to an end");
    }

    /// Lets that much time pass, with everything that happens meanwhile.
    pub fn advance(&mut self, ms: f64) -> &mut Self {
        let end = self.now + ms;
        while let Some(at) = self.next_moment().filter(|at| *at <= end) {
            self.go_to(at);
        }
        self.now = end;
        self
    }

    /// One input that arrives late: time passes unseen before it.
    pub fn skip(&mut self, ms: f64) -> &mut Self {
        self.now += ms;
        self
    }

    pub fn stop(&mut self, turn_id: &str, subtree: bool) -> &mut Self {
        self.input("stop", json!({"turnId": turn_id, "subtree": subtree, "reason": "enough"}))
    }

    pub fn input(&mut self, kind: &str, body: Value) -> &mut Self {
        // The tag stands first, as the protocol asks.
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let commands = self.tree.input(&text, self.now);
        self.perform(commands);
        self.settle();
        self
    }

    /// What the command `id` sends while it runs.
    pub fn letter(&mut self, id: u32, kind: &str, body: Value) -> &mut Self {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let commands = self.tree.letter(id, &text, self.now);
        self.perform(commands);
        self.settle();
        self
    }

    /// Answers by hand.
    pub fn answer(&mut self, id: u32, answer: &Value) -> &mut Self {
        self.deliver(id, answer);
        self.settle();
        self
    }

    /// Something beyond any one turn goes wrong.
    pub fn fault(&mut self, message: &str) -> &mut Self {
        let commands = self.tree.fault(message);
        self.perform(commands);
        self
    }

    fn next_moment(&self) -> Option<f64> {
        let answer = self.due.first_key_value().map(|((at, _), _)| from_micros(*at));
        match (answer, self.wake) {
            (Some(answer), Some(wake)) => Some(answer.min(wake)),
            (answer, wake) => answer.or(wake),
        }
    }

    fn go_to(&mut self, at: f64) {
        self.now = self.now.max(at);
        if self.wake.is_some_and(|wake| wake <= self.now) {
            self.wake = None;
            let text = r#"{"type":"tick"}"#;
            let commands = self.tree.input(text, self.now);
            self.perform(commands);
        }
        self.settle();
    }

    /// Delivers every answer that is due.
    fn settle(&mut self) {
        for _ in 0..INPUTS_MAX {
            let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= micros(self.now)) else {
                return;
            };
            let (id, answer) = entry.remove();
            self.deliver(id, &answer);
        }
        panic!("the script does not come to rest");
    }

    fn deliver(&mut self, id: u32, answer: &Value) {
        self.outstanding.remove(&id);
        self.answers.insert(id, answer["result"].clone());
        let commands = self.tree.answer(id, answer.to_string(), self.now);
        self.perform(commands);
    }

    fn perform(&mut self, commands: Option<String>) {
        let Some(commands) = commands else { return };
        self.text.push_str(&commands);
        for mut command in read(&commands, &mut self.turns) {
            self.fill_in(&mut command["result"]);
            self.perform_one(&command);
            self.log.push(command);
        }
    }

    /// Puts what a body answered in place of the reference to it.
    fn fill_in(&self, result: &mut Value) {
        let Some(id) = result.as_u64() else { return };
        let answer = &self.answers[&u32::try_from(id).expect("an effect's id")];
        let value = &answer["value"];
        let own = answer["text"].as_str().or_else(|| value.as_str()).map(str::to_owned);
        *result = json!({
            "isError": answer["isError"], "text": own.unwrap_or_else(|| value.to_string()), "value": value,
            "metadata": answer["metadata"],
        });
    }

    fn perform_one(&mut self, command: &Value) {
        let field = |name: &str| command[name].as_str().unwrap_or_default();
        match field("type") {
            "open" => {
                let agent = index(&command["agentIndex"]);
                self.agent_of.insert(field("turnId").to_owned(), agent);
            }
            "wake" => self.wake = command["at"].as_f64(),
            "cancel" => {
                self.outstanding.remove(&id_of(command));
            }
            _ if command["id"].is_null() => {}
            _ => {
                let id = id_of(command);
                self.outstanding.insert(id, command.clone());
                let step = self.step_for(command);
                self.schedule(id, step, self.now);
            }
        }
    }

    fn schedule(&mut self, id: u32, step: Step, at: f64) {
        match step {
            Step::Hang => {}
            Step::After(ms, step) => self.schedule(id, *step, at + ms),
            Step::Answer(answer) => {
                self.due.insert((micros(at), self.next_due), (id, answer));
                self.next_due += 1;
            }
        }
    }

    fn step_for(&mut self, command: &Value) -> Step {
        let kind = command["type"].as_str().expect("a command has a type");
        let turn_id = command["turnId"].as_str().expect("what is asked is asked for a turn");
        let (names, fallback) = match kind {
            "model" => (vec![turn_id.to_owned(), self.agent_id(turn_id)], None),
            "call" => (vec![self.tool_id(command)], Some(result(json!("ok")))),
            "prepare" => {
                self.kept += 1;
                (vec![kind.to_owned()], Some(ok(json!({"kept": self.kept}))))
            }
            "preparePart" => (vec![kind.to_owned()], Some(ok(json!({"value": null})))),
            _ => (vec![kind.to_owned()], Some(ok(json!(true)))),
        };
        let scripted = names.iter().find_map(|name| self.scripts.get_mut(name).and_then(VecDeque::pop_front));
        let default = || names.iter().find_map(|name| self.defaults.get(name).cloned());
        scripted.or_else(default).or(fallback).unwrap_or_else(|| panic!("unexpected {command}"))
    }
}

/// The host's clock in whole microseconds, which can be ordered.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "scripts live in the first hours of the clock"
)]
fn micros(ms: f64) -> u64 {
    (ms * 1_000.0).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "scripts live in the first hours of the clock")]
fn from_micros(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

fn index(value: &Value) -> usize {
    value.as_u64().and_then(|index| usize::try_from(index).ok()).expect("a position")
}

fn id_of(command: &Value) -> u32 {
    command["id"].as_u64().and_then(|id| u32::try_from(id).ok()).expect("an effect's id")
}
