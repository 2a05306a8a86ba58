//! What was defined: agents, tools, connections, budgets, limits, access rules, and the keel's own options. Uses `schema`;
//! knows nothing that runs.

mod access_rule;
mod agent;
mod budget;
mod connection;
mod hook_flags;
mod limits;
mod options;
mod tool;

pub use self::access_rule::AccessRule;
pub use self::agent::{AgentSpec, PartSpec, Persist, Program};
pub use self::budget::{Budget, Ceiling, OnExhausted};
pub use self::connection::{ContractSpec, DelegationSpec, ForwardSpec, OnError};
pub use self::hook_flags::{HookFlags, Stage};
pub use self::limits::{InvalidArgs, LimitBehavior, Limits, ToolExecution, TreeCeilings};
pub use self::options::{KeelOptions, OnStartFailure};
pub use self::tool::{Concurrency, Exposure, InjectFrom, ToolSpec, ToolTimeout};
