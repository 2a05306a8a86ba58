//! One tree's side of the boundary: commands are written here, answers, letters and moments arrive here. Every future of the
//! tree waits for something that its port delivers, or for another future of the tree.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;

use crate::kernel::program::KeelOptions;
use crate::kernel::protocol::{Command, Given, Letter, Outbox};
use crate::kernel::value::{EffectId, TurnKey};
use crate::kernel::wait::effects::Effects;
use crate::kernel::wait::time::Timers;
use crate::kernel::wait::{Clock, Cut, Lifetime, Moment, Receiver};

pub struct Port {
    pub options: Rc<KeelOptions>,
    pub clock: Clock,
    pub timers: RefCell<Timers>,
    /// Commands not yet taken by the host.
    pub outbox: RefCell<Outbox>,
    /// The same as a JSON array that is still open, for tests.
    #[cfg(test)]
    text: RefCell<String>,
    effects: RefCell<Effects>,
    /// How many calls wait for a human.
    pub humans: Cell<u32>,
    /// Turns that may have come to stand still, or no longer do, since that was last looked at.
    touched: RefCell<Vec<TurnKey>>,
    /// How many turns were looked at for that.
    #[cfg(test)]
    pub looks: Cell<u32>,
}

impl Port {
    pub fn new(options: Rc<KeelOptions>, clock: Clock) -> Self {
        Self {
            options,
            clock,
            timers: RefCell::default(),
            outbox: RefCell::default(),
            #[cfg(test)]
            text: RefCell::default(),
            effects: RefCell::default(),
            humans: Cell::default(),
            touched: RefCell::default(),
            #[cfg(test)]
            looks: Cell::default(),
        }
    }

    pub fn now(&self) -> Moment {
        self.clock.now()
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

    /// Sends a command that the host answers; the lifetime of the turn it works for tells why it is cancelled, if it is.
    pub fn ask<'a>(self: &Rc<Self>, lifetime: &Rc<Lifetime>, command: impl FnOnce(EffectId) -> Command<'a>) -> Effect {
        let id = self.effects.borrow_mut().open();
        self.say(&command(id));
        lifetime.begin();
        Effect { id, port: Rc::clone(self), lifetime: Rc::clone(lifetime) }
    }

    /// Delivers an answer; one that nobody waits for any longer is dropped.
    pub fn answer(&self, id: EffectId, given: Given) {
        self.effects.borrow_mut().answer(id, given);
    }

    /// Delivers what a running command sends before its answer; hands it back when nobody is there to read it.
    pub fn deliver(&self, id: EffectId, letter: Letter) -> Option<Letter> {
        let receiver = self.effects.borrow().receiver(id);
        match receiver {
            Some(receiver) => {
                receiver.receive(letter);
                None
            }
            None => Some(letter),
        }
    }

    /// What a command's letters go to, until it is answered or given up.
    pub fn expect_letters(&self, id: EffectId, receiver: Rc<dyn Receiver>) {
        self.effects.borrow_mut().set_receiver(id, receiver);
    }

    /// Nobody reads a command's letters any longer.
    pub fn expect_no_letters(&self, id: EffectId) {
        // Dropped when nobody looks at the effects.
        let _gone = self.effects.borrow_mut().take_receiver(id);
    }

    /// What brings the turn further, or keeps it from going on, has changed.
    pub fn touch(&self, turn: TurnKey) {
        self.touched.borrow_mut().push(turn);
    }

    pub fn take_touched(&self) -> Vec<TurnKey> {
        self.touched.take()
    }

    pub fn receiver(&self, id: EffectId) -> Option<Rc<dyn Receiver>> {
        self.effects.borrow().receiver(id)
    }

    /// Everything that turns leave here while they live.
    #[cfg(test)]
    pub fn live(&self) -> Live {
        Live {
            turns: 0,
            receivers: self.effects.borrow().receivers(),
            effects: self.effects.borrow().waiting(),
            timers: self.timers.borrow().len(),
            waiting: self.humans.get(),
        }
    }

    /// Everything said since the last time, as one JSON array; `None` when there is nothing.
    #[cfg(test)]
    pub fn take_text(&self) -> Option<String> {
        let text = self.text.take();
        (!text.is_empty()).then(|| text + "]")
    }
}

#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    pub turns: usize,
    pub receivers: usize,
    pub effects: usize,
    pub timers: usize,
    pub waiting: u32,
}

/// An answer that is waited for. Dropping it before it came tells the host to cancel.
pub struct Effect {
    pub id: EffectId,
    port: Rc<Port>,
    lifetime: Rc<Lifetime>,
}

impl Effect {
    /// Gives up waiting, for a reason of the caller's own.
    pub fn cancel(self, cut: &Cut) {
        self.withdraw(|| cut.clone());
    }

    fn withdraw(&self, cut: impl FnOnce() -> Cut) {
        let (waits, _receiver) = self.port.effects.borrow_mut().close(self.id);
        if waits {
            let cut = cut();
            self.port.say(&Command::Cancel { id: self.id, code: cut.code(), message: &cut.to_string() });
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
        let answer = self.port.effects.borrow_mut().poll(self.id, context.waker());
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Effect {
    fn drop(&mut self) {
        self.withdraw(|| self.lifetime.cut());
        self.lifetime.end();
    }
}
