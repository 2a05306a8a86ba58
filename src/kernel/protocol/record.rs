//! The record of a turn (NT-36), and what a root turn hands to its caller, as they leave the kernel.

use serde::Serialize;

use crate::kernel::program::{Budget, Ceiling};
use crate::kernel::protocol::event::is_false;
use crate::kernel::protocol::row::{Field, Form, NONE, OWN};
use crate::kernel::protocol::{FinishReason, Header, Outbox, Outcome, Pending};
use crate::kernel::schema::Issues;
use crate::kernel::value::{CallId, Json, TurnId, Usage};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRecord<'a> {
    #[serde(flatten)]
    pub header: &'a Header,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<&'a CallId>,
    pub attempt: u32,
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'a Outcome>,
    pub budget: BudgetRecord<'a>,
    pub usage: Usage,
    pub tree_usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submits: Option<&'a Submits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "is_false")]
    pub partial: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub empty: bool,
    /// Wall clock, milliseconds since the epoch.
    pub started_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<f64>,
    pub input: &'a Json,
    pub parts: Vec<PartView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetRecord<'a> {
    pub granted: &'a Budget,
    pub used: Used,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    #[serde(skip_serializing_if = "is_false")]
    pub answer_step: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    pub steps: u32,
    pub tool_calls: u32,
    pub nested_calls: u32,
    pub time_ms: f64,
}

#[derive(Clone, Serialize)]
pub struct PartView<'a> {
    pub part: &'a str,
    pub value: &'a Json,
}

/// The attempts to deliver what a turn owes.
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

/// What `run()` resolves with, less what the host adds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnResult<'a> {
    pub turn_id: &'a TurnId,
    pub outcome: TurnStatus<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<&'a Json>,
    pub text: &'a str,
    /// The text is that of the last reply, which the host has.
    #[serde(skip)]
    pub text_is_last: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub partial: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub empty: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    pub parts: Vec<PartView<'a>>,
    pub usage: Usage,
    pub record: TurnRecord<'a>,
}

/// What a result says of its turn: how it ended, or that it waits for humans, which is a state and never written (D-1).
#[derive(Serialize)]
#[serde(untagged)]
pub enum TurnStatus<'a> {
    Ended(&'a Outcome),
    Suspended { status: &'static str, pending: Vec<Pending> },
}

impl TurnResult<'_> {
    /// A root that completed with a text and nothing else: the host has all of its result but some numbers.
    fn is_plain(&self) -> bool {
        matches!(self.outcome, TurnStatus::Ended(Outcome::Completed))
            && self.finish_reason.is_some()
            && self.record.submits.is_none()
            && self.parts.is_empty()
            && !self.partial
            && !self.record.budget.answer_step
            && self.record.budget.ceiling.is_none()
            && self.record.input.get().starts_with('"')
    }
}

/// JSON text behind a `NONE`, or the numbers of a plain result.
impl Field for TurnResult<'_> {
    const FORM: Form = Form::Result;

    fn write(&self, out: &mut Outbox) {
        if !self.is_plain() {
            out.word(NONE);
            out.json(self);
            return;
        }
        let TurnRecord { budget: BudgetRecord { granted, used, .. }, .. } = &self.record;
        out.word(self.finish_reason.map_or(NONE, |reason| reason as i32));
        self.empty.write(out);
        if self.text_is_last {
            out.word(OWN);
        } else {
            out.json(self.text);
        }
        granted.steps.write(out);
        granted.tool_calls.write(out);
        for amount in [granted.time_ms, granted.tokens, granted.cost_usd] {
            amount.unwrap_or(f64::NAN).write(out);
        }
        out.word(granted.on_exhausted.map_or(NONE, |wanted| wanted as i32));
        for count in [used.steps, used.tool_calls, used.nested_calls] {
            count.write(out);
        }
        used.time_ms.write(out);
        self.record.started_at.write(out);
        self.record.ended_at.unwrap_or(f64::NAN).write(out);
        write_usage(&self.usage, out);
        write_usage(&self.record.tree_usage, out);
    }
}

fn write_usage(usage: &Usage, out: &mut Outbox) {
    for amount in [usage.input_tokens, usage.output_tokens, usage.total_tokens] {
        amount.write(out);
    }
    for amount in [usage.cache_read_tokens, usage.reasoning_tokens, usage.cost_usd] {
        amount.unwrap_or(f64::NAN).write(out);
    }
    usage.nudges.write(out);
}
