//! What cuts work off before it is done: a stop, a deadline, or a caller that ended. A turn is raced against its
//! [`Interrupted`]; what it had in flight is dropped with it, deepest first, and each guard on the way writes its
//! terminal event (NT-27, NT-38).

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::kernel::json::Json;
use thiserror::Error;

use crate::kernel::budget::Ceiling;
use crate::kernel::time::{Moment, Sleep};
use crate::kernel::turn::Turn;

/// Why something was cut off.
#[derive(Clone, Debug, Error)]
pub enum Cut {
    #[error("the turn was stopped")]
    Stopped { reason: Json },
    #[error("the turn ran out of time")]
    OutOfTime { ceiling: Ceiling },
    #[error("the calling turn ended")]
    CallerEnded,
    #[error("the call ran longer than {max_ms} ms")]
    ToolTimeout { max_ms: f64 },
    #[error("the model sent nothing for {max_ms} ms")]
    ModelTimeout { max_ms: f64 },
    #[error("the hook ran longer than {max_ms} ms")]
    HookTimeout { max_ms: f64 },
}

impl Cut {
    /// The code of the error with which a signal is aborted and a dropped call is answered (D-12).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stopped { .. } => "CANCELLED",
            Self::OutOfTime { .. }
            | Self::ToolTimeout { .. }
            | Self::ModelTimeout { .. }
            | Self::HookTimeout { .. } => "TIMEOUT",
            Self::CallerEnded => "TOOL_FAILED",
        }
    }
}

/// Resolves when the turn has to end now.
pub struct Interrupted<'a> {
    turn: &'a Rc<Turn>,
    deadline: Option<(Moment, Sleep)>,
}

impl<'a> Interrupted<'a> {
    pub fn of(turn: &'a Rc<Turn>) -> Self {
        Self { turn, deadline: None }
    }
}

impl Future for Interrupted<'_> {
    type Output = Cut;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Cut> {
        if let Some(reason) = self.turn.stop_reason() {
            return Poll::Ready(Cut::Stopped { reason });
        }
        // The deadline moves while the turn is suspended.
        let deadline = self.turn.deadline();
        if self.deadline.as_ref().map(|(at, _)| *at) != deadline {
            self.deadline = deadline.map(|at| (at, Sleep::until(&self.turn.port, at)));
        }
        if let Some((_, deadline)) = &mut self.deadline
            && Pin::new(deadline).poll(context).is_ready()
        {
            return Poll::Ready(Cut::OutOfTime { ceiling: self.turn.ceiling });
        }
        self.turn.wake_on_stop(context.waker());
        Poll::Pending
    }
}
