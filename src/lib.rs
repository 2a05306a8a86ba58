//! The core of `keel-native`: agents that delegate to agents.
//!
//! The contract between the kernel and whoever drives it, stated once:
//! 1. Feed one input, then take the commands; the kernel has run until nothing is ready.
//! 2. Time enters only as an argument.
//! 3. Every command that asks for something gets exactly one answer, or it is cancelled and a late answer is ignored.
//! 4. Every turn and every started call ends in exactly one terminal event.
//! 5. A meter never exceeds its budget.
//! 6. What a model, a tool or a user can do wrong is a value: an outcome, a refusal. A panic is a bug of ours; it is
//!    caught at the boundary of the turn and ends only that turn, as `INTERNAL`; one outside of any turn ends its tree.
//! 7. Trees share nothing: each root turn has a kernel of its own.
//!
//! Modules in reading order: `kernel` decides, `store` keeps what is over, [`engine`] holds the kernels of a keel and its store,
//! `query` looks things up in both, and `node` converts for JavaScript.

pub mod engine;
mod kernel;
// Its functions have no caller in Rust, and tests of the crate load no addon.
#[cfg(all(feature = "node", not(test)))]
mod node;
mod query;
mod store;

#[cfg(test)]
mod tests;
