//! A host that does everything a real one may do, in any order: answers early, late, twice or never, stops, lets time
//! pass, and comes late with its timer.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use serde_json::{Value, json};

use super::answers;
use super::definitions::{self, Drawn};
use super::random::Random;
use crate::engine::Engine;
use crate::kernel::spec::Program;
use crate::tests::script::{build, merge};

/// Inputs before the user loses patience and stops everything.
const INPUTS_MAX: u32 = 500;

/// Something that waits for an answer.
pub struct Asked {
    pub id: u32,
    pub kind: String,
    pub turn_id: String,
    pub key: Option<u32>,
    /// Its turn has a contract.
    pub owes: bool,
    pub hangs: bool,
}

pub struct OpenTurn {
    pub owes: bool,
    pub deadline: Option<f64>,
}

pub struct Host {
    pub random: Random,
    pub engine: Engine,
    pub agents: Vec<Drawn>,
    /// The run's own ceiling over the tree of each root.
    pub run_trees: BTreeMap<String, Value>,
    pub agent_of: BTreeMap<String, usize>,
    pub streamed: BTreeMap<String, Vec<Value>>,
    program: Rc<Program>,
    pub now: f64,
    /// The host's one timer.
    pub armed: Option<f64>,
    pub asked: Vec<Asked>,
    /// Ids of effects that need no answer any longer.
    pub over: Vec<u32>,
    pub open: BTreeMap<String, OpenTurn>,
    pub prepared: BTreeSet<u32>,
    /// Records of roots as they were when they settled.
    pub settled: BTreeMap<String, String>,
    pub log: DefaultHasher,
}

/// Runs one seed to its end; returns what identifies everything the kernel said.
pub fn run(seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let (agents, drawn) = definitions::draw(&mut random);
    let options = json!({"limits": {"maxDepth": 4}, "captureToolIo": random.chance(20)});
    let mut host = Host {
        engine: Engine::new(&options.to_string()).expect("the options follow the protocol"),
        program: build(&agents),
        agents: drawn,
        random,
        run_trees: BTreeMap::new(),
        agent_of: BTreeMap::new(),
        streamed: BTreeMap::new(),
        now: 0.0,
        armed: None,
        asked: Vec::new(),
        over: vec![1_000_000],
        open: BTreeMap::new(),
        prepared: BTreeSet::new(),
        settled: BTreeMap::new(),
        log: DefaultHasher::new(),
    };
    host.live();
    host.log.finish()
}

impl Host {
    fn live(&mut self) {
        let roots = if self.random.chance(15) { 2 } else { 1 };
        self.start("r0");
        let mut started = 1;
        for _ in 0..INPUTS_MAX {
            if started < roots && self.random.chance(2) {
                self.start(&format!("r{started}"));
                started += 1;
            }
            if !self.open.is_empty() {
                self.act();
            } else if started < roots {
                // An idle time: the host has no timer armed.
                self.now += 50.0;
                self.start(&format!("r{started}"));
                started += 1;
            } else {
                break;
            }
        }
        let live: Vec<String> = self.open.keys().filter(|id| !id.contains('.')).cloned().collect();
        for root in live {
            self.stop(&root, false);
        }
        assert!(self.open.is_empty(), "a stop ends everything");
        self.answer_late();
        self.tick();
        for (root, record) in &self.settled {
            assert_eq!(*record, self.record(root), "an outcome is written once");
        }
    }

    fn start(&mut self, root: &str) {
        let budget = if self.random.chance(50) { definitions::budget(&mut self.random) } else { json!({}) };
        let limits = if self.random.chance(50) { definitions::limits(&mut self.random) } else { json!({}) };
        let contract = self.random.chance(20).then(|| json!({"part": 0, "nudges": 1}));
        let stopped = self.random.chance(2).then(|| json!({"reason": null}));
        let mut start = json!({
            "turnId": root, "wallOffsetMs": 1_000.0, "messages": [{"role": "user", "content": "hello"}], "input": "hello",
            "contract": contract, "authenticated": self.random.chance(50), "scopes": [],
            "stream": self.random.chance(40), "hooks": {}, "stopped": stopped,
        });
        self.run_trees.insert(root.to_owned(), limits["tree"].clone());
        merge(&mut start, json!({"budget": budget, "limits": limits}));
        let program = Rc::clone(&self.program);
        let commands = self.engine.start(&program, &start.to_string(), self.now);
        self.perform(commands.expect("the start follows the protocol"));
    }

    /// One thing that may happen.
    fn act(&mut self) {
        match self.random.below(100) {
            0..4 => self.answer_late(),
            4..5 => self.stop_some(),
            5..14 => self.now += f64::from(self.random.below(15)),
            14..18 => self.tell(),
            18..20 => self.fire(),
            _ => self.answer_one(),
        }
    }

    fn answer_one(&mut self) {
        let ready: Vec<usize> = (0..self.asked.len()).filter(|at| !self.asked[*at].hangs).collect();
        if ready.is_empty() {
            self.wait();
            return;
        }
        let at = *self.random.pick(&ready);
        let agent = &self.agents[self.agent_of[&self.asked[at].turn_id]];
        let Some(answer) = answers::draw(&mut self.random, &self.asked[at], agent) else {
            self.asked[at].hangs = true;
            return;
        };
        let asked = self.asked.swap_remove(at);
        self.over.push(asked.id);
        if asked.kind == "prepare" && !answer["ok"].is_null() {
            self.prepared.extend(asked.key);
        }
        self.deliver(asked.id, &answer);
    }

    /// Nothing comes by itself: time passes, or the user stops what has no end.
    fn wait(&mut self) {
        if self.armed.is_some() {
            self.fire();
            return;
        }
        assert!(!self.asked.is_empty(), "the kernel waits for nothing and is not done");
        let roots: Vec<String> = self.open.keys().filter(|id| !id.contains('.')).cloned().collect();
        let root = self.random.pick(&roots).clone();
        self.stop(&root, false);
    }

    fn fire(&mut self) {
        if let Some(at) = self.armed {
            self.now = self.now.max(at);
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.armed = None;
        self.input("tick", &json!(null));
    }

    /// An answer that nobody waits for.
    fn answer_late(&mut self) {
        let id = *self.random.pick(&self.over);
        self.deliver(id, &json!({"result": {"isError": false, "text": "late", "value": null, "metadata": null}}));
    }

    fn stop_some(&mut self) {
        let known: Vec<String> = self.agent_of.keys().cloned().collect();
        let turn_id = self.random.pick(&known).clone();
        let subtree = self.random.chance(70);
        self.stop(&turn_id, subtree);
    }

    fn stop(&mut self, turn_id: &str, subtree: bool) {
        let was_open = self.open.contains_key(turn_id);
        let top = if subtree { turn_id } else { root_of(turn_id) };
        let reached: Vec<String> = self.open.keys().filter(|id| was_open && within(id, top)).cloned().collect();
        let nothing_is_due = self.armed.is_none_or(|at| at > self.now);
        self.input("stop", &json!({"turnId": turn_id, "subtree": subtree, "reason": "enough"}));
        for id in reached.iter().filter(|_| nothing_is_due) {
            let record = self.query("record", &json!({"turnId": id}));
            assert_eq!(record["record"]["status"], "stopped", "{id} was stopped with {top}");
        }
        let left = self.open.keys().find(|id| was_open && within(id, top));
        assert_eq!(left, None, "a stop of {top} is over when it returns");
    }

    /// A delta, progress or a part from something that may be over.
    fn tell(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let asked = &self.asked[self.random.index(self.asked.len())];
        let (id, turn_id) = (asked.id, asked.turn_id.clone());
        match asked.kind.as_str() {
            "model" => self.input("delta", &json!({"id": id, "turnId": turn_id, "kind": "text", "text": "a"})),
            "call" if self.random.chance(50) => {
                self.input("emit", &json!({"id": id, "part": 0, "value": {"n": 1}}));
            }
            "call" => self.input("progress", &json!({"id": id, "progress": {"message": "half"}})),
            _ => {}
        }
    }

    fn input(&mut self, kind: &str, body: &Value) {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let commands = self.engine.input(&text, self.now);
        self.perform(commands.expect("the input follows the protocol"));
    }

    fn deliver(&mut self, id: u32, answer: &Value) {
        let commands = self.engine.answer(id, answer.to_string(), self.now);
        self.perform(commands);
    }

    pub fn record(&self, turn_id: &str) -> String {
        self.query("record", &json!({"turnId": turn_id})).to_string()
    }

    pub fn query(&self, kind: &str, body: &Value) -> Value {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let answer = self.engine.query(&text, self.now).expect("the query follows the protocol");
        serde_json::from_str(&answer).expect("the answer is JSON")
    }
}

pub fn within(turn_id: &str, top: &str) -> bool {
    turn_id.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn root_of(turn_id: &str) -> &str {
    turn_id.split('.').next().unwrap_or(turn_id)
}
