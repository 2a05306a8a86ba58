//! Rows of the effect ledger, as the host writes them.

use serde::Serialize;

use crate::kernel::value::{CallId, TurnId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Settlement {
    Completed,
    Failed,
}

/// What a ledger is told, or asked.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LedgerEntry<'a> {
    Started {
        turn_id: &'a TurnId,
        call_id: &'a CallId,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<&'a CallId>,
        tool_id: &'a str,
        idempotency_key: String,
        args_hash: String,
    },
    Settled {
        turn_id: &'a TurnId,
        call_id: &'a CallId,
        status: Settlement,
    },
    /// Which calls of this turn have a row that never settled?
    Unresolved {
        turn_id: &'a TurnId,
    },
}
