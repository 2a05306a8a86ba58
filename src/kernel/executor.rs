//! Runs the futures of the root turns, one after the other, in the order in which they were woken. Single-threaded and without a
//! runtime: whoever has told the kernel something asks for everything that is ready to be run.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

#[derive(Default)]
pub struct Executor {
    tasks: RefCell<Vec<Option<Running>>>,
    free: RefCell<Vec<usize>>,
    ready: Arc<Ready>,
}

struct Running {
    task: Task,
    waker: Waker,
    alarm: Arc<Alarm>,
}

/// Tasks to poll, first woken first. A waker may be sent anywhere, hence the lock; nobody ever waits for it.
#[derive(Default)]
struct Ready(Mutex<VecDeque<Arc<Alarm>>>);

/// Wakes one task.
struct Alarm {
    task: usize,
    rings: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        Self::wake_by_ref(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rings.swap(true, Ordering::Relaxed) {
            self.ready.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(Arc::clone(self));
        }
    }
}

impl Executor {
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
            tasks.push(None);
            tasks.len() - 1
        });
        let alarm = Arc::new(Alarm { task: index, rings: AtomicBool::new(false), ready: Arc::clone(&self.ready) });
        alarm.wake_by_ref();
        tasks[index] = Some(Running { task: Box::pin(task), waker: Arc::clone(&alarm).into(), alarm });
    }

    /// Polls whatever is ready, and what becomes ready by that, until nothing is.
    pub fn run_ready(&self) {
        while let Some(alarm) = self.next() {
            self.poll(&alarm);
        }
    }

    fn next(&self) -> Option<Arc<Alarm>> {
        self.ready.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn poll(&self, alarm: &Arc<Alarm>) {
        // Taken out while it is polled: it may open other tasks.
        let taken = self.tasks.borrow_mut().get_mut(alarm.task).and_then(Option::take);
        let Some(mut running) = taken else { return };
        if !Arc::ptr_eq(&running.alarm, alarm) {
            self.tasks.borrow_mut()[alarm.task] = Some(running);
            return;
        }
        alarm.rings.store(false, Ordering::Relaxed);
        match running.task.as_mut().poll(&mut Context::from_waker(&running.waker)) {
            Poll::Pending => self.tasks.borrow_mut()[alarm.task] = Some(running),
            Poll::Ready(()) => self.free.borrow_mut().push(alarm.task),
        }
    }
}
