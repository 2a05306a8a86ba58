//! What a turn may use (NT-31 … NT-33): the ambient scopes that it was given, less what a connection narrowed away, cut
//! down to its agent's grants.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::kernel::program::AccessRule;

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

fn intersection(ambient: &BTreeSet<String>, kept: &[String]) -> BTreeSet<String> {
    kept.iter().filter(|scope| ambient.contains(*scope)).cloned().collect()
}
