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
