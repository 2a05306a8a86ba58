//! A call to an `asTool` tool: opens a child turn, waits for its outcome, hands it to the immediate caller (NT-1, NT-2).
//! The child gets its own grant within the caller's remaining time, and never more access than the caller's tree has.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::kernel::call::Call;
use crate::kernel::call::execution::Next;
use crate::kernel::program::{Ceiling, DelegationSpec, OnError};
use crate::kernel::protocol::{
    Answer, Cause, Command, EventBody, Failure, Outcome, PartView, Thrown, TurnRetried, message,
};
use crate::kernel::schema;
use crate::kernel::turn::{Contract, Opening, Origin, TreeMeter, Turn, run};
use crate::kernel::value::{Json, KeptId, Text, Ticket, TurnId, text};
use crate::kernel::wait::Moment;

/// What a delegation returns to its caller, as JSON.
pub enum Delegated {
    Completed(Json),
    Failed(Json),
    /// No child was opened: the connection's own `brief` threw.
    Thrown(Thrown),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completed<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deliverable: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<PartView<'a>>>,
    #[serde(skip_serializing_if = "crate::kernel::protocol::is_false")]
    empty: bool,
    #[serde(skip_serializing_if = "crate::kernel::protocol::is_false")]
    partial: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failed<'a> {
    ok: bool,
    cause: &'a Cause,
    turn_id: &'a TurnId,
}

/// Runs the delegation: a fresh child turn for each attempt, one at a time (NT-24).
///
/// # Errors
/// The last attempt failed and the connection says `onError: "fail"`.
pub async fn run(call: &Rc<Call>, connection: &DelegationSpec, next: Option<&Next>) -> Result<Delegated, Failure> {
    let arguments = next.and_then(|next| next.arguments.as_ref()).unwrap_or(&call.arguments);
    let ticket = next.map(|next| next.ticket).or(call.ticket);
    let kept = call.kept.filter(|_| next.is_none_or(|next| next.arguments.is_none()));
    let brief = match brief(call, connection, arguments, kept, ticket).await {
        Ok(brief) => brief,
        Err(thrown) => return unopened(call, connection, thrown),
    };
    let mut attempt = 1;
    loop {
        let child = open(call, connection, brief.clone(), ticket, attempt);
        let outcome = Box::pin(run::run(Rc::clone(&child))).await;
        let Some(cause) = run::cause_of(&child, &outcome) else {
            return Ok(completed(&child));
        };
        let stopped = matches!(outcome, Outcome::Stopped { .. });
        let caller_is_out_of_time = call.turn.lifetime.time_left_ms().is_some_and(|left| left <= 0.0);
        if attempt > connection.retries || stopped || caller_is_out_of_time {
            return failed(call, connection, &child, cause);
        }
        attempt += 1;
        call.turn.emit(EventBody::TurnRetried(Box::new(TurnRetried {
            attempt,
            call_id: call.id.clone(),
            failed_turn_id: child.id().clone(),
            cause,
        })));
    }
}

/// The content of the child's first message.
async fn brief(
    call: &Rc<Call>,
    connection: &DelegationSpec,
    arguments: &Json,
    kept: Option<KeptId>,
    ticket: Option<Ticket>,
) -> Result<Json, Thrown> {
    #[derive(Deserialize)]
    struct Input {
        brief: Option<Json>,
    }
    let turn = &call.turn;
    if connection.briefs {
        let command = |id| Command::Brief {
            id,
            turn_key: turn.key,
            ticket,
            tool_index: call.tool_index,
            args: kept.is_none().then_some(arguments),
            kept,
        };
        return match turn.ask(command).read().await {
            Answer::<Json>::Ok(content) if schema::is_too_deep(content.get()) => Err(Thrown {
                code: Some("VALUE_TOO_DEEP".to_owned()),
                message: Text("the brief is nested too deep".to_owned()),
            }),
            Answer::Ok(content) => Ok(content),
            Answer::Thrown(thrown) => Err(thrown),
        };
    }
    let given = serde_json::from_str::<Input>(arguments.get()).ok().and_then(|input| input.brief);
    let text = given.filter(|brief| text::read(brief.get()).is_some());
    Ok(text.unwrap_or_else(|| Json::of(arguments.get())))
}

/// A brief that throws is the tool's own exception (D-11), unless the connection says that its failure is the caller's.
fn unopened(call: &Call, connection: &DelegationSpec, thrown: Thrown) -> Result<Delegated, Failure> {
    match connection.on_error {
        OnError::Feedback => Ok(Delegated::Thrown(thrown)),
        OnError::Fail => {
            let child = &call.turn.tree.program.agents[connection.agent];
            let message = thrown.message.0;
            let cause = Failure::Instructions { message }.into_cause(&child.id, call.turn.id());
            Err(Failure::ChildFailed { tool: call.tool().id.to_string(), cause: Box::new(cause) })
        }
    }
}

fn open(call: &Rc<Call>, connection: &DelegationSpec, brief: Json, ticket: Option<Ticket>, attempt: u32) -> Rc<Turn> {
    let caller = &call.turn;
    let agent = &caller.tree.program.agents[connection.agent];
    let budget = connection.budget.over(&agent.budget);
    let own_limits = connection.limits.over(&agent.limits);
    let (deadline, ceiling) = deadline(caller, budget.time_ms);
    Turn::new(Opening {
        agent_index: connection.agent,
        turn_id: caller.next_child_id(),
        parent: Some(Rc::clone(caller)),
        origin: Some(Origin { call: call.info(), ticket, attempt, forward: connection.forward.clone() }),
        tree: Rc::clone(&caller.tree),
        messages: vec![message("user", &brief)],
        input: brief,
        budget,
        limits: caller.limits.child(&own_limits, &caller.port.options.limits),
        tree_meter: TreeMeter::within(own_limits.tree, caller.tree_meter.clone()),
        deadline,
        ceiling,
        access: caller.access.child(connection.narrow.as_deref(), &agent.grants),
        may_wait_for_humans: caller.may_wait_for_humans && call.parent.is_none(),
        contract: connection.contract.as_ref().map(|contract| Contract::new(contract, agent)),
    })
}

/// The child's own time, within what its caller has left (NT-22).
fn deadline(caller: &Turn, own_ms: Option<f64>) -> (Option<Moment>, Ceiling) {
    let own = own_ms.map(|ms| caller.port.now().after_ms(ms));
    match (own, caller.lifetime.deadline()) {
        (Some(own), Some(callers)) if callers < own => (Some(callers), Ceiling::Caller),
        (None, Some(callers)) => (Some(callers), Ceiling::Caller),
        (own, _) => (own, Ceiling::Own),
    }
}

fn completed(child: &Turn) -> Delegated {
    let progressed = child.progressed.borrow();
    let deliverable = progressed.deliverable.as_ref();
    let has_contract = child.contract.is_some();
    assert_eq!(deliverable.is_some(), has_contract, "a completed contract has its deliverable");
    let result = Completed {
        ok: true,
        deliverable,
        text: (!has_contract).then(|| progressed.text()),
        parts: (!has_contract).then(|| progressed.part_views().collect()),
        empty: progressed.is_empty(),
        partial: progressed.partial,
    };
    Delegated::Completed(Json::of(&result))
}

fn failed(call: &Call, connection: &DelegationSpec, child: &Turn, cause: Cause) -> Result<Delegated, Failure> {
    match connection.on_error {
        OnError::Fail => Err(Failure::ChildFailed { tool: call.tool().id.to_string(), cause: Box::new(cause) }),
        OnError::Feedback => {
            let result = Failed { ok: false, cause: &cause, turn_id: child.id() };
            Ok(Delegated::Failed(Json::of(&result)))
        }
    }
}
