//! A turn: what it is made of (`state`), how it runs to its one outcome (`run`, `rounds`, `step`), what it is told by its model and
//! owes its caller, and when it stands still. Uses `value`, `schema`, `program`, `protocol` and `wait`, and the calls that it makes: `call`
//! opens child turns in turn, which is the one circle of the kernel.

mod access;
pub mod backoff;
pub mod contract;
mod events;
mod meter;
mod model_call;
mod progressed;
pub mod record;
pub mod reply;
pub mod rounds;
pub mod run;
mod state;
pub mod step;
pub mod suspension;
mod tree;

pub use self::access::{Access, Verdict};
pub use self::contract::Contract;
pub use self::events::EventLog;
pub use self::meter::{Meter, TreeLimit, TreeMeter};
pub use self::progressed::{EmittedPart, Progressed};
pub use self::reply::{Arguments, Reply, RequestedCall};
pub use self::state::{Opening, Origin, Turn};
pub use self::step::StepEnd;
pub use self::tree::Tree;
