//! The loop of a turn: a step, its calls, the next step, until the model ends it, the contract is fulfilled or the
//! budget is spent. The one place that decides what the next step is.

use std::rc::Rc;

use crate::kernel::call::access;
use crate::kernel::call::access::Subject;
use crate::kernel::program::{LimitBehavior, OnExhausted};
use crate::kernel::protocol::{Answer, Command, Failure, LimitName, Offer, Offered, Scopes, Source, TurnName};
use crate::kernel::turn::{StepEnd, TreeLimit, Turn, contract, step};
use crate::kernel::value::Text;

/// What pays for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// The turn's steps.
    Granted,
    /// A nudge: the model is reminded of its deliverable, on top of the steps (NT-18).
    Nudge,
    /// The last word after the steps are spent (`onExhausted: "answer"`, D-4).
    Answer,
}

/// Runs a turn until it is complete.
///
/// # Errors
/// Why the turn failed.
pub async fn run(turn: &Rc<Turn>) -> Result<(), Failure> {
    instruct(turn).await?;
    let mut round = Round::Granted;
    for number in 1.. {
        round = pay(turn, round)?;
        let end = step::run(turn, number, offer(turn, round)).await?;
        round = match (end, round) {
            (StepEnd::CallsSpent(failure), _) => return calls_spent(turn, failure),
            (StepEnd::Continue, Round::Granted) => Round::Granted,
            (StepEnd::Ended | StepEnd::Continue, Round::Granted | Round::Nudge) if turn.contract.is_some() => {
                contract::nudge(turn)?;
                Round::Nudge
            }
            (StepEnd::Ended | StepEnd::Continue, Round::Answer) if turn.contract.is_some() => {
                return Err(contract::unfulfilled(turn));
            }
            (StepEnd::Ended, Round::Answer) => {
                turn.progressed.borrow_mut().partial = true;
                return Ok(());
            }
            (StepEnd::Delivered | StepEnd::Ended, _) => return Ok(()),
            (StepEnd::Continue, Round::Nudge | Round::Answer) => return Err(steps_spent(turn)),
        };
    }
    unreachable!("a budget of steps ends the loop")
}

/// Tells the host that the turn exists, and what its model is offered.
pub fn announce(turn: &Turn) {
    let offered = turn.offered();
    turn.port.say(&Command::Open {
        turn_key: turn.key,
        turn_id: TurnName(turn.id()),
        parent_key: turn.parent.as_ref().map(|parent| parent.key),
        agent_index: turn.agent_index,
        attempt: turn.attempt(),
        ticket: turn.origin.as_ref().and_then(|origin| origin.ticket),
        tools: Offered { tools: &offered, are_all: offered.len() == turn.agent().listed },
        submit: turn.contract.as_ref().map(|contract| contract.part),
        scopes: Scopes(turn.access.scopes().collect()),
    });
}

/// Puts the instructions in front of the transcript. Where the host has to make them, it also loads the sources that
/// the agent reads; a source that the turn may not read fails it, since an answer without it would look complete.
async fn instruct(turn: &Rc<Turn>) -> Result<(), Failure> {
    let agent = turn.agent();
    if !agent.prepares {
        if let Some(instructions) = &agent.instructions {
            turn.transcript.borrow_mut().instruct(instructions, Source::Instructions);
        }
        return Ok(());
    }
    Box::pin(ask_for_instructions(turn)).await
}

async fn ask_for_instructions(turn: &Rc<Turn>) -> Result<(), Failure> {
    let agent = turn.agent();
    let mut sources = Vec::with_capacity(agent.reads.len());
    for (index, source) in agent.reads.iter().enumerate() {
        if !access::may_use(turn, Subject::Source(index), &source.access, None).await {
            return Err(Failure::AccessDenied { source_id: source.id.clone() });
        }
        sources.push(index);
    }
    let effect = turn.ask(|id| Command::Instructions { id, turn_key: turn.key, sources: &sources });
    match effect.read::<Answer<Text>>().await {
        Answer::Ok(Text(text)) => {
            if !text.is_empty() {
                turn.transcript.borrow_mut().instruct(&text, Source::Sent);
            }
            Ok(())
        }
        Answer::Thrown(thrown) => Err(Failure::Instructions { message: thrown.message.0 }),
    }
}

/// Pays for the next step, or falls back to the last word.
fn pay(turn: &Turn, round: Round) -> Result<Round, Failure> {
    let usage = turn.usage.borrow();
    if let Some(max) = turn.budget.tokens.filter(|max| usage.total_tokens >= *max) {
        turn.reached(LimitName::Tokens, max);
        return Err(Failure::BudgetTokens { max });
    }
    if let Some(max) = turn.budget.cost_usd.filter(|max| usage.cost_usd.unwrap_or(0.0) >= *max) {
        turn.reached(LimitName::CostUsd, max);
        return Err(Failure::BudgetCost { max });
    }
    drop(usage);
    let paid = match round {
        Round::Granted if turn.meter.reserve_step(&turn.budget) => Round::Granted,
        Round::Granted => {
            let failure = steps_spent(turn);
            if turn.budget.on_exhausted != Some(OnExhausted::Answer) {
                return Err(failure);
            }
            turn.progressed.borrow_mut().answer_step = true;
            Round::Answer
        }
        Round::Nudge | Round::Answer => round,
    };
    if let Some(Err(TreeLimit { what, max })) = turn.tree_meter.as_ref().map(|meter| meter.reserve_step()) {
        if paid == Round::Granted {
            turn.meter.release_step();
        }
        turn.reached(LimitName::Tree, max);
        return Err(Failure::TreeLimit { what, max });
    }
    Ok(paid)
}

fn offer(turn: &Turn, round: Round) -> Offer {
    match round {
        Round::Granted => Offer::All,
        Round::Nudge => Offer::Submit,
        Round::Answer if turn.contract.is_some() => Offer::Submit,
        Round::Answer => Offer::Nothing,
    }
}

fn steps_spent(turn: &Turn) -> Failure {
    let max = turn.budget.steps_max();
    turn.reached(LimitName::Steps, max.into());
    Failure::BudgetSteps { max, issues: turn.progressed.borrow().submits.last_issues.clone() }
}

/// The model asked for more tool calls than are left, and those that were admitted have settled (D-9).
fn calls_spent(turn: &Turn, failure: Failure) -> Result<(), Failure> {
    let partial = turn.limits.behavior == Some(LimitBehavior::StopWithPartial) && turn.contract.is_none();
    if !partial {
        return Err(failure);
    }
    turn.progressed.borrow_mut().partial = true;
    Ok(())
}
