//! Running an admitted call: through the wrap layers to its base (a body, or a child turn), and what came of it. The same
//! for model-issued and nested calls; what surrounds it differs (`issued.rs`, `nested.rs`).

use std::rc::Rc;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, select_biased};

use crate::kernel::call::delegation::Delegated;
use crate::kernel::call::{Call, body, delegation};
use crate::kernel::protocol::{CallAnswer, CallResult, Command, ErrorInfo, Failure, Letter, ResultView, Thrown};
use crate::kernel::schema;
use crate::kernel::value::{EffectId, Json, Ticket};
use crate::kernel::wait::{Mailbox, Receiver};

/// What came of a call that ran.
pub enum Ran {
    /// A result, also one in which the tool reports its own failure.
    Result(CallResult),
    /// A foreign exception. The object stays with the host, under the command whose code threw it.
    Raised { message: String, thrown_by: Option<EffectId> },
    /// It turned out to need a human.
    NeedsApproval,
}

/// What everybody but the program that called sees of a foreign exception (D-11).
pub const DISPATCH_FAILED: &str = "tool dispatch failed";

/// # Errors
/// A failed child whose connection says that it fails its caller.
pub async fn run(call: &Rc<Call>) -> Result<Ran, Failure> {
    if call.turn.hooks.wrap_tool { Box::pin(run_wrapped(call)).await } else { run_base(call, None).await }
}

/// The layers run on the host's side; each `next()` of the innermost one comes back here and runs the base.
async fn run_wrapped(call: &Rc<Call>) -> Result<Ran, Failure> {
    let turn = &call.turn;
    let effect = turn.ask(|id| Command::Wrap { id, turn_key: turn.key, ticket: call.ticket, call: call.view() });
    let id = effect.id;
    let layers = Rc::new(Layers::default());
    turn.port.expect_letters(id, Rc::clone(&layers) as Rc<dyn Receiver>);
    let mut bases = FuturesUnordered::new();
    let mut effect = effect;
    // While a base runs, the layers wait for it: whether the turn can go on is a matter of what the base waits for.
    let mut idle = None;
    loop {
        select_biased! {
            given = (&mut effect).fuse() => return Ok(ran(&call.tool().id, given.into(), Some(id))),
            next = layers.0.take().fuse() => {
                bases.push(answer_next(call, next));
                idle = idle.or_else(|| Some(turn.lifetime.idle()));
            }
            base = bases.select_next_some() => {
                base?;
                if bases.is_empty() {
                    idle = None;
                }
            }
        }
    }
}

async fn answer_next(call: &Rc<Call>, next: Next) -> Result<(), Failure> {
    let ran = run_base(call, Some(&next)).await?;
    // What the body left behind is gone, and with it the reason to have lent the slot: the layers run on.
    call.take_slot_back().await;
    let (result, error, thrown_by) = match &ran {
        Ran::Result(result) => (Some(ResultView::of(result)), None, None),
        Ran::Raised { thrown_by, .. } => (None, Some(ErrorInfo::new("TOOL_ERROR", DISPATCH_FAILED)), *thrown_by),
        Ran::NeedsApproval => (None, Some(ErrorInfo::new("APPROVAL_REQUIRED", "the call requires approval")), None),
    };
    call.turn.port.say(&Command::Resolve { ticket: next.ticket, result, error, thrown_by });
    Ok(())
}

/// Runs what is inside all layers, once. The summary of nested calls so far goes onto its result.
async fn run_base(call: &Rc<Call>, next: Option<&Next>) -> Result<Ran, Failure> {
    let ran = match &call.tool().delegation {
        Some(connection) => {
            let loan = call.slot.lend();
            let delegated = Box::pin(delegation::run(call, connection, next)).await?;
            drop(loan);
            call.take_slot_back().await;
            match delegated {
                Delegated::Completed(value) => Ran::Result(CallResult::of(false, value)),
                Delegated::Failed(value) => Ran::Result(CallResult::of(true, value)),
                Delegated::Thrown(thrown) => ran(&call.tool().id, CallAnswer::Thrown(thrown), None),
            }
        }
        None => body::run(call, next).await?,
    };
    Ok(match (ran, call.nested()) {
        (Ran::Result(result), Some(nesting)) => {
            let metadata = nesting.summary.borrow().attach(result.metadata);
            Ran::Result(CallResult { metadata, answer_of: None, ..result })
        }
        (ran, _) => ran,
    })
}

/// Reads the answer of user code; what it threw stays with the host under the command `thrown_by`.
pub fn ran(tool: &str, answer: CallAnswer, thrown_by: Option<EffectId>) -> Ran {
    match answer {
        CallAnswer::Result(result) if result.is_too_deep() => {
            let text = format!("tool '{tool}' returned a value nested deeper than {} levels", schema::NESTING_MAX);
            Ran::Result(CallResult::error(text))
        }
        CallAnswer::Result(result) => Ran::Result(result),
        CallAnswer::Thrown(Thrown { code, message }) => match code.as_deref() {
            None | Some("TOOL_ERROR") => Ran::Raised { message: message.0, thrown_by },
            Some("APPROVAL_REQUIRED") => Ran::NeedsApproval,
            // A KeelError is meant to be read: a tool that reports its own failure, or forwards a refusal.
            Some(_) => Ran::Result(CallResult::error(message.0)),
        },
    }
}

/// What a wrap layer asks for with `next(call?)`.
pub struct Next {
    pub ticket: Ticket,
    /// Rewritten arguments; they are not validated again.
    pub arguments: Option<Json>,
}

/// The layers of a call in flight, as their `next()` finds them.
#[derive(Default)]
struct Layers(Mailbox<Next>);

impl Receiver for Layers {
    fn receive(&self, letter: Letter) {
        if let Letter::Next { ticket, args } = letter {
            self.0.put(Next { ticket, arguments: args });
        }
    }
}
