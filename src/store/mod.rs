//! Where turns go when they are over. A store never decides anything, and the kernel never waits for it.

pub mod memory;
