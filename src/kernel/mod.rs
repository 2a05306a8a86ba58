//! The kernel: a deterministic program that a host polls. It knows nothing of Node, files, threads or clocks; what it
//! wants done it says as commands (`protocol`), what happened it is told as answers and inputs.
//!
//! Reading order: `turn.rs` and `turn_run.rs` (open, race, close) → `turn_loop.rs` (what the next step is) → `step.rs` (one model call) →
//! `step_calls.rs` and `call.rs` (its tool calls) → `delegation.rs` (a call that opens a child turn) → `contract.rs`
//! (what a child owes) → `stop.rs` (what cuts work off). Below them: `port.rs`, `time.rs`, and the plain data.

#![forbid(unsafe_code)]

pub mod access;
pub mod admission;
pub mod approval;
pub mod arguments;
pub mod backoff;
pub mod body;
pub mod budget;
pub mod call;
pub mod call_view;
pub mod contract;
pub mod delegation;
pub mod effects;
pub mod emission;
pub mod event;
pub mod execution;
pub mod executor;
pub mod gate;
pub mod hooks;
pub mod id;
pub mod idempotency;
pub mod injection;
pub mod issued;
pub mod json;
pub mod ledger;
pub mod limits;
pub mod mailbox;
pub mod nested;
pub mod normalize;
pub mod outcome;
pub mod port;
pub mod progress;
pub mod protocol;
pub mod record;
pub mod refusal;
pub mod refusal_cap;
pub mod reply;
pub mod schema;
pub mod slots;
pub mod spec;
pub mod step;
pub mod step_calls;
pub mod stop;
pub mod summary;
pub mod suspension;
pub mod text;
pub mod time;
pub mod trace;
pub mod transcript;
pub mod turn;
pub mod turn_loop;
pub mod turn_run;
pub mod usage;

use std::collections::BTreeSet;
use std::rc::Rc;

use futures_util::FutureExt;

use crate::kernel::access::Access;
use crate::kernel::body::{Body, Letter};
use crate::kernel::budget::{Ceiling, TreeMeter};
use crate::kernel::contract::Contract;
use crate::kernel::effects::Sender;
use crate::kernel::execution::Next;
use crate::kernel::executor::Executor;
use crate::kernel::id::{EffectId, TurnId};
use crate::kernel::limits::Limits;
use crate::kernel::nested::NestedRequest;
use crate::kernel::port::Port;
use crate::kernel::protocol::outbox::Outbox;
use crate::kernel::protocol::{Command, Given, Input, KeelOptions, Start, StoppedBefore};
use crate::kernel::spec::Program;
use crate::kernel::time::Moment;
use crate::kernel::turn::{Opening, Tree, Turn};

/// The run loop: one input in, everything that follows from it, commands out.
pub struct Kernel {
    executor: Executor,
    port: Rc<Port>,
}

impl Kernel {
    pub fn new(options: KeelOptions) -> Self {
        Self { executor: Executor::default(), port: Rc::new(Port::new(options)) }
    }

    /// Opens a root turn.
    pub fn start(&self, program: &Rc<Program>, mut start: Start, now: Moment) {
        self.arrive(now);
        let stopped = start.stopped.take();
        let turn = self.open_root(Rc::clone(program), start);
        if let Some(StoppedBefore { reason }) = stopped {
            turn.stop(reason);
        }
        self.executor.spawn(turn_run::run(turn).map(drop));
        self.drain();
    }

    /// The answer to a command; ignored when nobody waits for it any longer.
    pub fn answer(&self, id: EffectId, given: Given, now: Moment) {
        self.arrive(now);
        self.port.effects.borrow_mut().answer(id, given);
        self.drain();
    }

    pub fn input(&self, input: Input, now: Moment) {
        self.arrive(now);
        match input {
            Input::Tick => self.port.timers.borrow_mut().disarm(),
            Input::Delta { id, turn_id, kind, text } => {
                if let Some(turn) = self.turn(&turn_id) {
                    step::delta(&turn, id, kind, text);
                }
            }
            Input::Stop { turn_id, subtree, reason } => {
                let root = |turn: Rc<Turn>| self.turn(&turn.header.root_turn_id);
                let target = self.turn(&turn_id).and_then(|turn| if subtree { Some(turn) } else { root(turn) });
                if let Some(turn) = target {
                    suspension::go_on_above(&turn);
                    turn.stop(reason);
                }
            }
            Input::Emit { id, part, value } => {
                if let Some(body) = self.body(id) {
                    emission::emit(&body.call, part, value);
                }
            }
            Input::Progress { id, progress } => {
                if let Some(body) = self.body(id) {
                    progress::report(&body.call, progress);
                }
            }
            Input::CallTool(request) => match self.body(request.id) {
                Some(body) => {
                    let letter = if request.abandoned { Letter::Abandoned } else { Letter::Call };
                    body.letters.put(letter(NestedRequest::new(&body.call.turn, request)));
                }
                // The body was cut off, perhaps by this very input's time. The host is told why before it reads this.
                None => {
                    let ticket = request.ticket;
                    self.port.say(&Command::Resolve { ticket, result: None, error: None, thrown_by: None });
                }
            },
            Input::Abandon { id, ticket } => {
                if let Some(body) = self.body(id) {
                    body.letters.put(Letter::Abandon { ticket });
                }
            }
            Input::Next { id, ticket, args } => {
                let sender = self.port.effects.borrow().sender(id);
                if let Sender::Onion(requests) = sender {
                    requests.put(Next { ticket, arguments: args });
                }
            }
            Input::Resume { turn_id, stream, decisions, stopped } => {
                if let Some(root) = self.turn(&turn_id) {
                    root.tree.stream.set(stream);
                    match stopped {
                        Some(StoppedBefore { reason }) => root.stop(reason),
                        None => suspension::resume(&self.port, &root, decisions),
                    }
                }
            }
        }
        self.drain();
    }

    /// Tells what time it is, and nothing else: what is due happens with the next input.
    pub fn look(&self, now: Moment) {
        self.port.advance_to(now);
    }

    /// Everything the host has to do.
    pub fn commands(&self) -> std::cell::RefMut<'_, Outbox> {
        self.port.outbox.borrow_mut()
    }

    /// The same as a JSON array; `None` when there is nothing.
    #[cfg(test)]
    pub fn take_text(&self) -> Option<String> {
        self.port.take_text()
    }

    /// The turns that ended since the last time, for the record store.
    pub fn take_closed(&self) -> Vec<Rc<Turn>> {
        self.port.closed.take()
    }

    /// A turn that is not over.
    pub fn turn(&self, turn_id: &TurnId) -> Option<Rc<Turn>> {
        self.port.turns.borrow().iter().find(|turn| turn.id() == turn_id).cloned()
    }

    pub fn turns(&self) -> Vec<Rc<Turn>> {
        self.port.turns.borrow().in_order()
    }

    #[cfg(test)]
    pub fn live(&self) -> port::Live {
        self.port.live()
    }

    /// The idempotency key of a call whose body runs.
    pub fn idempotency_key(&self, id: EffectId) -> Option<String> {
        self.body(id).map(|body| idempotency::key(&body.call))
    }

    fn body(&self, id: EffectId) -> Option<Rc<Body>> {
        if let Sender::Body(body) = self.port.effects.borrow().sender(id) { Some(body) } else { None }
    }

    /// Time enters here: whatever is due by `now` happens before the input itself.
    fn arrive(&self, now: Moment) {
        self.port.advance_to(now);
        let due = self.port.timers.borrow_mut().take_due(self.port.now());
        for waker in due {
            waker.wake();
            self.run_ready();
        }
    }

    fn drain(&self) {
        self.run_ready();
        suspension::settle(&self.port);
        self.run_ready();
        if self.port.turns.borrow().len() == 0 {
            self.port.timers.borrow_mut().disarm();
        }
        let wake = self.port.timers.borrow_mut().announce();
        if let Some(at) = wake {
            self.port.say(&Command::Wake { at: at.as_ms() });
        }
    }

    fn run_ready(&self) {
        self.executor.run_ready();
    }

    fn open_root(&self, program: Rc<Program>, start: Start) -> Rc<Turn> {
        let agent = &program.agents[0];
        let budget = start.budget.over(&agent.budget);
        let limits = Limits::root(&start.limits, &agent.limits, &self.port.options.limits);
        let scopes: BTreeSet<String> = start.scopes.into_iter().collect();
        Turn::new(Opening {
            port: Rc::clone(&self.port),
            agent_index: 0,
            turn_id: start.turn_id,
            parent: None,
            origin: None,
            tree: Rc::new(Tree::new(
                start.wall_offset_ms,
                start.stream,
                limits.max_tool_concurrency,
                self.port.options.hooks.and(start.hooks),
            )),
            may_wait_for_humans: true,
            input: start.input,
            messages: start.messages,
            deadline: budget.time_ms.map(|ms| self.port.now().after_ms(ms)),
            ceiling: Ceiling::Own,
            tree_meter: TreeMeter::within(agent.limits.tree, TreeMeter::within(limits.tree, None)),
            access: Access::root(start.authenticated, scopes, &agent.grants),
            contract: start.contract.as_ref().map(|contract| Contract::new(contract, agent)),
            budget,
            limits,
            program: Rc::clone(&program),
        })
    }
}
