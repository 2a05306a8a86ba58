//! The default store: the last finished trees, in memory (D-40).

use std::collections::{BTreeMap, VecDeque};

use crate::kernel::id::TurnId;
use crate::kernel::record::ClosedTurn;

/// How many finished trees are kept unless told otherwise.
const KEEP_TREES: usize = 1_000;

#[derive(Default)]
pub struct MemoryStore {
    /// The turns of each tree by its root.
    trees: BTreeMap<TurnId, BTreeMap<TurnId, ClosedTurn>>,
    /// Roots of finished trees, oldest first.
    finished: VecDeque<TurnId>,
    keep: usize,
}

impl MemoryStore {
    pub fn new(keep_trees: Option<usize>) -> Self {
        Self { keep: keep_trees.unwrap_or(KEEP_TREES), ..Self::default() }
    }

    /// Takes a turn that is over. When its root is, the oldest tree beyond the limit is forgotten.
    pub fn put(&mut self, turn: ClosedTurn) {
        let root = turn.header.root_turn_id.clone();
        let is_root = turn.header.parent_turn_id.is_none();
        self.trees.entry(root.clone()).or_default().insert(turn.header.turn_id.clone(), turn);
        if !is_root {
            return;
        }
        self.finished.push_back(root);
        while self.finished.len() > self.keep {
            if let Some(oldest) = self.finished.pop_front() {
                self.trees.remove(&oldest);
            }
        }
    }

    pub fn get(&self, turn_id: &TurnId) -> Option<&ClosedTurn> {
        self.trees.get(&turn_id.root())?.get(turn_id)
    }

    /// Every kept turn, by id: the order in which their trees began, each parent before its children.
    pub fn turns(&self) -> impl Iterator<Item = &ClosedTurn> {
        self.trees.values().flat_map(BTreeMap::values)
    }
}
