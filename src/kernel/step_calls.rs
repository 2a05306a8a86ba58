//! The calls of one step: submits first, then every other call is admitted in request order before any body starts
//! (D-9), then they run together. Results reach the transcript in request order; one that fails hurts no other (NT-29).

use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::kernel::contract;
use crate::kernel::event::{CallInfo, EventBody};
use crate::kernel::issued::{self, Answered, IssuedCall};
use crate::kernel::limits::{InvalidArgs, ToolExecution};
use crate::kernel::outcome::Failure;
use crate::kernel::protocol::Offer;
use crate::kernel::refusal::Refusal;
use crate::kernel::reply::RequestedCall;
use crate::kernel::step::StepEnd;
use crate::kernel::transcript::{Output, ToolResultPart};
use crate::kernel::turn::Turn;

/// # Errors
/// A call whose failure ends the turn: a child with `onError: "fail"`, invalid arguments under `invalidArgs: "fail"`.
pub async fn run(turn: &Rc<Turn>, calls: Vec<RequestedCall>, offer: Offer) -> Result<StepEnd, Failure> {
    let mut outputs: Vec<Option<Output>> = Vec::with_capacity(calls.len());
    for call in &calls {
        outputs.push(match &turn.contract {
            Some(contract) if *contract.submit_id == *call.tool_name => {
                Some(contract::submit(turn, contract, call).await)
            }
            _ => None,
        });
    }
    let mut admitted = Vec::with_capacity(calls.len());
    let mut calls_spent = None;
    for (index, call) in calls.iter().enumerate() {
        if outputs[index].is_some() {
            continue;
        }
        match issued::admit(turn, call, offer).await {
            Ok(call) => admitted.push((index, call)),
            Err(refusal) => {
                calls_spent = calls_spent.or_else(|| refusal.as_failure());
                outputs[index] = Some(refuse(turn, call, refusal)?);
            }
        }
    }
    let mut ends = false;
    for (index, answered) in perform(turn, admitted).await? {
        outputs[index] = Some(match answered {
            Answered::Output(output) => output,
            Answered::Ending { output, text } => {
                ends = true;
                turn.progressed.borrow_mut().answer(text);
                output
            }
            Answered::Refused(refusal) => refuse(turn, &calls[index], refusal)?,
        });
    }
    let results: Vec<_> = calls
        .iter()
        .zip(&outputs)
        .filter_map(|(call, output)| Some(ToolResultPart::new(&call.pair_id, &call.tool_name, output.as_ref()?)))
        .collect();
    assert_eq!(results.len(), calls.len(), "every call of a step is answered");
    turn.transcript.borrow_mut().push("tool", &results);
    Ok(if turn.progressed.borrow().deliverable.is_some() {
        StepEnd::Delivered
    } else if let Some(failure) = calls_spent {
        StepEnd::CallsSpent(failure)
    } else if ends {
        StepEnd::Ended
    } else {
        StepEnd::Continue
    })
}

/// Runs the admitted calls: together, except those that must not overlap, which keep their order (D-10).
async fn perform(turn: &Rc<Turn>, mut admitted: Vec<(usize, IssuedCall)>) -> Result<Vec<(usize, Answered)>, Failure> {
    // Most steps bring one call, which needs nobody to wait for several.
    if admitted.len() == 1
        && let Some((index, call)) = admitted.pop()
    {
        return Ok(vec![(index, call.run().await?)]);
    }
    let sequential = turn.limits.tool_execution == Some(ToolExecution::Sequential);
    let (in_order, together): (Vec<_>, Vec<_>) =
        admitted.into_iter().partition(|(_, call)| sequential || call.is_exclusive());
    let mut lanes: Vec<Vec<(usize, IssuedCall)>> = together.into_iter().map(|call| vec![call]).collect();
    lanes.extend((!in_order.is_empty()).then_some(in_order));
    lanes.sort_by_key(|lane| lane[0].0);
    let mut running: FuturesUnordered<_> = lanes.into_iter().map(run_lane).collect();
    let mut answered = Vec::new();
    while let Some(lane) = running.next().await {
        answered.extend(lane?);
    }
    Ok(answered)
}

async fn run_lane(lane: Vec<(usize, IssuedCall)>) -> Result<Vec<(usize, Answered)>, Failure> {
    let mut answered = Vec::with_capacity(lane.len());
    for (index, call) in lane {
        answered.push((index, call.run().await?));
    }
    Ok(answered)
}

/// Answers a call that is not admitted.
fn refuse(turn: &Turn, call: &RequestedCall, refusal: Refusal) -> Result<Output, Failure> {
    let info = CallInfo { call_id: call.id.clone(), tool_id: Rc::clone(&call.tool_name), parent_call_id: None };
    turn.emit(EventBody::ToolRefused { call: info, error: refusal.error_info() });
    if let Refusal::Repeated { tool } = refusal {
        return Err(Failure::RepeatedCall { tool });
    }
    if turn.limits.invalid_args == Some(InvalidArgs::Fail)
        && let Some(issues) = refusal.issues()
    {
        return Err(Failure::Validation { tool: call.tool_name.to_string(), issues });
    }
    Ok(Output::ErrorText(refusal.for_model(turn)))
}
