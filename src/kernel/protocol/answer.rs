//! What comes back for a command.

use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::kernel::program::AgentSpec;
use crate::kernel::protocol::Output;
use crate::kernel::schema;
use crate::kernel::schema::Issues;
use crate::kernel::value::{EffectId, Json, KeptId, Text, Usage, text};

/// The answer to most commands: what was asked for, or what the user's code threw.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer<T> {
    Ok(T),
    Thrown(Thrown),
}

/// What user code threw, as far as the kernel may know it; the object itself stays with the host.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thrown {
    /// The code of a `KeelError`; absent for a foreign exception.
    pub code: Option<String>,
    pub message: Text,
}

/// An answer as it came: in its type already, or as JSON text.
pub enum Given {
    Text(String),
    Reply(ModelReply),
    Result(CallResult),
    /// There is nothing to say, and nothing in the way.
    Nothing,
}

impl Given {
    /// The answer in the type that the command asks for.
    pub fn read<T: DeserializeOwned>(&self) -> T {
        let text = match self {
            Self::Text(text) => text,
            Self::Nothing => r#"{"ok":null}"#,
            Self::Reply(_) | Self::Result(_) => panic!("the host broke the protocol: it answered something else"),
        };
        serde_json::from_str(text).unwrap_or_else(|error| panic!("the host broke the protocol: {error}"))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelAnswer {
    Ok(ModelReply),
    Error(ModelError),
}

impl From<Given> for ModelAnswer {
    fn from(given: Given) -> Self {
        if let Given::Reply(reply) = given { Self::Ok(reply) } else { given.read() }
    }
}

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
            #[serde(skip_serializing_if = "crate::kernel::protocol::is_false")]
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelError {
    pub message: Text,
    pub retryable: bool,
    pub retry_after_ms: Option<f64>,
}

/// What the host's own check says of arguments: a Standard Schema, or a `concurrency` function. It may come together with the
/// call, before it is asked for, which spares a crossing; it counts when the call comes to that gate with its arguments as they were sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PrepareAnswer {
    /// `kept`: the value that the body will get; `exclusive`: what a `concurrency` function said, where there is one.
    Ok {
        kept: KeptId,
        #[serde(default)]
        exclusive: Option<bool>,
    },
    Invalid(Issues),
    Thrown(Thrown),
    /// Said ahead only: the schema takes its time, and its promise is kept for whoever asks.
    Begun {
        kept: KeptId,
    },
}

impl PrepareAnswer {
    /// What the host keeps until somebody takes it.
    pub fn kept(&self) -> Option<KeptId> {
        match self {
            Self::Ok { kept, .. } | Self::Begun { kept } => Some(*kept),
            Self::Invalid(_) | Self::Thrown(_) => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartAnswer {
    /// The value after transforms, absent when it is the same.
    Ok {
        value: Option<Json>,
    },
    Invalid(Issues),
    Thrown(Thrown),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallAnswer {
    Result(CallResult),
    Thrown(Thrown),
}

impl From<Given> for CallAnswer {
    fn from(given: Given) -> Self {
        if let Given::Result(result) = given { Self::Result(result) } else { given.read() }
    }
}

/// What a tool's body returned.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    pub is_error: bool,
    /// The text for the model, where the tool gave one or returned a string.
    pub text: Option<Text>,
    pub value: Option<Json>,
    pub metadata: Option<Json>,
    /// What the tool asks of the turn beside its answer; only a call of the model is listened to.
    #[serde(default)]
    pub control: Control,
    /// The command that was answered with this result, as long as nothing of it has changed: the host has it already.
    #[serde(skip)]
    pub answer_of: Option<EffectId>,
    /// A body answered it to a call of the model, and nothing of it has changed.
    #[serde(skip)]
    pub unchanged: bool,
}

/// A tool's wish for how its turn goes on.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Control {
    /// The result's text is the turn's answer.
    pub return_direct: bool,
    pub terminate: bool,
    pub goto: Option<Goto>,
}

/// Where a turn goes after its calls; it goes back to the model unless it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Goto {
    Model,
    Tools,
    End,
}

impl Control {
    /// The turn makes no further step.
    pub fn ends(self) -> bool {
        self.return_direct || self.terminate || self.goto == Some(Goto::End)
    }
}

impl CallResult {
    /// A result that is this value.
    pub fn of(is_error: bool, value: Json) -> Self {
        Self { value: Some(value), ..Self::empty(is_error) }
    }

    /// What a body returned, as JSON text; null is nothing.
    pub fn returned(value: Rc<str>) -> Self {
        let value = (*value != *Json::NULL).then(|| Json::known(value));
        Self { value, ..Self::empty(false) }
    }

    /// A tool that reports its own failure.
    pub fn error(text: String) -> Self {
        Self { text: Some(Text(text)), ..Self::empty(true) }
    }

    fn empty(is_error: bool) -> Self {
        Self {
            is_error,
            text: None,
            value: None,
            metadata: None,
            control: Control::default(),
            answer_of: None,
            unchanged: false,
        }
    }

    /// Deeper than anybody behind us can read (D-25).
    pub fn is_too_deep(&self) -> bool {
        [&self.value, &self.metadata].into_iter().flatten().any(|value| schema::is_too_deep(value.get()))
    }

    /// The result as text: the tool's own, a string value, or the value's JSON.
    pub fn text(&self) -> String {
        if let Some(text) = &self.text {
            return text.0.clone();
        }
        let value = self.value.as_ref().map_or("null", |value| value.get());
        text::read(value).unwrap_or_else(|| value.to_owned())
    }

    /// What the model sees of it: the tool's text, else its value.
    pub fn output(&self) -> Output {
        let value = self.value.as_ref();
        let text = self.text.as_ref().map(|text| text.0.clone()).or_else(|| text::read(value?.get()));
        let mut output = match text {
            Some(text) => Output::text(text, self.is_error),
            None => Output::json(value.cloned().unwrap_or_else(Json::null), self.is_error),
        };
        output.own = self.unchanged;
        output
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookAnswer {
    /// With the result that `afterTool` puts in place of the call's.
    Ok(Option<CallResult>),
    Refused(Thrown),
    NeedsApproval,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthorizeAnswer {
    Allow,
    Deny(Option<Text>),
    Thrown(Thrown),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApproveAnswer {
    Allow,
    Deny(Text),
    Defer,
}
