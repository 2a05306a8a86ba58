//! Asking a user's access predicate. It fails closed: only an explicit yes, in time, admits (D-16).

use std::rc::Rc;

use futures_util::future::{Either, select};

use crate::kernel::port;
use crate::kernel::protocol::{Answer, Command};
use crate::kernel::stop::Cut;
use crate::kernel::time::Sleep;
use crate::kernel::turn::Turn;

/// Whose predicate is asked, by position.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    Tool(usize),
    Source(usize),
}

pub async fn allows(turn: &Rc<Turn>, subject: Subject) -> bool {
    let (tool, source) = match subject {
        Subject::Tool(index) => (Some(index), None),
        Subject::Source(index) => (None, Some(index)),
    };
    let effect = turn.port.ask(turn, |id| Command::Access {
        id,
        turn_id: turn.id(),
        tool,
        source,
    });
    let max_ms = turn.limits.hook_timeout_ms();
    let sleep = Sleep::until(&turn.port, turn.port.now().after_ms(max_ms));
    match select(effect, sleep).await {
        Either::Left((text, _)) => matches!(port::parse(&text), Answer::Ok(true)),
        Either::Right(((), effect)) => {
            effect.cancel(&Cut::HookTimeout { max_ms });
            false
        }
    }
}
