//! A host that does everything a real one may do, in any order: answers early, late, twice or never, stops, lets time
//! pass, and comes late with its timer.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::definitions::{self, Drawn};
use super::keel;
use super::ledger::Rows;
use super::nesting::Nesting;
use super::prepared::Prepared;
use super::random::Random;
use crate::engine::Engine;
use crate::kernel::program::Program;
use crate::kernel::protocol::Given;
use crate::tests::one_tree::OneTree;
use crate::tests::script::{Agent, Turns, build, merge};

/// How much happens before the user loses patience and stops everything.
const ACTS_MAX: u32 = 500;

/// Something that waits for an answer.
pub struct Asked {
    pub id: u32,
    pub kind: String,
    pub turn_id: String,
    /// The nested call, or the `next()`, that it serves.
    pub ticket: Option<u32>,
    /// Empty for what serves no call.
    pub call_id: String,
    /// Of hooks: which.
    pub stage: String,
    /// Of a ledger: what it is told.
    pub entry: Value,
    /// Its turn has a contract.
    pub owes: bool,
    /// How often a wrap layer has called `next()`.
    pub nexts: u32,
    pub hangs: bool,
}

pub struct OpenTurn {
    pub owes: bool,
    /// The nested call that opened it.
    pub ticket: Option<u32>,
    pub deadline: Option<f64>,
}

pub struct Host {
    pub root: String,
    pub random: Random,
    pub tree: OneTree,
    pub agents: Vec<Drawn>,
    /// The run's own ceiling over the tree of each root.
    pub run_trees: BTreeMap<String, Value>,
    pub agent_of: BTreeMap<String, usize>,
    pub streamed: BTreeMap<String, Vec<Value>>,
    pub program: Rc<Program>,
    pub now: f64,
    /// The host's one timer.
    pub armed: Option<f64>,
    pub asked: Vec<Asked>,
    /// Ids of effects that need no answer any longer.
    pub over: Vec<u32>,
    pub open: BTreeMap<String, OpenTurn>,
    pub prepared: Prepared,
    pub turns: Turns,
    pub nesting: Nesting,
    pub rows: Rows,
    /// What roots that stand still wait for.
    pub pending: BTreeMap<String, Vec<Value>>,
    /// Some turn has stood still.
    pub stood: bool,
    /// The time that turns had used when they came to stand still.
    pub stood_at: BTreeMap<String, f64>,
    /// Turns that wait before they ask their model again.
    pub retrying: BTreeSet<String>,
    /// The model that was answered last: the answer may have come too late.
    pub answered_model: Option<(u32, String)>,
    /// Wrap layers have run.
    pub wraps: bool,
    /// How many briefs each turn has asked for; their calls count, also when no turn is opened.
    pub briefed: BTreeMap<String, usize>,
    /// Calls of which a human brought the result.
    pub brought: Vec<(String, String)>,
    /// How many calls may run at once in the tree of a root.
    pub concurrency: BTreeMap<String, usize>,
    /// Roots whose middleware is not safe to run concurrently.
    serial: BTreeSet<String>,
    options: Value,
    pub inputs: u32,
    acts: u32,
    /// What comes often comes in its type, as from the real host, and not as JSON.
    pub typed: bool,
    /// Records of roots as they were when they settled.
    pub settled: BTreeMap<String, String>,
    pub log: Vec<String>,
}

/// Runs one seed to its end; returns everything the kernel said.
pub fn run(seed: u64, typed: bool) -> Vec<String> {
    let mut host = Host { typed, ..Host::of(seed) };
    while host.step() {}
    host.end()
}

impl Host {
    /// A host with a keel of its own.
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (agents, drawn) = definitions::draw(&mut random);
        let options = keel::options(&mut random);
        let tree = OneTree::new(&options.to_string());
        Self::new("r0", random, (&agents, drawn), options, tree)
    }

    /// The options of a keel that several may share.
    pub fn options_of(seed: u64) -> Value {
        keel::options(&mut Random::new(seed))
    }

    /// A host that shares a keel of these options with others.
    pub fn within(engine: &Rc<RefCell<Engine>>, options: &Value, root: &str, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (agents, drawn) = definitions::draw(&mut random);
        Self::new(root, random, (&agents, drawn), options.clone(), OneTree::within(engine))
    }

    fn new(
        root: &str,
        mut random: Random,
        (agents, drawn): (&[Agent], Vec<Drawn>),
        options: Value,
        tree: OneTree,
    ) -> Self {
        // The host's clock may be anywhere when a tree begins.
        let now = if random.chance(15) { 50.0 } else { 0.0 };
        let mut host = Self {
            root: root.to_owned(),
            tree,
            program: build(agents),
            agents: drawn,
            random,
            run_trees: BTreeMap::new(),
            agent_of: BTreeMap::new(),
            streamed: BTreeMap::new(),
            now,
            armed: None,
            asked: Vec::new(),
            over: vec![1_000_000],
            open: BTreeMap::new(),
            prepared: Prepared::default(),
            turns: Turns::default(),
            nesting: Nesting::default(),
            rows: Rows::default(),
            pending: BTreeMap::new(),
            stood: false,
            stood_at: BTreeMap::new(),
            retrying: BTreeSet::new(),
            answered_model: None,
            wraps: false,
            briefed: BTreeMap::new(),
            brought: Vec::new(),
            concurrency: BTreeMap::new(),
            serial: BTreeSet::new(),
            options,
            inputs: 0,
            acts: 0,
            typed: false,
            settled: BTreeMap::new(),
            log: Vec::new(),
        };
        host.start(root);
        host
    }

    /// Lets something happen, unless the tree is over or the user has lost patience.
    pub fn step(&mut self) -> bool {
        if self.open.is_empty() || self.acts == ACTS_MAX {
            return false;
        }
        self.acts += 1;
        self.act();
        true
    }

    /// Stops what still runs; returns everything the kernel said.
    pub fn end(mut self) -> Vec<String> {
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
        self.log
    }

    fn start(&mut self, root: &str) {
        let budget = if self.random.chance(50) { definitions::budget(&mut self.random) } else { json!({}) };
        let limits = if self.random.chance(50) { definitions::limits(&mut self.random) } else { json!({}) };
        let contract = self.random.chance(20).then(|| json!({"part": 0, "nudges": 1}));
        let stopped = self.random.chance(2).then(|| json!({"reason": null}));
        let hooks = if self.random.chance(20) { keel::hooks(&mut self.random) } else { json!({}) };
        let mut start = json!({
            "turnId": root, "wallOffsetMs": 1_000.0, "messages": [{"role": "user", "content": "hello"}], "input": "hello",
            "contract": contract, "authenticated": self.random.chance(50), "scopes": [],
            "stream": self.random.chance(40), "hooks": hooks, "stopped": stopped,
        });
        self.run_trees.insert(root.to_owned(), limits["tree"].clone());
        if hooks["serial"] == true || self.options["hooks"]["serial"] == true {
            self.serial.insert(root.to_owned());
        }
        let max = |limit: &Value| limit.as_u64().and_then(|max| usize::try_from(max).ok());
        let bound = max(&limits["maxToolConcurrency"]).or(max(&self.options["limits"]["maxToolConcurrency"]));
        let binds = [bound, max(&self.agents[0].concurrency_max)].into_iter().flatten().min();
        self.concurrency.extend(binds.map(|max| (root.to_owned(), max)));
        merge(&mut start, json!({"budget": budget, "limits": limits}));
        let program = Rc::clone(&self.program);
        let commands = self.tree.start(&program, &start.to_string(), self.now);
        self.perform(commands);
    }

    pub fn stop(&mut self, turn_id: &str, subtree: bool) {
        let was_open = self.open.contains_key(turn_id);
        let top = if subtree { turn_id } else { root_of(turn_id) };
        let reached: Vec<String> = self.open.keys().filter(|id| was_open && within(id, top)).cloned().collect();
        // The turns above one that is stopped while they stand still go on.
        if was_open {
            self.pending.remove(root_of(turn_id));
        }
        let nothing_is_due = self.armed.is_none_or(|at| at > self.now);
        self.input("stop", &json!({"turnId": turn_id, "subtree": subtree, "reason": "enough"}));
        for id in reached.iter().filter(|_| nothing_is_due) {
            let record = self.query("record", &json!({"turnId": id}));
            assert_eq!(record["record"]["status"], "stopped", "{id} was stopped with {top}");
        }
        // What is due happens first, and may end the very turn that is named.
        let left = self.open.keys().find(|id| was_open && nothing_is_due && within(id, top));
        assert_eq!(left, None, "a stop of {top} is over when it returns");
    }

    pub fn input(&mut self, kind: &str, body: &Value) {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let commands = self.tree.input(&text, self.now);
        self.perform(commands);
    }

    /// What the command `id` sends while it runs.
    pub fn letter(&mut self, id: u32, kind: &str, body: &Value) {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let commands = self.tree.letter(id, &text, self.now);
        self.perform(commands);
    }

    pub fn deliver(&mut self, id: u32, answer: &Value) {
        self.give(id, Given::Text(answer.to_string()));
    }

    pub fn give(&mut self, id: u32, given: Given) {
        let commands = self.tree.give(id, given, self.now);
        self.perform(commands);
    }

    /// Some middleware of the tree is not safe to run concurrently.
    pub fn serial_of(&self, turn_id: &str) -> bool {
        self.serial.contains(root_of(turn_id))
    }

    pub fn record(&self, turn_id: &str) -> String {
        self.query("record", &json!({"turnId": turn_id})).to_string()
    }

    pub fn query(&self, kind: &str, body: &Value) -> Value {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let answer = self.tree.query(&text, self.now);
        serde_json::from_str(&answer).expect("the answer is JSON")
    }
}

pub fn within(turn_id: &str, top: &str) -> bool {
    turn_id.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

pub fn root_of(turn_id: &str) -> &str {
    turn_id.split('.').next().unwrap_or(turn_id)
}
