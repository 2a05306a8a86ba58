//! The effect ledger: one row per call, written before and after its body, so that what happened can be told when
//! everything else is lost. The rows themselves are kept by the host.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::kernel::call::{Call, Refusal, hooks, idempotency};
use crate::kernel::program::OnStartFailure;
use crate::kernel::protocol::{Answer, Command, LedgerEntry, Settlement, Thrown};
use crate::kernel::turn::Turn;
use crate::kernel::value::Text;

/// Refuses a nested call whose effect may have happened already: a row of its id was started and never settled.
///
/// # Errors
/// That refusal; or the ledger could not answer, which refuses too.
pub async fn check_unresolved(call: &Rc<Call>) -> Result<(), Refusal> {
    let skips = call.turn.port.options.ledger.is_none() || call.tool().replay_safe;
    if skips { Ok(()) } else { Box::pin(ask_for_unresolved(call)).await }
}

async fn ask_for_unresolved(call: &Rc<Call>) -> Result<(), Refusal> {
    let turn = &call.turn;
    let entry = LedgerEntry::Unresolved { turn_id: turn.id() };
    match ask(turn, &entry).await {
        Answer::Ok(unresolved) => {
            let unresolved: Vec<Text> = unresolved;
            if unresolved.iter().any(|call_id| call_id.0 == call.id.as_str()) {
                return Err(Refusal::Unsettled { call_id: call.id.clone(), tool: call.tool().id.to_string() });
            }
            Ok(())
        }
        Answer::Thrown(thrown) => Err(Refusal::Ledger { message: thrown.message.0 }),
    }
}

/// Writes the row before the body runs.
///
/// # Errors
/// The row could not be written, and the ledger says that the call must not run then.
pub async fn started(call: &Rc<Call>) -> Result<(), Refusal> {
    let Some(on_start_failure) = turn_ledger(call) else { return Ok(()) };
    Box::pin(write_started(call, on_start_failure)).await
}

async fn write_started(call: &Rc<Call>, on_start_failure: OnStartFailure) -> Result<(), Refusal> {
    let turn = &call.turn;
    let entry = LedgerEntry::Started {
        turn_id: turn.id(),
        call_id: &call.id,
        parent_call_id: call.parent.as_ref().map(|parent| &parent.id),
        tool_id: &call.tool().id,
        idempotency_key: idempotency::key(call),
        args_hash: idempotency::arguments_hash(&call.tool().id, call.arguments.get()),
    };
    match ask(turn, &entry).await {
        Answer::Ok(()) => Ok(()),
        Answer::Thrown(thrown) if on_start_failure == OnStartFailure::Abort => {
            Err(Refusal::Ledger { message: thrown.message.0 })
        }
        Answer::Thrown(thrown) => {
            tracing::warn!(message = %thrown.message.0, "the ledger did not take a started row; the call runs all the same");
            Ok(())
        }
    }
}

/// Writes how the call ended. A row that cannot be settled stays started.
pub async fn settled(call: &Rc<Call>, status: Settlement) {
    if turn_ledger(call).is_some() {
        Box::pin(write_settled(call, status)).await;
    }
}

async fn write_settled(call: &Rc<Call>, status: Settlement) {
    let turn = &call.turn;
    let entry = LedgerEntry::Settled { turn_id: turn.id(), call_id: &call.id, status };
    if let Answer::<()>::Thrown(thrown) = ask(turn, &entry).await {
        tracing::warn!(message = %thrown.message.0, "the ledger did not settle a row");
    }
}

/// A ledger that hangs has failed, like any hook (D-16).
async fn ask<T: DeserializeOwned>(turn: &Rc<Turn>, entry: &LedgerEntry<'_>) -> Answer<T> {
    let effect = turn.ask(|id| Command::Ledger { id, turn_key: turn.key, entry });
    hooks::in_time(turn, effect)
        .await
        .unwrap_or_else(|cut| Answer::Thrown(Thrown { code: None, message: Text(cut.to_string()) }))
}

/// A delegation has no row of its own: its child's calls have theirs (D-22).
fn turn_ledger(call: &Call) -> Option<OnStartFailure> {
    call.turn.port.options.ledger.filter(|_| call.tool().delegation.is_none())
}
