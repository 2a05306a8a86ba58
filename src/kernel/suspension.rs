//! When a turn stands still for a human. Looked at after each input, and only while some call is pending: a turn is
//! suspended when no command, no wait of its own and no child below it can bring it further (D-5).

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::kernel::approval::{Decision, Pending};
use crate::kernel::event::EventBody;
use crate::kernel::id::TurnId;
use crate::kernel::port::Port;
use crate::kernel::record;
use crate::kernel::turn::Turn;

/// Suspends every turn that can no longer go on by itself, children before their callers; a root is reported to the host.
/// One that stood still and can, since layers or a tool above it no longer wait for a human, goes on.
pub fn settle(port: &Rc<Port>) {
    let waits = port.waiting.get() > 0;
    let waited = port.waited.replace(waits);
    if !waits && !waited {
        return;
    }
    let mut turns: Vec<Rc<Turn>> = port.turns.borrow().in_order();
    turns.sort_by_key(|turn| std::cmp::Reverse(turn.depth));
    for turn in turns {
        let still = turn.busy.get() == 0 && stands_still(port, &turn);
        if !still {
            if turn.is_suspended() {
                go_on(&turn);
            }
            continue;
        }
        if turn.is_suspended() {
            continue;
        }
        let pending = pending_below(port, &turn);
        turn.suspend();
        turn.emit(EventBody::TurnSuspended { pending: pending.clone() });
        if turn.parent.is_none() {
            record::report_suspended(&turn, pending);
        }
    }
}

/// Hands out decisions; the turns on their paths go on, callers first.
pub fn resume(port: &Rc<Port>, root: &Rc<Turn>, mut decisions: BTreeMap<String, Decision>) {
    let mut decided = Vec::new();
    for turn in tree(port, root) {
        for waiting in turn.waiting.borrow().iter() {
            if let Some(decision) = decisions.remove(&waiting.pending.id) {
                decided.push((Rc::clone(&turn), Rc::clone(waiting), decision));
            }
        }
    }
    for (turn, waiting, decision) in decided {
        go_on(&turn);
        waiting.decide(decision);
    }
    // Without a decision the root still stands; it is told again what it waits for.
    if root.is_suspended() {
        record::report_suspended(root, pending_below(port, root));
    }
}

/// What a turn and all below it wait for, in order.
pub fn pending_below(port: &Port, turn: &Rc<Turn>) -> Vec<Pending> {
    let of = |turn: &Rc<Turn>| turn.waiting.borrow().iter().map(|waiting| waiting.pending.clone()).collect::<Vec<_>>();
    tree(port, turn).iter().flat_map(of).collect()
}

fn tree(port: &Port, root: &Rc<Turn>) -> Vec<Rc<Turn>> {
    let mut turns = port.turns.borrow().in_order();
    turns.retain(|turn| turn.id().is_within(root.id()));
    turns
}

/// A turn that is about to end by itself brings those above it further, too.
pub fn go_on_above(turn: &Turn) {
    if let Some(parent) = &turn.parent {
        go_on(parent);
    }
}

/// Lets a turn and those above it go on, where they stand still.
pub fn go_on(turn: &Turn) {
    go_on_above(turn);
    if turn.resume() {
        turn.emit(EventBody::TurnResumed {});
    }
}

/// Nothing but humans and suspended children is waited for.
fn stands_still(port: &Port, turn: &Rc<Turn>) -> bool {
    let is_child = |child: &&Rc<Turn>| child.header.parent_turn_id.as_ref() == Some(turn.id());
    let turns = port.turns.borrow();
    let mut children = turns.iter().filter(is_child).peekable();
    let waits = !turn.waiting.borrow().is_empty() || children.peek().is_some();
    waits && children.all(|child| child.is_suspended())
}

/// The turns from the root to this one.
pub fn path(turn: &Turn) -> Vec<TurnId> {
    let mut path: Vec<TurnId> =
        std::iter::successors(Some(turn), |turn| turn.parent.as_deref()).map(|turn| turn.id().clone()).collect();
    path.reverse();
    path
}
