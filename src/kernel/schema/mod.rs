//! JSON Schema validation of everything that a model or a tool writes.
//!
//! A [`Schema`] is compiled once per definition and then only asked. It answers from a parsed copy of the text: the
//! text itself travels on byte for byte. Four neighbours do the parts: [`text`] reads JSON, [`pattern`] chooses the
//! regex engine, [`report`] explains an invalid value, [`issue`] bounds the explanation.
//!
//! Draft 2020-12 unless `$schema` names another known draft. `format` is an annotation. Nothing is ever retrieved:
//! a `$ref` leaves the document only in an error message.

mod compile_error;
mod given;
mod issue;
mod pattern;
mod report;
mod text;

use std::fmt;
use std::sync::Arc;

use jsonschema::{Draft, ValidationOptions, Validator};
use serde_json::Value;

pub use self::compile_error::SchemaError;
pub use self::issue::{ISSUES_MAX, Issues, render};
pub use self::text::{NESTING_MAX, Object, is_too_deep, parse};
#[cfg(test)]
pub use self::{issue::RENDERED_MAX_BYTES, text::nesting_depth};

/// A compiled JSON Schema; clones share it.
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Compiled>,
}

/// Why a value was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The text cannot be read.
    #[error("invalid JSON: {message}")]
    NotJson {
        /// What the parser met, and where.
        message: String,
    },
    /// Beyond [`NESTING_MAX`].
    #[error("the value is nested deeper than {NESTING_MAX} levels")]
    TooDeep,
    /// The value does not match.
    #[error("{}", render(.0))]
    Issues(Issues),
}

struct Compiled {
    document: Arc<Value>,
    validator: Validator,
    engine: Engine,
}

/// How the patterns of one schema run; see [`pattern`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Linear,
    Backtracking { keys: bool },
}

impl Schema {
    /// Compiles the JSON text of a schema.
    ///
    /// # Errors
    /// A [`SchemaError`] that names the place inside the schema and what is wrong there.
    pub fn compile(text: &str) -> Result<Self, SchemaError> {
        let document = parse(text).map_err(|invalid| SchemaError::NotJson { message: invalid.to_string() })?;
        let draft = compile_error::draft_of(&document)?;
        let mut engine = Engine::Linear;
        let built = loop {
            let built = options(draft, engine).build(&document);
            engine = match (&built, engine) {
                (Err(_), Engine::Linear) => Engine::Backtracking { keys: false },
                (Err(_), Engine::Backtracking { keys: false }) => Engine::Backtracking { keys: true },
                (Err(_), Engine::Backtracking { keys: true }) | (Ok(_), _) => break built,
            };
        };
        let validator = built.map_err(|error| compile_error::explain(&document, &error))?;
        Ok(Self { inner: Arc::new(Compiled { document: Arc::new(document), validator, engine }) })
    }

    /// The schema as it was given.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.inner.document
    }

    /// Checks a JSON text.
    ///
    /// # Errors
    /// [`Invalid`] says whether it is no JSON, nested too deep, or does not match.
    pub fn validate_text(&self, text: &str) -> Result<(), Invalid> {
        self.check(&parse(text)?)
    }

    /// Checks a parsed value.
    ///
    /// # Errors
    /// [`Invalid::TooDeep`] or [`Invalid::Issues`].
    pub fn validate_value(&self, value: &Value) -> Result<(), Invalid> {
        if !text::fits(value, NESTING_MAX) {
            return Err(Invalid::TooDeep);
        }
        self.check(value)
    }

    fn check(&self, value: &Value) -> Result<(), Invalid> {
        if self.is_valid(value) { Ok(()) } else { Err(Invalid::Issues(report::explain(self, value))) }
    }

    fn is_valid(&self, value: &Value) -> bool {
        match self.inner.engine {
            Engine::Linear => self.inner.validator.is_valid(value),
            Engine::Backtracking { keys } => {
                pattern::start_budget();
                (!keys || pattern::keys_are_short(value)) && self.inner.validator.is_valid(value) && !pattern::gave_up()
            }
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Schema").field(&self.inner.document).finish()
    }
}

fn options(draft: Draft, engine: Engine) -> ValidationOptions<'static> {
    let options = jsonschema::options().offline().with_draft(draft).should_validate_formats(false);
    match engine {
        Engine::Linear => options.with_pattern_options(pattern::linear()),
        Engine::Backtracking { keys: false } => {
            options.with_pattern_options(pattern::linear()).with_keyword("pattern", pattern::keyword)
        }
        Engine::Backtracking { keys: true } => {
            options.with_pattern_options(pattern::backtracking()).with_keyword("pattern", pattern::keyword)
        }
    }
}
