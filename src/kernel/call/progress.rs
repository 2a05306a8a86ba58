//! What tools tell while they run. A call may report as often as it likes; at most 32 reports a second become events, the
//! newest of the rest follows when the call ends, so a tight loop cannot fill the memory (BL-136). What a nested call
//! reports is its caller's business: the caller knows how far it is, and tells that itself.

use crate::kernel::call::Call;
use crate::kernel::protocol::{EventBody, Progress};
use crate::kernel::wait::Moment;

const EVENTS_PER_SECOND: u32 = 32;

#[derive(Debug, Default)]
pub struct Gate {
    second_began: Moment,
    sent: u32,
    held_back: Option<Progress>,
}

pub fn report(call: &Call, progress: Progress) {
    if call.parent.is_some() {
        return;
    }
    let now = call.turn.port.now();
    let mut gate = call.progress.borrow_mut();
    let gate = gate.get_or_insert_default();
    if now.ms_since(gate.second_began) >= 1_000.0 {
        gate.second_began = now;
        gate.sent = 0;
    }
    if gate.sent >= EVENTS_PER_SECOND {
        gate.held_back = Some(progress);
        return;
    }
    gate.sent += 1;
    gate.held_back = None;
    send(call, progress);
}

/// Sends what was held back; the call is about to end.
pub fn flush(call: &Call) {
    let held_back = call.progress.borrow_mut().as_mut().and_then(|gate| gate.held_back.take());
    if let Some(progress) = held_back {
        send(call, progress);
    }
}

fn send(call: &Call, progress: Progress) {
    call.turn.emit(EventBody::ToolProgress { call: call.info(), progress: Box::new(progress), forwarded_from: None });
}
