//! The kernel and its record store behind JSON text: what a host (Node, a test) talks to.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::kernel::Kernel;
use crate::kernel::event::{Event, EventView, Header};
use crate::kernel::id::{EffectId, TurnId};
use crate::kernel::json::Json;
use crate::kernel::protocol::outbox::Outbox;
use crate::kernel::protocol::{Given, Input, KeelOptions, Start};
use crate::kernel::record;
use crate::kernel::spec::Program;
use crate::kernel::time::Moment;
use crate::kernel::turn::Turn;
use crate::store::memory::MemoryStore;

/// One keel's kernel and records.
pub struct Engine {
    kernel: Kernel,
    store: MemoryStore,
}

/// What follows an input: left in the outbox, or, for tests, as a JSON array.
#[cfg(not(test))]
type Commands = ();
#[cfg(test)]
type Commands = Option<String>;

/// The host sent a text that is not of the protocol.
pub type BrokenProtocol = serde_json::Error;

impl Engine {
    /// # Errors
    /// The options are not [`KeelOptions`].
    pub fn new(options: &str) -> Result<Self, BrokenProtocol> {
        let options: KeelOptions = serde_json::from_str(options)?;
        let store = MemoryStore::new(options.keep_trees);
        Ok(Self { kernel: Kernel::new(options), store })
    }

    /// Opens a root turn; returns the commands that follow.
    ///
    /// # Errors
    /// The text is not a [`Start`].
    pub fn start(&mut self, program: &Rc<Program>, text: &str, now_ms: f64) -> Result<Commands, BrokenProtocol> {
        Ok(self.begin(program, serde_json::from_str(text)?, now_ms))
    }

    /// The same in its type.
    pub fn begin(&mut self, program: &Rc<Program>, start: Start, now_ms: f64) -> Commands {
        self.kernel.start(program, start, Moment::from_ms(now_ms));
        self.commands()
    }

    /// Answers a command with JSON text; returns the commands that follow.
    pub fn answer(&mut self, id: u32, text: String, now_ms: f64) -> Commands {
        self.give(id, Given::Text(text), now_ms)
    }

    /// Answers a command; returns the commands that follow.
    pub fn give(&mut self, id: u32, given: Given, now_ms: f64) -> Commands {
        self.kernel.answer(EffectId(id), given, Moment::from_ms(now_ms));
        self.commands()
    }

    /// The commands that are not taken yet.
    pub fn outbox(&self) -> std::cell::RefMut<'_, Outbox> {
        self.kernel.commands()
    }

    /// Takes an [`Input`]; returns the commands that follow.
    ///
    /// # Errors
    /// The text is not an [`Input`].
    pub fn input(&mut self, text: &str, now_ms: f64) -> Result<Commands, BrokenProtocol> {
        let input: Input = serde_json::from_str(text)?;
        Ok(self.tell(input, now_ms))
    }

    /// The same in its type.
    pub fn tell(&mut self, input: Input, now_ms: f64) -> Commands {
        self.kernel.input(input, Moment::from_ms(now_ms));
        self.commands()
    }

    /// Looks something up as of now, without changing anything; JSON text, `null` when it is not there.
    ///
    /// # Errors
    /// The text is not a [`Query`].
    pub fn query(&self, text: &str, now_ms: f64) -> Result<String, BrokenProtocol> {
        self.kernel.look(Moment::from_ms(now_ms));
        match serde_json::from_str(text)? {
            Query::Record { turn_id } => serde_json::to_string(&self.record(&turn_id)),
            Query::Events { turn_id, tree } => serde_json::to_string(&self.events(&turn_id, tree)),
            Query::List(filter) => serde_json::to_string(&self.list(&filter)),
            Query::Tree { turn_id } => serde_json::to_string(&self.tree(&turn_id)),
            Query::Budget { turn_id } => serde_json::to_string(&self.kernel.turn(&turn_id).map(|turn| left(&turn))),
            Query::IdempotencyKey { id } => serde_json::to_string(&self.kernel.idempotency_key(id)),
        }
    }

    /// What the kernel holds on to.
    #[cfg(test)]
    pub fn live(&self) -> crate::kernel::port::Live {
        self.kernel.live()
    }

    #[cfg(not(test))]
    fn commands(&mut self) {
        for turn in self.kernel.take_closed() {
            self.store.put(turn);
        }
    }

    #[cfg(test)]
    fn commands(&mut self) -> Commands {
        for turn in self.kernel.take_closed() {
            self.store.put(turn);
        }
        self.kernel.commands().clear();
        self.kernel.take_text()
    }

    fn record(&self, turn_id: &TurnId) -> Option<RecordView> {
        let turn = self.kernel.turn(turn_id).or_else(|| self.store.get(turn_id).cloned())?;
        let transcript = turn.transcript.borrow().messages();
        Some(RecordView { record: record::record(&turn), transcript })
    }

    fn events(&self, turn_id: &TurnId, tree: bool) -> Option<Vec<Json>> {
        let wanted = |header: &Header| header.turn_id == *turn_id || (tree && header.turn_id.is_within(turn_id));
        let mut events: Vec<(Event, Header)> = Vec::new();
        let mut known = false;
        for turn in self.turns().iter().filter(|turn| wanted(&turn.header)) {
            known = true;
            events.extend(turn.events().iter().map(|event| (event.clone(), turn.header.clone())));
        }
        events.sort_by_key(|(event, _)| event.seq);
        let view = |(event, header): &(Event, Header)| Json::of(&EventView { event, header });
        known.then(|| events.iter().map(view).collect())
    }

    /// Every turn that is over and kept, and every live one.
    fn turns(&self) -> Vec<Rc<Turn>> {
        self.store.turns().cloned().chain(self.kernel.turns()).collect()
    }

    /// Finished turns and live ones, newest tree first.
    fn list(&self, filter: &ListFilter) -> Page {
        let mut found: BTreeSet<TurnId> = BTreeSet::new();
        for turn in self.turns().iter().filter(|turn| filter.admits(&turn.header, turn.status())) {
            found.insert(turn.id().clone());
        }
        let older = |turn_id: &TurnId| filter.cursor.as_ref().is_none_or(|cursor| turn_id < cursor);
        let mut turn_ids: Vec<TurnId> = found.into_iter().rev().filter(older).collect();
        let more = turn_ids.len() > filter.limit;
        turn_ids.truncate(filter.limit);
        let cursor = if more { turn_ids.last().cloned() } else { None };
        let items = turn_ids.iter().filter_map(|turn_id| self.record(turn_id)).collect();
        Page { items, cursor }
    }

    fn tree(&self, turn_id: &TurnId) -> Option<TreeView> {
        let record = self.record(turn_id)?;
        let is_child = |header: &Header| header.parent_turn_id.as_ref() == Some(turn_id);
        let mut children: BTreeMap<u32, TurnId> = BTreeMap::new();
        for turn in self.turns() {
            if is_child(&turn.header) {
                children.insert(turn.id().number(), turn.id().clone());
            }
        }
        let children = children.values().filter_map(|child| self.tree(child)).collect();
        Some(TreeView { record, children })
    }
}

/// What a host may ask without changing anything.
#[derive(Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Query {
    Record {
        turn_id: TurnId,
    },
    Events {
        turn_id: TurnId,
        tree: bool,
    },
    List(ListFilter),
    Tree {
        turn_id: TurnId,
    },
    /// What is left of a live turn's budget.
    Budget {
        turn_id: TurnId,
    },
    IdempotencyKey {
        id: EffectId,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListFilter {
    agent_id: Option<String>,
    status: Option<String>,
    root_turn_id: Option<TurnId>,
    parent_turn_id: Option<TurnId>,
    cursor: Option<TurnId>,
    limit: usize,
}

impl ListFilter {
    fn admits(&self, header: &Header, status: &str) -> bool {
        self.agent_id.as_ref().is_none_or(|agent_id| **agent_id == *header.agent_id)
            && self.status.as_ref().is_none_or(|wanted| wanted == status)
            && self.root_turn_id.as_ref().is_none_or(|root| *root == header.root_turn_id)
            && self.parent_turn_id.as_ref().is_none_or(|parent| header.parent_turn_id.as_ref() == Some(parent))
    }
}

#[derive(Serialize)]
struct RecordView {
    record: Json,
    transcript: Vec<Json>,
}

#[derive(Serialize)]
struct Page {
    items: Vec<RecordView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<TurnId>,
}

#[derive(Serialize)]
struct TreeView {
    record: RecordView,
    children: Vec<TreeView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BudgetLeft {
    steps_left: u32,
    tool_calls_left: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_left_ms: Option<f64>,
}

fn left(turn: &Turn) -> BudgetLeft {
    let spent_calls = turn.meter.tool_calls() + turn.meter.nested_calls();
    BudgetLeft {
        steps_left: turn.budget.steps_max().saturating_sub(turn.meter.steps()),
        tool_calls_left: turn.budget.tool_calls_max().saturating_sub(spent_calls),
        time_left_ms: turn.time_left_ms(),
    }
}
