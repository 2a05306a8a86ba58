//! The bridge to Node and Bun: converts, forwards, and holds the kernels of its thread. Nothing here knows what an agent is.

mod log;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use napi::Env;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;

use crate::engine::Engine;
use crate::kernel::schema;
use crate::kernel::spec;

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

thread_local! {
    /// The kernels that this thread's JavaScript has opened, by number: at each call an object that wraps a kernel would be
    /// unwrapped and proved to be one.
    static KERNELS: ManuallyDrop<RefCell<BTreeMap<u32, Engine>>> = const { ManuallyDrop::new(RefCell::new(BTreeMap::new())) };
}

/// Opens the kernel of one keel, with its records; returns its number. Calls that name it take the monotonic clock in
/// milliseconds and return the commands that follow, as a JSON array, or `null`.
#[napi(catch_unwind)]
pub fn open_kernel(env: Env, options: String) -> napi::Result<u32> {
    log::init();
    close_with(&env)?;
    let engine = Engine::new(&options).map_err(reason)?;
    KERNELS.with(|kernels| {
        let mut kernels = kernels.borrow_mut();
        let number = kernels.last_key_value().map_or(0, |(last, _)| last + 1);
        kernels.insert(number, engine);
        Ok(number)
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
    drop(KERNELS.with(|kernels| kernels.borrow_mut().remove(&kernel)));
}

/// Opens a root turn of the program's first agent.
#[napi(catch_unwind)]
pub fn start(kernel: u32, program: &Program, text: String, now_ms: f64) -> napi::Result<Option<String>> {
    with_engine(kernel, |engine| engine.start(&program.0, &text, now_ms))?.map_err(reason)
}

/// Answers the command `id`.
#[napi(catch_unwind)]
pub fn answer(kernel: u32, id: u32, text: String, now_ms: f64) -> napi::Result<Option<String>> {
    with_engine(kernel, |engine| engine.answer(id, text, now_ms))
}

/// Anything else that happened.
#[napi(catch_unwind)]
pub fn input(kernel: u32, text: String, now_ms: f64) -> napi::Result<Option<String>> {
    with_engine(kernel, |engine| engine.input(&text, now_ms))?.map_err(reason)
}

/// Looks something up, as JSON text.
#[napi(catch_unwind)]
pub fn query(kernel: u32, text: String, now_ms: f64) -> napi::Result<String> {
    with_engine(kernel, |engine| engine.query(&text, now_ms))?.map_err(reason)
}

fn with_engine<R>(kernel: u32, serve: impl FnOnce(&mut Engine) -> R) -> napi::Result<R> {
    KERNELS.with(|kernels| kernels.borrow_mut().get_mut(&kernel).map(serve)).ok_or_else(|| reason("no such kernel"))
}

fn reason(error: impl std::fmt::Display) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}
