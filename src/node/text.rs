//! Text from JavaScript, taken over in one pass: asking for its length first would cost as much as taking it.

use std::cell::RefCell;
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::{FromNapiValue, TypeName, ValidateNapiValue};
use napi::{Status, ValueType, sys};

/// What most texts fit into.
const ROOM: usize = 1 << 16;

pub struct Text(pub Rc<str>);

impl TypeName for Text {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ValidateNapiValue for Text {}

impl FromNapiValue for Text {
    #[expect(unsafe_code, reason = "Node's own interface")]
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        thread_local!(static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; ROOM]));
        BUFFER.with_borrow_mut(|buffer| {
            let mut length = 0;
            // SAFETY: the buffer has that much room.
            check(unsafe {
                sys::napi_get_value_string_utf8(env, value, buffer.as_mut_ptr().cast(), buffer.len(), &raw mut length)
            })?;
            // A longer text was cut; a character may take four bytes.
            if length + 4 < buffer.len() {
                return read(&buffer[..length]);
            }
            // SAFETY: it only tells the length.
            check(unsafe { sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut length) })?;
            let mut whole = vec![0_u8; length + 1];
            // SAFETY: the buffer has that much room.
            check(unsafe {
                sys::napi_get_value_string_utf8(env, value, whole.as_mut_ptr().cast(), whole.len(), &raw mut length)
            })?;
            read(&whole[..length])
        })
    }
}

fn read(bytes: &[u8]) -> napi::Result<Text> {
    let text = std::str::from_utf8(bytes).map_err(|error| napi::Error::from_reason(error.to_string()))?;
    Ok(Text(text.into()))
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(napi::Error::from_status(Status::from(status))) }
}
