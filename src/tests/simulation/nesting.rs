//! What bodies and wrap layers do while they run: they call tools, drop such calls, run what is inside of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::host::Host;
use super::prepared::By;

/// A promise that waits.
pub struct Ticket {
    /// The command of the body or of the wrap layers that made it.
    pub by: u32,
    pub turn_id: String,
    /// The call whose code waits.
    pub caller: String,
    /// A nested call; `None`: a `next()`.
    pub nested: Option<Nested>,
}

pub struct Nested {
    pub call_id: String,
    /// Position of the tool, where there is such a tool.
    pub tool: Option<usize>,
    /// What the tool's `concurrency` function said.
    pub prepared: Option<bool>,
}

/// What this host knows of nested calls.
#[derive(Default)]
pub struct Nesting {
    pub waiting: BTreeMap<u32, Ticket>,
    /// Of wrap layers that are over; what is inside of them may end at the very moment of their answer.
    forgotten: BTreeSet<u32>,
    next: u32,
    /// How many calls each call has made.
    numbered: BTreeMap<(String, String), u32>,
    /// Whether a nested call runs alone.
    pub exclusive: BTreeMap<(String, String), bool>,
    /// Calls that run on while something below them has their slot: they gave up waiting for it, or run twice at once.
    pub run_on: BTreeSet<(String, String)>,
    /// Calls whose body or wrap layers ran, or whose tool opened a turn.
    pub entered: BTreeSet<(String, String)>,
}

impl Host {
    /// A running body calls tools, some at once.
    pub fn nest(&mut self) {
        let Some(body) = self.some("call") else { return };
        let (by, turn_id, caller) = self.place_of(body);
        let many = *self.random.pick(&[1, 1, 1, 1, 2, 2, 3, 5, 11]);
        let unknown = self.random.chance(10);
        for _ in 0..many {
            self.call_tool(by, &turn_id, &caller, unknown);
        }
    }

    /// A call from a body that is over.
    pub fn nest_late(&mut self) {
        let by = *self.random.pick(&self.over);
        let root = self.root.clone();
        self.call_tool(by, &root, "over", false);
    }

    fn call_tool(&mut self, by: u32, turn_id: &str, caller: &str, unknown: bool) {
        let ticket = self.nesting.next;
        self.nesting.next += 1;
        let tools = &self.agents[self.agent_of[turn_id]].tools;
        let at = (!unknown && !tools.is_empty() && self.random.chance(93)).then(|| self.random.index(tools.len()));
        let name = at.map_or("unknown", |at| &tools[at].id).to_owned();
        let good = if at.is_some_and(|at| tools[at].delegates) { json!({"brief": "go"}) } else { json!({"n": 1}) };
        let args = match self.random.below(20) {
            0 => json!({"n": "x"}),
            1 => json!([]),
            2 => json!({"n": 1, "key": "forged"}),
            _ => good,
        };
        let broken = self.random.chance(2).then_some("a cycle");
        let abandoned = self.random.chance(2);
        let key = (turn_id.to_owned(), caller.to_owned());
        let number = self.nesting.numbered.entry(key).or_default();
        *number += 1;
        let call_id = format!("{caller}/{number}");
        self.nesting.waiting.insert(
            ticket,
            Ticket {
                by,
                turn_id: turn_id.to_owned(),
                caller: caller.to_owned(),
                nested: Some(Nested { call_id, tool: at, prepared: None }),
            },
        );
        let args = broken.map_or(args, |_| Value::Null);
        let check = self.check_ahead(turn_id, By::Ticket(ticket));
        // It counts for arguments as they were sent, of a tool that has a schema of the host's.
        if at.is_some_and(|at| self.agents[self.agent_of[turn_id]].tools[at].checked_ahead) {
            self.said(Some(ticket), &check);
        }
        self.request(by, turn_id, &json!([ticket, name, args, check, broken, false, false, abandoned]));
        assert!(!abandoned || !self.nesting.waiting.contains_key(&ticket), "nobody waits for an abandoned call");
    }

    /// A body no longer waits for one of its calls.
    pub fn abandon(&mut self) {
        let nested = self.nesting.waiting.iter().filter(|(_, ticket)| ticket.nested.is_some());
        let nested: Vec<u32> = nested.map(|(number, _)| *number).collect();
        if nested.is_empty() {
            return;
        }
        let number = *self.random.pick(&nested);
        let ticket = &self.nesting.waiting[&number];
        self.nesting.run_on.insert((ticket.turn_id.clone(), ticket.caller.clone()));
        let by = ticket.by;
        self.letter(by, "abandon", &json!({ "ticket": number }));
        assert!(!self.nesting.waiting.contains_key(&number), "an abandoned call is rejected at once");
    }

    /// A wrap layer runs what is inside of it.
    pub fn go_in(&mut self) {
        let Some(wrap) = self.some("wrap") else { return };
        let (by, turn_id, caller) = self.place_of(wrap);
        self.asked[wrap].nexts += 1;
        if self.waits(by) {
            self.nesting.run_on.insert((turn_id.clone(), caller.clone()));
        }
        let number = self.nesting.next;
        self.nesting.next += 1;
        let ticket = Ticket { by, turn_id, caller, nested: None };
        self.nesting.waiting.insert(number, ticket);
        let args = *self.random.pick(&[None, None, Some(2)]);
        let args = args.map(|n| json!({"n": n, "brief": "rewritten"}));
        self.letter(by, "next", &json!({"ticket": number, "args": args}));
    }

    /// A promise is settled, once.
    pub fn resolve(&mut self, number: u32, is_served: bool) {
        if self.nesting.forgotten.remove(&number) {
            return;
        }
        let ticket = self.nesting.waiting.remove(&number);
        let ticket = ticket.unwrap_or_else(|| panic!("ticket {number} is settled once, and only when it was made"));
        if !is_served {
            let key = (ticket.turn_id, ticket.caller);
            *self.nesting.numbered.get_mut(&key).expect("it was numbered") -= 1;
        }
    }

    /// A call begins to run: its wrap layers, its body or its child turn.
    pub fn enter(&mut self, turn_id: &str, call_id: &str, ticket: Option<u32>) {
        self.nesting.entered.insert((turn_id.to_owned(), call_id.to_owned()));
        let Some(nested) = ticket.and_then(|number| self.nesting.waiting.get(&number)?.nested.as_ref()) else { return };
        assert_eq!(nested.call_id, call_id, "nested calls are numbered in order");
        let agent = &self.agents[self.agent_of[turn_id]];
        let tool = &agent.tools[nested.tool.expect("only a tool that is there runs")];
        let serial = agent.serial || self.serial_of(turn_id);
        let exclusive = serial || tool.injects || nested.prepared.unwrap_or(tool.exclusive);
        self.nesting.exclusive.insert((turn_id.to_owned(), call_id.to_owned()), exclusive);
    }

    /// A check of arguments says whether a nested call runs alone.
    pub fn said(&mut self, ticket: Option<u32>, check: &Value) {
        let ticket = ticket.and_then(|number| self.nesting.waiting.get_mut(&number));
        if let Some(nested) = ticket.and_then(|ticket| ticket.nested.as_mut()) {
            nested.prepared = check["ok"]["exclusive"].as_bool();
        }
    }

    /// Promises of wrap layers that are over.
    pub fn forget_nexts(&mut self, by: u32) {
        let nexts = self.nesting.waiting.extract_if(.., |_, ticket| ticket.by == by && ticket.nested.is_none());
        self.nesting.forgotten.extend(nexts.map(|(number, _)| number));
    }

    /// Calls that a body waits for.
    pub fn waits(&self, by: u32) -> bool {
        self.nesting.waiting.values().any(|ticket| ticket.by == by)
    }

    fn some(&mut self, kind: &str) -> Option<usize> {
        let running: Vec<usize> = (0..self.asked.len()).filter(|at| self.asked[*at].kind == kind).collect();
        if running.is_empty() { None } else { Some(*self.random.pick(&running)) }
    }

    fn place_of(&self, at: usize) -> (u32, String, String) {
        let asked = &self.asked[at];
        (asked.id, asked.turn_id.clone(), asked.call_id.clone())
    }
}
