//! Spans around futures. Nobody mostly listens, and a future that is wrapped is a future that is moved and kept twice.

use std::pin::Pin;

use futures_util::future::Either;
use tracing::instrument::{Instrument, Instrumented};
use tracing::level_filters::LevelFilter;
use tracing::{Level, Span};

/// The future, within the span where somebody listens to it.
pub fn within<F: Future>(span: impl FnOnce() -> Span, future: F) -> Either<F, Pin<Box<Instrumented<F>>>> {
    if LevelFilter::current() < Level::DEBUG {
        Either::Left(future)
    } else {
        Either::Right(Box::pin(future.instrument(span())))
    }
}
