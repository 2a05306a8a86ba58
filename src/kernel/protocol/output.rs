//! The answer to a tool call as the model sees it.

use std::rc::Rc;

use crate::kernel::value::Json;

/// How much of an error's text an event shows.
const ERROR_BYTES_MAX: usize = 2_048;

#[derive(Clone, Debug)]
pub struct Output {
    pub(super) is_error: bool,
    pub(super) value: Value,
    /// The host can make it of what a body answered.
    pub own: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(Rc<str>),
    Json(Json),
}

impl Output {
    pub fn text(text: impl Into<Rc<str>>, is_error: bool) -> Self {
        Self { is_error, value: Value::Text(text.into()), own: false }
    }

    pub fn error(text: impl Into<Rc<str>>) -> Self {
        Self::text(text, true)
    }

    pub fn json(value: Json, is_error: bool) -> Self {
        Self { is_error, value: Value::Json(value), own: false }
    }

    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// The size of the value in UTF-8.
    pub fn bytes(&self) -> usize {
        self.as_str().len()
    }

    fn as_str(&self) -> &str {
        match &self.value {
            Value::Text(text) => text,
            Value::Json(value) => value.get(),
        }
    }

    /// What went wrong, bounded.
    pub fn error_text(&self) -> Option<String> {
        self.is_error.then(|| cut(self.as_str(), ERROR_BYTES_MAX))
    }

    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Text(text) => Json::of(&**text),
            Value::Json(value) => value.clone(),
        }
    }

    /// Cuts what the model sees of a result to `max` bytes, at a character boundary, and says so.
    pub fn capped(self, max: usize) -> Self {
        if self.bytes() <= max {
            return self;
        }
        Self::text(cut(self.as_str(), max), self.is_error)
    }
}

fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max);
    format!("{}\n[truncated: the first {end} of {} bytes]", &text[..end], text.len())
}
