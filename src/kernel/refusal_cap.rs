//! A calling call gets at most 8 nested calls refused; every later one is refused without being looked at, so that a tool
//! cannot loop on refusals that cost no budget. Admissions queue for what is left of the 8: valid fan-outs wait a
//! moment, and are never refused for coming at once.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use futures_channel::oneshot;

const REFUSALS_MAX: u32 = 8;

#[derive(Default)]
pub struct RefusalCap {
    refused: Cell<u32>,
    admitting: Cell<u32>,
    waiting: RefCell<VecDeque<oneshot::Sender<()>>>,
}

/// An admission under way. Dropped without a verdict, it counts for nothing.
pub struct Admission<'a>(&'a RefusalCap);

impl RefusalCap {
    /// Waits until an admission may begin; `None` when the cap is reached.
    pub async fn admit(&self) -> Option<Admission<'_>> {
        loop {
            if self.refused.get() >= REFUSALS_MAX {
                return None;
            }
            if self.refused.get() + self.admitting.get() < REFUSALS_MAX {
                self.admitting.set(self.admitting.get() + 1);
                return Some(Admission(self));
            }
            let (sender, receiver) = oneshot::channel();
            self.waiting.borrow_mut().push_back(sender);
            let _woken = receiver.await;
        }
    }

    /// Counts a refusal that came after the admission.
    pub fn refuse(&self) {
        self.refused.set(self.refused.get() + 1);
        self.wake();
    }

    /// Whoever is woken looks again, in order.
    fn wake(&self) {
        let waiting = self.waiting.take();
        for sender in waiting {
            let _gone = sender.send(());
        }
    }
}

impl Admission<'_> {
    pub fn refused(self) {
        self.0.refused.set(self.0.refused.get() + 1);
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        self.0.admitting.set(self.0.admitting.get().saturating_sub(1));
        self.0.wake();
    }
}
