//! A turn's messages in the AI SDK's shape, as one JSON text that grows. The host holds the same list as objects: each model call sends
//! only what is new, so a step costs what the step brings. What the host can make of what it told the kernel itself (a reply, the
//! results of its calls) is only named.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::kernel::protocol::output::Value;
use crate::kernel::protocol::row::{Field, Form, OWN};
use crate::kernel::protocol::{Outbox, Output};
use crate::kernel::value::{Json, Text};

#[derive(Debug, Default)]
pub struct Transcript {
    /// One message behind the other.
    text: Vec<u8>,
    messages: Vec<Message>,
    sent: usize,
    /// Of the results that are not sent yet: what the model sees of each as JSON, where the host does not have it.
    outputs: Vec<Option<String>>,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    /// Where it ends in the text.
    end: usize,
    source: Source,
}

/// What the host makes a message of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing: it is sent.
    Sent,
    /// The model's last reply.
    Reply,
    /// The results of the calls of that reply, and what is sent of them.
    Results,
    /// The messages that the run was started with.
    Start,
    /// The agent's instructions.
    Instructions,
    /// A user's text, which is sent without the message around it.
    Text,
}

impl Transcript {
    pub fn push_json(&mut self, message: &Json, source: Source) {
        self.text.extend_from_slice(message.get().as_bytes());
        self.end(source);
    }

    pub fn push<T: Serialize + ?Sized>(&mut self, role: &'static str, content: &T, source: Source) {
        self.write(&Role { role, content });
        self.end(source);
    }

    /// Puts the instructions in front, before anything was sent.
    pub fn instruct(&mut self, text: &str, source: Source) {
        assert_eq!(self.sent, 0, "instructions come before the first model call");
        let later = std::mem::take(self);
        self.push("system", text, source);
        let begin = self.text.len();
        self.text.extend_from_slice(&later.text);
        self.messages.extend(later.messages.iter().map(|message| Message { end: begin + message.end, ..*message }));
    }

    /// Begins a message whose content is written part by part.
    pub fn begin(&mut self, role: &'static str) -> Content<'_> {
        self.outputs.clear();
        self.text.extend_from_slice(b"{\"role\":\"");
        self.text.extend_from_slice(role.as_bytes());
        self.text.extend_from_slice(b"\",\"content\":[");
        Content { transcript: self, count: 0 }
    }

    /// The last message is the model's reply as the host knows it.
    pub fn ends_with_reply(&self) -> bool {
        self.messages.last().is_some_and(|message| message.source == Source::Reply)
    }

    /// The messages that the host does not have yet.
    pub fn take_unsent(&mut self) -> Unsent<'_> {
        let first = self.sent;
        self.sent = self.messages.len();
        Unsent { transcript: self, first }
    }

    /// All messages as JSON.
    pub fn messages(&self) -> Vec<Json> {
        (0..self.messages.len()).map(|index| Json::known(self.message(index))).collect()
    }

    fn message(&self, index: usize) -> &str {
        let begin = if index == 0 { 0 } else { self.messages[index - 1].end };
        std::str::from_utf8(&self.text[begin..self.messages[index].end]).expect("messages are text")
    }

    /// The text that a user's message is.
    fn user_text(&self, index: usize) -> String {
        #[derive(Deserialize)]
        struct Read {
            content: Text,
        }
        serde_json::from_str::<Read>(self.message(index)).expect("the content is a text").content.0
    }

    fn write<T: Serialize + ?Sized>(&mut self, value: &T) {
        serde_json::to_writer(&mut self.text, value).expect("a message is plain data: it always serialises");
    }

    fn end(&mut self, source: Source) {
        self.messages.push(Message { end: self.text.len(), source });
    }
}

/// The content of a message, part by part.
pub struct Content<'a> {
    transcript: &'a mut Transcript,
    count: usize,
}

impl Content<'_> {
    pub fn part<T: Serialize + ?Sized>(&mut self, part: &T) {
        self.next();
        self.transcript.write(part);
    }

    /// A part that is JSON already.
    pub fn json(&mut self, part: &Json) {
        self.next();
        self.raw(part.get());
    }

    /// A call, with its arguments as they are.
    pub fn call(&mut self, call: &SaidCall<'_>) {
        self.next();
        self.raw("{\"type\":\"tool-call\",\"toolCallId\":");
        self.transcript.write(call.id);
        self.raw(",\"toolName\":");
        self.transcript.write(call.tool_name);
        self.raw(",\"input\":");
        self.raw(call.input.get());
        if let Some(options) = call.provider_options {
            self.raw(",\"providerOptions\":");
            self.raw(options.get());
        }
        self.raw(if call.provider_executed { ",\"providerExecuted\":true}" } else { "}" });
    }

    /// The answer to a call.
    pub fn result(&mut self, id: &str, tool_name: &str, output: &Output) {
        self.next();
        self.raw("{\"type\":\"tool-result\",\"toolCallId\":");
        self.transcript.write(id);
        self.raw(",\"toolName\":");
        self.transcript.write(tool_name);
        self.raw(",\"output\":");
        let output_begin = self.transcript.text.len();
        self.raw("{\"type\":\"");
        self.raw(match (&output.value, output.is_error) {
            (Value::Text(_), false) => "text",
            (Value::Text(_), true) => "error-text",
            (Value::Json(_), false) => "json",
            (Value::Json(_), true) => "error-json",
        });
        self.raw("\",\"value\":");
        match &output.value {
            Value::Text(text) => self.transcript.write(&**text),
            Value::Json(json) => self.raw(json.get()),
        }
        self.raw("}");
        let sent = (!output.own).then(|| String::from_utf8_lossy(&self.transcript.text[output_begin..]).into_owned());
        self.transcript.outputs.push(sent);
        self.raw("}");
    }

    /// Nothing was written: there is no message then.
    pub fn end(self, source: Source) {
        let transcript = self.transcript;
        if self.count == 0 {
            let begin = transcript.messages.last().map_or(0, |message| message.end);
            transcript.text.truncate(begin);
            return;
        }
        transcript.text.extend_from_slice(b"]}");
        transcript.end(source);
    }

    fn next(&mut self) {
        if self.count > 0 {
            self.transcript.text.push(b',');
        }
        self.count += 1;
    }

    fn raw(&mut self, text: &str) {
        self.transcript.text.extend_from_slice(text.as_bytes());
    }
}

/// A call as the assistant message shows it.
pub struct SaidCall<'a> {
    pub id: &'a str,
    pub tool_name: &'a str,
    pub input: &'a Json,
    pub provider_options: Option<&'a Json>,
    pub provider_executed: bool,
}

/// Messages on their way to the host.
#[derive(Clone, Copy)]
pub struct Unsent<'a> {
    transcript: &'a Transcript,
    first: usize,
}

impl Unsent<'_> {
    /// Those of the start are named once.
    fn named(&self) -> impl Iterator<Item = usize> {
        let source = |index: usize| self.transcript.messages[index].source;
        let repeats =
            move |index: &usize| *index > 0 && source(*index) == Source::Start && source(*index - 1) == Source::Start;
        (self.first..self.transcript.messages.len()).filter(move |index| !repeats(index))
    }
}

impl Serialize for Unsent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message =
            |index| serde_json::from_str::<&RawValue>(self.transcript.message(index)).expect("messages are JSON");
        serializer.collect_seq((self.first..self.transcript.messages.len()).map(message))
    }
}

/// How many words follow; then for each its source, or the number of its text.
impl Field for Unsent<'_> {
    const FORM: Form = Form::Messages;

    fn write(&self, out: &mut Outbox) {
        let words = self.named().map(|index| match self.transcript.messages[index].source {
            Source::Text => 2,
            Source::Results => 2 + self.transcript.outputs.len(),
            Source::Sent | Source::Reply | Source::Start | Source::Instructions => 1,
        });
        words.sum::<usize>().write(out);
        for index in self.named() {
            match self.transcript.messages[index].source {
                Source::Sent => out.text(self.transcript.message(index).to_owned()),
                Source::Text => {
                    out.word(-(Source::Text as i32));
                    out.text(self.transcript.user_text(index));
                }
                Source::Results => {
                    out.word(-(Source::Results as i32));
                    self.transcript.outputs.len().write(out);
                    for output in &self.transcript.outputs {
                        match output {
                            Some(output) => out.text(output.clone()),
                            None => out.word(OWN),
                        }
                    }
                }
                source @ (Source::Reply | Source::Start | Source::Instructions) => out.word(-(source as i32)),
            }
        }
    }
}

#[derive(Serialize)]
struct Role<'a, T: ?Sized> {
    role: &'static str,
    content: &'a T,
}

/// A message of that role.
pub fn message<T: Serialize + ?Sized>(role: &'static str, content: &T) -> Json {
    Json::of(&Role { role, content })
}
