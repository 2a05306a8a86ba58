//! What comes back for a command.

use std::rc::Rc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::kernel::protocol::{ModelReply, Output};
use crate::kernel::schema::{self, Issues};
use crate::kernel::value::{EffectId, Json, KeptId, Text, text};

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
