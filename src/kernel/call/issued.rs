//! A call that the model issued, from its admission to the answer that the transcript gets.

use std::rc::Rc;

use crate::kernel::call::admission::{Admitted, CallRequest};
use crate::kernel::call::execution::{DISPATCH_FAILED, Ran};
use crate::kernel::call::{Call, Refusal, StartedCall, admission, approval, execution, hooks, ledger};
use crate::kernel::protocol::{CallResult, Decision, ErrorInfo, Failure, Kind, Offer, Output, Settlement};
use crate::kernel::trace;
use crate::kernel::turn::{RequestedCall, Turn};

/// Takes a call of the model through the gates.
///
/// # Errors
/// The first gate that refused.
pub async fn admit(turn: &Rc<Turn>, requested: &RequestedCall, offer: Offer) -> Result<IssuedCall, Refusal> {
    // A step that offers less than the turn's tools admits none of them.
    if offer != Offer::All {
        return Err(Refusal::NotFound { tool: requested.tool_name.to_string() });
    }
    let request = CallRequest {
        tool: &requested.tool_name,
        tool_index: requested.tool_index,
        arguments: &requested.arguments,
        id: requested.id.clone(),
        place: requested.place,
        parent: None,
        ticket: None,
        unlisted: false,
        ahead: &requested.ahead,
    };
    admission::admit(turn, &request).await.map(IssuedCall)
}

pub struct IssuedCall(Admitted);

/// How the call is answered.
pub enum Answered {
    Output(Output),
    /// With a result that ends the turn; `text` becomes its answer.
    Ending {
        output: Output,
        text: Option<String>,
    },
    /// A human refused it, after all.
    Refused(Refusal),
}

impl IssuedCall {
    pub fn is_exclusive(&self) -> bool {
        self.0.is_exclusive
    }

    /// Runs the call to its answer; waits for a human first where one has to decide.
    ///
    /// # Errors
    /// A failed child whose connection says that it fails its caller.
    pub async fn run(&self) -> Result<Answered, Failure> {
        let call = &self.0.call;
        let span = || tracing::debug_span!("call", id = %call.id, tool = %call.tool().id);
        trace::within(span, self.run_plainly()).await
    }

    async fn run_plainly(&self) -> Result<Answered, Failure> {
        if self.0.pending.is_none() {
            return run(&self.0, None).await;
        }
        match Box::pin(self.decide()).await {
            Ok(given) => run(&self.0, given).await,
            Err(refusal) => Ok(Answered::Refused(refusal)),
        }
    }

    /// The result that a human brought, or `None` when the body is to run.
    async fn decide(&self) -> Result<Option<CallResult>, Refusal> {
        let Some(pending) = self.0.pending.clone() else { return Ok(None) };
        let call = &self.0.call;
        let external = pending.kind == Kind::External;
        match approval::decide(&call.turn, pending).await {
            Decision::Allow if !external => Ok(None),
            Decision::Result(value) => Ok(Some(CallResult::of(false, value))),
            Decision::Deny(reason) => Err(Refusal::Denied { subject: call.view().subject(), reason: reason.0 }),
            Decision::Allow => Err(Refusal::needs_approval(&call.view())),
        }
    }
}

async fn run(admitted: &Admitted, given: Option<CallResult>) -> Result<Answered, Failure> {
    let call = &admitted.call;
    let started = StartedCall::new(call);
    if let Err(refusal) = ledger::started(call).await {
        started.fail(refusal.error_info());
        return Ok(Answered::Output(Output::error(refusal.to_string())));
    }
    let ran = match given {
        Some(result) => {
            admitted.reservation.spend();
            Ran::Result(result)
        }
        None => {
            call.take_slot().await;
            admitted.begin();
            execution::run(call).await?
        }
    };
    match ran {
        Ran::Result(result) => {
            ledger::settled(call, Settlement::Completed).await;
            let control = result.control;
            let result = hooks::after_tool(call, result).await;
            let output = result.output();
            started.complete(&result, &output);
            let text = control.return_direct.then(|| result.text());
            let output = capped(call, output);
            let ends = control.ends() && !result.is_error;
            Ok(if ends { Answered::Ending { output, text } } else { Answered::Output(output) })
        }
        Ran::Raised { message, .. } => {
            ledger::settled(call, Settlement::Failed).await;
            started.fail(ErrorInfo::new("TOOL_ERROR", DISPATCH_FAILED));
            let shown = call.tool().expose_errors.unwrap_or(call.turn.port.options.expose_errors);
            let text = if shown { message } else { DISPATCH_FAILED.to_owned() };
            Ok(Answered::Output(capped(call, Output::error(text))))
        }
        Ran::NeedsApproval => {
            ledger::settled(call, Settlement::Failed).await;
            let refusal = Refusal::needs_approval(&call.view());
            started.fail(refusal.error_info());
            Ok(Answered::Output(Output::error(refusal.to_string())))
        }
    }
}

/// What the model sees of a result is cut to `limits.toolResultBytes`; a deliverable and a cause are not.
fn capped(call: &Call, output: Output) -> Output {
    let keep_whole =
        call.tool().delegation.as_ref().is_some_and(|connection| connection.contract.is_some() || output.is_error());
    match call.turn.limits.tool_result_bytes {
        Some(max) if !keep_whole => output.capped(max),
        Some(_) | None => output,
    }
}
