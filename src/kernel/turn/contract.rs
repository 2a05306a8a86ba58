//! The deliverable that a turn owes its caller: the submit tool, what becomes of an invalid submit, nudges (NT-15 … NT-20).
//! A turn with a contract completes with a validated deliverable or not at all.

use std::rc::Rc;

use serde::Deserialize;

use crate::kernel::program::{AgentSpec, ContractSpec, PartSpec};
use crate::kernel::protocol::{
    Command, EventBody, Failure, NudgeSent, Output, PartAnswer, PartEmitted, Rejected, Source,
};
use crate::kernel::schema;
use crate::kernel::schema::{Invalid, Issues};
use crate::kernel::turn::{Arguments, EmittedPart, RequestedCall, Turn};
use crate::kernel::value::{Json, Usage};

#[derive(Clone, Debug)]
pub struct Contract {
    /// Position in the agent's `emits`.
    pub part: usize,
    pub nudges: u32,
    pub submit_id: String,
}

impl Contract {
    pub fn new(spec: &ContractSpec, agent: &AgentSpec) -> Self {
        let submit_id = format!("submit_{}", agent.emits[spec.part].name);
        Self { part: spec.part, nudges: spec.nudges, submit_id }
    }
}

/// Takes one submit: the first valid one is the deliverable, whatever else the step holds (NT-16).
pub async fn submit(turn: &Rc<Turn>, contract: &Contract, call: &RequestedCall) -> Output {
    if turn.progressed.borrow().deliverable.is_some() {
        return Output::error("the deliverable was already accepted in this step");
    }
    let part = &turn.agent().emits[contract.part];
    let tried = {
        let mut progressed = turn.progressed.borrow_mut();
        progressed.submits.tried += 1;
        progressed.submits.tried
    };
    match check(turn, contract.part, &call.arguments).await {
        Ok(value) => {
            let accepted = EmittedPart { part: Rc::clone(&part.name), value, persist: part.persist };
            turn.emit(EventBody::PartEmitted(Box::new(PartEmitted {
                part: Rc::clone(&part.name),
                value: accepted.value.clone(),
                call_id: Some(call.id.clone()),
                forwarded_from: None,
            })));
            let mut progressed = turn.progressed.borrow_mut();
            progressed.submits.accepted = Some(tried);
            progressed.submits.last_issues = Issues::default();
            progressed.deliverable = Some(accepted.value.clone());
            progressed.parts.push(accepted);
            Output::json(Json::known(r#"{"ok":true}"#), false)
        }
        Err(issues) => {
            let text = format!("the deliverable '{}' is not valid:\n{}", part.name, schema::render(&issues));
            let mut progressed = turn.progressed.borrow_mut();
            if turn.port.options.capture_tool_io {
                progressed
                    .submits
                    .rejected
                    .push(Rejected { payload: payload(&call.arguments), issues: issues.clone() });
            }
            progressed.submits.last_issues = issues;
            Output::error(text)
        }
    }
}

/// Reminds a model that ended its loop without its deliverable, in a step on top of its budget.
///
/// # Errors
/// No nudge is left.
pub fn nudge(turn: &Turn) -> Result<(), Failure> {
    let contract = turn.contract.as_ref().expect("only a turn with a contract is nudged");
    let sent = turn.usage.borrow().nudges;
    if sent >= contract.nudges {
        return Err(unfulfilled(turn));
    }
    let part = &turn.agent().emits[contract.part].name;
    let issues = turn.progressed.borrow().submits.last_issues.clone();
    let mut text = format!("Finish by calling the tool '{}' with your '{part}'.", contract.submit_id);
    if !issues.is_empty() {
        text.push_str(" The last one was not valid:\n");
        text.push_str(&schema::render(&issues));
    }
    turn.transcript.borrow_mut().push("user", &text, Source::Text);
    turn.charge(&Usage { nudges: 1, ..Usage::default() });
    turn.emit(EventBody::NudgeSent(Box::new(NudgeSent { nudge: sent + 1, part: Rc::clone(part), issues })));
    Ok(())
}

/// Why a turn that is over did not fulfil its contract.
pub fn unfulfilled(turn: &Turn) -> Failure {
    let contract = turn.contract.as_ref().expect("only a turn with a contract can leave it unfulfilled");
    let part = turn.agent().emits[contract.part].name.to_string();
    let issues = turn.progressed.borrow().submits.last_issues.clone();
    if issues.is_empty() { Failure::DeliverableMissing { part } } else { Failure::DeliverableInvalid { part, issues } }
}

async fn check(turn: &Rc<Turn>, part_index: usize, arguments: &Arguments) -> Result<Json, Issues> {
    let part = &turn.agent().emits[part_index];
    let submitted = match arguments {
        Arguments::Json(json) => unwrapped(part, json)?,
        Arguments::Broken { message } => return Err(Issues::whole(message)),
        Arguments::TooDeep => return Err(issues_of(Invalid::TooDeep)),
    };
    let schema = &turn.tree.program.schemas[part.schema];
    schema.validate_text(submitted.get()).map_err(issues_of)?;
    if !part.standard {
        return Ok(submitted);
    }
    let command = |id| Command::PreparePart { id, turn_key: turn.key, part_index, value: &submitted };
    match turn.ask(command).read().await {
        PartAnswer::Ok { value } => Ok(value.unwrap_or(submitted)),
        PartAnswer::Invalid(issues) => Err(issues),
        PartAnswer::Thrown(thrown) => Err(Issues::whole(&thrown.message.0)),
    }
}

/// The part's value within what the model submitted (D-15).
fn unwrapped(part: &PartSpec, json: &Json) -> Result<Json, Issues> {
    #[derive(Deserialize)]
    struct Wrapped {
        value: Json,
    }
    if !part.wrapped {
        return Ok(json.clone());
    }
    serde_json::from_str::<Wrapped>(json.get())
        .map(|wrapped| wrapped.value)
        .map_err(|_| Issues::at("/value", "is required"))
}

pub fn issues_of(invalid: Invalid) -> Issues {
    match invalid {
        Invalid::Issues(issues) => issues,
        Invalid::NotJson { .. } | Invalid::TooDeep => Issues::whole(&invalid.to_string()),
    }
}

fn payload(arguments: &Arguments) -> Json {
    match arguments {
        Arguments::Json(json) => json.clone(),
        Arguments::Broken { message } => Json::of(message),
        Arguments::TooDeep => Json::null(),
    }
}
