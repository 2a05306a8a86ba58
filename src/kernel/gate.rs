//! Which nested calls may overlap: safe ones share a gate, an unsafe one has it alone, first come first served. There is
//! one gate per calling call (its own fan-out) and one per turn (all its callers). Model-issued calls never pass a gate.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// How a call holds its turn's gate, itself or through the call that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Shared,
    Exclusive,
}

/// A fair gate; a place in its queue is given up by dropping the wait.
#[derive(Clone, Default)]
pub struct Gate(Arc<RwLock<()>>);

/// Held until dropped.
pub struct Pass {
    _shared: Option<OwnedRwLockReadGuard<()>>,
    _exclusive: Option<OwnedRwLockWriteGuard<()>>,
}

impl Gate {
    pub async fn pass(&self, hold: Hold) -> Pass {
        let lock = Arc::clone(&self.0);
        match hold {
            Hold::Shared => Pass { _shared: Some(lock.read_owned().await), _exclusive: None },
            Hold::Exclusive => Pass { _shared: None, _exclusive: Some(lock.write_owned().await) },
        }
    }
}
