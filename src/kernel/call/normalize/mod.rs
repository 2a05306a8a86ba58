//! Repairs arguments that a model wrote almost right, for the policy `normalizeThenReturnToolError`.
//!
//! The order is fixed: valid arguments and schemas that take no object are left alone; a string is decoded; an object
//! is unwrapped, then its strings become what is declared, then nulls that stand for "absent" go. Every repair of an
//! object is kept only when the result validates. What is not repaired keeps its bytes.

mod place;

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use self::place::Place;

use crate::kernel::schema::{Invalid, Object, Schema, parse};

/// Members under which models put the arguments instead of at the top.
const ENVELOPES: [&str; 6] = ["arguments", "args", "input", "parameters", "params", "tool_input"];
/// Members that may accompany an envelope: they name the call, not its arguments.
const LABELS: [&str; 6] = ["id", "name", "tool", "tool_name", "type", "function"];

/// The repaired text, or `None` when the text stays as it is. The repaired text may still be invalid: validate it.
///
/// A string that holds JSON is replaced by what it holds even when that does not validate, so that the refusal speaks
/// of the arguments and not of their wrapping. Text that is no JSON never becomes `{}` unless it is blank.
#[must_use]
pub fn normalize(text: &str, schema: &Schema, schema_json: &Value) -> Option<String> {
    let value = match schema.validate_text(text) {
        Ok(()) | Err(Invalid::TooDeep) => return None,
        Err(Invalid::NotJson { .. }) => None,
        Err(Invalid::Issues(_)) => parse(text).ok(),
    };
    if !Place::new(schema_json).may_be("object") {
        return None;
    }
    let decoded = match &value {
        None => decode(text),
        Some(Value::String(string)) => decode(string),
        Some(Value::Object(_)) => return repair_object(text, schema, schema_json),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => None,
    };
    match decoded {
        Some(decoded) if decoded.trim_start().starts_with('{') => {
            Some(repair_object(&decoded, schema, schema_json).unwrap_or(decoded))
        }
        Some(decoded) => Some(decoded),
        None => {
            let says_nothing = value.is_some() || text.trim().is_empty();
            (says_nothing && schema.validate_text("{}").is_ok()).then(|| "{}".to_owned())
        }
    }
}

/// The JSON text inside a string: as it is, without its code fence, or with the slips of [`relax`] undone.
fn decode(string: &str) -> Option<String> {
    let bare = without_fence(string.trim());
    let readable = |text: &str| parse(text).is_ok();
    if readable(bare) {
        return Some(bare.to_owned());
    }
    Some(relax(bare)).filter(|relaxed| readable(relaxed))
}

/// The inside of a Markdown code fence, also when prose surrounds it.
fn without_fence(text: &str) -> &str {
    const FENCE: &str = "```";
    let fenced = text.split_once(FENCE).and_then(|(_, rest)| rest.split_once(FENCE)).map(|(inside, _)| inside);
    let Some(fenced) = fenced.filter(|_| !text.starts_with(['{', '[', '"'])) else {
        return text;
    };
    let language = fenced.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (label, rest) = fenced.split_at(language);
    // Without a line break a label cannot be told from a word of the content, except that content is JSON.
    if label.is_empty() || rest.starts_with(['\n', '\r', ' ', '{', '[']) { rest.trim() } else { fenced.trim() }
}

/// Undoes two slips outside of strings: a comma before a closing bracket, and Python's `True`, `False` and `None`.
/// Anything else (cut off text, missing quotes) would have to be guessed and stays an error.
fn relax(text: &str) -> String {
    let mut relaxed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => string_bytes(rest),
            ',' if rest[1..].trim_start().starts_with(['}', ']']) => {
                rest = &rest[1..];
                continue;
            }
            letter if letter.is_ascii_alphabetic() => {
                let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
                relaxed.push_str(match &rest[..word] {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    other => other,
                });
                rest = &rest[word..];
                continue;
            }
            other => other.len_utf8(),
        };
        relaxed.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    relaxed
}

/// How many bytes the string literal at the start of `text` takes, all of it when it is not closed.
fn string_bytes(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn repair_object(text: &str, schema: &Schema, schema_json: &Value) -> Option<String> {
    let valid = |candidate: &str| schema.validate_text(candidate).is_ok();
    if valid(text) {
        return None;
    }
    let root = Place::new(schema_json);
    let unwrapped = unwrap_envelope(text, &root);
    if let Some(inner) = unwrapped.as_deref().filter(|inner| valid(inner)) {
        return Some(inner.to_owned());
    }
    let candidates = [Some(text), unwrapped.as_deref()];
    candidates.into_iter().flatten().find_map(|candidate| {
        let raw: &RawValue = serde_json::from_str(candidate.trim()).ok()?;
        [Nulls::KeptValue, Nulls::Drop].into_iter().find_map(|nulls| {
            let fitted = fit(raw, &root, nulls);
            (matches!(fitted, Cow::Owned(_)) && valid(&fitted)).then(|| fitted.into_owned())
        })
    })
}

/// The object inside an envelope that the schema does not declare: under a usual name, possibly beside labels, or as
/// the only member. The object may itself be encoded as a string.
fn unwrap_envelope(text: &str, root: &Place<'_>) -> Option<String> {
    let Object(members) = serde_json::from_str(text).ok()?;
    let is_envelope = |key: &str| ENVELOPES.contains(&key);
    let (_, inner) = match members.as_slice() {
        [only] => Some(only),
        several => {
            let mut envelopes = several.iter().filter(|(key, _)| is_envelope(key));
            let labelled = several.iter().all(|(key, _)| is_envelope(key) || LABELS.contains(&key.as_str()));
            envelopes.next().filter(|_| labelled && envelopes.next().is_none())
        }
    }
    .filter(|(key, _)| root.member(key).is_none_or(|declared| !declared.is_declared))?;
    let inner = match parse(inner.get()) {
        Ok(Value::String(string)) => decode(&string)?,
        _ => inner.get().to_owned(),
    };
    inner.starts_with('{').then_some(inner)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    KeptValue,
    Drop,
}

/// `raw` with its strings turned into the declared scalars, and on demand without nulls of optional members; borrowed
/// when nothing changes. [`parse`] has bounded the nesting.
fn fit<'t>(raw: &'t RawValue, place: &Place<'_>, nulls: Nulls) -> Cow<'t, str> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => coerce(text, place).map_or(Cow::Borrowed(text), Cow::Owned),
        Some(b'{') => fit_members(text, place, nulls).map_or(Cow::Borrowed(text), Cow::Owned),
        Some(b'[') => fit_items(text, place, nulls).map_or(Cow::Borrowed(text), Cow::Owned),
        _ => Cow::Borrowed(text),
    }
}

fn fit_members(text: &str, place: &Place<'_>, nulls: Nulls) -> Option<String> {
    let Object(members) = serde_json::from_str(text).ok()?;
    let (mut changed, mut kept) = (false, Vec::with_capacity(members.len()));
    for (key, member) in members {
        let Some(declared) = place.member(&key) else {
            kept.push((key, Cow::Borrowed(member.get())));
            continue;
        };
        let stands_for_absent = declared.is_declared && !place.requires(&key) && !declared.place.may_be("null");
        if nulls == Nulls::Drop && member.get() == "null" && stands_for_absent {
            changed = true;
            continue;
        }
        let fitted = fit(member, &declared.place, nulls);
        changed |= matches!(fitted, Cow::Owned(_));
        kept.push((key, fitted));
    }
    let written = kept.iter().map(|(key, member)| format!("{}:{member}", Value::from(key.as_str())));
    changed.then(|| format!("{{{}}}", written.collect::<Vec<_>>().join(",")))
}

fn fit_items(text: &str, place: &Place<'_>, nulls: Nulls) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let fitted: Vec<_> = items
        .into_iter()
        .enumerate()
        .map(|(index, item)| match place.item(index) {
            Some(declared) => fit(item, &declared, nulls),
            None => Cow::Borrowed(item.get()),
        })
        .collect();
    fitted.iter().any(|item| matches!(item, Cow::Owned(_))).then(|| format!("[{}]", fitted.join(",")))
}

/// The scalar that a string spells, when strings are not allowed in this place and that scalar is.
fn coerce(text: &str, place: &Place<'_>) -> Option<String> {
    if place.may_be("string") {
        return None;
    }
    let Ok(Value::String(string)) = parse(text) else {
        return None;
    };
    let word = string.trim();
    let value = parse(&word.to_ascii_lowercase()).ok()?;
    let (spelled, name) = match value {
        Value::Bool(value) => (value.to_string(), "boolean"),
        Value::Null => ("null".to_owned(), "null"),
        Value::Number(_) if place.may_be("number") => (word.to_owned(), "number"),
        Value::Number(_) => (word.to_owned(), "integer"),
        Value::String(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    place.may_be(name).then_some(spelled)
}
