//! Explains why a value is invalid.
//!
//! The validator's own explanation of a union holds that of every branch, which doubles with each level of a recursive
//! one. Here unions are opaque: they report only that they failed, and then at most one branch, the one that the value
//! most likely meant, is explained in turn. The work is linear in the value and bounded by [`UNIONS_MAX`].

mod describe;
mod union;

use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::Location;
use jsonschema::{Draft, Keyword, Retrieve, Uri, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

pub(super) use self::describe::{describe, type_name};
use self::union::{Choice, choose};
use super::issue::Issues;
use super::{Engine, Schema, options, pattern};

/// Unions that one explanation opens.
const UNIONS_MAX: u32 = 32;
/// Arrays, objects and scalars beyond which only the first broken rule is explained: all of them would be collected
/// before the first could be shown.
const NODES_MAX: usize = 20_000;
const DOCUMENT_URI: &str = "keel:///schema";
const UNION: &str = "matches none of the allowed shapes";

pub(super) fn explain(schema: &Schema, value: &Value) -> Issues {
    let mut report = Report { origin: Origin::of(schema), value, unions_left: UNIONS_MAX, issues: Issues::default() };
    pattern::start_budget();
    report.visit("", "");
    if report.issues.is_empty() {
        let gave_up = schema.inner.engine != Engine::Linear && pattern::gave_up();
        report.issues.push("", if gave_up { pattern::GAVE_UP } else { "does not match the schema" });
    }
    report.issues
}

type UnionBuilt<'a> = Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>>;

struct Report<'v> {
    origin: Origin,
    value: &'v Value,
    unions_left: u32,
    issues: Issues,
}

/// The whole schema, from which a part is compiled by its pointer.
#[derive(Clone)]
struct Origin {
    document: Arc<Value>,
    draft: Draft,
    engine: Engine,
}

impl Report<'_> {
    /// Explains the part of the value at `path` by the part of the schema at `pointer`.
    fn visit(&mut self, pointer: &str, path: &str) {
        let Some(value) = self.value.pointer(path) else { return };
        let Some(validator) = self.origin.explaining(pointer) else {
            return;
        };
        if nodes(value, NODES_MAX) < NODES_MAX {
            for error in validator.iter_errors(value) {
                if self.issues.is_full() {
                    return;
                }
                self.add(path, &error);
            }
        } else if let Err(error) = validator.validate(value) {
            self.add(path, &error);
        }
    }

    fn add(&mut self, base: &str, error: &ValidationError<'_>) {
        let path = format!("{base}{}", error.instance_path());
        let kind = error.kind();
        if let ValidationErrorKind::Required { property: Value::String(name) } = kind {
            self.issues.push(&member(&path, name), "is required");
        } else if let ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } = kind
        {
            for name in unexpected.iter().take(super::ISSUES_MAX) {
                self.issues.push(&member(&path, name), "is not a known property");
            }
        } else if matches!(kind, ValidationErrorKind::Custom { message, .. } if message == UNION) {
            self.open(error.schema_path().as_str(), &path);
        } else {
            self.issues.push(&path, &describe(error));
        }
    }

    fn open(&mut self, pointer: &str, path: &str) {
        let Some((value, Value::Array(branches))) = self.value.pointer(path).zip(self.origin.document.pointer(pointer))
        else {
            return self.issues.push(path, UNION);
        };
        let Some(left) = self.unions_left.checked_sub(1) else {
            return self.issues.push(path, UNION);
        };
        self.unions_left = left;
        let matching = (0..branches.len()).filter(|index| {
            self.origin.plain(&format!("{pointer}/{index}")).is_some_and(|branch| branch.is_valid(value))
        });
        let matching = matching.count();
        if matching > 1 {
            let message =
                format!("matches {matching} of the {} shapes of which exactly one is allowed", branches.len());
            return self.issues.push(path, &message);
        }
        match choose(&self.origin.document, branches, value) {
            Choice::Branch(index) => {
                let before = self.issues.clone();
                self.visit(&format!("{pointer}/{index}"), path);
                if self.issues == before {
                    self.issues.push(path, UNION);
                }
            }
            Choice::Nobody { path: below, message } => self.issues.push(&format!("{path}{below}"), &message),
            Choice::Unclear => {
                let message = format!("matches none of the {} allowed shapes", branches.len());
                self.issues.push(path, &message);
            }
        }
    }
}

impl Origin {
    fn of(schema: &Schema) -> Self {
        let compiled = &schema.inner;
        Self { document: Arc::clone(&compiled.document), draft: compiled.validator.draft(), engine: compiled.engine }
    }

    fn plain(&self, pointer: &str) -> Option<Validator> {
        self.options().build(&reference(pointer)).ok()
    }

    fn explaining(&self, pointer: &str) -> Option<Validator> {
        let options = self.options().with_keyword("anyOf", self.opaque_union());
        options.with_keyword("oneOf", self.opaque_union()).build(&reference(pointer)).ok()
    }

    fn opaque_union(&self) -> impl for<'a> Fn(&'a Map<String, Value>, &'a Value, Location) -> UnionBuilt<'a> + use<> {
        let origin = self.clone();
        move |_, _, location| Ok(Box::new(Union { origin: origin.clone(), location, compiled: OnceLock::new() }))
    }

    fn options(&self) -> ValidationOptions<'static> {
        options(self.draft, self.engine).with_retriever(self.clone())
    }
}

impl Retrieve for Origin {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        if uri.as_str() == DOCUMENT_URI {
            Ok(Value::clone(&self.document))
        } else {
            Err("not a part of the schema".into())
        }
    }
}

/// An `anyOf` or `oneOf` that knows whether a value matches and keeps the reasons to itself.
struct Union {
    origin: Origin,
    location: Location,
    compiled: OnceLock<Option<Validator>>,
}

impl<'i> Keyword<'i> for Union {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom(UNION)) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            let pointer = self.location.as_str();
            let keyword = pointer.rsplit('/').next()?;
            let branches = self.origin.document.pointer(pointer)?.as_array()?.len();
            let branches: Vec<_> = (0..branches).map(|index| reference(&format!("{pointer}/{index}"))).collect();
            self.origin.options().build(&json!({ keyword: branches })).ok()
        });
        compiled.as_ref().is_none_or(|compiled| compiled.is_valid(instance))
    }
}

fn reference(pointer: &str) -> Value {
    let mut uri = format!("{DOCUMENT_URI}#");
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~$".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    json!({ "$ref": uri })
}

/// A key as a reference token of a JSON Pointer.
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn member(path: &str, key: &str) -> String {
    format!("{path}/{}", escape(key))
}

/// How many values `value` consists of, counted up to `most`.
fn nodes(value: &Value, most: usize) -> usize {
    let add = |counted: usize, part: &Value| {
        if counted < most { counted + nodes(part, most - counted) } else { counted }
    };
    match value {
        Value::Array(items) => items.iter().fold(1, add),
        Value::Object(members) => members.values().fold(1, add),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
