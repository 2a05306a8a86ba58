//! One turn: an agent working for one caller (NT-1). It is opened once and closed once; what happens between is the
//! loop in `turn_loop.rs`, raced here against whatever may cut it off.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::task::Waker;

use crate::kernel::json::Json;

use crate::kernel::access::{Access, Verdict};
use crate::kernel::approval::Waiting;
use crate::kernel::budget::{Budget, Ceiling, Meter, TreeMeter};
use crate::kernel::contract::Contract;
use crate::kernel::delegation;
use crate::kernel::event::{CallInfo, Event, EventBody, EventView, Header, LimitName};
use crate::kernel::gate::Gate;
use crate::kernel::hooks::HookFlags;
use crate::kernel::id::{CallIds, Ticket, TurnId, TurnKey};
use crate::kernel::limits::Limits;
use crate::kernel::outcome::Outcome;
use crate::kernel::port::Port;
use crate::kernel::protocol::Command;
use crate::kernel::record::Progressed;
use crate::kernel::slots::Slots;
use crate::kernel::spec::{AgentSpec, Exposure, ForwardSpec, Program};
use crate::kernel::step::ModelStream;
use crate::kernel::stop::Cut;
use crate::kernel::time::{Moment, Sleep};
use crate::kernel::transcript::{Source, Transcript};
use crate::kernel::usage::Usage;

pub struct Turn {
    pub key: TurnKey,
    pub port: Rc<Port>,
    pub program: Rc<Program>,
    pub agent_index: usize,
    pub header: Header,
    pub parent: Option<Rc<Turn>>,
    /// How a child turn hangs on its caller.
    pub origin: Option<Origin>,
    pub depth: u32,
    pub tree: Rc<Tree>,
    pub input: Json,
    pub budget: Budget,
    pub limits: Limits,
    pub tree_meter: Option<Rc<TreeMeter>>,
    deadline: Cell<Option<Moment>>,
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
    pub call_ids: RefCell<CallIds>,
    /// How often the body of each tool with `maxUses` ran.
    pub tool_uses: RefCell<BTreeMap<usize, u32>>,
    /// What the middleware over this turn has hooks for.
    pub hooks: HookFlags,
    /// Orders the nested calls of all its callers.
    pub gate: Gate,
    /// A call below a nested call never waits for a human (D-22).
    pub may_wait_for_humans: bool,
    /// Its calls that wait for a human.
    pub waiting: RefCell<Vec<Rc<Waiting>>>,
    /// Commands and waits that bring it further without a human.
    pub busy: Cell<u32>,
    pub stream: RefCell<Option<ModelStream>>,
    children: Cell<u32>,
    events: RefCell<Vec<Event>>,
    limits_reached: RefCell<BTreeSet<LimitName>>,
    suspended: Cell<Option<Moment>>,
    suspended_ms: Cell<f64>,
    stop_reason: RefCell<Option<Json>>,
    stop_waker: RefCell<Option<Waker>>,
    cut: RefCell<Option<Cut>>,
    over: OnceCell<Box<Over>>,
}

/// How a turn ended.
pub struct Over {
    pub outcome: Outcome,
    pub at: Moment,
    pub used_ms: f64,
}

/// The call that opened a child turn.
pub struct Origin {
    pub call: CallInfo,
    /// The nested call among its callers, in whose context its code runs.
    pub ticket: Option<Ticket>,
    pub attempt: u32,
    pub forward: ForwardSpec,
}

/// See [`Turn::busy`].
pub struct Busy<'a>(&'a Cell<u32>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// See [`Turn::idle`].
pub struct Idle<'a>(&'a Cell<u32>);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// What all turns of one tree share.
pub struct Tree {
    pub wall_offset_ms: f64,
    /// Somebody reads the events as they happen; the model streams.
    pub stream: Cell<bool>,
    pub slots: Option<Rc<Slots>>,
    /// The keel's and the run's hooks.
    pub hooks: HookFlags,
    next_seq: Cell<u32>,
}

impl Tree {
    pub fn new(wall_offset_ms: f64, stream: bool, max_tool_concurrency: Option<u32>, hooks: HookFlags) -> Self {
        let slots = max_tool_concurrency.map(|max| Rc::new(Slots::new(max)));
        Self { wall_offset_ms, stream: Cell::new(stream), slots, hooks, next_seq: Cell::new(1) }
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
    pub input: Json,
    pub messages: Vec<Json>,
    pub budget: Budget,
    pub limits: Limits,
    pub tree_meter: Option<Rc<TreeMeter>>,
    pub deadline: Option<Moment>,
    pub ceiling: Ceiling,
    pub access: Access,
    pub contract: Option<Contract>,
    pub may_wait_for_humans: bool,
}

impl Turn {
    pub fn new(opening: Opening) -> Rc<Self> {
        let Opening { port, program, agent_index, turn_id, parent, origin, tree, input, messages, .. } = opening;
        let source = match &parent {
            None => Source::Start,
            // A child's brief.
            Some(_) if input.get().starts_with('"') && !input.get().contains("\\u") => Source::Text,
            Some(_) => Source::Sent,
        };
        let mut transcript = Transcript::default();
        for message in &messages {
            transcript.push_json(message, source);
        }
        let agent = &program.agents[agent_index];
        let header = Header {
            parent_turn_id: parent.as_ref().map(|parent| parent.header.turn_id.clone()),
            root_turn_id: parent.as_ref().map_or_else(|| turn_id.clone(), |parent| parent.header.root_turn_id.clone()),
            turn_id,
            agent_id: Rc::clone(&agent.id),
        };
        let key = port.turns.borrow_mut().next_key();
        Rc::new(Self {
            key,
            started: port.now(),
            tool_uses: RefCell::default(),
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            transcript: RefCell::new(transcript),
            budget: opening.budget.granted(),
            limits: opening.limits,
            tree_meter: opening.tree_meter,
            hooks: tree.hooks.and(agent.hooks),
            may_wait_for_humans: opening.may_wait_for_humans,
            gate: Gate::default(),
            waiting: RefCell::default(),
            busy: Cell::default(),
            suspended: Cell::default(),
            suspended_ms: Cell::default(),
            deadline: Cell::new(opening.deadline),
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
            over: OnceCell::new(),
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

    /// Milliseconds until its deadline, or that of a turn above it; `None` without one.
    pub fn time_left_ms(&self) -> Option<f64> {
        let own = self.deadline.get().map(|deadline| deadline.ms_since(self.port.now()));
        let callers = self.parent.as_ref().and_then(|parent| parent.time_left_ms());
        match (own, callers) {
            (Some(own), Some(callers)) => Some(own.min(callers)),
            (own, callers) => own.or(callers),
        }
    }

    /// When it has to end; not while it is suspended.
    pub fn deadline(&self) -> Option<Moment> {
        if self.is_suspended() { None } else { self.deadline.get() }
    }

    /// Where the turn stands.
    pub fn status(&self) -> &'static str {
        match self.over().map(|over| &over.outcome) {
            Some(Outcome::Completed) => "completed",
            Some(Outcome::Failed { .. }) => "failed",
            Some(Outcome::Stopped { .. }) => "stopped",
            None if self.is_suspended() => "suspended",
            None => "running",
        }
    }

    pub fn is_suspended(&self) -> bool {
        self.suspended.get().is_some()
    }

    /// Its clock stands still from here on.
    pub fn suspend(&self) {
        self.suspended.set(Some(self.port.now()));
        self.wake();
    }

    /// Its clock runs again; false when it was not suspended.
    pub fn resume(&self) -> bool {
        let Some(since) = self.suspended.take() else { return false };
        let stood_ms = self.port.now().ms_since(since);
        self.suspended_ms.set(self.suspended_ms.get() + stood_ms);
        self.deadline.set(self.deadline.get().map(|deadline| deadline.after_ms(stood_ms)));
        self.wake();
        true
    }

    /// The time it has used: what passed since its start, less what it stood still.
    pub fn used_ms(&self) -> f64 {
        let standing_ms = self.suspended.get().map_or(0.0, |since| self.port.now().ms_since(since));
        self.port.now().ms_since(self.started) - self.suspended_ms.get() - standing_ms
    }

    /// Waits; that is work of its own, which no human has to bring further.
    pub async fn pause(&self, wait_ms: f64) {
        let _busy = self.busy();
        Sleep::until(&self.port, self.port.now().after_ms(wait_ms)).await;
    }

    /// Takes back one count of those commands, until dropped: what it asked for waits for something below the turn.
    pub fn idle(&self) -> Idle<'_> {
        self.busy.set(self.busy.get() - 1);
        Idle(&self.busy)
    }

    /// Counts as something that brings the turn further, until dropped.
    pub fn busy(&self) -> Busy<'_> {
        self.busy.set(self.busy.get() + 1);
        Busy(&self.busy)
    }

    pub fn emit(&self, body: EventBody) {
        let seq = self.tree.next_seq.get();
        self.tree.next_seq.set(seq + 1);
        let event = Event { body, seq, at: self.tree.wall_offset_ms + self.port.now().as_ms() };
        if self.tree.stream.get() {
            self.port
                .say(&Command::Event { turn_key: self.key, event: EventView { event: &event, header: &self.header } });
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
    pub fn stop(&self, reason: Json) {
        self.stop_reason.borrow_mut().get_or_insert(reason);
        self.wake();
    }

    /// Lets the race with its interruption look again.
    fn wake(&self) {
        if let Some(waker) = self.stop_waker.take() {
            waker.wake();
        }
    }

    pub fn stop_reason(&self) -> Option<Json> {
        self.stop_reason.borrow().clone()
    }

    pub fn wake_on_stop(&self, waker: &Waker) {
        self.stop_waker.replace(Some(waker.clone()));
    }

    /// Why work of this turn is being dropped: its own interruption, else that of whoever called it.
    pub fn cut(&self) -> Cut {
        self.interruption().unwrap_or(Cut::CallerEnded)
    }

    /// The stop or deadline that ends this turn, if one does.
    pub fn interruption(&self) -> Option<Cut> {
        if let Some(cut) = self.cut.borrow().as_ref() {
            return Some(cut.clone());
        }
        let callers = self.parent.as_ref().and_then(|parent| parent.interruption());
        if let Some(Cut::Stopped { reason }) = callers {
            return Some(Cut::Stopped { reason });
        }
        if self.deadline().is_some_and(|at| at <= self.port.now()) {
            return Some(Cut::OutOfTime { ceiling: self.ceiling });
        }
        // A turn that stood still longer than its caller has more time left than that one.
        matches!(callers, Some(Cut::OutOfTime { .. })).then_some(Cut::OutOfTime { ceiling: Ceiling::Caller })
    }

    /// Whose time limit ended the turn, where one did.
    pub fn ceiling_that_bit(&self) -> Option<Ceiling> {
        let cut = self.cut.borrow();
        if let Some(Cut::OutOfTime { ceiling }) = cut.as_ref() { Some(*ceiling) } else { None }
    }

    /// The tools that its model is offered, by position.
    pub fn offered(&self) -> Vec<usize> {
        (0..self.agent().tools.len()).filter(|index| self.is_offered(*index)).collect()
    }

    /// A tool that the turn can never use is not offered to its model (NT-33).
    fn is_offered(&self, index: usize) -> bool {
        let tool = &self.agent().tools[index];
        tool.exposure == Exposure::Direct
            && self.port.options.allows(&tool.id)
            && self.access.verdict(&tool.access) != Verdict::Denied
            && (tool.delegation.is_none() || self.depth < self.limits.max_depth())
    }

    /// Keeps what cut the turn off, for its record and for whatever is dropped with it.
    pub fn note_cut(&self, cut: &Cut) {
        self.cut.replace(Some(cut.clone()));
    }

    /// The turn is over, once (NT-3).
    pub fn end(&self, outcome: Outcome) {
        let over = Box::new(Over { outcome, at: self.port.now(), used_ms: self.used_ms() });
        assert!(self.over.set(over).is_ok(), "a turn has one outcome: {} was closed twice", self.id());
        self.stop_waker.take();
        self.stream.take();
    }

    /// How it ended, once it has.
    pub fn over(&self) -> Option<&Over> {
        self.over.get().map(|over| &**over)
    }

    pub fn events(&self) -> std::cell::Ref<'_, Vec<Event>> {
        self.events.borrow()
    }
}
