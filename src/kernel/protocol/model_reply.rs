//! What a model said, as the host tells it: part by part, or as one JSON text.

use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize};

use crate::kernel::program::AgentSpec;
use crate::kernel::protocol::{PrepareAnswer, is_false};
use crate::kernel::value::{Json, Text, Usage};

/// What a model said.
#[derive(Deserialize)]
#[serde(from = "ReplyText")]
pub struct ModelReply {
    pub parts: Vec<Part>,
    pub finish_reason: FinishReason,
    pub usage: Usage,
}

/// One part of a reply, in the order of the reply.
pub enum Part {
    /// A text and nothing else.
    Text(Rc<str>),
    Call(AskedCall),
    /// Any other, as JSON, with its text where it has one.
    Other {
        json: Json,
        text: Option<String>,
    },
}

/// A call that a model asks for, as it wrote it.
pub struct AskedCall {
    pub id: Rc<str>,
    pub tool: ToolName,
    /// JSON text, if the model wrote any.
    pub input: Rc<str>,
    /// The host has read it.
    pub is_json: bool,
    pub provider_options: Option<Json>,
    pub provider_executed: bool,
    /// The host's check of its arguments, made ahead.
    pub ahead: Option<PrepareAnswer>,
}

/// How a call names its tool.
#[derive(Clone)]
pub enum ToolName {
    /// By its position among the agent's tools, which the host has looked up.
    Listed(usize),
    Named(Rc<str>),
}

impl ToolName {
    /// The name, and the position where the host has looked it up.
    pub fn of(&self, agent: &AgentSpec) -> (Rc<str>, Option<usize>) {
        match self {
            Self::Named(name) => (Rc::clone(name), None),
            Self::Listed(index) => (Rc::clone(&agent.tools[*index].id), Some(*index)),
        }
    }
}

impl<'de> Deserialize<'de> for ToolName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer).map(|name| Self::Named(name.0.into()))
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
    Error,
    Other,
}

impl FinishReason {
    /// In the order in which the host numbers them.
    pub const ALL: [Self; 6] =
        [Self::Stop, Self::Length, Self::ContentFilter, Self::ToolCalls, Self::Error, Self::Other];
}

/// A reply as JSON text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReplyText {
    /// Content parts in the AI SDK's shape, each as it is; a tool call's `input` is JSON text.
    content: Vec<Json>,
    finish_reason: FinishReason,
    usage: Usage,
    /// The host's checks of the calls' arguments, made ahead, in the calls' order.
    #[serde(default)]
    ahead: Vec<Option<PrepareAnswer>>,
}

/// A part as far as the kernel looks at it. The host sends well-formed text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartText {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    input: Option<String>,
    provider_options: Option<Json>,
    #[serde(default)]
    provider_executed: bool,
}

impl From<ReplyText> for ModelReply {
    fn from(given: ReplyText) -> Self {
        let mut ahead = given.ahead.into_iter();
        let parts = given.content.into_iter().filter_map(|json| Part::read(json, &mut ahead)).collect();
        Self { parts, finish_reason: given.finish_reason, usage: given.usage }
    }
}

impl Part {
    /// What cannot be read is left out.
    pub fn read(json: Json, ahead: &mut impl Iterator<Item = Option<PrepareAnswer>>) -> Option<Self> {
        let part: PartText = serde_json::from_str(json.get()).ok()?;
        Some(match part.kind.as_str() {
            "tool-call" => Self::Call(AskedCall {
                id: part.tool_call_id.unwrap_or_default().into(),
                tool: ToolName::Named(part.tool_name.unwrap_or_default().into()),
                input: part.input.unwrap_or_default().into(),
                is_json: false,
                provider_options: part.provider_options,
                provider_executed: part.provider_executed,
                ahead: ahead.next().flatten(),
            }),
            "text" => Self::Other { json, text: part.text },
            _ => Self::Other { json, text: None },
        })
    }
}

impl Part {
    /// The part as the host told it, as JSON.
    pub fn to_json(&self, agent: &AgentSpec) -> Json {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Call<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            tool_call_id: &'a str,
            tool_name: &'a str,
            input: &'a str,
            #[serde(skip_serializing_if = "is_false")]
            provider_executed: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            provider_options: Option<&'a Json>,
        }
        match self {
            Self::Text(text) => Json::of(&TextPart::new(text)),
            Self::Other { json, .. } => json.clone(),
            Self::Call(call) => Json::of(&Call {
                kind: "tool-call",
                tool_call_id: &call.id,
                tool_name: &call.tool.of(agent).0,
                input: &call.input,
                provider_executed: call.provider_executed,
                provider_options: call.provider_options.as_ref(),
            }),
        }
    }
}

/// A plain text as a part of a message.
#[derive(Serialize)]
pub struct TextPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl<'a> TextPart<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { kind: "text", text }
    }
}
