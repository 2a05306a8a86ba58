//! Text from user code. JavaScript strings may hold lone surrogates, which no Rust string can: where the kernel itself
//! reads a text (it never rewrites a payload) each of them becomes U+FFFD (D-25).

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        read(raw.get()).map(Self).ok_or_else(|| serde::de::Error::custom("expected a string"))
    }
}

/// The text of a JSON string; `None` when the JSON is something else.
pub fn read(json: &str) -> Option<String> {
    if !json.starts_with('"') {
        return None;
    }
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&well_formed(json))).ok()
}

/// The same JSON text with every lone surrogate escape replaced by that of U+FFFD.
pub fn well_formed(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = escape_len(&rest[at..]);
        let written = &rest[at..at + escape];
        text.push_str(if is_lone_surrogate(written) { "\\ufffd" } else { written });
        rest = &rest[at + escape..];
    }
    text.push_str(rest);
    text
}

/// The bytes of the escape at the start of `text`; a surrogate pair counts as one.
fn escape_len(text: &str) -> usize {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
        (Some(_), _) => 6,
        (None, _) => text.char_indices().nth(2).map_or(text.len(), |(end, _)| end),
    }
}

fn is_lone_surrogate(escape: &str) -> bool {
    escape.len() == 6
        && escape
            .strip_prefix("\\u")
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .is_some_and(|unit| (0xD800..=0xDFFF).contains(&unit))
}
