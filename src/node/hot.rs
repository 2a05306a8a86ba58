//! The few functions that every step and every nested call goes through, written against Node's own interface: what a macro wraps
//! around a function costs more than the function. `reply` and `result` answer a command; the others say what a reply or a body asks for.

#![expect(unsafe_code, reason = "Node's own interface")]

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::{FromNapiValue, Object};
use napi::{Env, JsValue, sys};
use napi_derive::napi;

use super::text::Text;
use super::{Opened, accepted, with_engine};

use crate::kernel::protocol::{
    AskedCall, CallResult, FinishReason, Given, Letter, ModelReply, Part, ToolName, ToolRequest,
};
use crate::kernel::value::{EffectId, Json, Ticket, Usage, panic_message};

/// Adds the functions to the addon.
#[napi(module_exports)]
pub fn export_hot(exports: Object<'_>, env: Env) -> napi::Result<()> {
    let functions: [(&CStr, sys::napi_callback); 8] = [
        (c"say", Some(say)),
        (c"call", Some(call)),
        (c"reply", Some(reply)),
        (c"result", Some(result)),
        (c"callTool", Some(call_tool)),
        (c"nothing", Some(nothing)),
        (c"answer", Some(answer)),
        (c"texts", Some(texts)),
    ];
    for (name, function) in functions {
        let mut value = ptr::null_mut();
        // SAFETY: the environment and the object are live, the names end with a zero.
        unsafe {
            check(sys::napi_create_function(
                env.raw(),
                name.as_ptr(),
                name.count_bytes().cast_signed(),
                function,
                ptr::null_mut(),
                &raw mut value,
            ))?;
            check(sys::napi_set_named_property(env.raw(), exports.raw(), name.as_ptr(), value))?;
        }
    }
    Ok(())
}

/// `say(engine, text)`: a text of the reply that `reply` will complete.
unsafe extern "C" fn say(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<2>(env, info, |opened, arguments| {
        opened.parts.push(Part::Text(arguments.text(1)?));
        Ok(ptr::null_mut())
    })
}

/// `call(engine, id, tool, input, kept, exclusive)`: a call of the reply that `reply` will complete, of the tool at that position;
/// `kept`: what the host keeps of arguments that it accepted, or -1; `exclusive`: whether the call runs alone, -1 where nobody says,
/// -2 while the check is under way.
unsafe extern "C" fn call(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<6>(env, info, |opened, arguments| {
        let ahead = accepted(arguments.number(4)?, arguments.number(5)?);
        opened.parts.push(Part::Call(AskedCall {
            id: arguments.text(1)?,
            tool: ToolName::Listed(usize::try_from(arguments.number(2)?).unwrap_or(usize::MAX)),
            input: arguments.text(3)?,
            provider_options: None,
            provider_executed: false,
            is_json: ahead.is_some(),
            ahead,
        }));
        Ok(ptr::null_mut())
    })
}

/// `reply(engine, id, finish)`: answers a model call with the parts said before. `numbers` holds besides: input, output and
/// total tokens, and cache read tokens, reasoning tokens and cost, NaN where there is none.
unsafe extern "C" fn reply(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<3>(env, info, |opened, arguments| {
        let [input, output, total, cached, reasoning, cost] = opened.besides();
        let some = |number: f64| (!number.is_nan()).then_some(number);
        let usage = Usage {
            input_tokens: input,
            output_tokens: output,
            total_tokens: total,
            cache_read_tokens: some(cached),
            reasoning_tokens: some(reasoning),
            nudges: 0,
            cost_usd: some(cost),
        };
        let finish = usize::try_from(arguments.number(2)?).unwrap_or(usize::MAX);
        let finish_reason = FinishReason::ALL.get(finish).copied().unwrap_or(FinishReason::Other);
        let parts = std::mem::take(&mut opened.parts);
        give(env, opened, arguments.id(1)?, Given::Reply(ModelReply { parts, finish_reason, usage }))
    })
}

/// `result(engine, id, value)`: answers a call with the plain value that its body returned, as JSON text.
unsafe extern "C" fn result(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<3>(env, info, |opened, arguments| {
        give(env, opened, arguments.id(1)?, Given::Result(CallResult::returned(arguments.text(2)?)))
    })
}

/// `nothing(engine, id)`: answers a command of which there is nothing to say, and nothing is in the way of what it was asked about.
unsafe extern "C" fn nothing(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<2>(env, info, |opened, arguments| give(env, opened, arguments.id(1)?, Given::Nothing))
}

/// `answer(engine, id, text)`: answers any command with JSON text.
unsafe extern "C" fn answer(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<3>(env, info, |opened, arguments| {
        give(env, opened, arguments.id(1)?, Given::Text(arguments.text(2)?.as_ref().to_owned()))
    })
}

/// `callTool(engine, id, ticket, tool, args, kept, exclusive)`: the body `id` calls the tool at that position.
unsafe extern "C" fn call_tool(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<7>(env, info, |opened, arguments| {
        let request = ToolRequest {
            ticket: Ticket(arguments.id(2)?),
            tool: ToolName::Listed(usize::try_from(arguments.number(3)?).unwrap_or(usize::MAX)),
            args: Some(Json::known(arguments.text(4)?)),
            ahead: accepted(arguments.number(5)?, arguments.number(6)?),
            broken: None,
            too_deep: false,
            unlisted: false,
            abandoned: false,
        };
        let id = EffectId(arguments.id(1)?);
        let Some(tree) = opened.tree() else { return number(env, 0) };
        let now = opened.now();
        opened.engine.letter(tree, id, Letter::CallTool(request), now).map_err(super::reason)?;
        number(env, opened.hand_out(tree))
    })
}

/// `texts(engine)`: the texts that belong to the words; a single one as it is, several as an array.
unsafe extern "C" fn texts(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    serve::<1>(env, info, |opened, _| {
        let texts = std::mem::take(&mut opened.texts);
        if let [text] = texts.as_slice() {
            return string(env, text);
        }
        let mut array = ptr::null_mut();
        // SAFETY: the environment is the call's.
        check(unsafe { sys::napi_create_array_with_length(env, texts.len(), &raw mut array) })?;
        for (index, text) in texts.iter().enumerate() {
            let text = string(env, text)?;
            // SAFETY: both values are of this call.
            check(unsafe { sys::napi_set_element(env, array, u32::try_from(index).unwrap_or(u32::MAX), text) })?;
        }
        Ok(array)
    })
}

fn give(env: sys::napi_env, opened: &mut Opened, id: u32, given: Given) -> napi::Result<sys::napi_value> {
    let Some(tree) = opened.tree() else { return number(env, 0) };
    let now = opened.now();
    opened.engine.answer(tree, EffectId(id), given, now).map_err(super::reason)?;
    number(env, opened.hand_out(tree))
}

fn string(env: sys::napi_env, text: &str) -> napi::Result<sys::napi_value> {
    let mut value = ptr::null_mut();
    let (bytes, length) = (text.as_ptr().cast(), text.len().cast_signed());
    // SAFETY: the text is that long; ASCII is Latin-1, too, and quicker read as such.
    check(unsafe {
        if text.is_ascii() {
            sys::napi_create_string_latin1(env, bytes, length, &raw mut value)
        } else {
            sys::napi_create_string_utf8(env, bytes, length, &raw mut value)
        }
    })?;
    Ok(value)
}

struct Arguments<const N: usize> {
    env: sys::napi_env,
    values: [sys::napi_value; N],
}

impl<const N: usize> Arguments<N> {
    fn number(&self, index: usize) -> napi::Result<i32> {
        let mut number = 0;
        // SAFETY: the value is one of the call's.
        check(unsafe { sys::napi_get_value_int32(self.env, self.values[index], &raw mut number) })?;
        Ok(number)
    }

    fn id(&self, index: usize) -> napi::Result<u32> {
        self.number(index).map(i32::cast_unsigned)
    }

    fn text(&self, index: usize) -> napi::Result<Rc<str>> {
        // SAFETY: the value is one of the call's.
        unsafe { Text::from_napi_value(self.env, self.values[index]) }.map(|text| text.0)
    }
}

/// Serves a call whose first argument is the engine; a panic is thrown like any error.
fn serve<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    serve: impl FnOnce(&mut Opened, &Arguments<N>) -> napi::Result<sys::napi_value>,
) -> sys::napi_value {
    let served = catch_unwind(AssertUnwindSafe(|| {
        let mut arguments = Arguments { env, values: [ptr::null_mut(); N] };
        let mut count = N;
        // SAFETY: there is room for that many; absent ones are undefined.
        check(unsafe {
            sys::napi_get_cb_info(
                env,
                info,
                &raw mut count,
                arguments.values.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        with_engine(arguments.id(0)?, |opened| serve(opened, &arguments))
    }));
    let error = match served {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic_message(&*panic),
    };
    let message = std::ffi::CString::new(error).unwrap_or_default();
    // SAFETY: the message ends with a zero.
    unsafe { sys::napi_throw_error(env, ptr::null(), message.as_ptr()) };
    ptr::null_mut()
}

fn number(env: sys::napi_env, number: i32) -> napi::Result<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: the environment is the call's.
    check(unsafe { sys::napi_create_int32(env, number, &raw mut value) })?;
    Ok(value)
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(napi::Error::from_status(napi::Status::from(status))) }
}
