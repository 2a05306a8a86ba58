//! Calls that wait for a human (D-31): asked of the host's `approve`, and where that defers, left pending. A pending call
//! holds its slot of the budget and nothing else; when nothing below a turn can go on without a human, the turn is
//! suspended and its clock stands still (D-1, D-5).

use std::future::poll_fn;
use std::rc::Rc;

use crate::kernel::protocol::{ApproveAnswer, Command, Decision, EventBody, Kind, Pending};
use crate::kernel::turn::suspension::Waiting;
use crate::kernel::turn::{Turn, suspension};

/// Asks the host at once, and a human later if the host says so.
pub async fn decide(turn: &Rc<Turn>, pending: Pending) -> Decision {
    turn.emit(EventBody::ApprovalRequested { pending: Box::new(pending.clone()) });
    if pending.kind == Kind::Approval && turn.port.options.approves {
        match turn.ask(|id| Command::Approve { id, turn_key: turn.key, pending: &pending }).read().await {
            ApproveAnswer::Allow => return Decision::Allow,
            ApproveAnswer::Deny(reason) => return Decision::Deny(reason),
            ApproveAnswer::Defer => {}
        }
    }
    let entry = Entry::new(turn, pending);
    poll_fn(|context| entry.waiting.poll(context)).await
}

/// A pending call among those that its turn waits for; leaves them when dropped.
struct Entry<'a> {
    turn: &'a Turn,
    waiting: Rc<Waiting>,
}

impl<'a> Entry<'a> {
    fn new(turn: &'a Turn, pending: Pending) -> Self {
        let waiting = Rc::new(Waiting::new(pending));
        suspension::wait_for_human(turn, &waiting);
        Self { turn, waiting }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        suspension::wait_no_longer(self.turn, &self.waiting);
    }
}
