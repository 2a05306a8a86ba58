//! JSON text in: nesting and lone surrogates are settled here, so that nobody behind it overflows or refuses what
//! JavaScript can write (D-25).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Invalid;
use super::issue::clip;

/// Deepest nesting of arrays and objects that a value may have.
pub const NESTING_MAX: usize = 128;
const MESSAGE_MAX_BYTES: usize = 200;

/// The members of a JSON object in the order of the text, each value as it is written.
pub struct Object<'t>(pub Vec<(String, &'t RawValue)>);

/// Reads a JSON text. Of equal keys the last wins, a lone surrogate becomes U+FFFD.
///
/// # Errors
/// [`Invalid::TooDeep`] beyond [`NESTING_MAX`], else [`Invalid::NotJson`].
pub fn parse(text: &str) -> Result<Value, Invalid> {
    let text = without_lone_surrogates(text);
    serde_json::from_str(&text).or_else(|error| match nesting_depth(&text) {
        ..NESTING_MAX => Err(not_json(&error)),
        // The parser counts one level less than we allow, hence the outermost level is read on its own.
        NESTING_MAX => parse_below_outermost(&text).map_err(|error| not_json(&error)),
        _ => Err(Invalid::TooDeep),
    })
}

/// How deep arrays and objects nest in `text`, which need not be valid JSON.
#[must_use]
pub fn nesting_depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string) = (0_usize, 0, false);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                bytes.next();
            }
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Whether `value` nests at most `levels` deep; looks no deeper than that.
pub(super) fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| fits(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|member| fits(member, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Whether a JSON text nests deeper than anybody here walks.
#[must_use]
pub fn is_too_deep(text: &str) -> bool {
    // Each level takes two bytes at least, so most texts need no look.
    text.len() > 2 * NESTING_MAX && nesting_depth(text) > NESTING_MAX
}

fn parse_below_outermost(text: &str) -> serde_json::Result<Value> {
    if text.trim_start().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text)?;
        return items
            .into_iter()
            .map(|item| serde_json::from_str(item.get()))
            .collect::<Result<_, _>>()
            .map(Value::Array);
    }
    let Object(members) = serde_json::from_str(text)?;
    let parsed = members.into_iter().map(|(key, member)| Ok((key, serde_json::from_str(member.get())?)));
    parsed.collect::<Result<_, _>>().map(Value::Object)
}

fn not_json(error: &serde_json::Error) -> Invalid {
    Invalid::NotJson { message: clip(&error.to_string(), MESSAGE_MAX_BYTES) }
}

/// Borrows unless an escape for a surrogate occurs at all.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    let mut from = 0;
    while let Some(escape) = next_escape(text, from) {
        if surrogate_at(text, escape).is_some() {
            return Cow::Owned(replace_lone_surrogates(text, escape));
        }
        from = escape + 2;
    }
    Cow::Borrowed(text)
}

fn replace_lone_surrogates(text: &str, first: usize) -> String {
    let mut mapped = String::with_capacity(text.len());
    let (mut copied, mut next) = (0, Some(first));
    while let Some(escape) = next {
        let after = match (surrogate_at(text, escape), surrogate_at(text, escape + ESCAPE_BYTES)) {
            (None, _) => escape + 2,
            (Some(Surrogate::High), Some(Surrogate::Low)) => escape + 2 * ESCAPE_BYTES,
            (Some(_), _) => {
                mapped.push_str(&text[copied..escape]);
                mapped.push(char::REPLACEMENT_CHARACTER);
                copied = escape + ESCAPE_BYTES;
                copied
            }
        };
        next = next_escape(text, after);
    }
    mapped.push_str(&text[copied..]);
    mapped
}

/// `\uXXXX`
const ESCAPE_BYTES: usize = 6;

#[derive(Clone, Copy)]
enum Surrogate {
    High,
    Low,
}

/// `from` may stand inside a character when the text is no JSON; nothing is mapped behind it.
fn next_escape(text: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find('\\').map(|offset| from + offset)
}

fn surrogate_at(text: &str, escape: usize) -> Option<Surrogate> {
    let digits = text.get(escape..escape + ESCAPE_BYTES)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Surrogate::High),
        0xdc00..=0xdfff => Some(Surrogate::Low),
        _ => None,
    }
}

impl<'de: 't, 't> Deserialize<'de> for Object<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
