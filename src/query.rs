//! What a host may look up of a keel's trees, over or not, without changing anything.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::engine::{BrokenProtocol, Engine, TreeId, read};
use crate::kernel::Kernel;
use crate::kernel::protocol::{Event, EventView, Header};
use crate::kernel::turn::{Turn, record};
use crate::kernel::value::{EffectId, Json, TurnId};
use crate::kernel::wait::Moment;

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
    /// Whether the turn is there and not over.
    Live {
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

/// Answers a query as JSON text, `null` when what it names is not there. `tree`: the tree that is asked about, where it is not
/// over.
///
/// # Errors
/// The text is not a [`Query`].
pub fn answer(engine: &Engine, tree: Option<TreeId>, text: &str, now: Moment) -> Result<String, BrokenProtocol> {
    let kernel = tree.and_then(|tree| engine.kernel(tree));
    if let Some(kernel) = kernel {
        kernel.look(now);
    }
    let looked = Looked { engine, kernel };
    Ok(match read(text)? {
        Query::Record { turn_id } => serde_json::to_string(&looked.turn(&turn_id).map(|turn| RecordView::of(&turn))),
        Query::Events { turn_id, tree } => serde_json::to_string(&looked.events(&turn_id, tree)),
        Query::List(filter) => {
            for kernel in engine.kernels() {
                kernel.look(now);
            }
            serde_json::to_string(&list(engine, &filter))
        }
        Query::Tree { turn_id } => serde_json::to_string(&looked.tree(&turn_id)),
        Query::Live { turn_id } => serde_json::to_string(&looked.live(&turn_id).is_some()),
        Query::Budget { turn_id } => serde_json::to_string(&looked.live(&turn_id).map(|turn| left(&turn))),
        Query::IdempotencyKey { id } => serde_json::to_string(&kernel.and_then(|kernel| kernel.idempotency_key(id))),
    }?)
}

/// One tree, as it is asked about.
struct Looked<'a> {
    engine: &'a Engine,
    kernel: Option<&'a Kernel>,
}

impl Looked<'_> {
    fn live(&self, turn_id: &TurnId) -> Option<Rc<Turn>> {
        self.kernel?.live_turn(turn_id)
    }

    fn turn(&self, turn_id: &TurnId) -> Option<Rc<Turn>> {
        self.live(turn_id).or_else(|| self.turns(turn_id).into_iter().find(|turn| turn.id() == turn_id))
    }

    /// Every turn of the tree that this one belongs to.
    fn turns(&self, turn_id: &TurnId) -> Vec<Rc<Turn>> {
        match self.kernel.filter(|kernel| turn_id.is_within(kernel.root().id())) {
            Some(kernel) => kernel.turns(),
            None => self.engine.store.tree(turn_id).to_vec(),
        }
    }

    fn events(&self, turn_id: &TurnId, tree: bool) -> Option<Vec<Json>> {
        let wanted = |header: &Header| header.turn_id == *turn_id || (tree && header.turn_id.is_within(turn_id));
        let mut events: Vec<(Event, Header)> = Vec::new();
        let mut known = false;
        for turn in self.turns(turn_id).iter().filter(|turn| wanted(&turn.header)) {
            known = true;
            events.extend(turn.events.all().iter().map(|event| (event.clone(), turn.header.clone())));
        }
        events.sort_by_key(|(event, _)| event.seq);
        let view = |(event, header): &(Event, Header)| Json::of(&EventView { event, header });
        known.then(|| events.iter().map(view).collect())
    }

    fn tree(&self, turn_id: &TurnId) -> Option<TreeView> {
        let mut children: BTreeMap<TurnId, BTreeMap<u32, Rc<Turn>>> = BTreeMap::new();
        let turns = self.turns(turn_id);
        for turn in &turns {
            if let Some(parent) = &turn.header.parent_turn_id {
                children.entry(parent.clone()).or_default().insert(turn.id().number(), Rc::clone(turn));
            }
        }
        let top = turns.iter().find(|turn| turn.id() == turn_id)?;
        Some(TreeView::of(top, &children))
    }
}

/// Turns that are over and live ones, newest tree first.
fn list(engine: &Engine, filter: &ListFilter) -> Page {
    let live = engine.kernels().flat_map(Kernel::turns);
    let all = engine.store.turns().cloned().chain(live);
    let older = |turn_id: &TurnId| filter.cursor.as_ref().is_none_or(|cursor| turn_id < cursor);
    let mut found: BTreeMap<TurnId, Rc<Turn>> = BTreeMap::new();
    for turn in all.filter(|turn| filter.admits(turn) && older(turn.id())) {
        found.insert(turn.id().clone(), turn);
    }
    let more = found.len() > filter.limit;
    let items: Vec<Rc<Turn>> = found.into_values().rev().take(filter.limit).collect();
    let cursor = if more { items.last().map(|turn| turn.id().clone()) } else { None };
    Page { items: items.iter().map(|turn| RecordView::of(turn)).collect(), cursor }
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
    fn admits(&self, turn: &Turn) -> bool {
        let header = &turn.header;
        self.agent_id.as_ref().is_none_or(|agent_id| **agent_id == *header.agent_id)
            && self.status.as_ref().is_none_or(|wanted| wanted == turn.status())
            && self.root_turn_id.as_ref().is_none_or(|root| *root == header.root_turn_id)
            && self.parent_turn_id.as_ref().is_none_or(|parent| header.parent_turn_id.as_ref() == Some(parent))
    }
}

#[derive(Serialize)]
struct RecordView {
    record: Json,
    transcript: Vec<Json>,
}

impl RecordView {
    fn of(turn: &Turn) -> Self {
        Self { record: record::record(turn), transcript: turn.transcript.borrow().messages() }
    }
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

impl TreeView {
    fn of(turn: &Turn, children: &BTreeMap<TurnId, BTreeMap<u32, Rc<Turn>>>) -> Self {
        let below = children.get(turn.id()).into_iter().flat_map(BTreeMap::values);
        Self { record: RecordView::of(turn), children: below.map(|child| Self::of(child, children)).collect() }
    }
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
        time_left_ms: turn.lifetime.time_left_ms(),
    }
}
