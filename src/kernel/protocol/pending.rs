//! A call that waits for a human, and what humans answer (D-31).

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::kernel::value::{CallId, Json, Text, TurnId};

/// A call that waits for a human, as everybody is shown it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    pub id: String,
    pub kind: Kind,
    /// From the root to the turn that asked.
    pub path: Vec<TurnId>,
    pub turn_id: TurnId,
    pub call_id: CallId,
    pub tool_id: Rc<str>,
    pub args: Json,
    pub args_hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Approval,
    /// The host runs the tool and brings the result.
    External,
}

/// A human's answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    Allow,
    Deny(Text),
    /// The result of an external call.
    Result(Json),
}
