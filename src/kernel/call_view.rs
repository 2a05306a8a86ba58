//! A call and its result as hooks, the host's gate and humans are shown them.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::kernel::id::{CallId, EffectId, TurnId};
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
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ResultView<'a> {
    /// What the body answered to this command: the host has it.
    AsAnswered { answer_of: EffectId },
    Whole {
        is_error: bool,
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<&'a RawValue>,
    },
}

impl<'a> ResultView<'a> {
    /// A result on its way to the ticket that the body ran for, with which the host keeps what the body answered.
    pub fn of(result: &'a CallResult) -> Self {
        result.answer_of.map_or_else(|| Self::whole(result), |answer_of| Self::AsAnswered { answer_of })
    }

    pub fn whole(result: &'a CallResult) -> Self {
        Self::Whole {
            is_error: result.is_error,
            text: result.text(),
            value: result.value.as_deref(),
            metadata: result.metadata.as_deref(),
        }
    }
}
