//! Tests of the kernel, below Node: scripts of a host plus expectations, by area, each named after the rule it proves;
//! and a seeded simulation against the invariants.

mod access;
mod arguments;
mod budget;
mod calls;
mod checks;
mod child_result;
mod contract;
mod delegation;
mod events;
mod handlers;
mod ids;
mod model;
mod nested_calls;
mod normalize;
mod nudge;
mod one_tree;
mod records;
mod retry;
mod schema;
mod script;
mod simulation;
mod standing_still;
mod stop;
mod time;
mod tool_calls;
mod tree_limits;
