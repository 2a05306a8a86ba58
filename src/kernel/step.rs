//! One step: a model call, retried where that helps (NT-40), its reply read without trust (NT-41), and the calls that it
//! asks for.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::{Either, select};

use crate::kernel::backoff;
use crate::kernel::event::{DeltaKind, ErrorInfo, EventBody, StepCompleted};
use crate::kernel::hooks;
use crate::kernel::id::EffectId;
use crate::kernel::outcome::Failure;
use crate::kernel::port::Effect;
use crate::kernel::protocol::{Command, ModelAnswer, ModelError, ModelReply, Offer, Stage};
use crate::kernel::reply::{self, Reply};
use crate::kernel::step_calls;
use crate::kernel::stop::Cut;
use crate::kernel::text::Text;
use crate::kernel::time::{Moment, Sleep};
use crate::kernel::trace;
use crate::kernel::turn::Turn;

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

/// The model call in flight, for the deltas that arrive meanwhile.
pub struct ModelStream {
    id: EffectId,
    step: u32,
    attempt: u32,
    last: Cell<Moment>,
    spoke: Cell<bool>,
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

/// A delta of the model call `id`; one of a call that is over is ignored.
pub fn delta(turn: &Turn, id: EffectId, kind: DeltaKind, text: Text) {
    let stream = turn.stream.borrow();
    let Some(stream) = stream.as_ref().filter(|stream| stream.id == id) else {
        return;
    };
    stream.last.set(turn.port.now());
    if kind == DeltaKind::Text {
        stream.spoke.set(true);
    }
    turn.emit(EventBody::TextDelta { step: stream.step, attempt: stream.attempt, kind, text: text.0.into() });
}

async fn call_model(turn: &Rc<Turn>, number: u32, offer: Offer) -> Result<ModelReply, Failure> {
    match attempt_call(turn, number, 1, offer).await {
        Ok(reply) => Ok(reply),
        Err(error) => Box::pin(call_again(turn, number, offer, error)).await,
    }
}

async fn call_again(turn: &Rc<Turn>, number: u32, offer: Offer, first: ModelError) -> Result<ModelReply, Failure> {
    let mut error = first;
    for attempt in 1.. {
        let Some(wait_ms) = retry_after_ms(turn, number, attempt, &error) else {
            return Err(Failure::Model { message: error.message.0 });
        };
        turn.pause(wait_ms).await;
        let reason = ErrorInfo::new("MODEL_ERROR", &error.message.0);
        turn.emit(EventBody::StepRestarted { step: number, attempt: attempt + 1, reason: Box::new(reason) });
        error = match attempt_call(turn, number, attempt + 1, offer).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
    }
    unreachable!("retries are bounded by maxModelRetries")
}

async fn attempt_call(turn: &Rc<Turn>, number: u32, attempt: u32, offer: Offer) -> Result<ModelReply, ModelError> {
    let effect = {
        let mut transcript = turn.transcript.borrow_mut();
        let append = transcript.take_unsent();
        let stream = turn.tree.stream.get();
        turn.port.ask(turn, |id| Command::Model { id, turn_key: turn.key, append, offer, stream })
    };
    let stream =
        ModelStream { id: effect.id, step: number, attempt, last: Cell::new(turn.port.now()), spoke: Cell::new(false) };
    turn.stream.replace(Some(stream));
    match answer_in_time(turn, effect).await? {
        ModelAnswer::Ok(reply) => Ok(reply),
        ModelAnswer::Error(error) => Err(error),
    }
}

/// Waits for the model within its own two limits: the whole call, and the silence between deltas (D-8).
async fn answer_in_time(turn: &Rc<Turn>, effect: Effect) -> Result<ModelAnswer, ModelError> {
    let call_max = turn.limits.model_call_timeout_ms;
    let idle_max = turn.tree.stream.get().then(|| turn.limits.stream_idle_timeout_ms());
    if call_max.is_none() && idle_max.is_none() {
        return Ok(effect.await.into());
    }
    Box::pin(answer_or_silence(turn, effect, call_max, idle_max)).await
}

async fn answer_or_silence(
    turn: &Rc<Turn>,
    effect: Effect,
    call_max: Option<f64>,
    idle_max: Option<f64>,
) -> Result<ModelAnswer, ModelError> {
    let silence = pin!(silence(turn, call_max, idle_max));
    match select(effect, silence).await {
        Either::Left((given, _)) => Ok(given.into()),
        Either::Right((max_ms, effect)) => {
            let cut = Cut::ModelTimeout { max_ms };
            let message = Text(cut.to_string());
            effect.cancel(&cut);
            Err(ModelError { message, retryable: true, retry_after_ms: None })
        }
    }
}

/// Resolves with the limit that was passed, in milliseconds.
async fn silence(turn: &Rc<Turn>, call_max: Option<f64>, idle_max: Option<f64>) -> f64 {
    let started = turn.port.now();
    loop {
        let last = turn.stream.borrow().as_ref().map_or(started, |stream| stream.last.get());
        let ends = [(started, call_max), (last, idle_max)];
        let (at, max_ms) = ends
            .into_iter()
            .filter_map(|(from, max)| max.map(|max| (from.after_ms(max), max)))
            .min_by_key(|(at, _)| *at)
            .expect("one of the two limits is set");
        if at <= turn.port.now() {
            return max_ms;
        }
        Sleep::until(&turn.port, at).await;
    }
}

/// How long to wait before the next attempt; `None` when there is none to make.
fn retry_after_ms(turn: &Turn, number: u32, attempt: u32, error: &ModelError) -> Option<f64> {
    let spoke = turn.stream.borrow().as_ref().is_some_and(|stream| stream.spoke.get());
    let text_cannot_be_taken_back = turn.tree.stream.get() && spoke;
    if !error.retryable || attempt > turn.limits.max_model_retries() || text_cannot_be_taken_back {
        return None;
    }
    let wait_ms = backoff::wait_ms(turn.id(), number, attempt).max(error.retry_after_ms.unwrap_or(0.0));
    let in_time = turn.time_left_ms().is_none_or(|left| wait_ms < left);
    in_time.then_some(wait_ms)
}
