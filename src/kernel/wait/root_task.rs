//! The one future of a tree: its root turn, in which everything below it is polled. A flag says that it was woken. Single-threaded
//! and without a runtime: whoever has told the kernel something has everything that is ready run.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

pub struct RootTask {
    /// `None` once it is over, or dropped.
    task: RefCell<Option<Task>>,
    woken: Arc<Woken>,
    waker: Waker,
}

/// A waker may be sent anywhere, hence the atomic.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        Self::wake_by_ref(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl RootTask {
    pub fn new(task: impl Future<Output = ()> + 'static) -> Self {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Self { task: RefCell::new(Some(Box::pin(task))), waker: Arc::clone(&woken).into(), woken }
    }

    /// Polls until nothing is ready.
    pub fn run(&self) {
        while self.woken.0.swap(false, Ordering::Relaxed) {
            let mut task = self.task.borrow_mut();
            let Some(running) = task.as_mut() else { return };
            if let Poll::Ready(()) = running.as_mut().poll(&mut Context::from_waker(&self.waker)) {
                *task = None;
            }
        }
    }

    /// Drops what is not over: its guards say what became of it.
    pub fn cut(&self) {
        let task = self.task.take();
        drop(task);
    }
}
