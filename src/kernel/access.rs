//! Who may use what (NT-31 … NT-33). A turn's scopes are the ambient ones it was given, less what a connection narrowed
//! away, cut down to its agent's grants.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde::Deserialize;

use crate::kernel::hooks;
use crate::kernel::id::Ticket;
use crate::kernel::protocol::{Answer, Command};
use crate::kernel::turn::Turn;

/// A tool's or source's `access` option.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AccessRule {
    Public,
    Authenticated,
    Scopes {
        scopes: Vec<String>,
    },
    /// A user function; only the host can ask it.
    Predicate,
}

/// What a rule says about a turn, as far as the kernel can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    Denied,
    /// The host has to ask the user's predicate.
    AskHost,
}

/// What a turn may use.
#[derive(Clone, Debug, Default)]
pub struct Access {
    authenticated: bool,
    /// The scopes that descendants may still receive.
    ambient: Rc<BTreeSet<String>>,
    scopes: Rc<BTreeSet<String>>,
}

impl Access {
    pub fn root(authenticated: bool, ambient: BTreeSet<String>, grants: &[String]) -> Self {
        let ambient = Rc::new(ambient);
        let scopes = if ambient.is_empty() { Rc::clone(&ambient) } else { Rc::new(intersection(&ambient, grants)) };
        Self { authenticated, ambient, scopes }
    }

    /// A child's: its own grants within the ambient scopes that the connection leaves.
    pub fn child(&self, narrow: Option<&[String]>, grants: &[String]) -> Self {
        let ambient = match narrow {
            Some(kept) => Rc::new(intersection(&self.ambient, kept)),
            None => Rc::clone(&self.ambient),
        };
        let scopes = if ambient.is_empty() { Rc::clone(&ambient) } else { Rc::new(intersection(&ambient, grants)) };
        Self { authenticated: self.authenticated, ambient, scopes }
    }

    pub fn verdict(&self, rule: &AccessRule) -> Verdict {
        let allowed = match rule {
            AccessRule::Public => true,
            AccessRule::Authenticated => self.authenticated,
            AccessRule::Scopes { scopes } => self.holds(scopes),
            AccessRule::Predicate => return Verdict::AskHost,
        };
        if allowed { Verdict::Allowed } else { Verdict::Denied }
    }

    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(String::as_str)
    }

    fn holds(&self, needed: &[String]) -> bool {
        needed.iter().all(|scope| self.scopes.contains(scope))
    }
}

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
    let effect = turn.port.ask(turn, |id| Command::Access {
        id,
        turn_key: turn.key,
        ticket,
        tool_index: tool,
        source_index: source,
    });
    matches!(hooks::in_time(turn, effect).await, Ok(Answer::Ok(true)))
}

fn intersection(ambient: &BTreeSet<String>, kept: &[String]) -> BTreeSet<String> {
    kept.iter().filter(|scope| ambient.contains(*scope)).cloned().collect()
}
