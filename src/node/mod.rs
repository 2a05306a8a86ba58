//! The bridge to Node and Bun: converts and forwards. Nothing here knows what an agent is.

mod log;

use std::rc::Rc;

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

/// The kernel of one keel and its records. Every call takes the monotonic clock in milliseconds and returns the commands
/// that follow, as a JSON array, or `null`.
#[napi]
pub struct Kernel(Engine);

#[napi]
impl Kernel {
    #[napi(constructor, catch_unwind)]
    pub fn new(options: String) -> napi::Result<Self> {
        log::init();
        Engine::new(&options).map(Self).map_err(reason)
    }

    /// Opens a root turn of the program's first agent.
    #[napi(catch_unwind)]
    pub fn start(&mut self, program: &Program, text: String, now_ms: f64) -> napi::Result<Option<String>> {
        self.0.start(&program.0, &text, now_ms).map_err(reason)
    }

    /// Answers the command `id`.
    #[napi(catch_unwind)]
    pub fn answer(&mut self, id: u32, text: String, now_ms: f64) -> Option<String> {
        self.0.answer(id, text, now_ms)
    }

    /// Anything else that happened.
    #[napi(catch_unwind)]
    pub fn input(&mut self, text: String, now_ms: f64) -> napi::Result<Option<String>> {
        self.0.input(&text, now_ms).map_err(reason)
    }

    /// Looks something up, as JSON text.
    #[napi(catch_unwind)]
    pub fn query(&self, text: String, now_ms: f64) -> napi::Result<String> {
        self.0.query(&text, now_ms).map_err(reason)
    }
}

fn reason(error: impl std::fmt::Display) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}
