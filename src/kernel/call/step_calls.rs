//! The calls of one step: submits first, then every other call is admitted in request order before any body starts
//! (D-9), then they run together. Results reach the transcript in request order; one that fails hurts no other (NT-29).

use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::kernel::call::issued::{Answered, IssuedCall};
use crate::kernel::call::{Refusal, issued};
use crate::kernel::program::{InvalidArgs, ToolExecution};
use crate::kernel::protocol::{CallInfo, EventBody, Failure, Offer, Output, Source};
use crate::kernel::turn::{RequestedCall, StepEnd, Turn, contract};

/// # Errors
/// A call whose failure ends the turn: a child with `onError: "fail"`, invalid arguments under `invalidArgs: "fail"`.
pub async fn run(turn: &Rc<Turn>, calls: Vec<RequestedCall>, offer: Offer) -> Result<StepEnd, Failure> {
    let mut outputs: Vec<Option<Output>> = Vec::with_capacity(calls.len());
    for call in &calls {
        outputs.push(match &turn.contract {
            Some(contract) if *contract.submit_id == *call.tool_name => {
                Some(Box::pin(contract::submit(turn, contract, call)).await)
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
    // Most steps bring one call, which needs nobody to wait for several.
    if let [(index, call)] = admitted.as_slice() {
        outputs[*index] = Some(output(turn, &calls[*index], call.run().await?, &mut ends)?);
        admitted.clear();
    } else {
        for (index, answered) in Box::pin(perform(turn, admitted)).await? {
            outputs[index] = Some(output(turn, &calls[index], answered, &mut ends)?);
        }
    }
    let mut transcript = turn.transcript.borrow_mut();
    let source = if transcript.ends_with_reply() { Source::Results } else { Source::Sent };
    let mut content = transcript.begin("tool");
    for (call, output) in calls.iter().zip(&outputs) {
        let output = output.as_ref().expect("every call of a step is answered");
        content.result(&call.pair_id, &call.tool_name, output);
    }
    content.end(source);
    drop(transcript);
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

/// What the model sees of an answer; one may end the turn.
fn output(turn: &Turn, call: &RequestedCall, answered: Answered, ends: &mut bool) -> Result<Output, Failure> {
    match answered {
        Answered::Output(output) => Ok(output),
        Answered::Ending { output, text } => {
            *ends = true;
            turn.progressed.borrow_mut().answer(text);
            Ok(output)
        }
        Answered::Refused(refusal) => refuse(turn, call, refusal),
    }
}

/// Runs the admitted calls: together, except those that must not overlap, which keep their order (D-10).
async fn perform(turn: &Rc<Turn>, admitted: Vec<(usize, IssuedCall)>) -> Result<Vec<(usize, Answered)>, Failure> {
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
    let info = CallInfo { call_id: call.id.clone(), tool_id: Rc::clone(&call.tool_name) };
    turn.emit(EventBody::ToolRefused { call: info, error: Box::new(refusal.error_info()) });
    if let Refusal::Repeated { tool } = refusal {
        return Err(Failure::RepeatedCall { tool });
    }
    if turn.limits.invalid_args == Some(InvalidArgs::Fail)
        && let Some(issues) = refusal.issues()
    {
        return Err(Failure::Validation { tool: call.tool_name.to_string(), issues });
    }
    Ok(Output::error(refusal.for_model(turn)))
}
