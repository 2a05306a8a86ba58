//! Requests on their way to the future that serves them: what a running body or a wrap layer asks for while it runs.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

/// Costs nothing until the first letter.
pub struct Mailbox<T> {
    letters: RefCell<VecDeque<T>>,
    waker: Cell<Option<Waker>>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self { letters: RefCell::default(), waker: Cell::default() }
    }
}

impl<T> Mailbox<T> {
    pub fn put(&self, letter: T) {
        self.letters.borrow_mut().push_back(letter);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// The next letter; one reader at a time.
    pub async fn take(&self) -> T {
        poll_fn(|context| self.poll_take(context)).await
    }

    pub fn poll_take(&self, context: &mut Context<'_>) -> Poll<T> {
        if let Some(letter) = self.letters.borrow_mut().pop_front() {
            return Poll::Ready(letter);
        }
        self.waker.set(Some(context.waker().clone()));
        Poll::Pending
    }
}
