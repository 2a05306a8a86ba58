//! A turn's messages in the AI SDK's shape. The host holds the same list as objects: each model call sends only what is
//! new, so a step costs what the step brings.

use std::rc::Rc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

#[derive(Debug, Default)]
pub struct Transcript {
    messages: Vec<Box<RawValue>>,
    sent: usize,
}

impl Transcript {
    pub fn new(messages: Vec<Box<RawValue>>) -> Self {
        Self { messages, sent: 0 }
    }

    /// Puts the instructions in front, before anything was sent.
    pub fn instruct(&mut self, text: &str) {
        assert_eq!(self.sent, 0, "instructions come before the first model call");
        self.messages.insert(0, message("system", text));
    }

    pub fn push<T: Serialize>(&mut self, role: &'static str, content: &T) {
        self.messages.push(message(role, content));
    }

    /// The messages that the host does not have yet.
    pub fn take_unsent(&mut self) -> &[Box<RawValue>] {
        let unsent = &self.messages[self.sent..];
        self.sent = self.messages.len();
        unsent
    }

    pub fn into_messages(self) -> Vec<Box<RawValue>> {
        self.messages
    }

    pub fn messages(&self) -> &[Box<RawValue>] {
        &self.messages
    }
}

/// A message of that role.
pub fn message<T: Serialize + ?Sized>(role: &'static str, content: &T) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Message<'a, T: ?Sized> {
        role: &'static str,
        content: &'a T,
    }
    to_raw_value(&Message { role, content }).expect("a message is plain data: it always serialises")
}

/// How much of an error's text an event shows.
const ERROR_BYTES_MAX: usize = 2_048;

/// The answer to one tool call, as the model sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_call_id: &'a str,
    tool_name: &'a str,
    output: &'a Output,
}

impl<'a> ToolResultPart<'a> {
    pub fn new(tool_call_id: &'a str, tool_name: &'a str, output: &'a Output) -> Self {
        Self { kind: "tool-result", tool_call_id, tool_name, output }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "kebab-case")]
pub enum Output {
    Text(String),
    Json(Box<RawValue>),
    ErrorText(String),
    ErrorJson(Box<RawValue>),
}

impl Output {
    pub fn is_error(&self) -> bool {
        matches!(self, Self::ErrorText(_) | Self::ErrorJson(_))
    }

    /// The size of the value in UTF-8.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::ErrorText(text) => text.len(),
            Self::Json(value) | Self::ErrorJson(value) => value.get().len(),
        }
    }

    /// What went wrong, bounded.
    pub fn error_text(&self) -> Option<String> {
        match self {
            Self::Text(_) | Self::Json(_) => None,
            Self::ErrorText(text) => Some(cut(text.clone(), ERROR_BYTES_MAX)),
            Self::ErrorJson(value) => Some(cut(value.get().to_owned(), ERROR_BYTES_MAX)),
        }
    }

    pub fn to_raw(&self) -> Rc<RawValue> {
        match self {
            Self::Text(text) | Self::ErrorText(text) => to_raw_value(text).expect("a string always serialises").into(),
            Self::Json(value) | Self::ErrorJson(value) => value.clone().into(),
        }
    }

    /// Cuts what the model sees of a result to `max` bytes, at a character boundary, and says so.
    pub fn capped(self, max: usize) -> Self {
        match self {
            Self::Text(text) => Self::Text(cut(text, max)),
            Self::ErrorText(text) => Self::ErrorText(cut(text, max)),
            Self::Json(value) if value.get().len() > max => Self::Text(cut(value.get().to_owned(), max)),
            Self::ErrorJson(value) if value.get().len() > max => Self::ErrorText(cut(value.get().to_owned(), max)),
            Self::Json(_) | Self::ErrorJson(_) => self,
        }
    }
}

fn cut(mut text: String, max: usize) -> String {
    let whole = text.len();
    if whole <= max {
        return text;
    }
    text.truncate(text.floor_char_boundary(max));
    text.push_str(&format!("\n[truncated: the first {} of {whole} bytes]", text.len()));
    text
}
