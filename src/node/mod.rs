//! The bridge to Node and Bun: converts, forwards, and holds the engines of its thread. Nothing here knows what an agent is.

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
use crate::engine::{Engine, TreeId, read};
use crate::kernel::program;
use crate::kernel::protocol::{AskedCall, Part, PrepareAnswer, Start, ToolName, message};
use crate::kernel::schema;
use crate::kernel::turn::contract::issues_of;
use crate::kernel::value::{EffectId, Json, KeptId};

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
        Some(serde_json::to_string(&issues_of(invalid)).expect("issues always serialise"))
    }
}

/// The definitions that can be reached from one root agent.
#[napi]
pub struct Program(Rc<program::Program>);

#[napi]
impl Program {
    /// `text`: the agents, which name schemas by their position in `schemas`.
    #[napi(constructor, catch_unwind)]
    pub fn new(text: String, schemas: Vec<ClassInstance<Schema>>) -> napi::Result<Self> {
        let schemas = schemas.iter().map(|schema| schema.0.clone()).collect();
        program::Program::parse(&text, schemas).map(|program| Self(Rc::new(program))).map_err(reason)
    }
}

/// An engine that this thread's JavaScript has opened, with what crosses beside strings: numbers that come in, and rows of
/// commands that go out. Both lie in memory that JavaScript owns and this holds on to.
struct Opened {
    engine: Engine,
    /// The time first (the monotonic clock in milliseconds), then the number of the tree that a call is about, then what the call
    /// says besides.
    numbers: Float64Array,
    words: Int32Array,
    /// Rows for which `words` had no room.
    left: Vec<i32>,
    texts: Vec<String>,
    /// The parts so far of a reply on its way in.
    parts: Vec<Part>,
}

const TIME: usize = 0;
const TREE: usize = 1;
/// The first of the numbers that a call says besides.
const BESIDES: usize = 2;

thread_local! {
    /// The engines that this thread's JavaScript has opened, by number: at each call an object that wraps an engine would be
    /// unwrapped and proved to be one.
    static ENGINES: ManuallyDrop<RefCell<Vec<Option<Opened>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Opens the engine of one keel, with its records; returns its number. Calls that name it find the time and the tree in `numbers`, and
/// return how many words of commands they left in `words`: negative where texts belong to them, more than there is room for
/// where `more` has to be asked for all of them.
#[napi(catch_unwind)]
pub fn open_engine(env: Env, options: String, numbers: Float64Array, words: Int32Array) -> napi::Result<u32> {
    log::init();
    close_with(&env)?;
    let engine = Engine::new(&options).map_err(reason)?;
    ENGINES.with(|engines| {
        let mut engines = engines.borrow_mut();
        let (left, texts, parts) = Default::default();
        engines.push(Some(Opened { engine, numbers, words, left, texts, parts }));
        Ok(u32::try_from(engines.len() - 1).expect("few engines"))
    })
}

/// Has the thread's engines closed when its JavaScript ends, while there is still all that dropping a turn needs; the end of
/// the thread itself is too late for that.
fn close_with(env: &Env) -> napi::Result<()> {
    thread_local!(static ASKED: Cell<bool> = const { Cell::new(false) });
    if !ASKED.replace(true) {
        env.add_env_cleanup_hook((), |()| {
            ASKED.set(false);
            drop(ENGINES.with(|engines| engines.take()));
        })?;
    }
    Ok(())
}

/// Forgets an engine: nobody has its number any longer.
#[napi(catch_unwind)]
pub fn close_engine(engine: u32) {
    drop(ENGINES.with(|engines| engines.borrow_mut().get_mut(engine as usize).and_then(Option::take)));
}

/// Opens a tree with a root turn of the program's first agent, and leaves its number in `numbers`. These hold besides: what the
/// wall clock is ahead of the time, and whether the caller is authenticated and whether somebody listens, each 1 or 0. `input`:
/// a plain text, where the turn begins with nothing else; `rest`: all that the protocol's `Start` has besides, as JSON, where it
/// has anything.
#[napi(catch_unwind)]
pub fn start(
    engine: u32,
    program: &Program,
    #[napi(ts_arg_type = "string")] turn_id: Text,
    #[napi(ts_arg_type = "string | undefined | null")] input: Option<Text>,
    #[napi(ts_arg_type = "string | undefined | null")] rest: Option<Text>,
) -> napi::Result<i32> {
    with_engine(engine, |opened| {
        let [wall_offset_ms, authenticated, stream] = opened.besides();
        let rest: Option<Start> = rest.map(|rest| read(&rest.0)).transpose().map_err(reason)?;
        let mut start = rest.unwrap_or_default();
        start.turn_id = turn_id.0.into();
        start.wall_offset_ms = wall_offset_ms;
        start.authenticated = authenticated == 1.0;
        start.stream = stream == 1.0;
        if let Some(input) = input {
            start.messages = vec![message("user", &*input.0)];
            start.input = Json::of(&*input.0);
        }
        let now = opened.now();
        let tree = opened.engine.start(&program.0, start, now).map_err(reason)?;
        opened.name_tree(tree);
        Ok(opened.hand_out(tree))
    })
}

/// A part of the reply that `reply` will complete, as JSON: any but a tool call or a plain text.
#[napi(catch_unwind)]
pub fn say_other(engine: u32, #[napi(ts_arg_type = "string")] text: Text) -> napi::Result<()> {
    with_engine(engine, |opened| {
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
    engine: u32,
    #[napi(ts_arg_type = "string")] id: Text,
    #[napi(ts_arg_type = "string")] tool: Text,
    #[napi(ts_arg_type = "string")] input: Text,
    provider_executed: bool,
    #[napi(ts_arg_type = "string | undefined | null")] provider_options: Option<Text>,
    #[napi(ts_arg_type = "string | undefined | null")] check: Option<Text>,
) -> napi::Result<()> {
    with_engine(engine, |opened| {
        let ahead = check.map(|check| read(&check.0)).transpose().map_err(reason)?;
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

/// What the command `id` of the tree sends before its answer, as JSON.
#[napi(catch_unwind)]
pub fn letter(engine: u32, id: u32, #[napi(ts_arg_type = "string")] text: Text) -> napi::Result<i32> {
    with_tree(engine, |opened, tree, now| {
        let letter = read(&text.0).map_err(reason)?;
        opened.engine.letter(tree, EffectId(id), letter, now).map_err(reason)
    })
}

/// Anything else that happens to the tree, as JSON.
#[napi(catch_unwind)]
pub fn input(engine: u32, #[napi(ts_arg_type = "string")] text: Text) -> napi::Result<i32> {
    with_tree(engine, |opened, tree, now| {
        let input = read(&text.0).map_err(reason)?;
        opened.engine.input(tree, input, now).map_err(reason)
    })
}

/// Ends the tree for a fault of the kernel or of the host.
#[napi(catch_unwind)]
pub fn fault(engine: u32, #[napi(ts_arg_type = "string")] message: Text) -> napi::Result<i32> {
    // What was said of a reply that failed on its way in is nobody's.
    with_engine(engine, |opened| {
        opened.parts.clear();
        Ok(())
    })?;
    with_tree(engine, |opened, tree, _| opened.engine.fault(tree, message.0.as_ref().to_owned()).map_err(reason))
}

/// The tree's last command is performed, or it is given up: nobody has its number any longer.
#[napi(catch_unwind)]
pub fn release(engine: u32) -> napi::Result<()> {
    with_engine(engine, |opened| {
        if let Some(tree) = opened.tree() {
            opened.engine.release(tree);
        }
        Ok(())
    })
}

/// Hands out the words for which there was no room.
#[napi(catch_unwind)]
pub fn more(engine: u32, words: Int32Array) -> napi::Result<()> {
    with_engine(engine, |opened| {
        opened.words = words;
        let left = std::mem::take(&mut opened.left);
        opened.write(&left);
        Ok(())
    })
}

/// Looks something up, as JSON text: in the tree that is named, or, where none is, among those that are over.
#[napi(catch_unwind)]
pub fn query(engine: u32, text: String, now_ms: f64) -> napi::Result<String> {
    with_engine(engine, |opened| opened.engine.query(opened.tree(), &text, now_ms).map_err(reason))
}

impl Opened {
    fn now(&self) -> f64 {
        self.numbers.as_ref().get(TIME).copied().unwrap_or_default()
    }

    /// The tree that the call is about; none where the number is none.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number that is not a tree's finds none"
    )]
    fn tree(&self) -> Option<TreeId> {
        let number = self.numbers.as_ref().get(TREE).copied()?;
        (number >= 0.0).then_some(number as TreeId)
    }

    #[expect(unsafe_code, reason = "memory that is shared with JavaScript")]
    fn name_tree(&mut self, tree: TreeId) {
        // SAFETY: JavaScript runs on this thread, so it reads and writes this memory before and after, not meanwhile.
        if let Some(number) = unsafe { self.numbers.as_mut() }.get_mut(TREE) {
            *number = tree.into();
        }
    }

    /// What the call says besides.
    fn besides<const N: usize>(&self) -> [f64; N] {
        let given = self.numbers.as_ref().get(BESIDES..BESIDES + N);
        given.and_then(|given| given.try_into().ok()).unwrap_or([f64::NAN; N])
    }

    /// Takes the commands of a tree. Returns how many words there are; negative where texts belong to them.
    fn hand_out(&mut self, tree: TreeId) -> i32 {
        let Some(kernel) = self.engine.kernel(tree) else { return 0 };
        let mut outbox = kernel.commands();
        let count = i32::try_from(outbox.words().len()).unwrap_or(i32::MAX);
        let texts = outbox.take_texts();
        let has_texts = !texts.is_empty();
        self.texts = texts;
        // SAFETY: JavaScript runs on this thread, so it reads and writes this memory before and after, not meanwhile.
        #[expect(unsafe_code, reason = "memory that is shared with JavaScript")]
        let room = unsafe { self.words.as_mut() };
        match room.get_mut(..outbox.words().len()) {
            Some(room) => room.copy_from_slice(outbox.words()),
            None => self.left.extend_from_slice(outbox.words()),
        }
        outbox.clear();
        drop(outbox);
        if has_texts { -count } else { count }
    }

    #[expect(unsafe_code, reason = "memory that is shared with JavaScript")]
    fn write(&mut self, words: &[i32]) {
        // SAFETY: as above.
        if let Some(room) = unsafe { self.words.as_mut() }.get_mut(..words.len()) {
            room.copy_from_slice(words);
        }
    }
}

/// Serves a call about a tree, and hands out the commands that follow. What names no tree any longer is ignored.
fn with_tree(engine: u32, serve: impl FnOnce(&mut Opened, TreeId, f64) -> napi::Result<()>) -> napi::Result<i32> {
    with_engine(engine, |opened| {
        let Some(tree) = opened.tree() else { return Ok(0) };
        let now = opened.now();
        serve(opened, tree, now)?;
        Ok(opened.hand_out(tree))
    })
}

fn with_engine<R>(engine: u32, serve: impl FnOnce(&mut Opened) -> napi::Result<R>) -> napi::Result<R> {
    ENGINES.with(|engines| match engines.borrow_mut().get_mut(engine as usize) {
        Some(Some(opened)) => serve(opened),
        Some(None) | None => Err(napi::Error::from_reason("no such engine")),
    })
}

fn reason(error: impl std::fmt::Display) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}
