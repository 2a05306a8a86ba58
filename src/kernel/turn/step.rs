//! One step: a model call, its reply read without trust (NT-41), and the calls that it asks for.

use std::rc::Rc;

use crate::kernel::call::{hooks, step_calls};
use crate::kernel::program::Stage;
use crate::kernel::protocol::{EventBody, Failure, Offer, StepCompleted};
use crate::kernel::trace;
use crate::kernel::turn::model_call::call_model;
use crate::kernel::turn::{Reply, Turn, reply};

/// How a step left the turn.
#[derive(Debug)]
pub enum StepEnd {
    /// Calls were answered: the model goes on.
    Continue,
    /// The model asked for nothing more, or a tool ended the turn.
    Ended,
    /// A deliverable was accepted.
    Delivered,
    /// More tool calls were asked for than are left, in the turn or in the whole tree.
    CallsSpent(Failure),
}

/// # Errors
/// The model call failed for good, or a call's failure ends the turn.
pub async fn run(turn: &Rc<Turn>, number: u32, offer: Offer) -> Result<StepEnd, Failure> {
    trace::within(|| tracing::debug_span!("step", number), run_plainly(turn, number, offer)).await
}

async fn run_plainly(turn: &Rc<Turn>, number: u32, offer: Offer) -> Result<StepEnd, Failure> {
    turn.emit(EventBody::StepStarted { step: number, attempt: 1 });
    hooks::around_model(turn, Stage::BeforeModel, offer).await.map_err(|message| Failure::Model { message })?;
    let mut answer = call_model(turn, number, offer).await?;
    // Before anything else is waited for, so that what they keep is released whatever happens.
    let checks = turn.hooks.after_model.then(|| reply::take_checks(turn, &mut answer));
    hooks::around_model(turn, Stage::AfterModel, offer).await.map_err(|message| Failure::Model { message })?;
    let captured = turn
        .port
        .options
        .capture_model_io
        .then(|| answer.parts.iter().map(|part| part.to_json(turn.agent())).collect());
    let usage = answer.usage.clone();
    let reply = Reply::read(turn, number, answer, checks);
    turn.charge(&usage);
    turn.emit(EventBody::StepCompleted(Box::new(StepCompleted {
        step: number,
        finish_reason: reply.finish_reason,
        usage,
        tool_calls: u32::try_from(reply.calls.len()).unwrap_or(u32::MAX),
        reply: captured,
    })));
    turn.progressed.borrow_mut().note(&reply);
    if reply.calls.is_empty() {
        return Ok(StepEnd::Ended);
    }
    // Kept while calls run, and not while the model is asked.
    Box::pin(step_calls::run(turn, reply.calls, offer)).await
}
