//! What is wrong with a value, small enough for a transcript (NT-17).

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// Most issues that one refusal lists.
pub const ISSUES_MAX: usize = 10;
/// Most bytes that [`render`] returns.
pub const RENDERED_MAX_BYTES: usize = 2048;
pub(super) const EXCERPT_MAX_BYTES: usize = 60;
const PATH_MAX_BYTES: usize = 200;
const MESSAGE_MAX_BYTES: usize = 400;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// JSON Pointer into the value; `""` is the whole value.
    pub path: String,
    /// What is expected there and what was found.
    pub message: String,
}

/// At most [`ISSUES_MAX`] issues whose rendered text fits [`RENDERED_MAX_BYTES`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Issues(Vec<Issue>);

/// One line an issue: `- /agent: is required`.
#[must_use]
pub fn render(issues: &Issues) -> String {
    let mut text = String::new();
    for (index, issue) in issues.0.iter().enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        let path = if issue.path.is_empty() { "the value" } else { &issue.path };
        let _ = write!(text, "{separator}- {path}: {}", issue.message);
    }
    clip(&text, RENDERED_MAX_BYTES)
}

impl Issues {
    /// The issues in the order in which they were found.
    #[must_use]
    pub fn as_slice(&self) -> &[Issue] {
        &self.0
    }

    /// Whether there is no issue.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= ISSUES_MAX
    }

    /// Adds an issue unless it is known already or there is no room for it.
    pub(super) fn push(&mut self, path: &str, message: &str) {
        let issue = Issue { path: clip(path, PATH_MAX_BYTES), message: clip(message, MESSAGE_MAX_BYTES) };
        if self.is_full() || self.0.contains(&issue) {
            return;
        }
        self.0.push(issue);
        if self.rendered_bytes() > RENDERED_MAX_BYTES {
            self.0.pop();
        }
    }

    fn rendered_bytes(&self) -> usize {
        let per_line = "\n- the value: ".len();
        self.0.iter().map(|issue| per_line + issue.path.len() + issue.message.len()).sum()
    }
}

/// The start of `text`, cut at a character boundary and marked when it is longer than `max_bytes`.
pub(super) fn clip(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let mut end = max_bytes.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Enough of a value to recognise it, never the whole of a big one.
pub(super) fn excerpt(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => Value::String(clip(text, EXCERPT_MAX_BYTES)).to_string(),
        Value::Array(items) => format!("an array of {}", count(items.len() as u64, "item")),
        Value::Object(members) => format!("an object of {}", count(members.len() as u64, "property")),
    }
}

pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{number} {}", if number == 1 { noun } else { &plural })
}
