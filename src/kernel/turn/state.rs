//! One turn: an agent working for one caller (NT-1). Here is what it is made of; what it does stands in the files beside.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::kernel::program::{AgentSpec, Budget, Ceiling, Exposure, ForwardSpec, HookFlags, Limits};
use crate::kernel::protocol::{CallInfo, Command, EventBody, Header, LimitName, Outcome, Source, Transcript};
use crate::kernel::turn::suspension::{self, Standing};
use crate::kernel::turn::{Access, Contract, EventLog, Meter, Progressed, Tree, TreeMeter, Verdict};
use crate::kernel::value::{CallIds, EffectId, Json, Ticket, TurnId, TurnKey, Usage};
use crate::kernel::wait::{Effect, Gate, Lifetime, Moment, Port, Sleep};

pub struct Turn {
    pub key: TurnKey,
    pub header: Header,
    pub port: Rc<Port>,
    pub tree: Rc<Tree>,
    pub agent_index: usize,
    pub parent: Option<Rc<Turn>>,
    /// How a child turn hangs on its caller.
    pub origin: Option<Origin>,
    pub depth: u32,
    pub lifetime: Rc<Lifetime>,
    /// Wall clock, milliseconds since the epoch.
    pub started_at: f64,
    pub input: Json,
    pub budget: Budget,
    pub limits: Limits,
    pub access: Access,
    pub contract: Option<Contract>,
    /// What the middleware over this turn has hooks for.
    pub hooks: HookFlags,
    /// A call below a nested call never waits for a human (D-22).
    pub may_wait_for_humans: bool,
    pub meter: Meter,
    pub tree_meter: Option<Rc<TreeMeter>>,
    pub usage: RefCell<Usage>,
    pub tree_usage: RefCell<Usage>,
    pub transcript: RefCell<Transcript>,
    pub progressed: RefCell<Progressed>,
    pub events: EventLog,
    /// Ids of calls that the model has used in this turn (D-14).
    pub call_ids: RefCell<CallIds>,
    /// How often the body of each tool with `maxUses` ran.
    pub tool_uses: RefCell<BTreeMap<usize, u32>>,
    /// Orders the nested calls of all its callers.
    pub gate: Gate,
    pub standing: Standing,
    children: Cell<u32>,
    limits_reached: RefCell<BTreeSet<LimitName>>,
    over: OnceCell<Box<Over>>,
}

/// How a turn ended.
pub struct Over {
    pub outcome: Outcome,
    /// Wall clock, milliseconds since the epoch.
    pub at: f64,
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

/// What a turn is opened with; the rest starts empty.
pub struct Opening {
    pub tree: Rc<Tree>,
    pub agent_index: usize,
    pub turn_id: TurnId,
    pub parent: Option<Rc<Turn>>,
    pub origin: Option<Origin>,
    pub input: Json,
    pub messages: Vec<Json>,
    pub budget: Budget,
    pub limits: Limits,
    pub tree_meter: Option<Rc<TreeMeter>>,
    pub deadline: Option<Moment>,
    /// Whose limit the deadline is.
    pub ceiling: Ceiling,
    pub access: Access,
    pub contract: Option<Contract>,
    pub may_wait_for_humans: bool,
}

impl Turn {
    pub fn new(opening: Opening) -> Rc<Self> {
        let Opening { tree, agent_index, turn_id, parent, origin, input, messages, deadline, ceiling, .. } = opening;
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
        let agent = &tree.program.agents[agent_index];
        let header = Header {
            parent_turn_id: parent.as_ref().map(|parent| parent.header.turn_id.clone()),
            root_turn_id: parent.as_ref().map_or_else(|| turn_id.clone(), |parent| parent.header.root_turn_id.clone()),
            turn_id,
            agent_id: Rc::clone(&agent.id),
        };
        let port = Rc::clone(&tree.port);
        let key = tree.next_key();
        let callers = parent.as_ref().map(|parent| Rc::clone(&parent.lifetime));
        Rc::new(Self {
            key,
            header,
            agent_index,
            origin,
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            lifetime: Rc::new(Lifetime::new(&port, key, callers, deadline, ceiling)),
            started_at: port.clock.wall_ms(),
            input,
            budget: opening.budget.granted(),
            limits: opening.limits,
            access: opening.access,
            contract: opening.contract,
            hooks: tree.hooks.and(agent.hooks),
            may_wait_for_humans: opening.may_wait_for_humans,
            meter: Meter::default(),
            tree_meter: opening.tree_meter,
            usage: RefCell::default(),
            tree_usage: RefCell::default(),
            transcript: RefCell::new(transcript),
            progressed: RefCell::default(),
            events: EventLog::default(),
            call_ids: RefCell::default(),
            tool_uses: RefCell::default(),
            gate: Gate::default(),
            standing: Standing::default(),
            children: Cell::default(),
            limits_reached: RefCell::default(),
            over: OnceCell::new(),
            port,
            parent,
            tree,
        })
    }

    pub fn id(&self) -> &TurnId {
        &self.header.turn_id
    }

    pub fn agent(&self) -> &AgentSpec {
        &self.tree.program.agents[self.agent_index]
    }

    pub fn attempt(&self) -> u32 {
        self.origin.as_ref().map_or(1, |origin| origin.attempt)
    }

    pub fn next_child_id(&self) -> TurnId {
        self.children.set(self.children.get() + 1);
        self.id().child(self.children.get())
    }

    /// Where the turn stands.
    pub fn status(&self) -> &'static str {
        match self.over().map(|over| &over.outcome) {
            Some(Outcome::Completed) => "completed",
            Some(Outcome::Failed { .. }) => "failed",
            Some(Outcome::Stopped { .. }) => "stopped",
            None if self.lifetime.is_suspended() => "suspended",
            None => "running",
        }
    }

    /// Sends a command that the host answers.
    pub fn ask<'a>(&self, command: impl FnOnce(EffectId) -> Command<'a>) -> Effect {
        // What brings a turn further than a human did: the end of what its call waited for.
        suspension::go_on(self);
        self.port.ask(&self.lifetime, command)
    }

    /// Waits; that is work of its own, which no human has to bring further.
    pub async fn pause(&self, wait_ms: f64) {
        let _busy = self.lifetime.busy();
        Sleep::until(&self.port, self.port.now().after_ms(wait_ms)).await;
    }

    /// Tells once per limit that it was reached (D-13).
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

    /// The turn is over, once (NT-3).
    pub fn end(&self, outcome: Outcome) {
        let over = Box::new(Over { outcome, at: self.port.clock.wall_ms(), used_ms: self.lifetime.used_ms() });
        assert!(self.over.set(over).is_ok(), "a turn has one outcome: {} was closed twice", self.id());
        self.lifetime.close();
    }

    /// How it ended, once it has.
    pub fn over(&self) -> Option<&Over> {
        self.over.get().map(|over| &**over)
    }
}
