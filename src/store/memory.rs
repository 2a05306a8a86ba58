//! The default store: the last finished trees, in memory (D-40). A turn that is over is its own record, which is written when
//! somebody reads it.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::kernel::turn::Turn;
use crate::kernel::value::TurnId;

/// How many finished trees are kept unless told otherwise.
const KEEP_TREES: usize = 1_000;

pub struct MemoryStore {
    /// The turns of finished trees, oldest tree first.
    finished: VecDeque<Box<[Rc<Turn>]>>,
    keep: usize,
}

impl MemoryStore {
    pub fn new(keep_trees: Option<usize>) -> Self {
        Self { finished: VecDeque::new(), keep: keep_trees.unwrap_or(KEEP_TREES) }
    }

    /// Takes a tree that is over. The oldest beyond the limit is forgotten.
    pub fn put(&mut self, turns: Vec<Rc<Turn>>) {
        if self.keep == 0 {
            return;
        }
        if self.finished.len() == self.keep {
            self.finished.pop_front();
        }
        self.finished.push_back(turns.into());
    }

    /// The turns of the tree that this one belongs to, in no particular order; none where it is not kept.
    pub fn tree(&self, turn_id: &TurnId) -> &[Rc<Turn>] {
        let is_its =
            |turns: &&[Rc<Turn>]| turns.first().is_some_and(|turn| turn_id.is_within(&turn.header.root_turn_id));
        self.finished.iter().rev().map(|turns| &**turns).find(is_its).unwrap_or_default()
    }

    /// Every kept turn, in no particular order.
    pub fn turns(&self) -> impl Iterator<Item = &Rc<Turn>> {
        self.finished.iter().flat_map(|turns| turns.iter())
    }
}
