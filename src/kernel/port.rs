//! The kernel's side of the boundary: commands are written here, answers and moments arrive here. Every future of the
//! kernel waits for something that this port delivers, or for another future of the kernel.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_channel::oneshot;
use serde::de::DeserializeOwned;

use crate::kernel::body::Body;
use crate::kernel::execution::Next;
use crate::kernel::id::{EffectId, TurnId, TurnKey};
use crate::kernel::mailbox::Mailbox;
use crate::kernel::protocol::{Command, KeelOptions};
use crate::kernel::record::ClosedTurn;
use crate::kernel::stop::Cut;
use crate::kernel::suspension;
use crate::kernel::time::{Moment, Timers};
use crate::kernel::turn::Turn;

/// What the commands of one input mostly take.
const COMMANDS_BYTES: usize = 512;

#[derive(Default)]
pub struct Port {
    pub options: KeelOptions,
    now: Cell<Moment>,
    pub timers: RefCell<Timers>,
    /// Commands not yet taken by the host: a JSON array that is still open.
    outbox: RefCell<Vec<u8>>,
    next_effect: Cell<u32>,
    next_turn: Cell<u32>,
    pending: RefCell<BTreeMap<EffectId, oneshot::Sender<String>>>,
    /// Every turn that is not over.
    pub turns: RefCell<BTreeMap<TurnId, Rc<Turn>>>,
    /// Every body that runs, by the command that runs it.
    pub bodies: RefCell<BTreeMap<EffectId, Rc<Body>>>,
    /// The `next()` requests of every call whose wrap layers run.
    pub onions: RefCell<BTreeMap<EffectId, Rc<Mailbox<Next>>>>,
    /// How many calls wait for a human.
    pub waiting: Cell<u32>,
    /// Whether some call waited for a human when that was last looked at.
    pub waited: Cell<bool>,
    /// Turns that ended and that the record store has not taken yet.
    pub closed: RefCell<Vec<ClosedTurn>>,
}

impl Port {
    pub fn new(options: KeelOptions) -> Self {
        Self { options, ..Self::default() }
    }

    pub fn now(&self) -> Moment {
        self.now.get()
    }

    /// The clock never runs backwards, whatever the host says.
    pub fn advance_to(&self, now: Moment) {
        self.now.set(self.now.get().max(now));
    }

    pub fn say(&self, command: &Command<'_>) {
        let mut outbox = self.outbox.borrow_mut();
        if outbox.is_empty() {
            outbox.reserve(COMMANDS_BYTES);
            outbox.push(b'[');
        } else {
            outbox.push(b',');
        }
        serde_json::to_writer(&mut *outbox, command).expect("a command is plain data: it always serialises");
    }

    /// Sends a command that the host answers; the turn (and call) it works for tell why it is cancelled, if it is.
    pub fn ask<'a>(self: &Rc<Self>, turn: &Rc<Turn>, command: impl FnOnce(EffectId) -> Command<'a>) -> Effect {
        let id = EffectId(self.next_effect.get());
        self.next_effect.set(id.0.wrapping_add(1));
        let (sender, receiver) = oneshot::channel();
        self.pending.borrow_mut().insert(id, sender);
        // What brings a turn further than a human did: the end of what its call waited for.
        suspension::go_on(turn);
        self.say(&command(id));
        turn.busy.set(turn.busy.get() + 1);
        Effect { id, turn: Rc::clone(turn), receiver }
    }

    /// Delivers an answer; one that nobody waits for any longer is dropped.
    pub fn answer(&self, id: EffectId, text: String) {
        let waiting = self.pending.borrow_mut().remove(&id);
        if let Some(sender) = waiting {
            let _nobody_waits = sender.send(text);
        }
    }

    pub fn next_turn_key(&self) -> TurnKey {
        let key = TurnKey(self.next_turn.get());
        self.next_turn.set(key.0.wrapping_add(1));
        key
    }

    /// Everything that a turn leaves here while it lives.
    #[cfg(test)]
    pub fn live(&self) -> Live {
        Live {
            turns: self.turns.borrow().len(),
            bodies: self.bodies.borrow().len() + self.onions.borrow().len(),
            effects: self.pending.borrow().len(),
            timers: self.timers.borrow().len(),
            waiting: self.waiting.get(),
        }
    }

    /// Everything said since the last time, as one JSON array; `None` when there is nothing.
    pub fn take_commands(&self) -> Option<String> {
        let mut text = self.outbox.take();
        if text.is_empty() {
            return None;
        }
        text.push(b']');
        Some(String::from_utf8(text).expect("serde_json writes UTF-8"))
    }
}

#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    pub turns: usize,
    pub bodies: usize,
    pub effects: usize,
    pub timers: usize,
    pub waiting: u32,
}

/// An answer that is waited for. Dropping it before it came tells the host to cancel.
pub struct Effect {
    pub id: EffectId,
    turn: Rc<Turn>,
    receiver: oneshot::Receiver<String>,
}

impl Effect {
    /// Gives up waiting, for a reason of the caller's own.
    pub fn cancel(self, cut: &Cut) {
        self.withdraw(|| cut.clone());
    }

    fn withdraw(&self, cut: impl FnOnce() -> Cut) {
        let port = &self.turn.port;
        if port.pending.borrow_mut().remove(&self.id).is_some() {
            let cut = cut();
            port.say(&Command::Cancel { id: self.id, code: cut.code(), message: &cut.to_string() });
        }
    }

    /// The answer in its type.
    pub async fn read<T: DeserializeOwned>(self) -> T {
        parse(&self.await)
    }
}

/// The host answers in the protocol's shapes: anything else is a bug of ours, and ends the turn as `INTERNAL`.
pub fn parse<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("the host broke the protocol: {error}"))
}

impl Future for Effect {
    type Output = String;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<String> {
        Pin::new(&mut self.receiver)
            .poll(context)
            .map(|answer| answer.expect("the port keeps a sender until it has answered"))
    }
}

impl Drop for Effect {
    fn drop(&mut self) {
        self.withdraw(|| self.turn.cut());
        self.turn.busy.set(self.turn.busy.get() - 1);
    }
}
