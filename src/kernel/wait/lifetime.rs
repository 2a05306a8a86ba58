//! How long a turn may work, and what ends its work early: its deadline, which stands still while the turn is suspended, a
//! stop, a fault. Whoever works for a turn sees no more of it than this.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::kernel::program::Ceiling;
use crate::kernel::value::{Json, TurnKey};
use crate::kernel::wait::{Cut, Moment, Port, Sleep};

pub struct Lifetime {
    port: Rc<Port>,
    /// The turn whose it is.
    key: TurnKey,
    /// That of the turn which called.
    caller: Option<Rc<Lifetime>>,
    pub started: Moment,
    deadline: Cell<Option<Moment>>,
    /// Whose limit the deadline is.
    pub ceiling: Ceiling,
    suspended: Cell<Option<Moment>>,
    suspended_ms: Cell<f64>,
    stop_reason: RefCell<Option<Json>>,
    cut: RefCell<Option<Cut>>,
    /// Commands and waits that bring the turn further without a human.
    busy: Cell<u32>,
    waker: Cell<Option<Waker>>,
}

impl Lifetime {
    /// Begins now.
    pub fn new(
        port: &Rc<Port>,
        key: TurnKey,
        caller: Option<Rc<Self>>,
        deadline: Option<Moment>,
        ceiling: Ceiling,
    ) -> Self {
        Self {
            port: Rc::clone(port),
            key,
            caller,
            started: port.now(),
            deadline: Cell::new(deadline),
            ceiling,
            suspended: Cell::default(),
            suspended_ms: Cell::default(),
            stop_reason: RefCell::default(),
            cut: RefCell::default(),
            busy: Cell::default(),
            waker: Cell::default(),
        }
    }

    /// Milliseconds until the deadline, or that of a turn above it; `None` without one.
    pub fn time_left_ms(&self) -> Option<f64> {
        let own = self.deadline.get().map(|deadline| deadline.ms_since(self.port.now()));
        let callers = self.caller.as_ref().and_then(|caller| caller.time_left_ms());
        match (own, callers) {
            (Some(own), Some(callers)) => Some(own.min(callers)),
            (own, callers) => own.or(callers),
        }
    }

    /// When the turn has to end; not while it is suspended.
    pub fn deadline(&self) -> Option<Moment> {
        if self.is_suspended() { None } else { self.deadline.get() }
    }

    /// The time that was used: what passed since the start, less what the turn stood still.
    pub fn used_ms(&self) -> f64 {
        let now = self.port.now();
        let standing_ms = self.suspended.get().map_or(0.0, |since| now.ms_since(since));
        now.ms_since(self.started) - self.suspended_ms.get() - standing_ms
    }

    pub fn is_suspended(&self) -> bool {
        self.suspended.get().is_some()
    }

    /// The clock stands still from here on.
    pub fn suspend(&self) {
        self.suspended.set(Some(self.port.now()));
        self.wake();
    }

    /// The clock runs again; false when it did not stand still.
    pub fn resume(&self) -> bool {
        let Some(since) = self.suspended.take() else { return false };
        let stood_ms = self.port.now().ms_since(since);
        self.suspended_ms.set(self.suspended_ms.get() + stood_ms);
        self.deadline.set(self.deadline.get().map(|deadline| deadline.after_ms(stood_ms)));
        self.wake();
        true
    }

    /// Asks the turn to end as stopped; the first reason stays.
    pub fn stop(&self, reason: Json) {
        self.stop_reason.borrow_mut().get_or_insert(reason);
        self.wake();
    }

    /// Keeps what cut the turn off, for its record and for whatever is dropped with it.
    pub fn note_cut(&self, cut: &Cut) {
        self.cut.replace(Some(cut.clone()));
    }

    /// Why work of the turn is being dropped: its own interruption, else that of whoever called it.
    pub fn cut(&self) -> Cut {
        self.interruption().unwrap_or(Cut::CallerEnded)
    }

    /// The stop, deadline or fault that ends the turn, if one does.
    pub fn interruption(&self) -> Option<Cut> {
        if let Some(cut) = self.cut.borrow().as_ref() {
            return Some(cut.clone());
        }
        let callers = self.caller.as_ref().and_then(|caller| caller.interruption());
        if let Some(cut @ (Cut::Stopped { .. } | Cut::Fault { .. })) = callers {
            return Some(cut);
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

    /// Nothing brings the turn further but humans, or turns and calls below it.
    pub fn is_idle(&self) -> bool {
        self.busy.get() == 0
    }

    /// Counts as something that brings the turn further, until dropped.
    pub fn busy(&self) -> Busy<'_> {
        self.begin();
        Busy(self)
    }

    /// Takes back one count of those commands, until dropped: what it asked for waits for something below the turn.
    pub fn idle(&self) -> Idle<'_> {
        self.end();
        Idle(self)
    }

    pub fn begin(&self) {
        self.busy.set(self.busy.get() + 1);
        if self.is_suspended() {
            self.port.touch(self.key);
        }
    }

    pub fn end(&self) {
        self.busy.set(self.busy.get() - 1);
        // Most trees wait for no human, and nobody looks how their turns stand.
        if self.busy.get() == 0 && self.port.humans.get() > 0 {
            self.port.touch(self.key);
        }
    }

    /// The turn is over: nobody races it any longer.
    pub fn close(&self) {
        self.waker.take();
    }

    /// Lets the race with the interruption look again.
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// See [`Lifetime::busy`].
pub struct Busy<'a>(&'a Lifetime);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// See [`Lifetime::idle`].
pub struct Idle<'a>(&'a Lifetime);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.begin();
    }
}

/// Resolves when the turn has to end now (NT-27, NT-38).
pub struct Interrupted<'a> {
    lifetime: &'a Lifetime,
    deadline: Option<(Moment, Sleep)>,
}

impl<'a> Interrupted<'a> {
    pub fn of(lifetime: &'a Lifetime) -> Self {
        Self { lifetime, deadline: None }
    }
}

impl Future for Interrupted<'_> {
    type Output = Cut;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Cut> {
        let lifetime = self.lifetime;
        if let Some(reason) = lifetime.stop_reason.borrow().clone() {
            return Poll::Ready(Cut::Stopped { reason });
        }
        // The deadline moves while the turn is suspended.
        let deadline = lifetime.deadline();
        if self.deadline.as_ref().map(|(at, _)| *at) != deadline {
            self.deadline = deadline.map(|at| (at, Sleep::until(&lifetime.port, at)));
        }
        if let Some((_, deadline)) = &mut self.deadline
            && Pin::new(deadline).poll(context).is_ready()
        {
            return Poll::Ready(Cut::OutOfTime { ceiling: lifetime.ceiling });
        }
        let waker = lifetime.waker.take().filter(|waker| waker.will_wake(context.waker()));
        lifetime.waker.set(Some(waker.unwrap_or_else(|| context.waker().clone())));
        Poll::Pending
    }
}
