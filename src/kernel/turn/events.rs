//! What a turn tells: its own events, to whoever listens and for its record, and what of them its connection shows in its
//! caller's (NT-34).

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use crate::kernel::protocol::{Command, Event, EventBody, EventView, PartEmitted, Progress};
use crate::kernel::turn::Turn;
use crate::kernel::value::Text;

/// The events of one turn.
#[derive(Default)]
pub struct EventLog(RefCell<Vec<Event>>);

impl EventLog {
    pub fn all(&self) -> Ref<'_, Vec<Event>> {
        self.0.borrow()
    }
}

impl Turn {
    pub fn emit(&self, body: EventBody) {
        let event = Event { body, seq: self.tree.next_seq(), at: self.port.clock.wall_ms() };
        if self.tree.stream.get() {
            let view = EventView { event: &event, header: &self.header };
            self.port.say(&Command::Event { turn_key: self.key, event: view });
        }
        forward(self, &event.body);
        // Deltas are not kept: the transcript has the text, once.
        if !matches!(event.body, EventBody::TextDelta { .. }) {
            self.events.0.borrow_mut().push(event);
        }
    }
}

/// Shows in the caller's own events what its connection forwards of a child's (NT-34).
fn forward(child: &Turn, body: &EventBody) {
    let (Some(origin), Some(caller)) = (&child.origin, &child.parent) else {
        return;
    };
    let progress = |progress: Progress| EventBody::ToolProgress {
        call: origin.call.clone(),
        progress: Box::new(progress),
        forwarded_from: Some(child.id().clone()),
    };
    if let EventBody::PartEmitted(emitted) = body
        && let PartEmitted { part, value, forwarded_from: None, .. } = &**emitted
        && origin.forward.parts.iter().any(|name| **name == **part)
    {
        caller.emit(EventBody::PartEmitted(Box::new(PartEmitted {
            part: Rc::clone(part),
            value: value.clone(),
            call_id: Some(origin.call.call_id.clone()),
            forwarded_from: Some(child.id().clone()),
        })));
    }
    if !origin.forward.progress {
        return;
    }
    if let EventBody::StepStarted { step, .. } = body {
        let total = child.budget.steps_max();
        let message = Some(Text(format!("{} step {step}", child.header.agent_id)));
        caller.emit(progress(Progress { message, done: Some((*step).into()), total: Some(total.into()) }));
    }
    if let EventBody::ToolProgress { progress: reported, forwarded_from: None, .. } = body {
        caller.emit(progress(Progress::clone(reported)));
    }
}
