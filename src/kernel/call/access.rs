//! The gate of access rules: what the kernel can tell itself, and the predicates that only the host can ask (D-16).

use std::rc::Rc;

use crate::kernel::call::hooks;
use crate::kernel::program::AccessRule;
use crate::kernel::protocol::{Answer, Command};
use crate::kernel::turn::{Turn, Verdict};
use crate::kernel::value::Ticket;

/// What a rule guards, by its position in the agent.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    Tool(usize),
    Source(usize),
}

/// Whether the turn may use it. Fails closed: only an explicit yes of a predicate, in time, admits (D-16).
pub async fn may_use(turn: &Rc<Turn>, subject: Subject, rule: &AccessRule, ticket: Option<Ticket>) -> bool {
    match turn.access.verdict(rule) {
        Verdict::Allowed => true,
        Verdict::Denied => false,
        Verdict::AskHost => Box::pin(ask(turn, subject, ticket)).await,
    }
}

async fn ask(turn: &Rc<Turn>, subject: Subject, ticket: Option<Ticket>) -> bool {
    let (tool, source) = match subject {
        Subject::Tool(index) => (Some(index), None),
        Subject::Source(index) => (None, Some(index)),
    };
    let effect =
        turn.ask(|id| Command::Access { id, turn_key: turn.key, ticket, tool_index: tool, source_index: source });
    matches!(hooks::in_time(turn, effect).await, Ok(Answer::Ok(true)))
}
