//! Which nested calls may overlap: safe ones share a gate, an unsafe one has it alone, first come first served. There is
//! one gate per calling call (its own fan-out) and one per turn (all its callers). Model-issued calls never pass a gate.

use std::cell::OnceCell;
use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// How a call holds its turn's gate, itself or through the call that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Shared,
    Exclusive,
}

/// A fair gate, made when somebody passes it; a place in its queue is given up by dropping the wait.
#[derive(Default)]
pub struct Gate(OnceCell<Arc<RwLock<()>>>);

/// Held until dropped.
pub struct Pass {
    _shared: Option<OwnedRwLockReadGuard<()>>,
    _exclusive: Option<OwnedRwLockWriteGuard<()>>,
}

impl Gate {
    pub async fn pass(&self, hold: Hold) -> Pass {
        match self.try_pass(hold) {
            Some(pass) => pass,
            None => Box::pin(self.wait(hold)).await,
        }
    }

    /// Passes where nobody is in the way; whoever waits comes first.
    fn try_pass(&self, hold: Hold) -> Option<Pass> {
        let lock = Arc::clone(self.lock());
        Some(match hold {
            Hold::Shared => Pass { _shared: Some(lock.try_read_owned().ok()?), _exclusive: None },
            Hold::Exclusive => Pass { _shared: None, _exclusive: Some(lock.try_write_owned().ok()?) },
        })
    }

    async fn wait(&self, hold: Hold) -> Pass {
        let lock = Arc::clone(self.lock());
        match hold {
            Hold::Shared => Pass { _shared: Some(lock.read_owned().await), _exclusive: None },
            Hold::Exclusive => Pass { _shared: None, _exclusive: Some(lock.write_owned().await) },
        }
    }

    fn lock(&self) -> &Arc<RwLock<()>> {
        self.0.get_or_init(Arc::default)
    }
}
