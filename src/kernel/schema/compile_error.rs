//! Why a schema does not compile, and where in it (NT-9).

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ReferencingError, ValidationError};
use serde_json::Value;

use super::issue::clip;
use super::report;

const NAME_MAX_BYTES: usize = 120;

/// Why a schema was refused; `path` is a JSON Pointer into the schema, `""` is its root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The text cannot be read.
    #[error("the schema is not JSON: {message}")]
    NotJson {
        /// What the parser met, and where.
        message: String,
    },
    /// Only objects and booleans are schemas.
    #[error("a schema must be an object or a boolean, found {found}")]
    NotSchema {
        /// The type of what was given.
        found: &'static str,
    },
    /// `$schema` names no draft that is known here.
    #[error("the schema's \"$schema\" names an unknown draft: {draft}")]
    UnknownDraft {
        /// The name given.
        draft: String,
    },
    /// A keyword has a value that the draft does not allow.
    #[error("the schema is invalid at \"{path}\": {message}")]
    Keyword {
        /// Where in the schema.
        path: String,
        /// What is allowed and what was found.
        message: String,
    },
    /// A `$ref` leads nowhere, or out of the document.
    #[error("the schema is invalid at \"{path}\": {message}")]
    Reference {
        /// Where in the schema; `""` when that is unknown.
        path: String,
        /// What the reference names and why it does not hold.
        message: String,
    },
    /// No engine can run the pattern.
    #[error("the schema is invalid at \"{path}\": {pattern} is not a regular expression that can run here")]
    Pattern {
        /// Where in the schema.
        path: String,
        /// The pattern, cut when it is long.
        pattern: String,
    },
}

pub(super) fn draft_of(document: &Value) -> Result<Draft, SchemaError> {
    if !document.is_object() && !document.is_boolean() {
        return Err(SchemaError::NotSchema { found: report::type_name(document) });
    }
    let draft = Draft::Draft202012.detect(document);
    match document.get("$schema") {
        Some(Value::String(name)) if draft == Draft::Unknown => {
            Err(SchemaError::UnknownDraft { draft: clip(name, NAME_MAX_BYTES) })
        }
        _ => Ok(draft),
    }
}

pub(super) fn explain(document: &Value, error: &ValidationError<'_>) -> SchemaError {
    let path = clip(error.instance_path().as_str(), NAME_MAX_BYTES);
    if let ValidationErrorKind::Referencing(reason) = error.kind() {
        return reference(document, reason);
    }
    if matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex") {
        return pattern(document, error);
    }
    if let ValidationErrorKind::AnyOf { context } = error.kind()
        && let Some(first) = context.iter().flatten().next()
    {
        // `type` is one of a few names or a list of them: the first branch names what is allowed.
        return SchemaError::Keyword { path, message: report::describe(first) };
    }
    SchemaError::Keyword { path, message: report::describe(error) }
}

/// A pattern that a keyword of ours compiled knows its own document only, hence the search.
fn pattern(document: &Value, error: &ValidationError<'_>) -> SchemaError {
    let given = error.instance();
    let reported = error.instance_path().as_str();
    let path = match document.pointer(reported) {
        Some(found) if found == given.as_ref() => reported.to_owned(),
        _ => find(document, &|key, value| key == "pattern" && value == given.as_ref())
            .unwrap_or_else(|| reported.to_owned()),
    };
    let pattern = given.as_str().or_else(|| reported.rsplit('/').next()).unwrap_or_default();
    SchemaError::Pattern { path: clip(&path, NAME_MAX_BYTES), pattern: clip(pattern, NAME_MAX_BYTES) }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign enum: the rest has no place in the schema")]
fn reference(document: &Value, reason: &ReferencingError) -> SchemaError {
    let (target, problem) = match reason {
        ReferencingError::Unretrievable { uri, .. } => {
            (uri.split('#').next().unwrap_or_default(), "is outside the schema and is never fetched")
        }
        ReferencingError::PointerToNowhere { pointer } => (pointer.as_str(), "does not exist in the schema"),
        ReferencingError::NoSuchAnchor { anchor } => (anchor.as_str(), "is not an anchor of the schema"),
        ReferencingError::InvalidAnchor { anchor } => (anchor.as_str(), "is not a possible anchor"),
        _ => {
            return SchemaError::Reference { path: String::new(), message: clip(&reason.to_string(), NAME_MAX_BYTES) };
        }
    };
    let is_remote = matches!(reason, ReferencingError::Unretrievable { .. });
    let leads_to_target = |key: &str, value: &Value| {
        let named = value.as_str().unwrap_or_default();
        let (resource, fragment) = named.split_once('#').unwrap_or((named, ""));
        matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef")
            && if is_remote { !resource.is_empty() && target.ends_with(resource) } else { fragment == target }
    };
    let path = find(document, &leads_to_target).unwrap_or_default();
    let message = format!("{} {problem}", clip(target, NAME_MAX_BYTES));
    SchemaError::Reference { path: clip(&path, NAME_MAX_BYTES), message }
}

/// The pointer to the first member that `wanted` accepts; the parser bounds the recursion.
fn find(value: &Value, wanted: &dyn Fn(&str, &Value) -> bool) -> Option<String> {
    let below = |key: &str, value: &Value| find(value, wanted).map(|path| format!("/{}{path}", report::escape(key)));
    match value {
        Value::Object(members) => members.iter().find_map(|(key, member)| {
            if wanted(key, member) { Some(format!("/{}", report::escape(key))) } else { below(key, member) }
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| below(&index.to_string(), item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
