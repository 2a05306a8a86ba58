//! Middleware, as the kernel sees it: which stages have hooks, and what they answer. All hooks of a stage are run by the
//! host in one go (D-16); what a refusal means is decided here.

use std::rc::Rc;

use futures_util::future::{Either, select};
use serde::de::DeserializeOwned;

use crate::kernel::call::{Call, Refusal};
use crate::kernel::program::Stage;
use crate::kernel::protocol::{CallResult, Command, HookAnswer, Offer, ResultView};
use crate::kernel::turn::Turn;
use crate::kernel::wait::{Cut, Effect, Sleep};

/// What the hooks of an admission stage say.
pub enum Admission {
    Admitted,
    /// A human has to decide.
    NeedsApproval,
}

/// Takes a call through `beforeTool` or `checkNestedTool`.
///
/// # Errors
/// The first hook that refused it.
pub async fn admit(turn: &Rc<Turn>, call: &Call) -> Result<Admission, Refusal> {
    let stage = if call.parent.is_some() { Stage::CheckNestedTool } else { Stage::BeforeTool };
    if turn.hooks.has(stage) { Box::pin(ask_to_admit(turn, call, stage)).await } else { Ok(Admission::Admitted) }
}

async fn ask_to_admit(turn: &Rc<Turn>, call: &Call, stage: Stage) -> Result<Admission, Refusal> {
    let view = call.view();
    match run(turn, stage, None, Some(call), None).await {
        Ran::Ok(_) => Ok(Admission::Admitted),
        Ran::Refused { code, message } => Err(Refusal::by_hook(&view, code.as_deref(), message)),
        Ran::NeedsApproval => Ok(Admission::NeedsApproval),
    }
}

/// Shows a result of the model's call to `afterTool`, which may put another in its place. A hook that fails may have been
/// about to take something out of the result: it is withheld.
pub async fn after_tool(call: &Call, result: CallResult) -> CallResult {
    if call.turn.hooks.has(Stage::AfterTool) { Box::pin(ask_after_tool(call, result)).await } else { result }
}

async fn ask_after_tool(call: &Call, result: CallResult) -> CallResult {
    match run(&call.turn, Stage::AfterTool, None, Some(call), Some(ResultView::of(&result))).await {
        Ran::Ok(Some(changed)) if changed.is_too_deep() => {
            CallResult::error(format!("the result of {} is withheld: it is nested too deep", call.view().subject()))
        }
        Ran::Ok(changed) => changed.unwrap_or(result),
        Ran::NeedsApproval => result,
        Ran::Refused { message, .. } => {
            let text = format!("the result of {} is withheld: {message}", call.view().subject());
            CallResult::error(text)
        }
    }
}

/// Shows a result of a nested call to `observeNestedResult`. What these hooks do changes nothing.
pub async fn observe_nested(call: &Call, result: &CallResult) {
    if call.turn.hooks.has(Stage::ObserveNestedResult) {
        Box::pin(show_nested(call, result)).await;
    }
}

async fn show_nested(call: &Call, result: &CallResult) {
    if let Ran::Refused { message, .. } =
        run(&call.turn, Stage::ObserveNestedResult, None, Some(call), Some(ResultView::of(result))).await
    {
        tracing::warn!(%message, "a hook that observes results failed");
    }
}

/// Runs `beforeModel` or `afterModel`; the host keeps what they change.
///
/// # Errors
/// What a hook threw.
pub async fn around_model(turn: &Rc<Turn>, stage: Stage, offer: Offer) -> Result<(), String> {
    if turn.hooks.has(stage) { Box::pin(ask_around_model(turn, stage, offer)).await } else { Ok(()) }
}

async fn ask_around_model(turn: &Rc<Turn>, stage: Stage, offer: Offer) -> Result<(), String> {
    if stage == Stage::BeforeModel {
        let mut transcript = turn.transcript.borrow_mut();
        turn.port.say(&Command::Append { turn_key: turn.key, append: transcript.take_unsent() });
    }
    match run(turn, stage, Some(offer), None, None).await {
        Ran::Ok(_) => Ok(()),
        Ran::Refused { message, .. } => Err(message),
        Ran::NeedsApproval => Err("a model hook cannot ask for an approval".to_owned()),
    }
}

enum Ran {
    Ok(Option<CallResult>),
    Refused { code: Option<String>, message: String },
    NeedsApproval,
}

async fn run(
    turn: &Rc<Turn>,
    stage: Stage,
    offer: Option<Offer>,
    call: Option<&Call>,
    result: Option<ResultView<'_>>,
) -> Ran {
    let view = call.map(Call::view);
    let effect = turn.ask(|id| Command::Hooks {
        id,
        turn_key: turn.key,
        stage,
        offer,
        ticket: call.and_then(|call| call.ticket),
        call: view,
        result,
    });
    match in_time(turn, effect).await {
        Ok(HookAnswer::Ok(changed)) => Ran::Ok(changed),
        Ok(HookAnswer::Refused(thrown)) => Ran::Refused { code: thrown.code, message: thrown.message.0 },
        Ok(HookAnswer::NeedsApproval) => Ran::NeedsApproval,
        Err(cut) => Ran::Refused { code: None, message: cut.to_string() },
    }
}

/// The answer of a hook, or of a predicate.
///
/// # Errors
/// It took longer than `limits.hookTimeoutMs`: what hangs admits nothing (D-16).
pub async fn in_time<T: DeserializeOwned>(turn: &Rc<Turn>, effect: Effect) -> Result<T, Cut> {
    let max_ms = turn.limits.hook_timeout_ms();
    match select(effect, Sleep::until(&turn.port, turn.port.now().after_ms(max_ms))).await {
        Either::Left((given, _)) => Ok(given.read()),
        Either::Right(((), effect)) => {
            let cut = Cut::HookTimeout { max_ms };
            effect.cancel(&cut);
            Err(cut)
        }
    }
}
