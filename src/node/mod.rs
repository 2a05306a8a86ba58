//! The bridge to Node and Bun: converts, forwards, and holds the kernels of its thread. Nothing here knows what an agent is.

mod hot;
mod log;
mod text;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;

use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Float64Array, Int32Array};
use napi_derive::napi;

use self::text::Text;
use crate::engine::Engine;
use crate::kernel::id::KeptId;
use crate::kernel::json::Json;
use crate::kernel::protocol::{AskedCall, Part, PrepareAnswer, Start, ToolName};
use crate::kernel::schema;
use crate::kernel::spec;
use crate::kernel::transcript::message;

/// A JSON Schema 2020-12, compiled once.
#[napi]
pub struct Schema(schema::Schema);

#[napi]
impl Schema {
    /// Throws when the text is no schema; the message names the place.
    #[napi(constructor, catch_unwind)]
    pub fn new(text: String) -> napi::Result<Self> {
        schema::Schema::compile(&text).map(Self).map_err(reason)
    }

    /// `null` when the JSON text is valid, else a JSON array of `{ path, message }`.
    #[napi(catch_unwind)]
    pub fn validate(&self, text: String) -> Option<String> {
        let invalid = self.0.validate_text(&text).err()?;
        Some(serde_json::to_string(&crate::kernel::contract::issues_of(invalid)).expect("issues always serialise"))
    }
}

/// The definitions that can be reached from one root agent.
#[napi]
pub struct Program(Rc<spec::Program>);

#[napi]
impl Program {
    /// `text`: the agents, which name schemas by their position in `schemas`.
    #[napi(constructor, catch_unwind)]
    pub fn new(text: String, schemas: Vec<ClassInstance<Schema>>) -> napi::Result<Self> {
        let schemas = schemas.iter().map(|schema| schema.0.clone()).collect();
        spec::Program::parse(&text, schemas).map(|program| Self(Rc::new(program))).map_err(reason)
    }
}

/// A kernel that this thread's JavaScript has opened, with what crosses beside strings: numbers that come in, and rows of
/// commands that go out. Both lie in memory that JavaScript owns and this holds on to.
struct Opened {
    engine: Engine,
    numbers: Float64Array,
    words: Int32Array,
    /// The parts so far of a reply on its way in.
    parts: Vec<Part>,
}

thread_local! {
    /// The kernels that this thread's JavaScript has opened, by number: at each call an object that wraps a kernel would be
    /// unwrapped and proved to be one.
    static KERNELS: ManuallyDrop<RefCell<Vec<Option<Opened>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Opens the kernel of one keel, with its records; returns its number. Calls that name it find the time (the monotonic clock in
/// milliseconds) as the first of `numbers`, and return how many words of commands they left in `words`: negative where texts belong
/// to them, more than there is room for where `more` has to be asked for all of them.
#[napi(catch_unwind)]
pub fn open_kernel(env: Env, options: String, numbers: Float64Array, words: Int32Array) -> napi::Result<u32> {
    log::init();
    close_with(&env)?;
    let engine = Engine::new(&options).map_err(reason)?;
    KERNELS.with(|kernels| {
        let mut kernels = kernels.borrow_mut();
        kernels.push(Some(Opened { engine, numbers, words, parts: Vec::new() }));
        Ok(u32::try_from(kernels.len() - 1).expect("few kernels"))
    })
}

/// Has the thread's kernels closed when its JavaScript ends, while there is still all that dropping a turn needs; the end of
/// the thread itself is too late for that.
fn close_with(env: &Env) -> napi::Result<()> {
    thread_local!(static ASKED: Cell<bool> = const { Cell::new(false) });
    if !ASKED.replace(true) {
        env.add_env_cleanup_hook((), |()| {
            ASKED.set(false);
            drop(KERNELS.with(|kernels| kernels.take()));
        })?;
    }
    Ok(())
}

/// Forgets a kernel: nobody has its number any longer.
#[napi(catch_unwind)]
pub fn close_kernel(kernel: u32) {
    drop(KERNELS.with(|kernels| kernels.borrow_mut().get_mut(kernel as usize).and_then(Option::take)));
}

/// Opens a root turn of the program's first agent. `numbers` holds, behind the time: what the wall clock is ahead of it, and whether the
/// caller is authenticated and whether somebody listens, each 1 or 0. `input`: a plain text, where the turn begins with nothing else;
/// `rest`: all that the protocol's `Start` has besides, as JSON, where it has anything.
#[napi(catch_unwind)]
pub fn start(
    kernel: u32,
    program: &Program,
    turn_id: Text,
    input: Option<Text>,
    rest: Option<Text>,
) -> napi::Result<i32> {
    with_kernel(kernel, |opened| {
        let [now, wall_offset_ms, authenticated, stream] = opened.numbers.as_ref()[..4] else {
            return Err(napi::Error::from_reason("too few numbers"));
        };
        let rest: Option<Start> = rest.map(|rest| serde_json::from_str(&rest.0)).transpose().map_err(reason)?;
        let mut start = rest.unwrap_or_default();
        start.turn_id = turn_id.0.into();
        start.wall_offset_ms = wall_offset_ms;
        start.authenticated = authenticated == 1.0;
        start.stream = stream == 1.0;
        if let Some(input) = input {
            start.messages = vec![message("user", &*input.0)];
            start.input = Json::of(&*input.0);
        }
        opened.engine.begin(&program.0, start, now);
        Ok(opened.hand_out())
    })
}

/// A part of the reply that `reply` will complete, as JSON: any but a tool call or a plain text.
#[napi(catch_unwind)]
pub fn say_other(kernel: u32, text: Text) -> napi::Result<()> {
    with_kernel(kernel, |opened| {
        opened.parts.extend(Part::read(Json::known(text.0), &mut std::iter::empty()));
        Ok(())
    })
}

/// The check is under way, and what is kept is its promise.
const BEGUN: i32 = -2;

fn accepted(kept: i32, exclusive: i32) -> Option<PrepareAnswer> {
    let kept = KeptId(u32::try_from(kept).ok()?);
    if exclusive == BEGUN {
        return Some(PrepareAnswer::Begun { kept });
    }
    Some(PrepareAnswer::Ok { kept, exclusive: (exclusive >= 0).then_some(exclusive > 0) })
}

/// A tool call that has more to it: provider options as JSON, or a check that is no acceptance, as JSON.
#[napi(catch_unwind)]
pub fn call_with(
    kernel: u32,
    id: Text,
    tool: Text,
    input: Text,
    provider_executed: bool,
    provider_options: Option<Text>,
    check: Option<Text>,
) -> napi::Result<()> {
    with_kernel(kernel, |opened| {
        let ahead = check.map(|check| serde_json::from_str(&check.0)).transpose().map_err(reason)?;
        let provider_options = provider_options.map(|options| Json::known(options.0));
        opened.parts.push(Part::Call(AskedCall {
            id: id.0,
            tool: ToolName::Named(tool.0),
            input: input.0,
            provider_options,
            provider_executed,
            is_json: false,
            ahead,
        }));
        Ok(())
    })
}

/// Anything else that happened.
#[napi(catch_unwind)]
pub fn input(kernel: u32, text: Text) -> napi::Result<i32> {
    with_kernel(kernel, |opened| {
        let now = opened.now();
        opened.engine.input(&text.0, now).map_err(reason)?;
        Ok(opened.hand_out())
    })
}

/// Hands out all words again, in memory that has room for them.
#[napi(catch_unwind)]
pub fn more(kernel: u32, words: Int32Array) -> napi::Result<i32> {
    with_kernel(kernel, |opened| {
        opened.words = words;
        Ok(opened.hand_out())
    })
}

/// Looks something up, as JSON text.
#[napi(catch_unwind)]
pub fn query(kernel: u32, text: String, now_ms: f64) -> napi::Result<String> {
    with_kernel(kernel, |opened| opened.engine.query(&text, now_ms).map_err(reason))
}

impl Opened {
    fn now(&self) -> f64 {
        self.numbers.as_ref().first().copied().unwrap_or_default()
    }

    fn hand_out(&mut self) -> i32 {
        let mut outbox = self.engine.outbox();
        let count = i32::try_from(outbox.words().len()).unwrap_or(i32::MAX);
        let has_texts = outbox.has_texts();
        // SAFETY: JavaScript runs on this thread, so it reads and writes this memory before and after, not meanwhile.
        #[expect(unsafe_code, reason = "memory that is shared with JavaScript")]
        let room = unsafe { self.words.as_mut() };
        if let Some(room) = room.get_mut(..outbox.words().len()) {
            room.copy_from_slice(outbox.words());
            outbox.clear();
        }
        if has_texts { -count } else { count }
    }
}

fn with_kernel<R>(kernel: u32, serve: impl FnOnce(&mut Opened) -> napi::Result<R>) -> napi::Result<R> {
    KERNELS.with(|kernels| match kernels.borrow_mut().get_mut(kernel as usize) {
        Some(Some(opened)) => serve(opened),
        Some(None) | None => Err(napi::Error::from_reason("no such kernel")),
    })
}

fn reason(error: impl std::fmt::Display) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}
