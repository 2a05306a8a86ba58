//! Arguments on their way to a tool: injected, parsed, repaired where the policy says so, checked in Rust, then by the host
//! where a Standard Schema stands behind the JSON Schema (D-26).

use std::cell::Cell;
use std::rc::Rc;

use crate::kernel::call::admission::CallRequest;
use crate::kernel::call::{Refusal, injection, normalize};
use crate::kernel::program::InvalidArgs;
use crate::kernel::protocol::{Command, PrepareAnswer};
use crate::kernel::schema::{Invalid, Issues};
use crate::kernel::turn::{Arguments, Turn};
use crate::kernel::value::{Json, KeptId};

pub struct Prepared {
    /// As the body gets them.
    pub arguments: Json,
    /// As they were sent.
    pub given: Json,
    /// What a `concurrency` function said of these arguments.
    pub exclusive: Option<bool>,
    /// What the host made of them, where a Standard Schema or a `concurrency` function looks at them.
    pub kept: Option<KeptValue>,
}

/// # Errors
/// The arguments do not fit the tool, or the values that the host injects could not be had.
pub async fn prepare(turn: &Rc<Turn>, tool_index: usize, request: &CallRequest<'_>) -> Result<Prepared, Refusal> {
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
    let ahead = request.ahead.take();
    let own = checked(turn, tool_index, own, subject)?;
    let arguments = if spec.injects.is_empty() {
        own
    } else {
        Box::pin(injection::filled(turn, tool_index, request, given, own)).await?
    };
    if !spec.prepares {
        return Ok(Prepared { arguments, given: given.clone(), exclusive: None, kept: None });
    }
    let check = match ahead.filter(|_| arguments.is(given)) {
        Some(check) if check.begun().is_none() => check,
        begun_or_none => Box::pin(ask(turn, tool_index, request, &arguments, begun_or_none)).await,
    };
    let issues = match check.answer {
        PrepareAnswer::Ok { exclusive, .. } => {
            return Ok(Prepared { arguments, given: given.clone(), exclusive, kept: check.kept });
        }
        PrepareAnswer::Invalid(issues) => issues,
        PrepareAnswer::Thrown(thrown) => Issues::whole(&thrown.message.0),
        PrepareAnswer::Begun { .. } => panic!("the host broke the protocol: it began a check that it was asked for"),
    };
    Err(Refusal::InvalidArguments { subject: subject(), issues })
}

/// Has the host check the arguments, or asks for the check that it began ahead.
async fn ask(
    turn: &Rc<Turn>,
    tool_index: usize,
    request: &CallRequest<'_>,
    arguments: &Json,
    ahead: Option<Check>,
) -> Check {
    let begun = ahead.as_ref().and_then(Check::begun);
    let effect = turn.ask(|id| Command::Prepare {
        id,
        turn_key: turn.key,
        ticket: request.ticket,
        tool_index,
        args: begun.is_none().then_some(arguments),
        begun: begun.map(KeptValue::take),
    });
    Check::new(turn, effect.read().await)
}

/// The arguments as the tool may see them: as they came, or repaired where the policy allows it.
fn checked(turn: &Turn, tool_index: usize, json: Json, subject: impl Fn() -> String) -> Result<Json, Refusal> {
    let spec = &turn.agent().tools[tool_index];
    let schema = &turn.tree.program.schemas[spec.schema];
    let Err(invalid) = schema.validate_text(json.get()) else { return Ok(json) };
    let repairs = turn.limits.invalid_args == Some(InvalidArgs::NormalizeThenReturnToolError);
    let repaired = if repairs { normalize(json.get(), schema, schema.document()) } else { None };
    let Some(repaired) = repaired else { return Err(refusal(subject(), invalid)) };
    // A repair may bring to light what is really wrong.
    match schema.validate_text(&repaired) {
        Ok(()) => Ok(Json::known(repaired)),
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

/// What the host said of a call's arguments, asked or ahead of it.
pub struct Check {
    answer: PrepareAnswer,
    kept: Option<KeptValue>,
}

impl Check {
    pub fn new(turn: &Rc<Turn>, answer: PrepareAnswer) -> Self {
        let kept = answer.kept().map(|id| KeptValue { turn: Rc::clone(turn), id, taken: Cell::new(false) });
        Self { answer, kept }
    }

    fn begun(&self) -> Option<&KeptValue> {
        if matches!(self.answer, PrepareAnswer::Begun { .. }) { self.kept.as_ref() } else { None }
    }
}

/// What the host keeps for a call; to be forgotten when nobody takes it.
pub struct KeptValue {
    turn: Rc<Turn>,
    pub id: KeptId,
    taken: Cell<bool>,
}

impl KeptValue {
    /// Whoever is told of it takes it.
    pub fn take(&self) -> KeptId {
        self.taken.set(true);
        self.id
    }
}

impl Drop for KeptValue {
    fn drop(&mut self) {
        if !self.taken.get() {
            self.turn.port.say(&Command::Release { turn_key: self.turn.key, kept: self.id });
        }
    }
}
