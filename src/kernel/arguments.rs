//! Arguments on their way to a tool: parsed, repaired where the policy says so, checked in Rust, then by the host where
//! a Standard Schema stands behind the JSON Schema (D-26).

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::kernel::id::CallKey;
use crate::kernel::limits::InvalidArgs;
use crate::kernel::normalize::normalize;
use crate::kernel::protocol::{Command, PrepareAnswer};
use crate::kernel::refusal::Refusal;
use crate::kernel::reply::Arguments;
use crate::kernel::schema::{Invalid, Issues};
use crate::kernel::turn::Turn;

pub struct Prepared {
    pub arguments: Rc<RawValue>,
    /// What a `concurrency` function said of these arguments.
    pub exclusive: Option<bool>,
    pub release: Release,
}

/// # Errors
/// The arguments do not fit the tool.
pub async fn prepare(turn: &Rc<Turn>, tool_index: usize, key: CallKey, given: &Arguments) -> Result<Prepared, Refusal> {
    let spec = &turn.agent().tools[tool_index];
    let tool = &spec.id;
    let arguments: Rc<RawValue> = match given {
        Arguments::Json(json) => checked(turn, tool_index, json)?,
        Arguments::Broken { message } => {
            return Err(Refusal::BrokenArguments {
                tool: tool.to_string(),
                message: message.clone(),
            });
        }
        Arguments::TooDeep => return Err(Refusal::TooDeep { tool: tool.to_string() }),
    };
    let mut release = Release {
        turn: Rc::clone(turn),
        key,
        needed: false,
    };
    if !spec.prepares {
        return Ok(Prepared {
            arguments,
            exclusive: None,
            release,
        });
    }
    // From here on: an answer that comes too late has made the host keep something, too.
    release.needed = true;
    let command = |id| Command::Prepare {
        id,
        turn_id: turn.id(),
        key,
        tool: tool_index,
        args: &arguments,
    };
    let issues = match turn.port.ask(turn, command).read().await {
        PrepareAnswer::Ok { exclusive } => {
            return Ok(Prepared {
                arguments,
                exclusive,
                release,
            });
        }
        PrepareAnswer::Invalid(issues) => issues,
        PrepareAnswer::Thrown(thrown) => Issues::whole(&thrown.message.0),
    };
    release.keep();
    Err(Refusal::InvalidArguments {
        tool: tool.to_string(),
        issues,
    })
}

/// The arguments as the tool may see them: as they came, or repaired where the policy allows it.
fn checked(turn: &Turn, tool_index: usize, json: &Rc<RawValue>) -> Result<Rc<RawValue>, Refusal> {
    let spec = &turn.agent().tools[tool_index];
    let schema = &turn.program.schemas[spec.schema];
    let Err(invalid) = schema.validate_text(json.get()) else {
        return Ok(Rc::clone(json));
    };
    let repairs = turn.limits.invalid_args == Some(InvalidArgs::NormalizeThenReturnToolError);
    let repaired = if repairs {
        normalize(json.get(), schema, schema.document())
    } else {
        None
    };
    let Some(repaired) = repaired else {
        return Err(refusal(&spec.id, invalid));
    };
    // A repair may bring to light what is really wrong.
    match schema.validate_text(&repaired) {
        Ok(()) => Ok(RawValue::from_string(repaired)
            .expect("what was validated is JSON")
            .into()),
        Err(invalid) => Err(refusal(&spec.id, invalid)),
    }
}

fn refusal(tool: &str, invalid: Invalid) -> Refusal {
    let tool = tool.to_owned();
    match invalid {
        Invalid::NotJson { message } => Refusal::BrokenArguments { tool, message },
        Invalid::TooDeep => Refusal::TooDeep { tool },
        Invalid::Issues(issues) => Refusal::InvalidArguments { tool, issues },
    }
}

/// What the host keeps for a prepared call; forgotten when the call is refused or never begins.
pub struct Release {
    turn: Rc<Turn>,
    key: CallKey,
    needed: bool,
}

impl Release {
    /// Nothing is kept, or the call begins and takes it.
    pub fn keep(mut self) {
        self.needed = false;
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        if self.needed {
            self.turn.port.say(&Command::Release { key: self.key });
        }
    }
}
