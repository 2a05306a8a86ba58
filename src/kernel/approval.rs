//! Calls that wait for a human (D-31): asked of the host's `approve`, and where that defers, left pending. A pending call
//! holds its slot of the budget and nothing else; when nothing below a turn can go on without a human, the turn is
//! suspended and its clock stands still (D-1, D-5).

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::kernel::json::Json;
use serde::{Deserialize, Serialize};

use crate::kernel::event::EventBody;
use crate::kernel::id::{CallId, TurnId};
use crate::kernel::protocol::{ApproveAnswer, Command};
use crate::kernel::text::Text;
use crate::kernel::turn::Turn;

/// A call that waits for a human, as everybody is shown it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    pub id: String,
    pub kind: Kind,
    /// From the root to the turn that asked.
    pub path: Vec<TurnId>,
    pub turn_id: TurnId,
    pub call_id: CallId,
    pub tool_id: Rc<str>,
    pub args: Json,
    pub args_hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Approval,
    /// The host runs the tool and brings the result.
    External,
}

/// A human's answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    Allow,
    Deny(Text),
    /// The result of an external call.
    Result(Json),
}

/// A place where a decision arrives.
pub struct Waiting {
    pub pending: Pending,
    decision: Cell<Option<Decision>>,
    waker: Cell<Option<Waker>>,
}

impl Waiting {
    pub fn decide(&self, decision: Decision) {
        self.decision.set(Some(decision));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Asks the host at once, and a human later if the host says so.
pub async fn decide(turn: &Rc<Turn>, pending: Pending) -> Decision {
    turn.emit(EventBody::ApprovalRequested { pending: Box::new(pending.clone()) });
    if pending.kind == Kind::Approval && turn.port.options.approves {
        match turn.port.ask(turn, |id| Command::Approve { id, turn_key: turn.key, pending: &pending }).read().await {
            ApproveAnswer::Allow => return Decision::Allow,
            ApproveAnswer::Deny(reason) => return Decision::Deny(reason),
            ApproveAnswer::Defer => {}
        }
    }
    let entry = Entry::new(turn, pending);
    poll_fn(|context| {
        if let Some(decision) = entry.waiting.decision.take() {
            return Poll::Ready(decision);
        }
        entry.waiting.waker.set(Some(context.waker().clone()));
        Poll::Pending
    })
    .await
}

/// A pending call in its turn's list; leaves it when dropped.
struct Entry<'a> {
    turn: &'a Turn,
    waiting: Rc<Waiting>,
}

impl<'a> Entry<'a> {
    fn new(turn: &'a Turn, pending: Pending) -> Self {
        let waiting = Rc::new(Waiting { pending, decision: Cell::default(), waker: Cell::default() });
        turn.waiting.borrow_mut().push(Rc::clone(&waiting));
        turn.port.waiting.set(turn.port.waiting.get() + 1);
        Self { turn, waiting }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.turn.waiting.borrow_mut().retain(|waiting| !Rc::ptr_eq(waiting, &self.waiting));
        self.turn.port.waiting.set(self.turn.port.waiting.get() - 1);
    }
}
