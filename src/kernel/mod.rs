//! The kernel: a deterministic program that a host polls. One kernel runs one tree, a root turn and everything below it. It knows
//! nothing of Node, files, threads or clocks; what it wants done it says as commands, what happened it is told as answers,
//! letters and inputs.
//!
//! Rooms, each of which uses those before it: `value` (what everything is made of), `schema`, `program` (what was defined), `protocol`
//! (what crosses), `wait` (what a future waits for), then `turn` and `call`, which use each other: a turn makes calls, a call
//! opens a child turn.

#![forbid(unsafe_code)]

pub mod call;
pub mod program;
pub mod protocol;
pub mod schema;
mod trace;
pub mod turn;
pub mod value;
pub mod wait;

use std::cell::RefMut;
use std::collections::BTreeSet;
use std::rc::Rc;

use futures_util::FutureExt;

use crate::kernel::program::{Ceiling, KeelOptions, Limits, Program};
use crate::kernel::protocol::{Command, Given, Input, Letter, Outbox, PrepareAnswer, Start, StoppedBefore};
use crate::kernel::turn::{Access, Contract, Opening, Tree, TreeMeter, Turn, run, suspension};
use crate::kernel::value::{EffectId, TurnId};
use crate::kernel::wait::{Clock, Cut, Moment, Port, RootTask};

/// The run loop of one tree: one input in, everything that follows from it, commands out.
pub struct Kernel {
    port: Rc<Port>,
    root: Rc<Turn>,
    task: RootTask,
}

impl Kernel {
    /// Opens the root turn. `now` is the host's monotonic clock, here and everywhere.
    pub fn start(options: Rc<KeelOptions>, program: &Rc<Program>, mut start: Start, now: Moment) -> Self {
        let port = Rc::new(Port::new(options, Clock::starting(now, start.wall_offset_ms)));
        let stopped = start.stopped.take();
        let root = open_root(&port, program, start);
        if let Some(StoppedBefore { reason }) = stopped {
            root.lifetime.stop(reason);
        }
        let task = RootTask::new(run::run(Rc::clone(&root)).map(drop));
        let kernel = Self { port, root, task };
        kernel.drain();
        kernel
    }

    /// The answer to a command; ignored when nobody waits for it any longer.
    pub fn answer(&self, id: EffectId, given: Given, now: Moment) {
        self.arrive(now);
        self.port.answer(id, given);
        self.drain();
    }

    /// What the command `id` sends while it runs on the host.
    pub fn letter(&self, id: EffectId, letter: Letter, now: Moment) {
        self.arrive(now);
        // The body was cut off, perhaps by this very letter's time. The host is told why before it reads this.
        if let Some(Letter::CallTool(request)) = self.port.deliver(id, letter) {
            if let Some(kept) = request.ahead.as_ref().and_then(PrepareAnswer::kept) {
                self.port.say(&Command::Release { turn_key: self.root.key, kept });
            }
            let ticket = request.ticket;
            self.port.say(&Command::Resolve { ticket, result: None, error: None, thrown_by: None });
        }
        self.drain();
    }

    pub fn input(&self, input: Input, now: Moment) {
        self.arrive(now);
        match input {
            Input::Tick => self.port.timers.borrow_mut().disarm(),
            Input::Stop { turn_id, subtree, reason } => {
                if let Some(turn) = self.live_turn(&turn_id) {
                    let target = if subtree { &turn } else { &self.root };
                    suspension::go_on_above(target);
                    target.lifetime.stop(reason);
                }
            }
            Input::Resume { stream, decisions, stopped } => {
                self.root.tree.stream.set(stream);
                match stopped {
                    Some(StoppedBefore { reason }) => self.root.lifetime.stop(reason),
                    None => suspension::resume(&self.root, decisions),
                }
            }
        }
        self.drain();
    }

    /// Ends the tree for a fault that is not one turn's alone: what runs is dropped, and each turn ends as `INTERNAL`.
    pub fn fault(&self, message: String) {
        self.root.lifetime.note_cut(&Cut::Fault { message });
        self.task.cut();
    }

    /// Tells what time it is, and nothing else: what is due happens with the next input.
    pub fn look(&self, now: Moment) {
        self.port.clock.advance_to(now);
    }

    /// Everything the host has to do.
    pub fn commands(&self) -> RefMut<'_, Outbox> {
        self.port.outbox.borrow_mut()
    }

    /// The same as a JSON array; `None` when there is nothing.
    #[cfg(test)]
    pub fn take_text(&self) -> Option<String> {
        self.port.take_text()
    }

    pub fn root(&self) -> &Rc<Turn> {
        &self.root
    }

    pub fn is_over(&self) -> bool {
        self.root.over().is_some()
    }

    /// A turn of the tree that is not over.
    pub fn live_turn(&self, turn_id: &TurnId) -> Option<Rc<Turn>> {
        suspension::find(&self.root, turn_id).filter(|turn| turn.over().is_none())
    }

    /// Every turn of the tree, over or not.
    pub fn turns(&self) -> Vec<Rc<Turn>> {
        self.root.tree.turns()
    }

    #[cfg(test)]
    pub fn live(&self) -> wait::Live {
        wait::Live { turns: self.root.tree.live_count(), ..self.port.live() }
    }

    /// How many turns were looked at, over all inputs, for whether they stand still.
    #[cfg(test)]
    pub fn looks(&self) -> u32 {
        self.port.looks.get()
    }

    /// The idempotency key of a call whose body runs.
    pub fn idempotency_key(&self, id: EffectId) -> Option<String> {
        self.port.receiver(id)?.idempotency_key()
    }

    /// Time enters here: whatever is due by `now` happens before the input itself.
    fn arrive(&self, now: Moment) {
        self.port.clock.advance_to(now);
        let due = self.port.timers.borrow_mut().take_due(self.port.now());
        for waker in due {
            waker.wake();
            self.task.run();
        }
    }

    fn drain(&self) {
        self.task.run();
        while suspension::settle(&self.root.tree) {
            self.task.run();
        }
        if self.is_over() {
            return;
        }
        let wake = self.port.timers.borrow_mut().announce();
        if let Some(at) = wake {
            self.port.say(&Command::Wake { at: self.port.clock.on_host(at).as_ms() });
        }
    }
}

fn open_root(port: &Rc<Port>, program: &Rc<Program>, start: Start) -> Rc<Turn> {
    let agent = &program.agents[0];
    let budget = start.budget.over(&agent.budget);
    let limits = Limits::root(&start.limits, &agent.limits, &port.options.limits);
    let scopes: BTreeSet<String> = start.scopes.into_iter().collect();
    let hooks = port.options.hooks.and(start.hooks);
    let tree = Tree::new(Rc::clone(port), Rc::clone(program), start.stream, limits.max_tool_concurrency, hooks);
    Turn::new(Opening {
        tree: Rc::new(tree),
        agent_index: 0,
        turn_id: start.turn_id,
        parent: None,
        origin: None,
        may_wait_for_humans: true,
        input: start.input,
        messages: start.messages,
        deadline: budget.time_ms.map(|ms| port.now().after_ms(ms)),
        ceiling: Ceiling::Own,
        tree_meter: TreeMeter::within(agent.limits.tree, TreeMeter::within(limits.tree, None)),
        access: Access::root(start.authenticated, scopes, &agent.grants),
        contract: start.contract.as_ref().map(|contract| Contract::new(contract, agent)),
        budget,
        limits,
    })
}
