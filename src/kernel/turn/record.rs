//! One record per turn (NT-36), made of the turn when somebody reads it, and the result that a root turn hands to its caller.

use crate::kernel::program::Persist;
use crate::kernel::protocol::{
    BudgetRecord, Command, Outcome, PartView, Pending, TurnRecord, TurnResult, TurnStatus, Used,
};
use crate::kernel::turn::{Progressed, Turn};
use crate::kernel::value::Json;

/// Tells the host that a turn is over, and with a root its result.
pub fn report_over(turn: &Turn) {
    if turn.parent.is_some() {
        turn.port.say(&Command::Close { turn_key: turn.key });
        return;
    }
    let over = turn.over().expect("it is over");
    let progressed = turn.progressed.borrow();
    let result = result_of(turn, &progressed, TurnStatus::Ended(&over.outcome));
    let mut transcript = turn.transcript.borrow_mut();
    turn.port.say(&Command::Settled { turn_key: turn.key, append: transcript.take_unsent(), result });
}

/// Tells the host where a suspended root stands.
pub fn report_suspended(turn: &Turn, pending: Vec<Pending>) {
    // The host drops its timer, and has to be told again.
    turn.port.timers.borrow_mut().disarm();
    let progressed = turn.progressed.borrow();
    let result = result_of(turn, &progressed, TurnStatus::Suspended { status: "suspended", pending });
    let mut transcript = turn.transcript.borrow_mut();
    turn.port.say(&Command::Suspended { turn_key: turn.key, append: transcript.take_unsent(), result });
}

/// The record of a turn as JSON, without its transcript.
pub fn record(turn: &Turn) -> Json {
    Json::of(&record_of(turn, &turn.progressed.borrow()))
}

fn result_of<'a>(turn: &'a Turn, progressed: &'a Progressed, standing: TurnStatus<'a>) -> TurnResult<'a> {
    let completed = matches!(standing, TurnStatus::Ended(Outcome::Completed));
    TurnResult {
        turn_id: turn.id(),
        outcome: standing,
        deliverable: completed.then_some(progressed.deliverable.as_ref()).flatten(),
        text: progressed.text(),
        text_is_last: progressed.text_is_last(),
        partial: progressed.partial,
        empty: completed && progressed.is_empty(),
        finish_reason: progressed.finish_reason(),
        parts: progressed.part_views().collect(),
        usage: turn.usage.borrow().clone(),
        record: record_of(turn, progressed),
    }
}

fn record_of<'a>(turn: &'a Turn, progressed: &'a Progressed) -> TurnRecord<'a> {
    let over = turn.over();
    let outcome = over.map(|over| &over.outcome);
    TurnRecord {
        header: &turn.header,
        call_id: turn.origin.as_ref().map(|origin| &origin.call.call_id),
        attempt: turn.attempt(),
        status: turn.status(),
        outcome,
        budget: BudgetRecord {
            granted: &turn.budget,
            used: Used {
                steps: turn.meter.steps(),
                tool_calls: turn.meter.tool_calls(),
                nested_calls: turn.meter.nested_calls(),
                time_ms: over.map_or_else(|| turn.lifetime.used_ms(), |over| over.used_ms),
            },
            ceiling: turn.lifetime.ceiling_that_bit(),
            answer_step: progressed.answer_step,
        },
        usage: turn.usage.borrow().clone(),
        tree_usage: turn.tree_usage.borrow().clone(),
        submits: turn.contract.is_some().then_some(&progressed.submits),
        finish_reason: progressed.finish_reason(),
        partial: progressed.partial,
        empty: matches!(outcome, Some(Outcome::Completed)) && progressed.is_empty(),
        started_at: turn.started_at,
        ended_at: over.map(|over| over.at),
        input: &turn.input,
        parts: progressed
            .parts
            .iter()
            .filter(|part| part.persist == Persist::Content)
            .map(|part| PartView { part: &part.part, value: &part.value })
            .collect(),
    }
}
