//! One tool call that the model issued: admitted or refused (NT-33, NT-41), run, answered. A started call ends in exactly
//! one terminal event, however it is left.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::{Either, select};
use serde_json::value::RawValue;
use tracing::Instrument;

use crate::kernel::access::Verdict;
use crate::kernel::arguments::{self, Release};
use crate::kernel::budget::TreeLimit;
use crate::kernel::delegation;
use crate::kernel::event::{CallInfo, ErrorInfo, EventBody, LimitName};
use crate::kernel::id::{CallId, CallKey};
use crate::kernel::outcome::Failure;
use crate::kernel::port;
use crate::kernel::predicate::{self, Subject};
use crate::kernel::protocol::{CallAnswer, CallResult, Command, Offer, Thrown};
use crate::kernel::refusal::Refusal;
use crate::kernel::reply::RequestedCall;
use crate::kernel::schema;
use crate::kernel::spec::{Concurrency, Exposure, ToolSpec, ToolTimeout};
use crate::kernel::stop::Cut;
use crate::kernel::text::{self, Text};
use crate::kernel::time::{Moment, Sleep};
use crate::kernel::transcript::Output;
use crate::kernel::turn::Turn;

/// A call whose body may run.
pub struct Call {
    pub key: CallKey,
    pub turn: Rc<Turn>,
    pub tool_index: usize,
    pub id: CallId,
    pub arguments: Rc<RawValue>,
    pub progress: RefCell<crate::kernel::progress::Gate>,
    started: Cell<Option<Moment>>,
    ended: Cell<bool>,
}

/// A call that passed every gate and holds its slot of the budget.
pub struct AdmittedCall {
    call: Rc<Call>,
    exclusive: bool,
    release: Release,
}

pub fn info(id: &CallId, tool_id: Rc<str>) -> CallInfo {
    CallInfo {
        call_id: id.clone(),
        tool_id,
        parent_call_id: None,
    }
}

/// Takes a call through the gates, in order. What it reserved is given back when it is refused.
///
/// # Errors
/// The gate that refused it.
pub async fn admit(turn: &Rc<Turn>, requested: &RequestedCall, offer: Offer) -> Result<AdmittedCall, Refusal> {
    let slot = Slot::reserve(turn)?;
    let tool = requested.tool_name.as_str();
    let Some(tool_index) = (offer == Offer::All).then(|| callable(turn, tool)).flatten() else {
        return Err(Refusal::NotFound { tool: tool.to_owned() });
    };
    let spec = &turn.agent().tools[tool_index];
    if let Some(max) = spec.max_uses.filter(|max| turn.tool_uses.borrow()[tool_index] >= *max) {
        return Err(Refusal::UsesSpent {
            tool: tool.to_owned(),
            max,
        });
    }
    let max_depth = turn.limits.max_depth();
    if spec.delegation.is_some() && turn.depth >= max_depth {
        return Err(Refusal::Depth {
            tool: tool.to_owned(),
            max: max_depth,
        });
    }
    let key = turn.port.next_call_key();
    let prepared = arguments::prepare(turn, tool_index, key, &requested.arguments).await?;
    if !may_use(turn, tool_index).await {
        return Err(Refusal::AccessDenied { tool: tool.to_owned() });
    }
    turn.tool_uses.borrow_mut()[tool_index] += 1;
    slot.keep();
    let call = Call {
        key,
        turn: Rc::clone(turn),
        tool_index,
        id: requested.id.clone(),
        arguments: prepared.arguments,
        progress: RefCell::default(),
        started: Cell::default(),
        ended: Cell::default(),
    };
    Ok(AdmittedCall {
        call: Rc::new(call),
        exclusive: prepared.exclusive.unwrap_or(spec.concurrency == Concurrency::Exclusive),
        release: prepared.release,
    })
}

/// The tool of that name, unless it is for nobody to call (D-21).
fn callable(turn: &Turn, name: &str) -> Option<usize> {
    let agent = turn.agent();
    agent
        .tool_index(name)
        .filter(|index| agent.tools[*index].exposure != Exposure::Hidden)
}

async fn may_use(turn: &Rc<Turn>, tool_index: usize) -> bool {
    match turn.access.verdict(&turn.agent().tools[tool_index].access) {
        Verdict::Allowed => true,
        Verdict::Denied => false,
        Verdict::AskHost => predicate::allows(turn, Subject::Tool(tool_index)).await,
    }
}

impl AdmittedCall {
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Runs the call to its answer.
    ///
    /// # Errors
    /// A failed child whose connection says that it fails its caller.
    pub async fn run(self) -> Result<Output, Failure> {
        let span = tracing::debug_span!("call", id = %self.call.id, tool = %self.call.tool().id);
        self.release.keep();
        let started = StartedCall::new(self.call);
        async { perform(&started).await }.instrument(span).await
    }
}

async fn perform(started: &StartedCall) -> Result<Output, Failure> {
    let call = &started.0;
    if let Some(connection) = &call.tool().delegation {
        return match delegation::run(call, connection).await? {
            delegation::Delegated::Completed(value) => {
                let keep_whole = connection.contract.is_some();
                Ok(started.complete(Output::Json(value), None, keep_whole))
            }
            delegation::Delegated::Failed(value) => Ok(started.complete(Output::ErrorJson(value), None, true)),
            delegation::Delegated::Thrown(thrown) => Ok(started.threw(thrown)),
        };
    }
    match run_body(call).await {
        Ran::Answered(CallAnswer::Result(result)) => {
            if let Some(thrown) = too_deep(call.tool(), &result) {
                return Ok(started.threw(thrown));
            }
            let metadata = result.metadata.as_ref().map(|metadata| Rc::from(metadata.clone()));
            Ok(started.complete(output_of(result), metadata, false))
        }
        Ran::Answered(CallAnswer::Thrown(thrown)) => Ok(started.threw(thrown)),
        Ran::TimedOut { after_ms } => {
            let text = format!("tool `{}` timed out after {after_ms} ms", call.tool().id);
            Ok(started.complete(Output::ErrorText(text), None, false))
        }
    }
}

/// What everybody but the program that called sees of a foreign exception (D-11).
const DISPATCH_FAILED: &str = "tool dispatch failed";

enum Ran {
    Answered(CallAnswer),
    TimedOut { after_ms: f64 },
}

async fn run_body(call: &Rc<Call>) -> Ran {
    let turn = &call.turn;
    let effect = turn.port.ask(turn, |id| Command::Call {
        id,
        turn_id: turn.id(),
        key: call.key,
        tool: call.tool_index,
        call_id: &call.id,
        args: (!call.tool().prepares).then_some(&*call.arguments),
    });
    let Some(timeout) = timeout_of(call) else {
        return Ran::Answered(effect.read().await);
    };
    let sleep = Sleep::until(&turn.port, turn.port.now().after_ms(timeout.enforced_ms));
    match select(effect, sleep).await {
        Either::Left((text, _)) => Ran::Answered(port::parse(&text)),
        Either::Right(((), effect)) => {
            effect.cancel(&Cut::ToolTimeout {
                max_ms: timeout.reported_ms,
            });
            Ran::TimedOut {
                after_ms: timeout.reported_ms,
            }
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
    Some(Timeout {
        reported_ms,
        enforced_ms: reported_ms + limits.grace_ms.unwrap_or(0.0),
    })
}

/// A result that nobody can walk is the tool's failure, like one that has no JSON form (D-25).
fn too_deep(tool: &ToolSpec, result: &CallResult) -> Option<Thrown> {
    let values = [&result.value, &result.metadata];
    let found = values
        .into_iter()
        .flatten()
        .any(|value| schema::is_too_deep(value.get()));
    found.then(|| Thrown {
        code: Some("VALUE_TOO_DEEP".to_owned()),
        message: Text(format!(
            "tool '{}' returned a value nested deeper than {} levels",
            tool.id,
            schema::NESTING_MAX
        )),
    })
}

/// What the model sees of a result: the tool's text, else its value.
fn output_of(result: CallResult) -> Output {
    let value = result.value.unwrap_or_else(|| RawValue::NULL.to_owned());
    let text = result.text.map(|text| text.0).or_else(|| text::read(value.get()));
    match (text, result.is_error) {
        (Some(text), false) => Output::Text(text),
        (Some(text), true) => Output::ErrorText(text),
        (None, false) => Output::Json(value),
        (None, true) => Output::ErrorJson(value),
    }
}

impl Call {
    pub fn tool(&self) -> &ToolSpec {
        &self.turn.agent().tools[self.tool_index]
    }

    pub fn info(&self) -> CallInfo {
        info(&self.id, Rc::clone(&self.tool().id))
    }

    fn elapsed_ms(&self) -> f64 {
        self.started
            .get()
            .map_or(0.0, |started| self.turn.port.now().ms_since(started))
    }

    fn captured(&self, value: impl FnOnce() -> Rc<RawValue>) -> Option<Rc<RawValue>> {
        self.turn.port.options.capture_tool_io.then(value)
    }
}

/// A call that has begun. However it is left, one terminal event follows.
struct StartedCall(Rc<Call>);

impl StartedCall {
    fn new(call: Rc<Call>) -> Self {
        let port = &call.turn.port;
        call.started.set(Some(port.now()));
        port.calls.borrow_mut().insert(call.key, Rc::clone(&call));
        let input = call.captured(|| Rc::clone(&call.arguments));
        call.turn.emit(EventBody::ToolStarted {
            call: call.info(),
            input,
        });
        Self(call)
    }

    /// Ends the call with a result; what the model sees of it is cut to `limits.toolResultBytes`, unless it is kept whole.
    fn complete(&self, output: Output, metadata: Option<Rc<RawValue>>, keep_whole: bool) -> Output {
        let call = &self.0;
        self.end();
        call.turn.emit(EventBody::ToolCompleted {
            call: call.info(),
            is_error: output.is_error(),
            duration_ms: call.elapsed_ms(),
            output_bytes: output.bytes(),
            error: output.error_text(),
            output: call.captured(|| output.to_raw()),
            metadata,
        });
        if keep_whole { output } else { self.cap(output) }
    }

    fn cap(&self, output: Output) -> Output {
        match self.0.turn.limits.tool_result_bytes {
            Some(max) => output.capped(max),
            None => output,
        }
    }

    /// Ends the call with what the tool's code threw.
    fn threw(&self, thrown: Thrown) -> Output {
        if thrown.code.is_some() {
            // A KeelError is meant to be read: a tool that reports its own failure, or forwards a refusal.
            return self.complete(Output::ErrorText(thrown.message.0), None, false);
        }
        self.fail(ErrorInfo {
            code: "TOOL_ERROR",
            message: DISPATCH_FAILED.to_owned(),
        });
        let exposed = self.0.tool().expose_errors;
        let shown = exposed.unwrap_or(self.0.turn.port.options.expose_errors);
        self.cap(Output::ErrorText(if shown {
            thrown.message.0
        } else {
            DISPATCH_FAILED.to_owned()
        }))
    }

    fn fail(&self, error: ErrorInfo) {
        self.end();
        self.0.turn.emit(EventBody::ToolFailed {
            call: self.0.info(),
            duration_ms: self.0.elapsed_ms(),
            error,
        });
    }

    fn end(&self) {
        let call = &self.0;
        assert!(!call.ended.replace(true), "a call ends once: {} ended twice", call.id);
        crate::kernel::progress::flush(call);
        call.turn.port.calls.borrow_mut().remove(&call.key);
        if call.tool().delegation.is_some() && call.tool().prepares {
            call.turn.port.say(&Command::Release { key: call.key });
        }
    }
}

impl Drop for StartedCall {
    fn drop(&mut self) {
        if self.0.ended.get() {
            return;
        }
        let cut = self.0.turn.cut();
        let message = format!("parent settled: {cut}; whether the call took effect is unknown");
        self.fail(ErrorInfo {
            code: cut.code(),
            message,
        });
    }
}

/// A reserved slot of the tool-call budget; given back unless it is kept.
struct Slot<'a> {
    turn: &'a Turn,
    kept: Cell<bool>,
}

impl<'a> Slot<'a> {
    fn reserve(turn: &'a Turn) -> Result<Self, Refusal> {
        if !turn.meter.reserve_tool_call(&turn.budget) {
            let max = turn.budget.tool_calls_max();
            turn.reached(LimitName::ToolCalls, max.into());
            return Err(Refusal::ToolCallsSpent { max });
        }
        if let Some(Err(TreeLimit { what, max })) = turn.tree_meter.as_ref().map(|meter| meter.reserve_tool_call()) {
            turn.meter.release_tool_call();
            turn.reached(LimitName::Tree, max);
            return Err(Refusal::TreeSpent { what, max });
        }
        Ok(Self {
            turn,
            kept: Cell::new(false),
        })
    }

    fn keep(&self) {
        self.kept.set(true);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if self.kept.get() {
            return;
        }
        self.turn.meter.release_tool_call();
        if let Some(meter) = &self.turn.tree_meter {
            meter.release_tool_call();
        }
    }
}
