//! What a future of the kernel may wait for: an answer, a moment, a letter, its turn at a gate or a slot, and what cuts the waiting
//! off. Uses `value`, `program` and `protocol`; knows no turn and no call.

mod cut;
mod effects;
mod gate;
mod lifetime;
mod mailbox;
mod port;
mod root_task;
mod slots;
mod time;

pub use self::cut::Cut;
pub use self::effects::Receiver;
pub use self::gate::{Gate, Hold};
pub use self::lifetime::{Interrupted, Lifetime};
pub use self::mailbox::Mailbox;
#[cfg(test)]
pub use self::port::Live;
pub use self::port::{Effect, Port};
pub use self::root_task::RootTask;
pub use self::slots::{Slot, Slots};
pub use self::time::{Clock, Moment, Sleep};
