//! When a turn stands still for a human: when no command, no wait of its own and no child below it can bring it further
//! (D-5). Looked at after each input, for those turns alone whose standing may have changed.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use crate::kernel::protocol::{Decision, EventBody, Pending};
use crate::kernel::turn::{Tree, Turn, record};
use crate::kernel::value::TurnId;

/// What a turn waits for below itself.
#[derive(Default)]
pub struct Standing {
    /// Its own calls that wait for a human.
    humans: RefCell<Vec<Rc<Waiting>>>,
    /// Children that are not over, by their numbers.
    children: RefCell<BTreeMap<u32, Weak<Turn>>>,
    /// How many of them are suspended.
    suspended_children: Cell<usize>,
}

/// A place where a decision arrives.
pub struct Waiting {
    pub pending: Pending,
    decision: Cell<Option<Decision>>,
    waker: Cell<Option<Waker>>,
}

impl Waiting {
    pub fn new(pending: Pending) -> Self {
        Self { pending, decision: Cell::default(), waker: Cell::default() }
    }

    pub fn poll(&self, context: &Context<'_>) -> Poll<Decision> {
        if let Some(decision) = self.decision.take() {
            return Poll::Ready(decision);
        }
        self.waker.set(Some(context.waker().clone()));
        Poll::Pending
    }

    fn decide(&self, decision: Decision) {
        self.decision.set(Some(decision));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A call of the turn waits for a human from here on.
pub fn wait_for_human(turn: &Turn, waiting: &Rc<Waiting>) {
    turn.standing.humans.borrow_mut().push(Rc::clone(waiting));
    let humans = &turn.port.humans;
    humans.set(humans.get() + 1);
    turn.port.touch(turn.key);
}

/// It no longer does.
pub fn wait_no_longer(turn: &Turn, waiting: &Rc<Waiting>) {
    turn.standing.humans.borrow_mut().retain(|other| !Rc::ptr_eq(other, waiting));
    let humans = &turn.port.humans;
    humans.set(humans.get() - 1);
    turn.port.touch(turn.key);
}

/// A child turn has begun.
pub fn open_below(child: &Rc<Turn>) {
    let Some(caller) = &child.parent else { return };
    caller.standing.children.borrow_mut().insert(child.id().number(), Rc::downgrade(child));
    touch_caller(caller);
}

/// A child turn is over.
pub fn close_below(child: &Turn) {
    let Some(caller) = &child.parent else { return };
    caller.standing.children.borrow_mut().remove(&child.id().number());
    if child.lifetime.is_suspended() {
        count_suspended(caller, |count| count - 1);
    }
    touch_caller(caller);
}

fn touch_caller(caller: &Turn) {
    if caller.port.humans.get() > 0 || caller.lifetime.is_suspended() {
        caller.port.touch(caller.key);
    }
}

fn count_suspended(caller: &Turn, change: impl FnOnce(usize) -> usize) {
    let count = &caller.standing.suspended_children;
    count.set(change(count.get()));
}

/// Suspends every turn that can no longer go on by itself, children before their callers; a root is reported to the host.
/// One that stood still and can, since layers or a tool above it no longer wait for a human, goes on. Tells whether anything
/// changed.
pub fn settle(tree: &Tree) -> bool {
    let mut touched = BTreeMap::new();
    let mut changed = false;
    loop {
        for key in tree.port.take_touched() {
            if let Some(turn) = tree.live_turn(key) {
                touched.insert((Reverse(turn.depth), turn.id().clone()), turn);
            }
        }
        let Some((_, turn)) = touched.pop_first() else { return changed };
        #[cfg(test)]
        tree.port.looks.set(tree.port.looks.get() + 1);
        match (stands_still(&turn), turn.lifetime.is_suspended()) {
            (true, false) => suspend(&turn),
            (false, true) => go_on(&turn),
            (true, true) | (false, false) => continue,
        }
        changed = true;
    }
}

fn suspend(turn: &Rc<Turn>) {
    let pending = pending_below(turn);
    turn.lifetime.suspend();
    turn.emit(EventBody::TurnSuspended { pending: pending.clone() });
    match &turn.parent {
        Some(caller) => {
            count_suspended(caller, |count| count + 1);
            caller.port.touch(caller.key);
        }
        None => {
            record::report_suspended(turn, pending);
            turn.port.clock.stand_still(true);
        }
    }
}

/// Hands out decisions; the turns on their paths go on, callers first.
pub fn resume(root: &Rc<Turn>, mut decisions: BTreeMap<String, Decision>) {
    let mut decided = Vec::new();
    for_each_below(root, &mut |turn| {
        for waiting in turn.standing.humans.borrow().iter() {
            if let Some(decision) = decisions.remove(&waiting.pending.id) {
                decided.push((Rc::clone(turn), Rc::clone(waiting), decision));
            }
        }
    });
    for (turn, waiting, decision) in decided {
        go_on(&turn);
        waiting.decide(decision);
    }
    // Without a decision the root still stands; it is told again what it waits for.
    if root.lifetime.is_suspended() {
        record::report_suspended(root, pending_below(root));
    }
}

/// What a turn and all below it wait for, in order.
fn pending_below(turn: &Rc<Turn>) -> Vec<Pending> {
    let mut pending = Vec::new();
    for_each_below(turn, &mut |turn| {
        pending.extend(turn.standing.humans.borrow().iter().map(|waiting| waiting.pending.clone()));
    });
    pending
}

/// The turn and all live ones below it, each before its children. Depth is bounded by `maxDepth`.
fn for_each_below(turn: &Rc<Turn>, visit: &mut impl FnMut(&Rc<Turn>)) {
    visit(turn);
    let children: Vec<_> = turn.standing.children.borrow().values().filter_map(Weak::upgrade).collect();
    for child in &children {
        for_each_below(child, visit);
    }
}

/// The live turn of that id, at or below this one.
pub fn find(turn: &Rc<Turn>, turn_id: &TurnId) -> Option<Rc<Turn>> {
    let mut found = Rc::clone(turn);
    for number in turn_id.below(turn.id())? {
        let child = found.standing.children.borrow().get(&number?)?.upgrade()?;
        found = child;
    }
    (found.id() == turn_id).then_some(found)
}

/// A turn that is about to end by itself brings those above it further, too.
pub fn go_on_above(turn: &Turn) {
    if let Some(parent) = &turn.parent {
        go_on(parent);
    }
}

/// Lets a turn and those above it go on, where they stand still.
pub fn go_on(turn: &Turn) {
    if !turn.lifetime.is_suspended() && turn.parent.is_none() {
        return;
    }
    go_on_above(turn);
    if turn.parent.is_none() {
        turn.port.clock.stand_still(false);
    }
    if turn.lifetime.resume() {
        if let Some(caller) = &turn.parent {
            count_suspended(caller, |count| count - 1);
        }
        turn.port.touch(turn.key);
        turn.emit(EventBody::TurnResumed {});
    }
}

/// Nothing but humans and suspended children is waited for.
fn stands_still(turn: &Turn) -> bool {
    let standing = &turn.standing;
    let children = standing.children.borrow().len();
    let waits = children > 0 || !standing.humans.borrow().is_empty();
    turn.lifetime.is_idle() && waits && standing.suspended_children.get() == children
}

/// The turns from the root to this one.
pub fn path(turn: &Turn) -> Vec<TurnId> {
    let mut path: Vec<TurnId> =
        std::iter::successors(Some(turn), |turn| turn.parent.as_deref()).map(|turn| turn.id().clone()).collect();
    path.reverse();
    path
}
