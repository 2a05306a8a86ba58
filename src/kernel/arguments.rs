//! Arguments on their way to a tool: injected, parsed, repaired where the policy says so, checked in Rust, then by the host
//! where a Standard Schema stands behind the JSON Schema (D-26).

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::kernel::admission::CallRequest;
use crate::kernel::id::CallKey;
use crate::kernel::injection;
use crate::kernel::limits::InvalidArgs;
use crate::kernel::normalize::normalize;
use crate::kernel::protocol::{Command, PrepareAnswer};
use crate::kernel::refusal::Refusal;
use crate::kernel::reply::Arguments;
use crate::kernel::schema::{Invalid, Issues};
use crate::kernel::turn::Turn;

pub struct Prepared {
    /// As the body gets them.
    pub arguments: Rc<RawValue>,
    /// As they were sent.
    pub given: Rc<RawValue>,
    /// What a `concurrency` function said of these arguments.
    pub exclusive: Option<bool>,
}

/// # Errors
/// The arguments do not fit the tool, or the values that the host injects could not be had.
pub async fn prepare(
    turn: &Rc<Turn>,
    tool_index: usize,
    key: CallKey,
    request: &CallRequest<'_>,
) -> Result<Prepared, Refusal> {
    let spec = &turn.agent().tools[tool_index];
    let subject = || {
        let kind = if request.parent.is_some() { "nested call" } else { "call" };
        format!("{kind} '{}'", spec.id)
    };
    let given = match request.arguments {
        Arguments::Json(json) => json,
        Arguments::Broken { message } => {
            return Err(Refusal::BrokenArguments { subject: subject(), message: message.clone() });
        }
    };
    let own =
        injection::stripped(spec, given).map_err(|message| Refusal::BrokenArguments { subject: subject(), message })?;
    let checked = checked(turn, tool_index, &own, subject)?;
    let arguments: Rc<RawValue> = injection::filled(turn, spec, request, given, checked).await?.into();
    let prepared = |exclusive| Prepared { arguments: Rc::clone(&arguments), given: given.clone().into(), exclusive };
    if !spec.prepares {
        return Ok(prepared(None));
    }
    let command = |id| Command::Prepare {
        id,
        turn_id: turn.id(),
        ticket: request.ticket,
        key,
        tool: tool_index,
        args: &arguments,
    };
    match turn.port.ask(turn, command).read().await {
        PrepareAnswer::Ok { exclusive } => Ok(prepared(exclusive)),
        PrepareAnswer::Invalid(issues) => Err(Refusal::InvalidArguments { subject: subject(), issues }),
        PrepareAnswer::Thrown(thrown) => {
            Err(Refusal::InvalidArguments { subject: subject(), issues: Issues::whole(&thrown.message.0) })
        }
    }
}

/// The arguments as the tool may see them: as they came, or repaired where the policy allows it.
fn checked(
    turn: &Turn,
    tool_index: usize,
    json: &RawValue,
    subject: impl Fn() -> String,
) -> Result<Box<RawValue>, Refusal> {
    let spec = &turn.agent().tools[tool_index];
    let schema = &turn.program.schemas[spec.schema];
    let Err(invalid) = schema.validate_text(json.get()) else { return Ok(json.to_owned()) };
    let repairs = turn.limits.invalid_args == Some(InvalidArgs::NormalizeThenReturnToolError);
    let repaired = if repairs { normalize(json.get(), schema, schema.document()) } else { None };
    let Some(repaired) = repaired else { return Err(refusal(subject(), invalid)) };
    // A repair may bring to light what is really wrong.
    match schema.validate_text(&repaired) {
        Ok(()) => Ok(RawValue::from_string(repaired).expect("what was validated is JSON")),
        Err(invalid) => Err(refusal(subject(), invalid)),
    }
}

fn refusal(subject: String, invalid: Invalid) -> Refusal {
    match invalid {
        Invalid::NotJson { message } => Refusal::BrokenArguments { subject, message },
        Invalid::TooDeep => Refusal::TooDeep { subject },
        Invalid::Issues(issues) => Refusal::InvalidArguments { subject, issues },
    }
}
