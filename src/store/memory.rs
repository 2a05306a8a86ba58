//! The default store: the last finished trees, in memory (D-40). A turn that is over is its own record, which is written when
//! somebody reads it.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::kernel::id::TurnId;
use crate::kernel::turn::Turn;

/// How many finished trees are kept unless told otherwise.
const KEEP_TREES: usize = 1_000;

#[derive(Default)]
pub struct MemoryStore {
    /// Finished trees, oldest first.
    finished: VecDeque<FinishedTree>,
    /// Turns that are over below roots that are not.
    below: BTreeMap<TurnId, Vec<Rc<Turn>>>,
    keep: usize,
}

struct FinishedTree {
    root: Rc<Turn>,
    below: Vec<Rc<Turn>>,
}

impl MemoryStore {
    pub fn new(keep_trees: Option<usize>) -> Self {
        Self { keep: keep_trees.unwrap_or(KEEP_TREES), ..Self::default() }
    }

    /// Takes a turn that is over. When its root is, the oldest tree beyond the limit is forgotten.
    pub fn put(&mut self, turn: Rc<Turn>) {
        let root_id = &turn.header.root_turn_id;
        if turn.parent.is_some() {
            match self.below.get_mut(root_id) {
                Some(below) => below.push(turn),
                None => drop(self.below.insert(root_id.clone(), vec![turn])),
            }
            return;
        }
        let below = if self.below.is_empty() { Vec::new() } else { self.below.remove(root_id).unwrap_or_default() };
        self.finished.push_back(FinishedTree { root: turn, below });
        while self.finished.len() > self.keep {
            self.finished.pop_front();
        }
    }

    pub fn get(&self, turn_id: &TurnId) -> Option<&Rc<Turn>> {
        self.turns().find(|turn| turn.id() == turn_id)
    }

    /// Every kept turn, in no particular order.
    pub fn turns(&self) -> impl Iterator<Item = &Rc<Turn>> {
        let finished = self.finished.iter().rev().flat_map(|tree| std::iter::once(&tree.root).chain(&tree.below));
        finished.chain(self.below.values().flatten())
    }
}
