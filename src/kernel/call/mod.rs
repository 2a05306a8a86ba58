//! A tool call, of a model or of a tool: from its request past every gate (`admission` and its stages) to what runs (`execution`,
//! then `body` or `delegation`). Uses `value`, `schema`, `program`, `protocol` and `wait`, and the turn that makes the call; a delegation opens
//! a child turn, which is the one circle of the kernel.

pub mod access;
pub mod admission;
pub mod approval;
pub mod arguments;
pub mod body;
pub mod delegation;
pub mod emission;
pub mod execution;
pub mod hooks;
pub mod idempotency;
pub mod injection;
pub mod issued;
pub mod ledger;
pub mod nested;
mod normalize;
pub mod progress;
mod refusal;
pub mod refusal_cap;
mod state;
pub mod step_calls;
pub mod summary;

pub use self::normalize::normalize;
pub use self::refusal::Refusal;
pub use self::state::{Call, NewCall, StartedCall, dropped};
