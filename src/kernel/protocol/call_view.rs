//! A call and its result as hooks, the host's gate and humans are shown them.

use serde::{Serialize, Serializer};

use crate::kernel::protocol::row::{Field, Form, OWN};
use crate::kernel::protocol::{CallResult, Outbox, Place};
use crate::kernel::value::{CallId, EffectId, Json};

/// The host mostly knows the call that a place, or a ticket, names; else it crosses as an array of the tool's position, the id and
/// the arguments. What else the host shows of a call it knows anyhow.
#[derive(Clone, Copy)]
pub struct CallView<'a> {
    pub tool: usize,
    pub tool_id: &'a str,
    pub call_id: &'a CallId,
    pub is_nested: bool,
    pub place: Place,
    pub args: &'a Json,
    /// The host has the call as it is shown here.
    pub is_known: bool,
}

impl Serialize for CallView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.tool, self.call_id, self.args).serialize(serializer)
    }
}

impl Field for CallView<'_> {
    const FORM: Form = Form::Call;

    fn write(&self, out: &mut Outbox) {
        self.place.write(out);
        if self.is_known { out.word(OWN) } else { out.json(self) }
    }
}

impl CallView<'_> {
    /// How messages name the call.
    pub fn subject(&self) -> String {
        let kind = if self.is_nested { "nested call" } else { "call" };
        format!("{kind} '{}'", self.tool_id)
    }
}

/// The API's `ToolResult`.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ResultView<'a> {
    /// What the body answered to this command: the host has it.
    AsAnswered(EffectId),
    Whole {
        is_error: bool,
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<&'a Json>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<&'a Json>,
    },
}

impl<'a> ResultView<'a> {
    /// A result on its way to the ticket that the body ran for, with which the host keeps what the body answered.
    pub fn of(result: &'a CallResult) -> Self {
        result.answer_of.map_or_else(|| Self::whole(result), Self::AsAnswered)
    }

    fn whole(result: &'a CallResult) -> Self {
        Self::Whole {
            is_error: result.is_error,
            text: result.text(),
            value: result.value.as_ref(),
            metadata: result.metadata.as_ref(),
        }
    }
}
