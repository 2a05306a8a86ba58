//! A model's reply, read without trust (NT-41): what it said, and which calls it asks for. Call ids that a provider
//! reuses, leaves out or makes too long get one of ours, while the transcript keeps the provider's pairing (D-14).

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::kernel::arguments::Check;
use crate::kernel::id::CallId;
use crate::kernel::protocol::ModelReply;
use crate::kernel::schema;
use crate::kernel::turn::Turn;

pub struct Reply {
    pub text: String,
    pub finish_reason: Rc<str>,
    pub calls: Vec<RequestedCall>,
}

/// A tool call as the model asked for it.
pub struct RequestedCall {
    pub id: CallId,
    /// The id that pairs call and result in the transcript.
    pub pair_id: Rc<str>,
    pub tool_name: Rc<str>,
    pub arguments: Arguments,
    /// What the host said of the arguments ahead.
    pub ahead: Cell<Option<Check>>,
}

/// What a call is given.
pub enum Arguments {
    Json(Rc<RawValue>),
    /// Not JSON: a bounded excerpt, and what is wrong with it.
    Broken {
        message: String,
    },
    /// JSON that nobody can walk: it stays out of the transcript, too (D-25).
    TooDeep,
}

impl Arguments {
    /// The arguments as a summary shows them.
    pub fn shown(&self) -> &str {
        match self {
            Self::Json(json) => json.get(),
            Self::Broken { message } => message,
            Self::TooDeep => "",
        }
    }
}

/// The longest id and the most broken text that are carried along.
const ID_CHARS_MAX: usize = 64;
const BROKEN_BYTES_MAX: usize = 256;

/// A part as far as the kernel looks at it. The host sends well-formed text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    input: Option<String>,
    #[serde(borrow)]
    provider_options: Option<&'a RawValue>,
    #[serde(default)]
    provider_executed: bool,
}

/// A part of the assistant message.
#[derive(Serialize)]
#[serde(untagged)]
enum MessagePart<'a> {
    AsGiven(&'a RawValue),
    Call(CallPart<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_call_id: Rc<str>,
    tool_name: Rc<str>,
    input: Rc<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_options: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "crate::kernel::event::is_false")]
    provider_executed: bool,
}

impl Reply {
    /// Reads a reply and appends it to the turn's transcript.
    pub fn read(turn: &Turn, step: u32, reply: &ModelReply, checks: Vec<Option<Check>>) -> Self {
        let mut read = Self { text: String::new(), finish_reason: Rc::clone(&reply.finish_reason), calls: Vec::new() };
        let mut pair_ids = BTreeSet::new();
        let mut content = Vec::with_capacity(reply.content.len());
        let mut checks = checks.into_iter();
        for raw in &reply.content {
            let Ok(part) = serde_json::from_str::<Part<'_>>(raw.get()) else {
                continue;
            };
            match &*part.kind {
                "tool-call" => {
                    let index = read.calls.len();
                    let our_id = || format!("c{step}_{index}");
                    let ahead = checks.next().flatten();
                    let (call, message_part) = read_call(turn, &our_id, &mut pair_ids, part, ahead);
                    content.push(MessagePart::Call(message_part));
                    read.calls.extend(call);
                }
                "text" => {
                    read.text.push_str(part.text.as_deref().unwrap_or_default());
                    content.push(MessagePart::AsGiven(raw));
                }
                _ => content.push(MessagePart::AsGiven(raw)),
            }
        }
        if !content.is_empty() {
            turn.transcript.borrow_mut().push("assistant", &content);
        }
        read
    }
}

/// The call, unless the provider has already run it, and its part of the assistant message.
fn read_call<'a>(
    turn: &Turn,
    our_id: &dyn Fn() -> String,
    pair_ids: &mut BTreeSet<Rc<str>>,
    part: Part<'a>,
    ahead: Option<Check>,
) -> (Option<RequestedCall>, CallPart<'a>) {
    let given: Rc<str> = part.tool_call_id.unwrap_or_default().into();
    let tool_name: Rc<str> = part.tool_name.unwrap_or_default().into();
    let (arguments, input) = read_arguments(part.input.unwrap_or_default());
    // Two calls of one message with the same id could not be told apart by the provider either.
    let is_new = |pair_id: &Rc<str>| pair_ids.insert(Rc::clone(pair_id));
    let pair_id = if given.is_empty() { ours(our_id, is_new) } else { unlike(&given, our_id, is_new) };
    let message_part = CallPart {
        kind: "tool-call",
        tool_call_id: Rc::clone(&pair_id),
        tool_name: Rc::clone(&tool_name),
        input,
        provider_options: part.provider_options,
        provider_executed: part.provider_executed,
    };
    if part.provider_executed {
        return (None, message_part);
    }
    let usable = !given.is_empty() && given.chars().count() <= ID_CHARS_MAX && !given.contains('/');
    let mut call_ids = turn.call_ids.borrow_mut();
    let is_new = |id: &Rc<str>| call_ids.insert(CallId::from(Rc::clone(id)));
    let id = CallId::from(if usable { unlike(&given, our_id, is_new) } else { ours(our_id, is_new) });
    (Some(RequestedCall { id, pair_id, tool_name, arguments, ahead: Cell::new(ahead) }), message_part)
}

/// The given id, or one of ours where there is one like it.
fn unlike(given: &Rc<str>, our_id: &dyn Fn() -> String, mut is_new: impl FnMut(&Rc<str>) -> bool) -> Rc<str> {
    if is_new(given) { Rc::clone(given) } else { ours(our_id, is_new) }
}

fn ours(our_id: &dyn Fn() -> String, mut is_new: impl FnMut(&Rc<str>) -> bool) -> Rc<str> {
    let mut id = our_id();
    loop {
        let candidate = id.as_str().into();
        if is_new(&candidate) {
            return candidate;
        }
        // A provider that uses our own spelling.
        id.push('_');
    }
}

/// The arguments, and what the transcript shows of them. An absent text is an empty object (BL-082).
fn read_arguments(text: String) -> (Arguments, Rc<RawValue>) {
    let text = if text.trim().is_empty() { "{}".to_owned() } else { text };
    let excerpt = &text[..text.floor_char_boundary(BROKEN_BYTES_MAX)];
    let shown = || to_raw_value(excerpt).expect("a string always serialises").into();
    match serde_json::from_str::<Box<RawValue>>(&text) {
        Ok(json) if schema::is_too_deep(json.get()) => (Arguments::TooDeep, shown()),
        Ok(json) => {
            let json: Rc<RawValue> = json.into();
            (Arguments::Json(Rc::clone(&json)), json)
        }
        Err(error) => {
            let message = format!("invalid JSON: {error}; it starts with {excerpt:?}");
            (Arguments::Broken { message }, shown())
        }
    }
}
