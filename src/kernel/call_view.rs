//! A call and its result as hooks, the host's gate and humans are shown them.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::kernel::id::{CallId, TurnId};
use crate::kernel::protocol::CallResult;

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallView<'a> {
    pub tool_id: &'a str,
    pub call_id: &'a CallId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<&'a CallId>,
    pub args: &'a RawValue,
    pub turn_id: &'a TurnId,
    pub agent_id: &'a str,
    /// 0: issued by the model.
    pub level: u32,
}

impl CallView<'_> {
    pub fn is_nested(&self) -> bool {
        self.parent_call_id.is_some()
    }

    /// How messages name the call.
    pub fn subject(&self) -> String {
        let kind = if self.is_nested() { "nested call" } else { "call" };
        format!("{kind} '{}'", self.tool_id)
    }
}

/// The API's `ToolResult`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultView<'a> {
    pub is_error: bool,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a RawValue>,
}

impl<'a> ResultView<'a> {
    pub fn of(result: &'a CallResult) -> Self {
        Self {
            is_error: result.is_error,
            text: result.text(),
            value: result.value.as_deref(),
            metadata: result.metadata.as_deref(),
        }
    }
}
