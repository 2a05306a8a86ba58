//! One turn: an agent working for one caller (NT-1). It is opened once and closed once; what happens between is the
//! loop in `turn_loop.rs`, raced here against whatever may cut it off.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;
use std::task::Waker;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use serde_json::value::RawValue;
use tracing::Instrument;

use crate::kernel::access::{Access, Verdict};
use crate::kernel::budget::{Budget, Ceiling, Meter, TreeMeter};
use crate::kernel::contract::Contract;
use crate::kernel::delegation;
use crate::kernel::event::{Event, EventBody, EventView, Header, LimitName};
use crate::kernel::id::{CallId, CallKey, TurnId};
use crate::kernel::limits::Limits;
use crate::kernel::outcome::{Cause, Failure, Outcome};
use crate::kernel::port::Port;
use crate::kernel::protocol::Command;
use crate::kernel::record::{self, Progressed};
use crate::kernel::spec::{AgentSpec, Exposure, ForwardSpec, Program};
use crate::kernel::step::ModelStream;
use crate::kernel::stop::{Cut, Interrupted};
use crate::kernel::time::Moment;
use crate::kernel::transcript::Transcript;
use crate::kernel::turn_loop;
use crate::kernel::usage::Usage;

pub struct Turn {
    pub port: Rc<Port>,
    pub program: Rc<Program>,
    pub agent_index: usize,
    pub header: Header,
    pub parent: Option<Rc<Turn>>,
    /// How a child turn hangs on its caller.
    pub origin: Option<Origin>,
    pub depth: u32,
    pub tree: Rc<Tree>,
    pub input: Box<RawValue>,
    pub budget: Budget,
    pub limits: Limits,
    pub tree_meter: Option<Rc<TreeMeter>>,
    pub deadline: Option<Moment>,
    /// Whose limit the deadline is.
    pub ceiling: Ceiling,
    pub access: Access,
    pub contract: Option<Contract>,
    pub meter: Meter,
    pub started: Moment,
    pub transcript: RefCell<Transcript>,
    pub progressed: RefCell<Progressed>,
    pub usage: RefCell<Usage>,
    pub tree_usage: RefCell<Usage>,
    /// Ids of calls that the model has used in this turn (D-14).
    pub call_ids: RefCell<BTreeSet<CallId>>,
    /// How often each tool's body ran, for `maxUses`.
    pub tool_uses: RefCell<Vec<u32>>,
    pub stream: RefCell<Option<ModelStream>>,
    children: Cell<u32>,
    events: RefCell<Vec<Event>>,
    limits_reached: RefCell<BTreeSet<LimitName>>,
    stop_reason: RefCell<Option<Box<RawValue>>>,
    stop_waker: RefCell<Option<Waker>>,
    cut: RefCell<Option<Cut>>,
    closed: Cell<bool>,
}

/// The call that opened a child turn.
pub struct Origin {
    pub call_id: CallId,
    pub tool_id: Rc<str>,
    pub key: CallKey,
    pub attempt: u32,
    pub forward: ForwardSpec,
}

/// What all turns of one tree share.
pub struct Tree {
    pub wall_offset_ms: f64,
    /// Somebody reads the events as they happen; the model streams.
    pub stream: bool,
    next_seq: Cell<u32>,
}

impl Tree {
    pub fn new(wall_offset_ms: f64, stream: bool) -> Self {
        Self {
            wall_offset_ms,
            stream,
            next_seq: Cell::new(1),
        }
    }
}

/// What a turn is opened with; the rest starts empty.
pub struct Opening {
    pub port: Rc<Port>,
    pub program: Rc<Program>,
    pub agent_index: usize,
    pub turn_id: TurnId,
    pub parent: Option<Rc<Turn>>,
    pub origin: Option<Origin>,
    pub tree: Rc<Tree>,
    pub input: Box<RawValue>,
    pub messages: Vec<Box<RawValue>>,
    pub budget: Budget,
    pub limits: Limits,
    pub tree_meter: Option<Rc<TreeMeter>>,
    pub deadline: Option<Moment>,
    pub ceiling: Ceiling,
    pub access: Access,
    pub contract: Option<Contract>,
}

impl Turn {
    pub fn new(opening: Opening) -> Rc<Self> {
        let Opening {
            port,
            program,
            agent_index,
            turn_id,
            parent,
            origin,
            tree,
            input,
            messages,
            ..
        } = opening;
        let agent = &program.agents[agent_index];
        let header = Header {
            parent_turn_id: parent.as_ref().map(|parent| parent.header.turn_id.clone()),
            root_turn_id: parent
                .as_ref()
                .map_or_else(|| turn_id.clone(), |parent| parent.header.root_turn_id.clone()),
            turn_id,
            agent_id: Rc::clone(&agent.id),
        };
        Rc::new(Self {
            started: port.now(),
            tool_uses: RefCell::new(vec![0; agent.tools.len()]),
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            transcript: RefCell::new(Transcript::new(messages)),
            budget: opening.budget.granted(),
            limits: opening.limits,
            tree_meter: opening.tree_meter,
            deadline: opening.deadline,
            ceiling: opening.ceiling,
            access: opening.access,
            contract: opening.contract,
            meter: Meter::default(),
            progressed: RefCell::default(),
            usage: RefCell::default(),
            tree_usage: RefCell::default(),
            call_ids: RefCell::default(),
            stream: RefCell::default(),
            children: Cell::default(),
            events: RefCell::default(),
            limits_reached: RefCell::default(),
            stop_reason: RefCell::default(),
            stop_waker: RefCell::default(),
            cut: RefCell::default(),
            closed: Cell::default(),
            port,
            program,
            agent_index,
            header,
            parent,
            origin,
            tree,
            input,
        })
    }

    pub fn id(&self) -> &TurnId {
        &self.header.turn_id
    }

    pub fn agent(&self) -> &AgentSpec {
        &self.program.agents[self.agent_index]
    }

    pub fn attempt(&self) -> u32 {
        self.origin.as_ref().map_or(1, |origin| origin.attempt)
    }

    pub fn next_child_id(&self) -> TurnId {
        self.children.set(self.children.get() + 1);
        self.id().child(self.children.get())
    }

    /// Milliseconds until the deadline; `None` without one.
    pub fn time_left_ms(&self) -> Option<f64> {
        self.deadline.map(|deadline| deadline.ms_since(self.port.now()))
    }

    pub fn emit(&self, body: EventBody) {
        let seq = self.tree.next_seq.get();
        self.tree.next_seq.set(seq + 1);
        let event = Event {
            body,
            seq,
            at: self.tree.wall_offset_ms + self.port.now().as_ms(),
        };
        if self.tree.stream {
            self.port.say(&Command::Event {
                event: EventView {
                    event: &event,
                    header: &self.header,
                },
            });
        }
        delegation::forward(self, &event.body);
        // Deltas are not kept: the transcript has the text, once.
        if !matches!(event.body, EventBody::TextDelta { .. }) {
            self.events.borrow_mut().push(event);
        }
    }

    /// Tells once per turn and limit that it was reached (D-13).
    pub fn reached(&self, limit: LimitName, max: f64) {
        if self.limits_reached.borrow_mut().insert(limit) {
            self.emit(EventBody::LimitReached { limit, max });
        }
    }

    pub fn charge(&self, usage: &Usage) {
        self.usage.borrow_mut().add(usage);
        self.tree_usage.borrow_mut().add(usage);
        if let Some(meter) = &self.tree_meter {
            meter.charge(usage);
        }
    }

    /// Asks this turn to end as stopped; the first reason stays.
    pub fn stop(&self, reason: Box<RawValue>) {
        self.stop_reason.borrow_mut().get_or_insert(reason);
        if let Some(waker) = self.stop_waker.take() {
            waker.wake();
        }
    }

    pub fn stop_reason(&self) -> Option<Box<RawValue>> {
        self.stop_reason.borrow().clone()
    }

    pub fn wake_on_stop(&self, waker: &Waker) {
        self.stop_waker.replace(Some(waker.clone()));
    }

    /// Why work of this turn is being dropped: its own interruption, else that of whoever called it.
    pub fn cut(&self) -> Cut {
        if let Some(cut) = self.cut.borrow().as_ref() {
            return cut.clone();
        }
        match self.parent.as_ref().map(|parent| parent.cut()) {
            Some(Cut::Stopped { reason }) => Cut::Stopped { reason },
            _ if self.deadline.is_some_and(|at| at <= self.port.now()) => Cut::OutOfTime { ceiling: self.ceiling },
            _ => Cut::CallerEnded,
        }
    }

    /// Whose time limit ended the turn, where one did.
    pub fn ceiling_that_bit(&self) -> Option<Ceiling> {
        let cut = self.cut.borrow();
        if let Some(Cut::OutOfTime { ceiling }) = cut.as_ref() {
            Some(*ceiling)
        } else {
            None
        }
    }

    /// The tools that its model is offered, by position.
    pub fn offered(&self) -> Vec<usize> {
        (0..self.agent().tools.len())
            .filter(|index| self.is_offered(*index))
            .collect()
    }

    /// A tool that the turn can never use is not offered to its model (NT-33).
    fn is_offered(&self, index: usize) -> bool {
        let tool = &self.agent().tools[index];
        tool.exposure == Exposure::Direct
            && self.access.verdict(&tool.access) != Verdict::Denied
            && (tool.delegation.is_none() || self.depth < self.limits.max_depth())
    }

    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    pub fn events(&self) -> std::cell::Ref<'_, Vec<Event>> {
        self.events.borrow()
    }
}

/// Runs a turn to its one outcome.
pub async fn run(turn: Rc<Turn>) -> Outcome {
    let span = tracing::debug_span!("turn", id = %turn.id(), agent = %turn.header.agent_id);
    async move {
        let open = OpenTurn::new(&turn);
        let outcome = race(&turn).await;
        open.close(outcome.clone());
        outcome
    }
    .instrument(span)
    .await
}

/// The turn's loop against its interruption. The loop is dropped here, before the turn closes: its guards write the
/// terminal events of what was in flight.
async fn race(turn: &Rc<Turn>) -> Outcome {
    let interrupted = pin!(Interrupted::of(turn));
    let work = Box::pin(AssertUnwindSafe(turn_loop::run(turn)).catch_unwind());
    match select(interrupted, work).await {
        Either::Left((cut, work)) => {
            turn.cut.replace(Some(cut.clone()));
            drop(work);
            cut_outcome(turn, cut)
        }
        Either::Right((Ok(Ok(())), _)) => Outcome::Completed,
        Either::Right((Ok(Err(failure)), _)) => failed(turn, failure),
        Either::Right((Err(panic), _)) => {
            let message = panic_message(&*panic);
            tracing::error!(%message, "a turn panicked");
            failed(turn, Failure::Internal { message })
        }
    }
}

fn failed(turn: &Turn, failure: Failure) -> Outcome {
    Outcome::Failed {
        cause: failure.into_cause(&turn.header.agent_id, turn.id()),
    }
}

fn cut_outcome(turn: &Turn, cut: Cut) -> Outcome {
    match cut {
        Cut::Stopped { reason } => Outcome::Stopped { reason },
        Cut::OutOfTime { ceiling } => {
            turn.reached(
                LimitName::TimeMs,
                turn.deadline.map_or(0.0, |at| at.ms_since(turn.started)),
            );
            failed(
                turn,
                Failure::BudgetTime {
                    ceiling,
                    max_ms: turn.budget.time_ms,
                },
            )
        }
        Cut::CallerEnded | Cut::ToolTimeout { .. } | Cut::ModelTimeout { .. } | Cut::HookTimeout { .. } => {
            failed(turn, Failure::ParentEnded)
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// A turn that has begun. However it is left, it closes exactly once.
struct OpenTurn(Rc<Turn>);

impl OpenTurn {
    fn new(turn: &Rc<Turn>) -> Self {
        turn.port.turns.borrow_mut().insert(turn.id().clone(), Rc::clone(turn));
        turn_loop::announce(turn);
        turn.emit(EventBody::TurnStarted {
            attempt: turn.attempt(),
            call_id: turn.origin.as_ref().map(|origin| origin.call_id.clone()),
        });
        Self(Rc::clone(turn))
    }

    fn close(self, outcome: Outcome) {
        close(&self.0, outcome);
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        if !self.0.is_closed() {
            let cut = self.0.cut();
            self.0.cut.replace(Some(cut.clone()));
            close(&self.0, cut_outcome(&self.0, cut));
        }
    }
}

fn close(turn: &Rc<Turn>, outcome: Outcome) {
    assert!(
        !turn.closed.replace(true),
        "a turn has one outcome: {} was closed twice",
        turn.id()
    );
    let progressed = turn.progressed.borrow();
    turn.emit(match &outcome {
        Outcome::Completed => EventBody::TurnCompleted {
            partial: progressed.partial,
            empty: progressed.is_empty(),
        },
        Outcome::Failed { cause } => EventBody::TurnFailed { cause: cause.clone() },
        Outcome::Stopped { reason } => EventBody::TurnStopped { reason: reason.clone() },
    });
    drop(progressed);
    turn.port.turns.borrow_mut().remove(turn.id());
    if let Some(parent) = &turn.parent {
        parent.tree_usage.borrow_mut().add(&turn.tree_usage.borrow());
    }
    record::finish(turn, &outcome, turn.events.take());
}

/// The cause that a caller sees of a child that did not complete.
pub fn cause_of(turn: &Turn, outcome: &Outcome) -> Option<Cause> {
    match outcome {
        Outcome::Completed => None,
        Outcome::Failed { cause } => Some(cause.clone()),
        Outcome::Stopped { .. } => Some(Cause::stopped(&turn.header.agent_id, turn.id())),
    }
}
