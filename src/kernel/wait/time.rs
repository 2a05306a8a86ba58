//! Time as the kernel knows it: a number that every input brings. Nothing here reads a clock; a [`Timers`] entry only
//! says which moment somebody waits for, and the host arms one timer for the earliest of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::kernel::wait::Port;

/// A point on a monotonic clock, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// From the host's milliseconds; what is not a positive number is the clock's zero.
    pub fn from_ms(ms: f64) -> Self {
        Self(micros(ms))
    }

    pub fn as_ms(self) -> f64 {
        as_ms(self.0)
    }

    /// This moment, `ms` milliseconds later.
    pub fn after_ms(self, ms: f64) -> Self {
        Self(self.0.saturating_add(micros(ms)))
    }

    /// The milliseconds from `earlier` to this moment, 0 when it is not earlier.
    pub fn ms_since(self, earlier: Self) -> f64 {
        as_ms(self.0.saturating_sub(earlier.0))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and NaN becomes 0: both are what a clock's zero and end mean"
)]
fn micros(ms: f64) -> u64 {
    (ms * 1_000.0).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 microseconds, 285 years")]
fn as_ms(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

/// The time of one tree (D-5): it begins at 0, advances by what the host's clock advances, and stands still while the whole tree
/// does.
pub struct Clock {
    now: Cell<Moment>,
    /// The host's clock when it was last told.
    host: Cell<Moment>,
    /// What the wall clock is ahead of the tree's time, in milliseconds.
    wall_offset_ms: Cell<f64>,
    stands_still: Cell<bool>,
}

impl Clock {
    /// `wall_offset_ms`: wall clock minus the host's.
    pub fn starting(host: Moment, wall_offset_ms: f64) -> Self {
        Self {
            now: Cell::default(),
            host: Cell::new(host),
            wall_offset_ms: Cell::new(wall_offset_ms + host.as_ms()),
            stands_still: Cell::default(),
        }
    }

    pub fn now(&self) -> Moment {
        self.now.get()
    }

    /// Milliseconds since the epoch.
    pub fn wall_ms(&self) -> f64 {
        self.wall_offset_ms.get() + self.now.get().as_ms()
    }

    /// The host's clock as it is told. It never runs backwards, whatever the host says.
    pub fn advance_to(&self, host: Moment) {
        let passed = host.0.saturating_sub(self.host.get().0);
        self.host.set(self.host.get().max(host));
        if self.stands_still.get() {
            self.wall_offset_ms.set(self.wall_offset_ms.get() + as_ms(passed));
        } else {
            self.now.set(Moment(self.now.get().0.saturating_add(passed)));
        }
    }

    pub fn stand_still(&self, stands_still: bool) {
        self.stands_still.set(stands_still);
    }

    /// A moment to come, by the host's clock.
    pub fn on_host(&self, at: Moment) -> Moment {
        Moment(self.host.get().0.saturating_add(at.0.saturating_sub(self.now.get().0)))
    }
}

/// Everybody who waits for a moment. At one instant whoever waited first is woken first.
#[derive(Default)]
pub struct Timers {
    waiting: BTreeMap<(Moment, u32), Waker>,
    next: u32,
    /// The moment for which the host's timer is armed, as far as the kernel has told it.
    announced: Option<Moment>,
}

impl Timers {
    fn insert(&mut self, at: Moment, waker: Waker) -> (Moment, u32) {
        let key = (at, self.next);
        self.next = self.next.wrapping_add(1);
        self.waiting.insert(key, waker);
        key
    }

    /// Takes everybody whose moment has come.
    pub fn take_due(&mut self, now: Moment) -> Vec<Waker> {
        if self.announced.is_some_and(|at| at <= now) {
            self.announced = None;
        }
        // Mostly nothing is due, and taking a map apart costs.
        if self.waiting.first_key_value().is_none_or(|((at, _), _)| *at > now) {
            return Vec::new();
        }
        let later = self.waiting.split_off(&(now, u32::MAX));
        std::mem::replace(&mut self.waiting, later).into_values().collect()
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The host's timer is not armed, or may not be: it has just fired, or no turn is left to wake, or all stand still.
    pub fn disarm(&mut self) {
        self.announced = None;
    }

    /// The moment to tell the host: only when it is earlier than the one already announced. A later one needs no
    /// word: the armed timer then fires early, and the next is announced.
    pub fn announce(&mut self) -> Option<Moment> {
        let earliest = self.waiting.first_key_value()?.0.0;
        if self.announced.is_some_and(|announced| announced <= earliest) {
            return None;
        }
        self.announced = Some(earliest);
        Some(earliest)
    }
}

/// Resolves at its moment; leaves the timers when dropped.
pub struct Sleep {
    port: Rc<Port>,
    at: Moment,
    key: Option<(Moment, u32)>,
}

impl Sleep {
    pub fn until(port: &Rc<Port>, at: Moment) -> Self {
        Self { port: Rc::clone(port), at, key: None }
    }

    fn leave(&mut self) {
        if let Some(key) = self.key.take() {
            self.port.timers.borrow_mut().waiting.remove(&key);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.port.now() >= self.at {
            self.leave();
            return Poll::Ready(());
        }
        let mut timers = self.port.timers.borrow_mut();
        if let Some(waiting) = self.key.and_then(|key| timers.waiting.get_mut(&key)) {
            waiting.clone_from(context.waker());
            return Poll::Pending;
        }
        let key = timers.insert(self.at, context.waker().clone());
        drop(timers);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.leave();
    }
}
