//! One record per turn (NT-36), written when the turn ends, and the result that a root turn hands to its caller.

use std::rc::Rc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::kernel::approval::Pending;
use crate::kernel::budget::{Budget, Ceiling};
use crate::kernel::event::{Event, Header, is_false};
use crate::kernel::id::{CallId, TurnId, TurnKey};
use crate::kernel::outcome::Outcome;
use crate::kernel::protocol::Command;
use crate::kernel::reply::Reply;
use crate::kernel::schema::Issues;
use crate::kernel::spec::Persist;
use crate::kernel::turn::Turn;
use crate::kernel::usage::Usage;

/// What a turn has brought forth so far.
#[derive(Debug, Default)]
pub struct Progressed {
    pub parts: Vec<EmittedPart>,
    pub deliverable: Option<Rc<RawValue>>,
    pub submits: Submits,
    pub partial: bool,
    pub answer_step: bool,
    text: Option<String>,
    finish_reason: Option<Rc<str>>,
}

#[derive(Clone, Debug)]
pub struct EmittedPart {
    pub part: Rc<str>,
    pub value: Rc<RawValue>,
    pub persist: Persist,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submits {
    pub tried: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejected>,
    #[serde(skip)]
    pub last_issues: Issues,
}

#[derive(Clone, Debug, Serialize)]
pub struct Rejected {
    pub payload: Box<RawValue>,
    pub issues: Issues,
}

impl Progressed {
    pub fn note(&mut self, reply: &Reply) {
        self.finish_reason = Some(Rc::clone(&reply.finish_reason));
        if !reply.text.is_empty() {
            self.text = Some(reply.text.clone());
        }
    }

    /// A tool's result is the answer, where it asks for that.
    pub fn answer(&mut self, text: Option<String>) {
        self.text = text.or(self.text.take());
    }

    /// The text of the last step that produced any (NT-12).
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Nothing came of the turn: never a silent success.
    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.parts.is_empty()
    }

    pub fn part_views(&self) -> impl Iterator<Item = PartView<'_>> {
        self.parts.iter().map(|part| PartView { part: &part.part, value: &part.value })
    }
}

#[derive(Clone, Serialize)]
pub struct PartView<'a> {
    part: &'a str,
    value: &'a RawValue,
}

/// A turn that is over, as a store keeps it.
pub struct ClosedTurn {
    pub header: Header,
    pub status: &'static str,
    /// The record as JSON, without its transcript.
    pub record: Box<RawValue>,
    pub transcript: Vec<Box<RawValue>>,
    pub events: Vec<Event>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRecord<'a> {
    #[serde(flatten)]
    header: &'a Header,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a CallId>,
    attempt: u32,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a Outcome>,
    budget: BudgetRecord<'a>,
    usage: Usage,
    tree_usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    submits: Option<&'a Submits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
    #[serde(skip_serializing_if = "is_false")]
    empty: bool,
    started_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<f64>,
    input: &'a RawValue,
    parts: Vec<PartView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BudgetRecord<'a> {
    granted: &'a Budget,
    used: Used,
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling: Option<Ceiling>,
    #[serde(skip_serializing_if = "is_false")]
    answer_step: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Used {
    steps: u32,
    tool_calls: u32,
    nested_calls: u32,
    time_ms: f64,
}

/// What `run()` resolves with, less what the host adds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnResult<'a> {
    turn_id: &'a TurnId,
    outcome: &'a Standing<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deliverable: Option<&'a RawValue>,
    text: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
    #[serde(skip_serializing_if = "is_false")]
    empty: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
    parts: Vec<PartView<'a>>,
    usage: &'a Usage,
    record: &'a RawValue,
}

/// What a result says of its turn: how it ended, or that it waits for humans, which is a state and never written (D-1).
#[derive(Serialize)]
#[serde(untagged)]
enum Standing<'a> {
    Ended(&'a Outcome),
    Suspended { status: &'static str, pending: Vec<Pending> },
}

/// Writes the record of a turn that has just ended, and tells the host.
pub fn finish(turn: &Turn, outcome: &Outcome, events: Vec<Event>) {
    let progressed = turn.progressed.borrow();
    let status = status_of(outcome);
    let record = serde_json::value::to_raw_value(&record_of(turn, &progressed, status, Some(outcome)))
        .expect("a record is plain data: it always serialises");
    drop(progressed);
    if turn.parent.is_some() {
        turn.port.say(&Command::Close { turn_key: turn.key });
    } else {
        report(turn, &Standing::Ended(outcome), &record, |turn_key, append, result| Command::Settled {
            turn_key,
            append,
            result,
        });
    }
    let transcript = turn.transcript.take().into_messages();
    turn.port.closed.borrow_mut().push(ClosedTurn { header: turn.header.clone(), status, record, transcript, events });
}

/// Hands the result of a root, as far as it has come, to the host.
fn report(
    turn: &Turn,
    outcome: &Standing<'_>,
    record: &RawValue,
    command: impl for<'a> FnOnce(TurnKey, &'a [Box<RawValue>], &'a TurnResult<'a>) -> Command<'a>,
) {
    let progressed = turn.progressed.borrow();
    let completed = matches!(outcome, Standing::Ended(Outcome::Completed));
    let result = TurnResult {
        turn_id: turn.id(),
        outcome,
        deliverable: completed.then_some(progressed.deliverable.as_deref()).flatten(),
        text: progressed.text(),
        partial: progressed.partial,
        empty: completed && progressed.is_empty(),
        finish_reason: progressed.finish_reason.as_deref(),
        parts: progressed.part_views().collect(),
        usage: &turn.usage.borrow(),
        record,
    };
    let mut transcript = turn.transcript.borrow_mut();
    turn.port.say(&command(turn.key, transcript.take_unsent(), &result));
}

/// Tells the host where a suspended root stands. Where nothing else runs the host drops its timer, and has to be told again.
pub fn report_suspended(turn: &Turn, pending: Vec<Pending>) {
    turn.port.timers.borrow_mut().disarm();
    let record = snapshot(turn);
    let standing = Standing::Suspended { status: "suspended", pending };
    report(turn, &standing, &record, |turn_key, append, result| Command::Suspended { turn_key, append, result });
}

/// The record of a turn that still runs, as JSON without its transcript.
pub fn snapshot(turn: &Turn) -> Box<RawValue> {
    serde_json::value::to_raw_value(&record_of(turn, &turn.progressed.borrow(), turn.status(), None))
        .expect("a record is plain data: it always serialises")
}

fn record_of<'a>(
    turn: &'a Turn,
    progressed: &'a Progressed,
    status: &'static str,
    outcome: Option<&'a Outcome>,
) -> TurnRecord<'a> {
    let wall = |moment: crate::kernel::time::Moment| turn.tree.wall_offset_ms + moment.as_ms();
    let now = turn.port.now();
    TurnRecord {
        header: &turn.header,
        call_id: turn.origin.as_ref().map(|origin| &origin.call.call_id),
        attempt: turn.attempt(),
        status,
        outcome,
        budget: BudgetRecord {
            granted: &turn.budget,
            used: Used {
                steps: turn.meter.steps(),
                tool_calls: turn.meter.tool_calls(),
                nested_calls: turn.meter.nested_calls(),
                time_ms: turn.used_ms(),
            },
            ceiling: turn.ceiling_that_bit(),
            answer_step: progressed.answer_step,
        },
        usage: turn.usage.borrow().clone(),
        tree_usage: turn.tree_usage.borrow().clone(),
        submits: turn.contract.is_some().then_some(&progressed.submits),
        finish_reason: progressed.finish_reason.as_deref(),
        partial: progressed.partial,
        empty: matches!(outcome, Some(Outcome::Completed)) && progressed.is_empty(),
        started_at: wall(turn.started),
        ended_at: outcome.map(|_| wall(now)),
        input: &turn.input,
        parts: progressed
            .parts
            .iter()
            .filter(|part| part.persist == Persist::Content)
            .map(|part| PartView { part: &part.part, value: &part.value })
            .collect(),
    }
}

fn status_of(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed { .. } => "failed",
        Outcome::Stopped { .. } => "stopped",
    }
}
