//! The gates that every call passes before its body may run, model-issued or nested, in one order (NT-33): budget, lookup,
//! arguments, middleware, access, the host's own gate, humans. What was reserved is given back when one of them refuses.

use std::cell::Cell;
use std::rc::Rc;

use crate::kernel::call::access::Subject;
use crate::kernel::call::arguments::{Check, KeptValue};
use crate::kernel::call::hooks::Admission;
use crate::kernel::call::idempotency::arguments_hash;
use crate::kernel::call::{Call, NewCall, Refusal, access, arguments, hooks};
use crate::kernel::program::{Concurrency, Exposure};
use crate::kernel::protocol::{AuthorizeAnswer, Command, Kind, LimitName, Pending, Place};
use crate::kernel::turn::{Arguments, TreeLimit, Turn, suspension};
use crate::kernel::value::{CallId, Ticket};

/// A call that somebody asks for.
pub struct CallRequest<'a> {
    pub tool: &'a str,
    /// Its position, where the host has looked it up.
    pub tool_index: Option<usize>,
    pub arguments: &'a Arguments,
    pub id: CallId,
    pub place: Place,
    /// The call whose tool asks; `None` for the model.
    pub parent: Option<&'a Rc<Call>>,
    /// The promise that waits for a nested call.
    pub ticket: Option<Ticket>,
    /// Asked for by a definition that the agent does not have (D-21).
    pub unlisted: bool,
    /// What the host said of the arguments ahead.
    pub ahead: &'a Cell<Option<Check>>,
}

/// A call that passed every gate. It holds its place in the budget until it is kept or dropped.
pub struct Admitted {
    pub call: Rc<Call>,
    pub reservation: Reservation,
    /// What the tool's definition, or its `concurrency` function, says of this call.
    pub is_exclusive: bool,
    /// A human has to decide before it runs.
    pub pending: Option<Pending>,
    kept: Option<KeptValue>,
}

/// # Errors
/// The first gate that refused.
pub async fn admit(turn: &Rc<Turn>, request: &CallRequest<'_>) -> Result<Admitted, Refusal> {
    let reservation = Reservation::take(turn, request.parent.is_some())?;
    let tool_index = lookup(turn, request)?;
    reservation.take_use(tool_index)?;
    let spec = &turn.agent().tools[tool_index];
    let prepared = arguments::prepare(turn, tool_index, request).await?;
    let call = Rc::new(Call::new(NewCall {
        turn: Rc::clone(turn),
        tool_index,
        id: request.id.clone(),
        place: request.place,
        parent: request.parent.cloned(),
        ticket: request.ticket,
        arguments: prepared.arguments,
        given: prepared.given,
        kept: prepared.kept.as_ref().map(|kept| kept.id),
    }));
    let needs_human = spec.external || spec.approval_required;
    if needs_human && !may_wait(turn, request) {
        return Err(Refusal::needs_approval(&call.view()));
    }
    let asked_by_hook = match hooks::admit(turn, &call).await? {
        Admission::Admitted => false,
        Admission::NeedsApproval if may_wait(turn, request) => true,
        Admission::NeedsApproval => return Err(Refusal::needs_approval(&call.view())),
    };
    if !access::may_use(turn, Subject::Tool(tool_index), &spec.access, request.ticket).await {
        return Err(Refusal::AccessDenied { tool: request.tool.to_owned() });
    }
    authorize(turn, &call).await?;
    let default_exclusive = match spec.concurrency {
        Concurrency::Exclusive => true,
        Concurrency::Shared => false,
        // A nested call to a tool that says nothing is exclusive, a model-issued one is not held back (D-10).
        Concurrency::Unset | Concurrency::Dynamic => call.parent.is_some(),
    };
    Ok(Admitted {
        pending: (needs_human || asked_by_hook).then(|| pending(turn, &call)),
        is_exclusive: prepared.exclusive.unwrap_or(default_exclusive),
        call,
        reservation,
        kept: prepared.kept,
    })
}

impl Admitted {
    /// The call is about to run: its place in the budget is used up, and what the host keeps is the body's, unless it may be
    /// needed until the call is over.
    pub fn begin(&self) {
        self.reservation.spend();
        if let Some(kept) = self.kept.as_ref().filter(|_| !self.call.may_run_again()) {
            kept.take();
        }
    }
}

/// The tool of that name, where the turn may know of it (D-17, D-21).
fn lookup(turn: &Turn, request: &CallRequest<'_>) -> Result<usize, Refusal> {
    let tool = request.tool;
    let agent = turn.agent();
    let Some(index) = request
        .tool_index
        .or_else(|| agent.tool_index(tool))
        .filter(|index| agent.tools[*index].exposure != Exposure::Hidden)
        .filter(|_| turn.port.options.allows(tool) && !request.unlisted)
    else {
        return Err(Refusal::NotFound { tool: tool.to_owned() });
    };
    let spec = &agent.tools[index];
    let max_depth = turn.limits.max_depth();
    if spec.delegation.is_some() && turn.depth >= max_depth {
        return Err(Refusal::Depth { tool: tool.to_owned(), max: max_depth });
    }
    Ok(index)
}

/// Below a nested call nobody waits for a human (D-22).
fn may_wait(turn: &Turn, request: &CallRequest<'_>) -> bool {
    request.parent.is_none() && turn.may_wait_for_humans
}

/// The host's `security.authorizeTool`. It sees the arguments as they were sent.
async fn authorize(turn: &Rc<Turn>, call: &Rc<Call>) -> Result<(), Refusal> {
    if turn.port.options.hosted.as_ref().is_some_and(|hosted| hosted.authorizes) {
        Box::pin(ask_to_authorize(turn, call)).await
    } else {
        Ok(())
    }
}

async fn ask_to_authorize(turn: &Rc<Turn>, call: &Rc<Call>) -> Result<(), Refusal> {
    let mut view = call.view();
    view.args = &call.given;
    let effect = turn.ask(|id| Command::Authorize { id, turn_key: turn.key, ticket: call.ticket, call: view });
    match hooks::in_time(turn, effect).await {
        Ok(AuthorizeAnswer::Allow) => Ok(()),
        Ok(AuthorizeAnswer::Deny(reason)) => {
            let reason = reason.map_or_else(|| "tool call was not approved".to_owned(), |reason| reason.0);
            Err(Refusal::Denied { subject: view.subject(), reason })
        }
        Ok(AuthorizeAnswer::Thrown(thrown)) => Err(Refusal::by_hook(&view, thrown.code.as_deref(), thrown.message.0)),
        Err(cut) => Err(Refusal::by_hook(&view, None, cut.to_string())),
    }
}

fn pending(turn: &Turn, call: &Call) -> Pending {
    Pending {
        id: format!("{}:{}", turn.id(), call.id),
        kind: if call.tool().external { Kind::External } else { Kind::Approval },
        path: suspension::path(turn),
        turn_id: turn.id().clone(),
        call_id: call.id.clone(),
        tool_id: Rc::clone(&call.tool().id),
        args: call.arguments.clone(),
        args_hash: arguments_hash(&call.tool().id, call.arguments.get()),
    }
}

/// A place in the tool-call budget of the turn and of the ceilings around it, and one of the uses of a tool. Given back
/// unless it is spent.
pub struct Reservation {
    turn: Rc<Turn>,
    nested: bool,
    /// The tool of which a use is taken.
    used: Cell<Option<usize>>,
    spent: Cell<bool>,
}

impl Reservation {
    fn take(turn: &Rc<Turn>, nested: bool) -> Result<Self, Refusal> {
        if !turn.meter.reserve_call(&turn.budget, nested) {
            let max = turn.budget.tool_calls_max();
            turn.reached(LimitName::ToolCalls, max.into());
            return Err(if nested { Refusal::NestedCallsSpent { max } } else { Refusal::ToolCallsSpent { max } });
        }
        if let Some(Err(TreeLimit { what, max })) = turn.tree_meter.as_ref().map(|meter| meter.reserve_tool_call()) {
            turn.meter.release_call(nested);
            turn.reached(LimitName::Tree, max);
            return Err(Refusal::TreeSpent { what, max });
        }
        Ok(Self { turn: Rc::clone(turn), nested, used: Cell::default(), spent: Cell::default() })
    }

    /// Taken before anything is waited for, so that calls which are admitted at once cannot share the last use.
    fn take_use(&self, tool_index: usize) -> Result<(), Refusal> {
        let tool = &self.turn.agent().tools[tool_index];
        let Some(max) = tool.max_uses else { return Ok(()) };
        let mut uses = self.turn.tool_uses.borrow_mut();
        let uses = uses.entry(tool_index).or_default();
        if *uses >= max {
            return Err(Refusal::UsesSpent { tool: tool.id.to_string(), max });
        }
        *uses += 1;
        self.used.set(Some(tool_index));
        Ok(())
    }

    /// The body is about to run: the place is used up, whatever comes of it.
    pub fn spend(&self) {
        self.spent.set(true);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.spent.get() {
            return;
        }
        if let Some(tool_index) = self.used.get()
            && let Some(uses) = self.turn.tool_uses.borrow_mut().get_mut(&tool_index)
        {
            *uses -= 1;
        }
        self.turn.meter.release_call(self.nested);
        if let Some(meter) = &self.turn.tree_meter {
            meter.release_tool_call();
        }
    }
}
