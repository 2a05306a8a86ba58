//! A model's reply, read without trust (NT-41): what it said, and which calls it asks for. Call ids that a provider
//! reuses, leaves out or makes too long get one of ours, while the transcript keeps the provider's pairing (D-14).

use std::cell::Cell;
use std::rc::Rc;

use crate::kernel::call::arguments::Check;
use crate::kernel::protocol::{AskedCall, Content, FinishReason, ModelReply, Part, Place, SaidCall, Source, TextPart};
use crate::kernel::schema;
use crate::kernel::turn::Turn;
use crate::kernel::value::{CallId, Json};

pub struct Reply {
    pub text: String,
    pub finish_reason: FinishReason,
    pub calls: Vec<RequestedCall>,
    /// The host has it as it is kept here.
    pub is_as_given: bool,
}

/// A tool call as the model asked for it.
pub struct RequestedCall {
    pub id: CallId,
    pub place: Place,
    /// The id that pairs call and result in the transcript.
    pub pair_id: Rc<str>,
    pub tool_name: Rc<str>,
    /// Its position, where the host has looked it up.
    pub tool_index: Option<usize>,
    pub arguments: Arguments,
    /// What the host said of the arguments ahead.
    pub ahead: Cell<Option<Check>>,
}

/// What a call is given.
pub enum Arguments {
    Json(Json),
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
/// What no arguments are.
pub const EMPTY: &str = "{}";

impl Reply {
    /// Reads a reply and appends it to the turn's transcript.
    pub fn read(turn: &Rc<Turn>, step: u32, reply: ModelReply, checks: Option<Vec<Option<Check>>>) -> Self {
        let mut checks = checks.map(Vec::into_iter);
        let mut read =
            Self { text: String::new(), finish_reason: reply.finish_reason, calls: Vec::new(), is_as_given: true };
        let mut reader = Reader { turn, step, pair_ids: Vec::new(), as_given: !turn.hooks.after_model };
        let mut transcript = turn.transcript.borrow_mut();
        let mut content = transcript.begin("assistant");
        for part in reply.parts {
            match part {
                Part::Call(mut call) => {
                    let ahead = match &mut checks {
                        Some(checks) => checks.next().flatten(),
                        None => call.ahead.take().map(|answer| Check::new(turn, answer)),
                    };
                    let call = reader.read_call(read.calls.len(), call, ahead, &mut content);
                    read.calls.extend(call);
                }
                Part::Text(text) => {
                    read.text.push_str(&text);
                    content.part(&TextPart::new(&text));
                }
                Part::Other { json, text } => {
                    read.text.push_str(text.as_deref().unwrap_or_default());
                    content.json(&json);
                }
            }
        }
        read.is_as_given = reader.as_given;
        content.end(if reader.as_given { Source::Reply } else { Source::Sent });
        read
    }
}

/// What the host said of the calls' arguments, in their order.
pub fn take_checks(turn: &Rc<Turn>, reply: &mut ModelReply) -> Vec<Option<Check>> {
    let calls = reply.parts.iter_mut().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None });
    calls.map(|call| call.ahead.take().map(|answer| Check::new(turn, answer))).collect()
}

struct Reader<'a> {
    turn: &'a Turn,
    step: u32,
    pair_ids: Vec<Rc<str>>,
    /// The message says what the reply says.
    as_given: bool,
}

impl Reader<'_> {
    /// Writes the call, and returns it unless the provider has already run it.
    fn read_call(
        &mut self,
        index: usize,
        asked: AskedCall,
        ahead: Option<Check>,
        content: &mut Content<'_>,
    ) -> Option<RequestedCall> {
        let AskedCall { id: given, tool, input, is_json, provider_options, provider_executed, .. } = asked;
        let (tool_name, tool_index) = tool.of(self.turn.agent());
        let step = self.step;
        let our_id = || format!("c{step}_{index}");
        let (arguments, shown) = read_arguments(input, is_json);
        self.as_given &= matches!(&arguments, Arguments::Json(json) if json.get() != EMPTY);
        // Two calls of one message with the same id could not be told apart by the provider either.
        let pair_ids = &mut self.pair_ids;
        let is_new = |pair_id: &Rc<str>| {
            let is_new = !pair_ids.contains(pair_id);
            pair_ids.push(Rc::clone(pair_id));
            is_new
        };
        let pair_id = if given.is_empty() { ours(&our_id, is_new) } else { unlike(&given, &our_id, is_new) };
        self.as_given &= pair_id == given;
        content.call(&SaidCall {
            id: &pair_id,
            tool_name: &tool_name,
            input: &shown,
            provider_options: provider_options.as_ref(),
            provider_executed,
        });
        if provider_executed {
            return None;
        }
        let usable = !given.is_empty() && given.chars().count() <= ID_CHARS_MAX && !given.contains('/');
        let mut call_ids = self.turn.call_ids.borrow_mut();
        let is_new = |id: &Rc<str>| call_ids.insert(CallId::from(Rc::clone(id)));
        let id = CallId::from(if usable { unlike(&given, &our_id, is_new) } else { ours(&our_id, is_new) });
        let position = u32::try_from(index).unwrap_or(u32::MAX);
        let place = if id.as_str() == &*given { Place::Given(position) } else { Place::Renamed(position) };
        Some(RequestedCall { id, place, pair_id, tool_name, tool_index, arguments, ahead: Cell::new(ahead) })
    }
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
fn read_arguments(text: Rc<str>, is_json: bool) -> (Arguments, Json) {
    let text = if text.trim().is_empty() { EMPTY.into() } else { text };
    let excerpt = &text[..text.floor_char_boundary(BROKEN_BYTES_MAX)];
    let json = if is_json { Ok(Json::known(Rc::clone(&text))) } else { Json::read(&text) };
    match json {
        Ok(json) if schema::is_too_deep(json.get()) => (Arguments::TooDeep, Json::of(excerpt)),
        Ok(json) => (Arguments::Json(json.clone()), json),
        Err(error) => {
            let message = format!("invalid JSON: {error}; it starts with {excerpt:?}");
            (Arguments::Broken { message }, Json::of(excerpt))
        }
    }
}
