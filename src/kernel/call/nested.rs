//! `ctx.callTool`: a tool that calls another one. The call passes the same gates as one of the model, in the order of the
//! design; nothing of it reaches the transcript. Whoever no longer waits for it drops it.

use std::cell::Cell;
use std::rc::Rc;

use crate::kernel::call;
use crate::kernel::call::admission::{Admitted, CallRequest};
use crate::kernel::call::arguments::Check;
use crate::kernel::call::execution::{DISPATCH_FAILED, Ran};
use crate::kernel::call::summary::{Entry, Status};
use crate::kernel::call::{Call, Refusal, StartedCall, admission, execution, hooks, ledger, refusal_cap};
use crate::kernel::protocol::{
    CallInfo, CallResult, Command, ErrorInfo, EventBody, Failure, Place, ResultView, Settlement, ToolRequest,
};
use crate::kernel::turn::{Arguments, Turn};
use crate::kernel::value::{CallId, EffectId, Json, Ticket};
use crate::kernel::wait::{Hold, Moment};

/// What a body sends.
pub struct NestedRequest {
    /// The promise that waits.
    pub ticket: Ticket,
    pub tool: Rc<str>,
    /// Its position, where the host has looked it up.
    pub tool_index: Option<usize>,
    /// Given as a tool object that is not among the agent's tools.
    pub unlisted: bool,
    pub arguments: Arguments,
    /// What the host said of the arguments ahead.
    pub ahead: Cell<Option<Check>>,
}

impl NestedRequest {
    pub fn new(turn: &Rc<Turn>, request: ToolRequest) -> Self {
        let arguments = match (request.args, request.broken) {
            _ if request.too_deep => Arguments::TooDeep,
            (_, Some(broken)) => Arguments::Broken { message: broken.0 },
            // The reader takes a null for nothing.
            (json, None) => Arguments::Json(json.unwrap_or_else(Json::null)),
        };
        let (tool, tool_index) = request.tool.of(turn.agent());
        Self {
            ticket: request.ticket,
            tool,
            tool_index,
            unlisted: request.unlisted,
            arguments,
            ahead: Cell::new(request.ahead.map(|answer| Check::new(turn, answer))),
        }
    }
}

/// How a nested call ended for its caller.
enum Ended {
    Result(CallResult),
    Refused(Refusal),
    Raised { thrown_by: Option<EffectId> },
}

/// Serves one nested call to its answer.
///
/// # Errors
/// A delegation whose connection says that a failed child fails its caller: the turn.
pub async fn serve(parent: Rc<Call>, request: NestedRequest) -> Result<(), Failure> {
    let loan = parent.slot.lend();
    let caller = Caller::new(&parent, &request);
    let ended = perform(&parent, &caller.id, &request).await?;
    drop(loan);
    parent.take_slot_back().await;
    caller.answer(&ended);
    Ok(())
}

/// Numbers a call that was abandoned before it was made, and tells so; nothing else comes of it.
pub fn abandon(parent: &Rc<Call>, request: &NestedRequest) {
    drop(Caller::new(parent, request));
}

async fn perform(parent: &Rc<Call>, id: &CallId, request: &NestedRequest) -> Result<Ended, Failure> {
    let cap = &parent.nesting().cap;
    let Some(admission) = cap.admit().await else {
        return Ok(Ended::Refused(refuse(
            parent,
            id,
            request,
            Refusal::TooManyRefused { tool: request.tool.to_string(), parent: parent.id.clone() },
        )));
    };
    let admitted = match admit(parent, id, request).await {
        Ok(admitted) => admitted,
        Err(refusal) => {
            admission.refused();
            return Ok(Ended::Refused(refuse(parent, id, request, refusal)));
        }
    };
    drop::<refusal_cap::Admission<'_>>(admission);
    if let Err(refusal) = ledger::check_unresolved(&admitted.call).await {
        return Ok(Ended::Refused(refuse(parent, id, request, refusal)));
    }
    run(admitted).await
}

/// The checks that only nested calls have, and those that all calls have.
async fn admit(parent: &Rc<Call>, id: &CallId, request: &NestedRequest) -> Result<Admitted, Refusal> {
    let turn = &parent.turn;
    let max = turn.limits.max_nested_depth();
    if max == 0 {
        return Err(Refusal::NestedDisabled);
    }
    if parent.level + 1 > max {
        return Err(Refusal::NestedDepth { tool: request.tool.to_string(), max });
    }
    let asked = CallRequest {
        tool: &request.tool,
        tool_index: request.tool_index,
        arguments: &request.arguments,
        id: id.clone(),
        place: Place::Nested(id.nested_number()),
        parent: Some(parent),
        ticket: Some(request.ticket),
        unlisted: request.unlisted,
        ahead: &request.ahead,
    };
    let admitted = admission::admit(turn, &asked).await?;
    if hold_of(&admitted) == Hold::Exclusive && admitted.call.hold.get() == Some(Hold::Shared) {
        return Err(Refusal::SharedGate { tool: request.tool.to_string() });
    }
    Ok(admitted)
}

/// A refused call was never started: one event, unpaired (D-13).
fn refuse(parent: &Call, id: &CallId, request: &NestedRequest, refusal: Refusal) -> Refusal {
    let call = CallInfo { call_id: id.clone(), tool_id: Rc::clone(&request.tool) };
    parent.turn.emit(EventBody::ToolRefused { call, error: Box::new(refusal.error_info()) });
    refusal
}

async fn run(admitted: Admitted) -> Result<Ended, Failure> {
    let call = &admitted.call;
    let started = StartedCall::new(call);
    if let Err(refusal) = ledger::started(call).await {
        started.fail(refusal.error_info());
        return Ok(Ended::Refused(refusal));
    }
    let parent = call.parent.as_ref().expect("a nested call has a caller");
    let hold = hold_of(&admitted);
    let _among_siblings = parent.nesting().gate.pass(hold).await;
    // Below a call that holds the turn's gate, the gate is not taken again: it would wait for its own caller.
    let _in_turn = match call.hold.get() {
        Some(_) => None,
        None => Some(call.turn.gate.pass(hold).await),
    };
    call.hold.set(call.hold.get().or(Some(hold)));
    call.take_slot().await;
    admitted.begin();
    match Box::pin(execution::run(call)).await? {
        Ran::Result(result) => {
            ledger::settled(call, Settlement::Completed).await;
            hooks::observe_nested(call, &result).await;
            started.complete(&result, &result.output());
            Ok(Ended::Result(result))
        }
        Ran::Raised { thrown_by, .. } => {
            ledger::settled(call, Settlement::Failed).await;
            started.fail(ErrorInfo::new("TOOL_ERROR", DISPATCH_FAILED));
            Ok(Ended::Raised { thrown_by })
        }
        Ran::NeedsApproval => {
            ledger::settled(call, Settlement::Failed).await;
            // Counted as it is told: until then it may be dropped, and the refusals that others hear of would be one short.
            parent.nesting().cap.refuse();
            let refusal = Refusal::needs_approval(&call.view());
            started.fail(refusal.error_info());
            Ok(Ended::Refused(refusal))
        }
    }
}

fn hold_of(admitted: &Admitted) -> Hold {
    let call = &admitted.call;
    let serial = admitted.is_exclusive || !call.tool().injects.is_empty() || call.turn.hooks.serial;
    if serial { Hold::Exclusive } else { Hold::Shared }
}

/// The tool that waits for a nested call. Dropped before the answer, the call was abandoned: its promise is rejected, and
/// the summary says so.
struct Caller {
    parent: Rc<Call>,
    id: CallId,
    ticket: Ticket,
    tool: Rc<str>,
    /// As sent, where payloads are captured.
    arguments: Option<String>,
    began: Moment,
    answered: bool,
}

impl Caller {
    /// Numbers the call: every request gets a number, also one that is refused unseen.
    fn new(parent: &Rc<Call>, request: &NestedRequest) -> Self {
        let numbered = &parent.nesting().numbered;
        let number = numbered.get() + 1;
        numbered.set(number);
        let port = &parent.turn.port;
        Self {
            parent: Rc::clone(parent),
            id: parent.id.nested(number),
            ticket: request.ticket,
            tool: Rc::clone(&request.tool),
            arguments: port.options.capture_tool_io.then(|| request.arguments.shown().to_owned()),
            began: port.now(),
            answered: false,
        }
    }

    fn answer(mut self, ended: &Ended) {
        self.answered = true;
        let (status, error) = match ended {
            Ended::Result(result) if result.is_error => (Status::Error, Some(result.text())),
            Ended::Result(_) => (Status::Ok, None),
            Ended::Refused(refusal) => (Status::Failed, Some(refusal.to_string())),
            Ended::Raised { .. } => (Status::Failed, Some(DISPATCH_FAILED.to_owned())),
        };
        let error = error.filter(|_| self.parent.turn.port.options.capture_tool_io);
        self.summarise(status, error);
        let (result, error, thrown_by) = match ended {
            Ended::Result(result) => (Some(ResultView::of(result)), None, None),
            Ended::Refused(refusal) => (None, Some(refusal.error_info()), None),
            Ended::Raised { thrown_by } => (None, Some(ErrorInfo::new("TOOL_ERROR", DISPATCH_FAILED)), *thrown_by),
        };
        self.tell(result, error, thrown_by);
    }

    fn summarise(&self, status: Status, error: Option<String>) {
        self.parent.nesting().summary.borrow_mut().add(|| Entry {
            id: self.id.clone(),
            name: Rc::clone(&self.tool),
            status,
            duration_ms: self.parent.turn.port.now().ms_since(self.began),
            args: self.arguments.clone(),
            error,
        });
    }

    fn tell(&self, result: Option<ResultView<'_>>, error: Option<ErrorInfo>, thrown_by: Option<EffectId>) {
        let port = &self.parent.turn.port;
        port.say(&Command::Resolve { ticket: self.ticket, result, error, thrown_by });
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let error = call::dropped(&self.parent.turn);
        self.summarise(Status::Abandoned, Some(error.message.clone()));
        self.tell(None, Some(error), None);
    }
}
