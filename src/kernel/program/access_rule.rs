//! Who may use a tool or a source (NT-31).

use serde::Deserialize;

/// A tool's or source's `access` option.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AccessRule {
    Public,
    Authenticated,
    Scopes {
        scopes: Vec<String>,
    },
    /// A user function; only the host can ask it.
    Predicate,
}
