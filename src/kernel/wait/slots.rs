//! `limits.maxToolConcurrency`: how many bodies run at once in a whole tree (D-19). A slot is taken last, right before the
//! body. While a call waits for calls or turns below it, it lends its slot; it gets one back ahead of new calls, before
//! the last of those answers is delivered. So whoever holds a slot never waits, and nothing can deadlock.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use futures_channel::oneshot;
use tokio::sync::Mutex;

/// The slots of one tree.
pub struct Slots {
    free: Cell<u32>,
    /// Calls that lent their slot and want one back; they go first.
    returning: RefCell<VecDeque<oneshot::Sender<Grant>>>,
    new: RefCell<VecDeque<oneshot::Sender<Grant>>>,
}

/// One taken slot. Goes to whoever waits when dropped, also when it is dropped on its way to a waiter that is gone.
struct Grant(Rc<Slots>);

impl Slots {
    /// At most `max` bodies; 0 is 1.
    pub fn new(max: u32) -> Self {
        Self { free: Cell::new(max.max(1)), returning: RefCell::default(), new: RefCell::default() }
    }
}

async fn take(slots: &Rc<Slots>, queue: &RefCell<VecDeque<oneshot::Sender<Grant>>>) -> Grant {
    if slots.free.get() > 0 {
        slots.free.set(slots.free.get() - 1);
        return Grant(Rc::clone(slots));
    }
    let (sender, receiver) = oneshot::channel();
    queue.borrow_mut().push_back(sender);
    receiver.await.expect("a waiter stays in its queue until it is granted a slot")
}

impl Drop for Grant {
    fn drop(&mut self) {
        let next = |queue: &RefCell<VecDeque<oneshot::Sender<Self>>>| queue.borrow_mut().pop_front();
        while let Some(waiting) = next(&self.0.returning).or_else(|| next(&self.0.new)) {
            if waiting.is_canceled() {
                continue;
            }
            // A waiter that leaves between the two lines drops the grant, which moves on.
            let _moved_on = waiting.send(Grant(Rc::clone(&self.0)));
            return;
        }
        self.0.free.set(self.0.free.get() + 1);
    }
}

/// A call's slot, where its tree has a limit. Given back when dropped.
#[derive(Default)]
pub struct Slot {
    slots: Option<Rc<Slots>>,
    grant: RefCell<Option<Grant>>,
    /// Calls and turns below that are in flight.
    below: Cell<u32>,
    /// Held while the call waits for its slot to come back.
    returning: Mutex<()>,
}

impl Slot {
    pub fn of(slots: Option<Rc<Slots>>) -> Self {
        Self { slots, ..Self::default() }
    }

    /// Its tree has a limit.
    pub fn is_limited(&self) -> bool {
        self.slots.is_some()
    }

    pub async fn take(&self) {
        if let Some(slots) = &self.slots {
            let grant = take(slots, &slots.new).await;
            self.grant.replace(Some(grant));
        }
    }

    /// Something below begins; it is in flight until the loan is dropped.
    pub fn lend(&self) -> Loan<'_> {
        self.below.set(self.below.get() + 1);
        // Taken out before it is dropped: the waiter that gets it may be polled at once.
        let lent = self.grant.take();
        drop(lent);
        Loan(self)
    }

    /// Something below has ended; waits for a slot if it was the last.
    pub async fn take_back(&self) {
        let Some(slots) = &self.slots else { return };
        // Whoever comes second finds that the first has brought the slot, or is gone.
        let _one_at_a_time = self.returning.lock().await;
        if self.is_back() {
            return;
        }
        let grant = take(slots, &slots.returning).await;
        if !self.is_back() {
            self.grant.replace(Some(grant));
        }
    }

    /// There is a slot, or what began below keeps it lent.
    fn is_back(&self) -> bool {
        self.below.get() > 0 || self.grant.borrow().is_some()
    }
}

/// Something below is in flight. Dropped when it has ended, however it did.
pub struct Loan<'a>(&'a Slot);

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.0.below.set(self.0.below.get() - 1);
    }
}
