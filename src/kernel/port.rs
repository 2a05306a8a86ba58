//! The kernel's side of the boundary: commands are written here, answers and moments arrive here. Every future of the
//! kernel waits for something that this port delivers, or for another future of the kernel.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;

use crate::kernel::effects::Effects;
use crate::kernel::id::{EffectId, TurnKey};
use crate::kernel::protocol::outbox::Outbox;
use crate::kernel::protocol::{Command, Given, KeelOptions};
use crate::kernel::stop::Cut;
use crate::kernel::suspension;
use crate::kernel::time::{Moment, Timers};
use crate::kernel::turn::Turn;

#[derive(Default)]
pub struct Port {
    pub options: KeelOptions,
    now: Cell<Moment>,
    pub timers: RefCell<Timers>,
    /// Commands not yet taken by the host.
    pub outbox: RefCell<Outbox>,
    /// The same as a JSON array that is still open, for tests.
    #[cfg(test)]
    text: RefCell<String>,
    /// Commands that wait for their answers.
    pub effects: RefCell<Effects>,
    /// Every turn that is not over.
    pub turns: RefCell<LiveTurns>,
    /// How many calls wait for a human.
    pub waiting: Cell<u32>,
    /// Whether some call waited for a human when that was last looked at.
    pub waited: Cell<bool>,
    /// Turns that ended and that the record store has not taken yet.
    pub closed: RefCell<Vec<Rc<Turn>>>,
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
        command.write(&mut self.outbox.borrow_mut());
        #[cfg(test)]
        {
            let mut text = self.text.borrow_mut();
            let begin = if text.is_empty() { '[' } else { ',' };
            text.push(begin);
            text.push_str(&serde_json::to_string(command).expect("a command is plain data: it always serialises"));
        }
    }

    /// Sends a command that the host answers; the turn (and call) it works for tell why it is cancelled, if it is.
    pub fn ask<'a>(self: &Rc<Self>, turn: &Rc<Turn>, command: impl FnOnce(EffectId) -> Command<'a>) -> Effect {
        let id = self.effects.borrow_mut().open();
        // What brings a turn further than a human did: the end of what its call waited for.
        suspension::go_on(turn);
        self.say(&command(id));
        turn.busy.set(turn.busy.get() + 1);
        Effect { id, turn: Rc::clone(turn) }
    }

    /// Everything that a turn leaves here while it lives.
    #[cfg(test)]
    pub fn live(&self) -> Live {
        Live {
            turns: self.turns.borrow().len(),
            bodies: self.effects.borrow().senders(),
            effects: self.effects.borrow().waiting(),
            timers: self.timers.borrow().len(),
            waiting: self.waiting.get(),
        }
    }

    /// Everything said since the last time, as one JSON array; `None` when there is nothing.
    #[cfg(test)]
    pub fn take_text(&self) -> Option<String> {
        let text = self.text.take();
        (!text.is_empty()).then(|| text + "]")
    }
}

/// Every turn that is not over, by its key, which a later turn may get again.
#[derive(Default)]
pub struct LiveTurns {
    turns: Vec<Option<Rc<Turn>>>,
    free: Vec<TurnKey>,
    count: usize,
}

impl LiveTurns {
    pub fn next_key(&mut self) -> TurnKey {
        self.free.pop().unwrap_or_else(|| {
            self.turns.push(None);
            TurnKey(u32::try_from(self.turns.len() - 1).expect("memory ends first"))
        })
    }

    pub fn open(&mut self, turn: &Rc<Turn>) {
        self.turns[turn.key.0 as usize] = Some(Rc::clone(turn));
        self.count += 1;
    }

    pub fn remove(&mut self, key: TurnKey) {
        self.turns[key.0 as usize] = None;
        self.free.push(key);
        self.count -= 1;
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// In no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Rc<Turn>> {
        self.turns.iter().flatten()
    }

    /// By their ids: parents before their children, these in the order in which they were opened.
    pub fn in_order(&self) -> Vec<Rc<Turn>> {
        let mut turns: Vec<_> = self.iter().cloned().collect();
        turns.sort_by(|one, other| one.id().cmp(other.id()));
        turns
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
}

impl Effect {
    /// Gives up waiting, for a reason of the caller's own.
    pub fn cancel(self, cut: &Cut) {
        self.withdraw(|| cut.clone());
    }

    fn withdraw(&self, cut: impl FnOnce() -> Cut) {
        let port = &self.turn.port;
        let (waits, _sender) = port.effects.borrow_mut().close(self.id);
        if waits {
            let cut = cut();
            port.say(&Command::Cancel { id: self.id, code: cut.code(), message: &cut.to_string() });
        }
    }

    /// The answer in its type.
    pub async fn read<T: DeserializeOwned>(self) -> T {
        self.await.read()
    }
}

impl Future for Effect {
    type Output = Given;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Given> {
        let answer = self.turn.port.effects.borrow_mut().poll(self.id, context.waker());
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Effect {
    fn drop(&mut self) {
        self.withdraw(|| self.turn.cut());
        self.turn.busy.set(self.turn.busy.get() - 1);
    }
}
