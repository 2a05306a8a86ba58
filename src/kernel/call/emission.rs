//! `ctx.emit`: a part that a tool gives to its turn while it runs. The host has checked the value before it told us, since
//! the tool wants the error at once; a part that the agent does not emit cannot get here.

use std::rc::Rc;

use crate::kernel::call::Call;
use crate::kernel::protocol::{EventBody, PartEmitted};
use crate::kernel::turn::EmittedPart;
use crate::kernel::value::Json;

pub fn emit(call: &Call, part_index: usize, value: Json) {
    let turn = &call.turn;
    let part = &turn.agent().emits[part_index];
    turn.emit(EventBody::PartEmitted(Box::new(PartEmitted {
        part: Rc::clone(&part.name),
        value: value.clone(),
        call_id: Some(call.id.clone()),
        forwarded_from: None,
    })));
    turn.progressed.borrow_mut().parts.push(EmittedPart { part: Rc::clone(&part.name), value, persist: part.persist });
}
