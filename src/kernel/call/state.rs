//! A tool call that passed its gates. Once it has started it ends in exactly one terminal event, however it is left.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::kernel::call::progress;
use crate::kernel::call::refusal_cap::RefusalCap;
use crate::kernel::call::summary::Summary;
use crate::kernel::program::ToolSpec;
use crate::kernel::protocol::{CallInfo, CallResult, CallView, ErrorInfo, EventBody, MoreOfResult, Output, Place};
use crate::kernel::turn::{Turn, reply};
use crate::kernel::value::{CallId, Json, KeptId, Ticket};
use crate::kernel::wait::{Gate, Hold, Moment, Slot};

pub struct Call {
    pub turn: Rc<Turn>,
    pub tool_index: usize,
    pub id: CallId,
    pub place: Place,
    /// The call whose tool made this one; `None` for the model's own.
    pub parent: Option<Rc<Call>>,
    /// The promise that waits for a nested call.
    pub ticket: Option<Ticket>,
    /// 0: issued by the model.
    pub level: u32,
    /// As the body gets them.
    pub arguments: Json,
    /// As they were sent, before injection and repair.
    pub given: Json,
    /// What the host's own check made of the arguments, for the body.
    pub kept: Option<KeptId>,
    nesting: OnceCell<Box<Nesting>>,
    /// How the turn's gate is held by this call, or by one above it.
    pub hold: Cell<Option<Hold>>,
    pub slot: Slot,
    pub progress: RefCell<Option<Box<progress::Gate>>>,
    started: Cell<Option<Moment>>,
    ended: Cell<bool>,
}

/// What a call keeps of the calls that it makes.
#[derive(Default)]
pub struct Nesting {
    pub numbered: Cell<u32>,
    pub cap: RefusalCap,
    pub gate: Gate,
    pub summary: RefCell<Summary>,
}

impl Call {
    pub fn new(admitted: NewCall) -> Self {
        let NewCall { turn, tool_index, id, place, parent, ticket, arguments, given, kept } = admitted;
        Self {
            level: parent.as_ref().map_or(0, |parent| parent.level + 1),
            hold: Cell::new(parent.as_ref().and_then(|parent| parent.hold.get())),
            slot: Slot::of(turn.tree.slots.clone()),
            nesting: OnceCell::new(),
            progress: RefCell::default(),
            started: Cell::default(),
            ended: Cell::default(),
            turn,
            tool_index,
            id,
            place,
            parent,
            ticket,
            arguments,
            given,
            kept,
        }
    }

    /// What the call keeps of those that it makes, from the first on: most make none.
    pub fn nesting(&self) -> &Nesting {
        self.nesting.get_or_init(Box::default)
    }

    /// The same, where it made any.
    pub fn nested(&self) -> Option<&Nesting> {
        self.nesting.get().map(|nesting| &**nesting)
    }

    /// What the host keeps for it may be needed more than once: wrap layers may run the body again, and a child turn may be
    /// opened again.
    pub fn may_run_again(&self) -> bool {
        self.turn.hooks.wrap_tool || self.tool().delegation.is_some()
    }

    /// The body gets what the model wrote.
    pub fn has_its_arguments(&self) -> bool {
        self.parent.is_none() && self.arguments.is(&self.given) && self.given.get() != reply::EMPTY
    }

    pub fn tool(&self) -> &ToolSpec {
        &self.turn.agent().tools[self.tool_index]
    }

    pub fn info(&self) -> CallInfo {
        CallInfo { call_id: self.id.clone(), tool_id: Rc::clone(&self.tool().id) }
    }

    pub fn view(&self) -> CallView<'_> {
        CallView {
            tool: self.tool_index,
            tool_id: &self.tool().id,
            call_id: &self.id,
            is_nested: self.parent.is_some(),
            place: self.place,
            args: &self.arguments,
            is_known: match self.place {
                Place::Given(_) => self.has_its_arguments(),
                Place::Renamed(_) => false,
                Place::Nested(_) => self.arguments.is(&self.given),
            },
        }
    }

    /// Waits for a slot of the tree; somebody else's work, not a human, brings it.
    pub async fn take_slot(&self) {
        if self.slot.is_limited() {
            let _busy = self.turn.lifetime.busy();
            Box::pin(self.slot.take()).await;
        }
    }

    /// Waits for the slot that the call lent while something below it was in flight.
    pub async fn take_slot_back(&self) {
        if self.slot.is_limited() {
            let _busy = self.turn.lifetime.busy();
            Box::pin(self.slot.take_back()).await;
        }
    }

    pub fn elapsed_ms(&self) -> f64 {
        self.started.get().map_or(0.0, |started| self.turn.port.now().ms_since(started))
    }

    fn captured(&self, value: impl FnOnce() -> Json) -> Option<Json> {
        self.turn.port.options.capture_tool_io.then(value)
    }
}

/// What a call is made of.
pub struct NewCall {
    pub turn: Rc<Turn>,
    pub tool_index: usize,
    pub id: CallId,
    pub place: Place,
    pub parent: Option<Rc<Call>>,
    pub ticket: Option<Ticket>,
    pub arguments: Json,
    pub given: Json,
    pub kept: Option<KeptId>,
}

/// A call that has begun. However it is left, one terminal event follows.
pub struct StartedCall(pub Rc<Call>);

impl StartedCall {
    pub fn new(call: &Rc<Call>) -> Self {
        call.started.set(Some(call.turn.port.now()));
        let input = call.captured(|| call.given.clone());
        call.turn.emit(EventBody::ToolStarted { call: call.info(), input });
        Self(Rc::clone(call))
    }

    pub fn complete(&self, result: &CallResult, output: &Output) {
        let call = &self.0;
        self.end();
        let more = MoreOfResult {
            error: output.error_text(),
            output: call.captured(|| output.to_json()),
            metadata: result.metadata.clone(),
        };
        call.turn.emit(EventBody::ToolCompleted {
            call: call.info(),
            is_error: output.is_error(),
            duration_ms: call.elapsed_ms(),
            output_bytes: output.bytes(),
            more: (!more.is_empty()).then(|| Box::new(more)),
        });
    }

    pub fn fail(&self, error: ErrorInfo) {
        self.end();
        self.0.turn.emit(EventBody::ToolFailed {
            call: self.0.info(),
            duration_ms: self.0.elapsed_ms(),
            error: Box::new(error),
        });
    }

    fn end(&self) {
        let call = &self.0;
        assert!(!call.ended.replace(true), "a call ends once: {} ended twice", call.id);
        progress::flush(call);
    }
}

impl Drop for StartedCall {
    fn drop(&mut self) {
        if self.0.ended.get() {
            return;
        }
        self.fail(dropped(&self.0.turn));
    }
}

/// What everybody is told of a call that was dropped before it settled (D-12).
pub fn dropped(turn: &Turn) -> ErrorInfo {
    let (code, why) = match turn.lifetime.interruption() {
        Some(cut) => (cut.code(), cut.to_string()),
        None => ("TOOL_FAILED", "nobody waits for the call any longer".to_owned()),
    };
    ErrorInfo::new(code, &format!("parent settled: {why}; whether the call took effect is unknown"))
}
