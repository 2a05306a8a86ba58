//! A turn from its opening to its one outcome (NT-3): its loop, raced against whatever may cut it off. However it is left, it
//! closes exactly once, after everything below it.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

use crate::kernel::protocol::{Cause, EventBody, Failure, LimitName, Outcome};
use crate::kernel::trace;
use crate::kernel::turn::{Turn, record, rounds, suspension};
use crate::kernel::value::panic_message;
use crate::kernel::wait::{Cut, Interrupted};

/// Runs a turn to its one outcome.
pub async fn run(turn: Rc<Turn>) -> Outcome {
    let span = || tracing::debug_span!("turn", id = %turn.id(), agent = %turn.header.agent_id);
    trace::within(span, run_plainly(&turn)).await
}

async fn run_plainly(turn: &Rc<Turn>) -> Outcome {
    let open = OpenTurn::new(turn);
    let outcome = race(turn).await;
    open.close(outcome.clone());
    outcome
}

/// The turn's loop against its interruption. The loop is dropped here, before the turn closes: its guards write the
/// terminal events of what was in flight.
async fn race(turn: &Rc<Turn>) -> Outcome {
    let interrupted = pin!(Interrupted::of(&turn.lifetime));
    let work = Box::pin(AssertUnwindSafe(rounds::run(turn)).catch_unwind());
    match select(interrupted, work).await {
        Either::Left((cut, work)) => {
            turn.lifetime.note_cut(&cut);
            drop(work);
            cut_outcome(turn, cut)
        }
        Either::Right((Ok(Ok(())), _)) => Outcome::Completed,
        Either::Right((Ok(Err(failure)), _)) => failed(turn, failure),
        Either::Right((Err(panic), _)) => {
            let message = panic_message(&*panic);
            tracing::error!(%message, "a turn panicked");
            failed(turn, Failure::Internal { message })
        }
    }
}

fn failed(turn: &Turn, failure: Failure) -> Outcome {
    Outcome::Failed { cause: failure.into_cause(&turn.header.agent_id, turn.id()) }
}

fn cut_outcome(turn: &Turn, cut: Cut) -> Outcome {
    match cut {
        Cut::Stopped { reason } => Outcome::Stopped { reason },
        Cut::OutOfTime { ceiling } => {
            turn.reached(LimitName::TimeMs, turn.lifetime.used_ms());
            failed(turn, Failure::BudgetTime { ceiling, max_ms: turn.budget.time_ms })
        }
        Cut::Fault { message } => failed(turn, Failure::Internal { message }),
        Cut::CallerEnded | Cut::ToolTimeout { .. } | Cut::ModelTimeout { .. } | Cut::HookTimeout { .. } => {
            failed(turn, Failure::ParentEnded)
        }
    }
}

/// A turn that has begun. However it is left, it closes exactly once.
struct OpenTurn(Rc<Turn>);

impl OpenTurn {
    fn new(turn: &Rc<Turn>) -> Self {
        turn.tree.open(turn);
        suspension::open_below(turn);
        rounds::announce(turn);
        turn.emit(EventBody::TurnStarted {
            attempt: turn.attempt(),
            call_id: turn.origin.as_ref().map(|origin| origin.call.call_id.clone()),
        });
        Self(Rc::clone(turn))
    }

    fn close(self, outcome: Outcome) {
        close(&self.0, outcome);
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        if self.0.over().is_none() {
            let cut = self.0.lifetime.cut();
            self.0.lifetime.note_cut(&cut);
            close(&self.0, cut_outcome(&self.0, cut));
        }
    }
}

fn close(turn: &Rc<Turn>, outcome: Outcome) {
    let progressed = turn.progressed.borrow();
    let event = match &outcome {
        Outcome::Completed => EventBody::TurnCompleted { partial: progressed.partial, empty: progressed.is_empty() },
        Outcome::Failed { cause } => EventBody::TurnFailed { cause: Box::new(cause.clone()) },
        Outcome::Stopped { reason } => EventBody::TurnStopped { reason: reason.clone() },
    };
    drop(progressed);
    turn.end(outcome);
    turn.emit(event);
    if let Some(parent) = &turn.parent {
        parent.tree_usage.borrow_mut().add(&turn.tree_usage.borrow());
    }
    record::report_over(turn);
    suspension::close_below(turn);
    turn.tree.close(turn);
}

/// The cause that a caller sees of a child that did not complete.
pub fn cause_of(turn: &Turn, outcome: &Outcome) -> Option<Cause> {
    match outcome {
        Outcome::Completed => None,
        Outcome::Failed { cause } => Some(cause.clone()),
        Outcome::Stopped { .. } => Some(Cause::stopped(&turn.header.agent_id, turn.id())),
    }
}
