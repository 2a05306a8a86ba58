//! What all turns of one tree share, and where the live ones are found.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::kernel::program::{HookFlags, Program};
use crate::kernel::turn::Turn;
use crate::kernel::value::TurnKey;
use crate::kernel::wait::{Port, Slots};

pub struct Tree {
    pub port: Rc<Port>,
    pub program: Rc<Program>,
    /// Somebody reads the events as they happen; the model streams.
    pub stream: Cell<bool>,
    pub slots: Option<Rc<Slots>>,
    /// The keel's and the run's hooks.
    pub hooks: HookFlags,
    next_seq: Cell<u32>,
    live: RefCell<LiveTurns>,
    /// Turns that are over, in the order in which they ended.
    over: RefCell<Vec<Rc<Turn>>>,
}

impl Tree {
    pub fn new(
        port: Rc<Port>,
        program: Rc<Program>,
        stream: bool,
        max_tool_concurrency: Option<u32>,
        hooks: HookFlags,
    ) -> Self {
        Self {
            port,
            program,
            stream: Cell::new(stream),
            slots: max_tool_concurrency.map(|max| Rc::new(Slots::new(max))),
            hooks,
            next_seq: Cell::new(1),
            live: RefCell::default(),
            over: RefCell::default(),
        }
    }

    pub fn next_seq(&self) -> u32 {
        self.next_seq.replace(self.next_seq.get() + 1)
    }

    pub fn next_key(&self) -> TurnKey {
        self.live.borrow_mut().next_key()
    }

    pub fn open(&self, turn: &Rc<Turn>) {
        self.live.borrow_mut().open(turn);
    }

    pub fn close(&self, turn: &Rc<Turn>) {
        self.live.borrow_mut().close(turn.key);
        self.over.borrow_mut().push(Rc::clone(turn));
    }

    pub fn live_count(&self) -> usize {
        self.live.borrow().count
    }

    /// The turn that has the key, if one does.
    pub fn live_turn(&self, key: TurnKey) -> Option<Rc<Turn>> {
        self.live.borrow().turns.get(key.0 as usize).cloned().flatten()
    }

    /// Every turn of the tree, over or not, in no particular order.
    pub fn turns(&self) -> Vec<Rc<Turn>> {
        let live = self.live.borrow();
        live.turns.iter().flatten().chain(self.over.borrow().iter()).cloned().collect()
    }
}

/// Every turn that is not over, by its key, which a later turn may get again.
#[derive(Default)]
struct LiveTurns {
    turns: Vec<Option<Rc<Turn>>>,
    free: Vec<TurnKey>,
    count: usize,
}

impl LiveTurns {
    fn next_key(&mut self) -> TurnKey {
        self.free.pop().unwrap_or_else(|| {
            self.turns.push(None);
            TurnKey(u32::try_from(self.turns.len() - 1).expect("memory ends first"))
        })
    }

    fn open(&mut self, turn: &Rc<Turn>) {
        self.turns[turn.key.0 as usize] = Some(Rc::clone(turn));
        self.count += 1;
    }

    fn close(&mut self, key: TurnKey) {
        self.turns[key.0 as usize] = None;
        self.free.push(key);
        self.count -= 1;
    }
}
