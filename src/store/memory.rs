//! The default store: the last finished trees, in memory (D-40).

use std::collections::{BTreeMap, VecDeque};

use crate::kernel::id::TurnId;
use crate::kernel::record::ClosedTurn;

/// How many finished trees are kept unless told otherwise.
const KEEP_TREES: usize = 1_000;

pub struct MemoryStore {
    turns: BTreeMap<TurnId, ClosedTurn>,
    /// Roots of finished trees, oldest first.
    finished: VecDeque<TurnId>,
    keep: usize,
}

impl MemoryStore {
    pub fn new(keep_trees: Option<usize>) -> Self {
        Self { turns: BTreeMap::new(), finished: VecDeque::new(), keep: keep_trees.unwrap_or(KEEP_TREES) }
    }

    /// Takes a turn that is over. When its root is, the oldest tree beyond the limit is forgotten.
    pub fn put(&mut self, turn: ClosedTurn) {
        let is_root = turn.header.parent_turn_id.is_none();
        let turn_id = turn.header.turn_id.clone();
        self.turns.insert(turn_id.clone(), turn);
        if !is_root {
            return;
        }
        self.finished.push_back(turn_id);
        while self.finished.len() > self.keep {
            if let Some(oldest) = self.finished.pop_front() {
                self.forget(&oldest);
            }
        }
    }

    pub fn get(&self, turn_id: &TurnId) -> Option<&ClosedTurn> {
        self.turns.get(turn_id)
    }

    /// Every kept turn, by id: the order in which their trees began, each parent before its children.
    pub fn turns(&self) -> impl Iterator<Item = &ClosedTurn> {
        self.turns.values()
    }

    fn forget(&mut self, root: &TurnId) {
        let tree: Vec<TurnId> = self
            .turns
            .range(root.clone()..)
            .map(|(turn_id, _)| turn_id)
            .take_while(|turn_id| turn_id.is_within(root))
            .cloned()
            .collect();
        for turn_id in tree {
            self.turns.remove(&turn_id);
        }
    }
}
