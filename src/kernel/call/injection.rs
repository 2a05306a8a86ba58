//! Arguments that no caller gives: the host fills them in, or the kernel with the call's id. A caller that sends them all
//! the same is overruled: declared keys are taken out before anything looks at the arguments.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::kernel::call::admission::CallRequest;
use crate::kernel::call::{Refusal, hooks};
use crate::kernel::program::{InjectFrom, ToolSpec};
use crate::kernel::protocol::{Answer, CallView, Command};
use crate::kernel::schema;
use crate::kernel::schema::Object;
use crate::kernel::turn::Turn;
use crate::kernel::value::Json;

/// The caller's arguments without the keys that are injected.
///
/// # Errors
/// A tool with injected arguments takes an object.
pub fn stripped(spec: &ToolSpec, given: &Json) -> Result<Json, String> {
    if spec.injects.is_empty() {
        return Ok(given.clone());
    }
    let Object(members) = serde_json::from_str(given.get()).map_err(|_| "expected an object".to_owned())?;
    let own = members.into_iter().filter(|(name, _)| !spec.injects.iter().any(|inject| inject.name == *name));
    Ok(object(own.map(|(name, value)| (name, value.get()))))
}

/// The arguments with what is injected.
///
/// # Errors
/// The host gave no value for a key, or threw; why stays with the host.
pub async fn filled(
    turn: &Rc<Turn>,
    tool: usize,
    request: &CallRequest<'_>,
    given: &Json,
    checked: Json,
) -> Result<Json, Refusal> {
    let spec = &turn.agent().tools[tool];
    if spec.injects.is_empty() {
        return Ok(checked);
    }
    let failed = || Refusal::Injection { tool: spec.id.to_string() };
    let from_host = spec.injects.iter().any(|inject| inject.from == InjectFrom::Host);
    let values: BTreeMap<String, Json> = if from_host {
        let call = CallView {
            tool,
            tool_id: &spec.id,
            call_id: &request.id,
            is_nested: request.parent.is_some(),
            place: request.place,
            is_known: false,
            args: given,
        };
        let effect = turn.ask(|id| Command::Inject { id, turn_key: turn.key, ticket: request.ticket, call });
        match hooks::in_time(turn, effect).await {
            Ok(Answer::Ok(values)) => values,
            Ok(Answer::Thrown(_)) | Err(_) => return Err(failed()),
        }
    } else {
        BTreeMap::new()
    };
    let call_id = Json::of(&request.id);
    let Object(members) = serde_json::from_str(checked.get()).map_err(|_| failed())?;
    let mut own: Vec<(String, &Json)> = Vec::with_capacity(spec.injects.len());
    for inject in &spec.injects {
        let value = match inject.from {
            InjectFrom::ToolCallId => Some(&call_id),
            InjectFrom::Host => values.get(&inject.name),
        };
        let value = value.filter(|value| !schema::is_too_deep(value.get()));
        own.push((inject.name.clone(), value.ok_or_else(failed)?));
    }
    let own = own.into_iter().map(|(name, value)| (name, value.get()));
    Ok(object(members.into_iter().map(|(name, value)| (name, value.get())).chain(own)))
}

fn object<'t>(members: impl Iterator<Item = (String, &'t str)>) -> Json {
    let member = |(name, value): (String, &str)| {
        let name = serde_json::to_string(&name).expect("a string always serialises");
        format!("{name}:{value}")
    };
    let members: Vec<String> = members.map(member).collect();
    Json::known(format!("{{{}}}", members.join(",")))
}
