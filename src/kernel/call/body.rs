//! One run of a tool's body on the host, within its time, and the nested calls that it makes meanwhile. What is still in
//! flight below a body when it settles is dropped with it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::{AbortHandle, Abortable, Aborted, LocalBoxFuture, abortable};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

use crate::kernel::call::execution::{Next, Ran};
use crate::kernel::call::nested::NestedRequest;
use crate::kernel::call::{Call, emission, execution, idempotency, nested, progress};
use crate::kernel::program::ToolTimeout;
use crate::kernel::protocol::{Args, CallAnswer, CallName, CallResult, Command, Failure, Given, Letter};
use crate::kernel::value::{EffectId, Ticket};
use crate::kernel::wait::{Cut, Effect, Mailbox, Receiver, Sleep};

/// A body that runs, as its letters find it.
struct Body {
    call: Rc<Call>,
    requests: Mailbox<Request>,
}

/// What a body asks of the loop that drives it.
enum Request {
    Call(NestedRequest),
    /// A call that nobody waited for from the start.
    Abandoned(NestedRequest),
    /// Nobody waits for that nested call any longer: its own signal fired.
    Abandon {
        ticket: Ticket,
    },
}

impl Receiver for Body {
    fn receive(&self, letter: Letter) {
        match letter {
            Letter::Emit { part, value } => emission::emit(&self.call, part, value),
            Letter::Progress { progress } => progress::report(&self.call, progress),
            Letter::CallTool(request) => {
                let kind = if request.abandoned { Request::Abandoned } else { Request::Call };
                self.requests.put(kind(NestedRequest::new(&self.call.turn, request)));
            }
            Letter::Abandon { ticket } => self.requests.put(Request::Abandon { ticket }),
            Letter::Delta { .. } | Letter::Next { .. } => {}
        }
    }

    fn idempotency_key(&self) -> Option<String> {
        Some(idempotency::key(&self.call))
    }
}

/// # Errors
/// A nested delegation whose connection says that a failed child fails its caller.
pub async fn run(call: &Rc<Call>, next: Option<&Next>) -> Result<Ran, Failure> {
    let turn = &call.turn;
    let rewritten = next.and_then(|next| next.arguments.as_ref());
    let kept = call.kept.filter(|_| rewritten.is_none());
    let ticket = next.map(|next| next.ticket).or(call.ticket);
    let effect = turn.ask(|id| Command::Call {
        id,
        turn_key: turn.key,
        ticket,
        tool_index: call.tool_index,
        call_id: CallName { id: &call.id, place: call.place, is_known: next.is_none() },
        args: match (kept, rewritten) {
            (Some(_), _) => Args::Kept,
            (None, Some(rewritten)) => Args::Other(rewritten),
            (None, None) if call.has_its_arguments() => Args::Given(&call.arguments),
            (None, None) => Args::Other(&call.arguments),
        },
        kept,
        may_run_again: call.may_run_again(),
    });
    let id = effect.id;
    let body = RunningBody::new(call, id);
    match drive(call, &body.body, effect).await? {
        Settled::Answered(given) => {
            let mut answer = given.into();
            if let CallAnswer::Result(result) = &mut answer {
                // The host keeps it for whoever has the ticket, and for the transcript.
                result.answer_of = ticket.map(|_| id);
                result.unchanged = true;
            }
            Ok(execution::ran(&call.tool().id, answer, Some(id)))
        }
        Settled::TimedOut { after_ms } => {
            let text = format!("tool `{}` timed out after {after_ms} ms", call.tool().id);
            Ok(Ran::Result(CallResult::error(text)))
        }
    }
}

enum Settled {
    Answered(Given),
    TimedOut { after_ms: f64 },
}

async fn drive(call: &Rc<Call>, body: &Body, mut effect: Effect) -> Result<Settled, Failure> {
    let timeout = timeout_of(call);
    let mut late = timeout
        .as_ref()
        .map(|timeout| Sleep::until(&call.turn.port, call.turn.port.now().after_ms(timeout.enforced_ms)));
    let mut below = Below::default();
    // The answer goes first, then the end of its time, then what it asks for, then what came of that.
    let settled = poll_fn(|context| {
        if let Poll::Ready(given) = effect.poll_unpin(context) {
            return Poll::Ready(Ok(Some(given)));
        }
        if late.as_mut().is_some_and(|late| late.poll_unpin(context).is_ready()) {
            return Poll::Ready(Ok(None));
        }
        loop {
            if let Poll::Ready(request) = body.requests.poll_take(context) {
                below.take(call, request);
            } else if let Poll::Ready(ended) = below.poll_ended(context) {
                if let Err(failure) = ended {
                    return Poll::Ready(Err(failure));
                }
            } else {
                return Poll::Pending;
            }
        }
    })
    .await?;
    Ok(match (settled, timeout) {
        (None, Some(Timeout { reported_ms, .. })) => {
            effect.cancel(&Cut::ToolTimeout { max_ms: reported_ms });
            Settled::TimedOut { after_ms: reported_ms }
        }
        (Some(given), _) => Settled::Answered(given),
        (None, None) => unreachable!("only a timeout ends without an answer"),
    })
}

/// The nested calls of a body that are in flight.
#[derive(Default)]
struct Below<'a> {
    /// Made for the first: most bodies call nothing.
    running: Option<FuturesUnordered<LocalBoxFuture<'a, Served>>>,
    handles: BTreeMap<Ticket, AbortHandle>,
}

/// A nested call that is over.
struct Served {
    ticket: Ticket,
    ended: Result<(), Failure>,
}

impl<'a> Below<'a> {
    fn take(&mut self, call: &'a Rc<Call>, request: Request) {
        match request {
            Request::Call(request) => {
                let ticket = request.ticket;
                // Boxed by itself: whatever wraps a future keeps room for it twice.
                let (serving, handle) = abortable(Box::pin(nested::serve(Rc::clone(call), request)));
                self.handles.insert(ticket, handle);
                let served = serve(call, serving).map(move |ended| Served { ticket, ended });
                self.running.get_or_insert_default().push(served.boxed_local());
            }
            Request::Abandoned(request) => nested::abandon(call, &request),
            Request::Abandon { ticket } => {
                if let Some(handle) = self.handles.remove(&ticket) {
                    handle.abort();
                }
            }
        }
    }

    /// The next that is over, if any is in flight.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        let Poll::Ready(Some(Served { ticket, ended })) = running.poll_next_unpin(context) else {
            return Poll::Pending;
        };
        self.handles.remove(&ticket);
        Poll::Ready(ended)
    }
}

/// Serves a nested call until it is answered or abandoned. Abandoned, it is gone before its caller takes its slot back.
async fn serve(call: &Call, serving: Abortable<impl Future<Output = Result<(), Failure>>>) -> Result<(), Failure> {
    match serving.await {
        Ok(ended) => ended,
        Err(Aborted) => {
            call.take_slot_back().await;
            Ok(())
        }
    }
}

struct Timeout {
    reported_ms: f64,
    enforced_ms: f64,
}

/// A tool's own timeout, clamped by the limits, or the one it inherits from them (D-20).
fn timeout_of(call: &Call) -> Option<Timeout> {
    let limits = call.turn.limits.tool_timeout.unwrap_or_default();
    let wanted_ms = match call.tool().timeout_ms {
        Some(ToolTimeout::Unbounded(_)) => return None,
        Some(ToolTimeout::Ms(ms)) => ms,
        None => limits.inherited_ms.filter(|ms| *ms > 0.0)?,
    };
    let least = wanted_ms.max(limits.min_ms.unwrap_or(0.0));
    let reported_ms = limits.max_ms.map_or(least, |max| least.min(max));
    Some(Timeout { reported_ms, enforced_ms: reported_ms + limits.grace_ms.unwrap_or(0.0) })
}

/// A body that reads its letters; until it is dropped.
struct RunningBody {
    body: Rc<Body>,
    id: EffectId,
}

impl RunningBody {
    fn new(call: &Rc<Call>, id: EffectId) -> Self {
        let body = Rc::new(Body { call: Rc::clone(call), requests: Mailbox::default() });
        call.turn.port.expect_letters(id, Rc::clone(&body) as Rc<dyn Receiver>);
        Self { body, id }
    }
}

impl Drop for RunningBody {
    fn drop(&mut self) {
        self.body.call.turn.port.expect_no_letters(self.id);
    }
}
