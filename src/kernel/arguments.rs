//! Arguments on their way to a tool: injected, parsed, repaired where the policy says so, checked in Rust, then by the host
//! where a Standard Schema stands behind the JSON Schema (D-26).

use std::cell::Cell;
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
    pub release: Release,
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
        let kind = if request.parent.is_some() { "nested call " } else { "" };
        format!("{kind}'{}'", spec.id)
    };
    let given = match request.arguments {
        Arguments::Json(json) => json,
        Arguments::Broken { message } => {
            return Err(Refusal::BrokenArguments { subject: subject(), message: message.clone() });
        }
        Arguments::TooDeep => return Err(Refusal::TooDeep { subject: subject() }),
    };
    let own =
        injection::stripped(spec, given).map_err(|message| Refusal::BrokenArguments { subject: subject(), message })?;
    let own = checked(turn, tool_index, own, subject)?;
    let arguments = injection::filled(turn, spec, request, given, own).await?;
    let mut release = Release { turn: Rc::clone(turn), key, needed: Cell::new(false) };
    if !spec.prepares {
        return Ok(Prepared { arguments, given: Rc::clone(given), exclusive: None, release });
    }
    // From here on: an answer that comes too late has made the host keep something, too.
    release.needed = Cell::new(true);
    let command = |id| Command::Prepare {
        id,
        turn_id: turn.id(),
        ticket: request.ticket,
        key,
        tool: tool_index,
        args: &arguments,
    };
    let issues = match turn.port.ask(turn, command).read().await {
        PrepareAnswer::Ok { exclusive } => {
            return Ok(Prepared { arguments, given: Rc::clone(given), exclusive, release });
        }
        PrepareAnswer::Invalid(issues) => issues,
        PrepareAnswer::Thrown(thrown) => Issues::whole(&thrown.message.0),
    };
    release.keep();
    Err(Refusal::InvalidArguments { subject: subject(), issues })
}

/// The arguments as the tool may see them: as they came, or repaired where the policy allows it.
fn checked(
    turn: &Turn,
    tool_index: usize,
    json: Rc<RawValue>,
    subject: impl Fn() -> String,
) -> Result<Rc<RawValue>, Refusal> {
    let spec = &turn.agent().tools[tool_index];
    let schema = &turn.program.schemas[spec.schema];
    let Err(invalid) = schema.validate_text(json.get()) else { return Ok(json) };
    let repairs = turn.limits.invalid_args == Some(InvalidArgs::NormalizeThenReturnToolError);
    let repaired = if repairs { normalize(json.get(), schema, schema.document()) } else { None };
    let Some(repaired) = repaired else { return Err(refusal(subject(), invalid)) };
    // A repair may bring to light what is really wrong.
    match schema.validate_text(&repaired) {
        Ok(()) => Ok(RawValue::from_string(repaired).expect("what was validated is JSON").into()),
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

/// What the host keeps for a prepared call; forgotten when no body takes it.
pub struct Release {
    turn: Rc<Turn>,
    key: CallKey,
    needed: Cell<bool>,
}

impl Release {
    /// Nothing is kept, or the body takes it.
    pub fn keep(&self) {
        self.needed.set(false);
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        if self.needed.get() {
            self.turn.port.say(&Command::Release { key: self.key });
        }
    }
}
