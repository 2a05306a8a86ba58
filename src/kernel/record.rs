//! One record per turn (NT-36), written when the turn ends, and the result that a root turn hands to its caller.

use std::rc::Rc;

use crate::kernel::json::Json;
use serde::{Serialize, Serializer};

use crate::kernel::approval::Pending;
use crate::kernel::budget::{Budget, Ceiling};
use crate::kernel::event::{Header, is_false};
use crate::kernel::id::{CallId, TurnId};
use crate::kernel::outcome::Outcome;
use crate::kernel::protocol::outbox::{Field, NONE, OWN, Outbox};
use crate::kernel::protocol::{Command, FinishReason};
use crate::kernel::reply::Reply;
use crate::kernel::schema::Issues;
use crate::kernel::spec::Persist;
use crate::kernel::time::Moment;
use crate::kernel::turn::Turn;
use crate::kernel::usage::Usage;

/// What a turn has brought forth so far.
#[derive(Debug, Default)]
pub struct Progressed {
    pub parts: Vec<EmittedPart>,
    pub deliverable: Option<Json>,
    pub submits: Submits,
    pub partial: bool,
    pub answer_step: bool,
    text: Option<String>,
    /// The text is that of the last reply.
    text_is_last: bool,
    finish_reason: Option<FinishReason>,
}

#[derive(Clone, Debug)]
pub struct EmittedPart {
    pub part: Rc<str>,
    pub value: Json,
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
    pub payload: Json,
    pub issues: Issues,
}

impl Progressed {
    pub fn note(&mut self, reply: &Reply) {
        self.finish_reason = Some(reply.finish_reason);
        self.text_is_last = reply.is_as_given && !reply.text.is_empty();
        if !reply.text.is_empty() {
            self.text = Some(reply.text.clone());
        }
    }

    /// A tool's result is the answer, where it asks for that.
    pub fn answer(&mut self, text: Option<String>) {
        self.text_is_last &= text.is_none();
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
    value: &'a Json,
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
    finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
    #[serde(skip_serializing_if = "is_false")]
    empty: bool,
    started_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<f64>,
    input: &'a Json,
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
pub struct TurnResult<'a> {
    turn: &'a Turn,
    standing: Standing<'a>,
}

impl Serialize for TurnResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shown<'a> {
            turn_id: &'a TurnId,
            outcome: &'a Standing<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            deliverable: Option<&'a Json>,
            text: &'a str,
            #[serde(skip_serializing_if = "is_false")]
            partial: bool,
            #[serde(skip_serializing_if = "is_false")]
            empty: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            finish_reason: Option<FinishReason>,
            parts: Vec<PartView<'a>>,
            usage: &'a Usage,
            record: TurnRecord<'a>,
        }
        let Self { turn, standing } = self;
        let progressed = turn.progressed.borrow();
        let completed = matches!(standing, Standing::Ended(Outcome::Completed));
        Shown {
            turn_id: turn.id(),
            outcome: standing,
            deliverable: completed.then_some(progressed.deliverable.as_ref()).flatten(),
            text: progressed.text(),
            partial: progressed.partial,
            empty: completed && progressed.is_empty(),
            finish_reason: progressed.finish_reason,
            parts: progressed.part_views().collect(),
            usage: &turn.usage.borrow(),
            record: record_of(turn, &progressed),
        }
        .serialize(serializer)
    }
}

/// JSON text, but for the usual result, of which the host has all but some numbers.
impl Field for TurnResult<'_> {
    fn write(&self, out: &mut Outbox) {
        let Self { turn, standing } = self;
        let progressed = turn.progressed.borrow();
        let (Some(over), true) = (turn.over(), self.is_plain(&progressed)) else {
            out.word(NONE);
            out.json(self);
            return;
        };
        debug_assert!(matches!(standing, Standing::Ended(_)));
        let wall = |moment: Moment| turn.tree.wall_offset_ms + moment.as_ms();
        out.word(progressed.finish_reason.map_or(NONE, |reason| reason as i32));
        progressed.is_empty().write(out);
        if progressed.text_is_last {
            out.word(OWN)
        } else {
            out.json(progressed.text())
        }
        let budget = &turn.budget;
        budget.steps.write(out);
        budget.tool_calls.write(out);
        for amount in [budget.time_ms, budget.tokens, budget.cost_usd] {
            amount.unwrap_or(f64::NAN).write(out);
        }
        out.word(budget.on_exhausted.map_or(NONE, |wanted| wanted as i32));
        for count in [turn.meter.steps(), turn.meter.tool_calls(), turn.meter.nested_calls()] {
            count.write(out);
        }
        over.used_ms.write(out);
        wall(turn.started).write(out);
        wall(over.at).write(out);
        turn.usage.borrow().write(out);
        turn.tree_usage.borrow().write(out);
    }
}

impl TurnResult<'_> {
    fn is_plain(&self, progressed: &Progressed) -> bool {
        let completed = matches!(self.standing, Standing::Ended(Outcome::Completed));
        completed
            && progressed.finish_reason.is_some()
            && self.turn.contract.is_none()
            && progressed.parts.is_empty()
            && !progressed.partial
            && !progressed.answer_step
            && self.turn.ceiling_that_bit().is_none()
            && self.turn.input.get().starts_with('"')
    }
}

impl Field for Usage {
    fn write(&self, out: &mut Outbox) {
        for amount in [self.input_tokens, self.output_tokens, self.total_tokens] {
            amount.write(out);
        }
        for amount in [self.cache_read_tokens, self.reasoning_tokens, self.cost_usd] {
            amount.unwrap_or(f64::NAN).write(out);
        }
        self.nudges.write(out);
    }
}

/// What a result says of its turn: how it ended, or that it waits for humans, which is a state and never written (D-1).
#[derive(Serialize)]
#[serde(untagged)]
enum Standing<'a> {
    Ended(&'a Outcome),
    Suspended { status: &'static str, pending: Vec<Pending> },
}

/// Tells the host that a turn is over, and with a root its result.
pub fn report_over(turn: &Turn) {
    if turn.parent.is_some() {
        turn.port.say(&Command::Close { turn_key: turn.key });
        return;
    }
    let over = turn.over().expect("it is over");
    let mut transcript = turn.transcript.borrow_mut();
    let result = TurnResult { turn, standing: Standing::Ended(&over.outcome) };
    turn.port.say(&Command::Settled { turn_key: turn.key, append: transcript.take_unsent(), result });
}

/// Tells the host where a suspended root stands. Where nothing else runs the host drops its timer, and has to be told again.
pub fn report_suspended(turn: &Turn, pending: Vec<Pending>) {
    turn.port.timers.borrow_mut().disarm();
    let mut transcript = turn.transcript.borrow_mut();
    let result = TurnResult { turn, standing: Standing::Suspended { status: "suspended", pending } };
    turn.port.say(&Command::Suspended { turn_key: turn.key, append: transcript.take_unsent(), result });
}

/// The record of a turn as JSON, without its transcript.
pub fn record(turn: &Turn) -> Json {
    Json::of(&record_of(turn, &turn.progressed.borrow()))
}

fn record_of<'a>(turn: &'a Turn, progressed: &'a Progressed) -> TurnRecord<'a> {
    let wall = |moment: Moment| turn.tree.wall_offset_ms + moment.as_ms();
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
                time_ms: over.map_or_else(|| turn.used_ms(), |over| over.used_ms),
            },
            ceiling: turn.ceiling_that_bit(),
            answer_step: progressed.answer_step,
        },
        usage: turn.usage.borrow().clone(),
        tree_usage: turn.tree_usage.borrow().clone(),
        submits: turn.contract.is_some().then_some(&progressed.submits),
        finish_reason: progressed.finish_reason,
        partial: progressed.partial,
        empty: matches!(outcome, Some(Outcome::Completed)) && progressed.is_empty(),
        started_at: wall(turn.started),
        ended_at: over.map(|over| wall(over.at)),
        input: &turn.input,
        parts: progressed
            .parts
            .iter()
            .filter(|part| part.persist == Persist::Content)
            .map(|part| PartView { part: &part.part, value: &part.value })
            .collect(),
    }
}
