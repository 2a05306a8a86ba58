//! One call of the model: within its time limits (D-8), told part by part where it streams, retried where that helps (NT-40).

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::{Either, select};

use crate::kernel::protocol::{
    Command, DeltaKind, ErrorInfo, EventBody, Failure, Letter, ModelAnswer, ModelError, ModelReply, Offer,
};
use crate::kernel::turn::{Turn, backoff};
use crate::kernel::value::Text;
use crate::kernel::wait::{Cut, Effect, Moment, Receiver, Sleep};

/// # Errors
/// The model failed for good.
pub async fn call_model(turn: &Rc<Turn>, step: u32, offer: Offer) -> Result<ModelReply, Failure> {
    match attempt(turn, step, 1, offer).await {
        Ok(reply) => Ok(reply),
        Err(failed) => Box::pin(call_again(turn, step, offer, failed)).await,
    }
}

async fn call_again(turn: &Rc<Turn>, step: u32, offer: Offer, first: Failed) -> Result<ModelReply, Failure> {
    let mut failed = first;
    for number in 1.. {
        let Some(wait_ms) = retry_after_ms(turn, step, number, &failed) else {
            return Err(Failure::Model { message: failed.error.message.0 });
        };
        turn.pause(wait_ms).await;
        let reason = ErrorInfo::new("MODEL_ERROR", &failed.error.message.0);
        turn.emit(EventBody::StepRestarted { step, attempt: number + 1, reason: Box::new(reason) });
        failed = match attempt(turn, step, number + 1, offer).await {
            Ok(reply) => return Ok(reply),
            Err(failed) => failed,
        };
    }
    unreachable!("retries are bounded by maxModelRetries")
}

/// An attempt that failed.
struct Failed {
    error: ModelError,
    /// Text was told before, which cannot be taken back.
    spoke: bool,
}

async fn attempt(turn: &Rc<Turn>, step: u32, number: u32, offer: Offer) -> Result<ModelReply, Failed> {
    let stream = turn.tree.stream.get();
    let effect = {
        let mut transcript = turn.transcript.borrow_mut();
        let append = transcript.take_unsent();
        turn.ask(|id| Command::Model { id, turn_key: turn.key, offer, stream, append })
    };
    let max_ms = turn.limits.model_call_timeout_ms;
    if !stream && max_ms.is_none() {
        return read(effect.await.into(), false);
    }
    let deltas = Rc::new(Deltas {
        turn: Rc::clone(turn),
        step,
        attempt: number,
        last: Cell::new(turn.port.now()),
        spoke: Cell::new(false),
    });
    turn.port.expect_letters(effect.id, Rc::clone(&deltas) as Rc<dyn Receiver>);
    let idle_max_ms = stream.then(|| turn.limits.stream_idle_timeout_ms());
    let answer = Box::pin(answer_or_silence(turn, effect, &deltas, max_ms, idle_max_ms)).await;
    read(answer, deltas.spoke.get())
}

fn read(answer: ModelAnswer, spoke: bool) -> Result<ModelReply, Failed> {
    match answer {
        ModelAnswer::Ok(reply) => Ok(reply),
        ModelAnswer::Error(error) => Err(Failed { error, spoke }),
    }
}

/// What the model tells while it is called.
struct Deltas {
    turn: Rc<Turn>,
    step: u32,
    attempt: u32,
    last: Cell<Moment>,
    spoke: Cell<bool>,
}

impl Receiver for Deltas {
    fn receive(&self, letter: Letter) {
        let Letter::Delta { kind, text } = letter else { return };
        self.last.set(self.turn.port.now());
        if kind == DeltaKind::Text {
            self.spoke.set(true);
        }
        let text = text.0.into();
        self.turn.emit(EventBody::TextDelta { step: self.step, attempt: self.attempt, kind, text });
    }
}

/// Waits for the model within its own two limits: the whole call, and the silence between deltas.
async fn answer_or_silence(
    turn: &Turn,
    effect: Effect,
    deltas: &Deltas,
    max_ms: Option<f64>,
    idle_max_ms: Option<f64>,
) -> ModelAnswer {
    let silence = pin!(silence(turn, deltas, max_ms, idle_max_ms));
    match select(effect, silence).await {
        Either::Left((given, _)) => given.into(),
        Either::Right((max_ms, effect)) => {
            let cut = Cut::ModelTimeout { max_ms };
            let message = Text(cut.to_string());
            effect.cancel(&cut);
            ModelAnswer::Error(ModelError { message, retryable: true, retry_after_ms: None })
        }
    }
}

/// Resolves with the limit that was passed, in milliseconds.
async fn silence(turn: &Turn, deltas: &Deltas, max_ms: Option<f64>, idle_max_ms: Option<f64>) -> f64 {
    let started = turn.port.now();
    loop {
        let ends = [(started, max_ms), (deltas.last.get(), idle_max_ms)];
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
fn retry_after_ms(turn: &Turn, step: u32, attempt: u32, failed: &Failed) -> Option<f64> {
    let text_cannot_be_taken_back = turn.tree.stream.get() && failed.spoke;
    if !failed.error.retryable || attempt > turn.limits.max_model_retries() || text_cannot_be_taken_back {
        return None;
    }
    let wait_ms = backoff::wait_ms(turn.id(), step, attempt).max(failed.error.retry_after_ms.unwrap_or(0.0));
    let in_time = turn.lifetime.time_left_ms().is_none_or(|left| wait_ms < left);
    in_time.then_some(wait_ms)
}
