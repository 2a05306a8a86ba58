//! A model's reply, read without trust (NT-41): what it said, and which calls it asks for. Call ids that a provider
//! reuses, leaves out or makes too long get one of ours, while the transcript keeps the provider's pairing (D-14).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::kernel::id::CallId;
use crate::kernel::protocol::ModelReply;
use crate::kernel::schema;
use crate::kernel::text::Text;
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
    pub pair_id: String,
    pub tool_name: String,
    pub arguments: Arguments,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<Text>,
    #[serde(default)]
    tool_call_id: Option<Text>,
    #[serde(default)]
    tool_name: Option<Text>,
    #[serde(default)]
    input: Option<Text>,
    #[serde(default)]
    provider_options: Option<Box<RawValue>>,
    #[serde(default)]
    provider_executed: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_call_id: &'a str,
    tool_name: &'a str,
    input: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_options: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "crate::kernel::event::is_false")]
    provider_executed: bool,
}

impl Reply {
    /// Reads a reply and appends it to the turn's transcript.
    pub fn read(turn: &Turn, step: u32, reply: &ModelReply) -> Self {
        let mut read = Self { text: String::new(), finish_reason: Rc::clone(&reply.finish_reason), calls: Vec::new() };
        let mut pair_ids = BTreeSet::new();
        let mut content = Vec::with_capacity(reply.content.len());
        for raw in &reply.content {
            let Ok(part) = serde_json::from_str::<Part<'_>>(raw.get()) else {
                continue;
            };
            match &*part.kind {
                "tool-call" => {
                    let index = read.calls.len();
                    let (call, message_part) = read_call(turn, format!("c{step}_{index}"), &mut pair_ids, part);
                    content.push(Cow::Owned(message_part));
                    read.calls.extend(call);
                }
                "text" => {
                    read.text.push_str(part.text.as_ref().map_or("", |text| text.0.as_str()));
                    content.push(Cow::Borrowed(raw));
                }
                _ => content.push(Cow::Borrowed(raw)),
            }
        }
        if !content.is_empty() {
            turn.transcript.borrow_mut().push("assistant", &content);
        }
        read
    }
}

/// The call, unless the provider has already run it, and its part of the assistant message.
fn read_call(
    turn: &Turn,
    our_id: String,
    pair_ids: &mut BTreeSet<String>,
    part: Part<'_>,
) -> (Option<RequestedCall>, Box<RawValue>) {
    let given = part.tool_call_id.map(|text| text.0).unwrap_or_default();
    let tool_name = part.tool_name.map(|text| text.0).unwrap_or_default();
    let (arguments, input) = read_arguments(part.input.map(|text| text.0).unwrap_or_default());
    // Two calls of one message with the same id could not be told apart by the provider either.
    let mut pair_id = if given.is_empty() || pair_ids.contains(&given) { our_id.clone() } else { given.clone() };
    while !pair_ids.insert(pair_id.clone()) {
        // A provider that uses our own spelling.
        pair_id.push('_');
    }
    let message_part = to_raw_value(&CallPart {
        kind: "tool-call",
        tool_call_id: &pair_id,
        tool_name: &tool_name,
        input: &input,
        provider_options: part.provider_options,
        provider_executed: part.provider_executed,
    })
    .expect("a call part is plain data: it always serialises");
    if part.provider_executed {
        return (None, message_part);
    }
    let usable = !given.is_empty() && given.chars().count() <= ID_CHARS_MAX && !given.contains('/');
    let mut call_ids = turn.call_ids.borrow_mut();
    let mut id = CallId::from(if usable { given.as_str() } else { our_id.as_str() });
    if call_ids.contains(&id) {
        id = CallId::from(our_id.as_str());
    }
    while call_ids.contains(&id) {
        // A provider that uses our own spelling.
        id = CallId::from(format!("{id}_").as_str());
    }
    call_ids.insert(id.clone());
    (Some(RequestedCall { id, pair_id, tool_name, arguments }), message_part)
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
