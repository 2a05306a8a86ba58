//! One broken rule in words.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::kernel::schema::issue::{EXCERPT_MAX_BYTES, clip, count, excerpt};
use crate::kernel::schema::pattern;

/// The rule that is broken, in words a model can act on. The value is shown in part at most.
#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign enum: the rest is rare and named by its keyword")]
pub(in crate::kernel::schema) fn describe(error: &ValidationError<'_>) -> String {
    let value = error.instance();
    let found = || excerpt(value);
    let size = || count(size_of(value), unit_of(value));
    match error.kind() {
        ValidationErrorKind::Type { kind } => format!("expected {}, found {}", expected(kind), type_name(value)),
        ValidationErrorKind::Enum { options } => format!("must be one of {}, found {}", list(options), found()),
        ValidationErrorKind::Constant { expected_value } => {
            format!("must be {}, found {}", excerpt(expected_value), found())
        }
        ValidationErrorKind::Pattern { pattern } => {
            format!("must match the pattern {}, found {}", clip(pattern, EXCERPT_MAX_BYTES), found())
        }
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}, found {}", found()),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}, found {}", found()),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("must be more than {limit}, found {}", found()),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("must be less than {limit}, found {}", found()),
        ValidationErrorKind::MultipleOf { multiple_of } => {
            format!("must be a multiple of {multiple_of}, found {}", found())
        }
        ValidationErrorKind::MinLength { limit }
        | ValidationErrorKind::MinItems { limit }
        | ValidationErrorKind::MinProperties { limit } => {
            format!("must have at least {}, found {}", count(*limit, unit_of(value)), size())
        }
        ValidationErrorKind::MaxLength { limit }
        | ValidationErrorKind::MaxItems { limit }
        | ValidationErrorKind::MaxProperties { limit } => {
            format!("must have at most {}, found {}", count(*limit, unit_of(value)), size())
        }
        ValidationErrorKind::AdditionalItems { limit } => format!("must have at most {limit} items, found {}", size()),
        ValidationErrorKind::UniqueItems => "must not have equal items".to_owned(),
        ValidationErrorKind::Contains => "has too few or too many of the items that it must contain".to_owned(),
        ValidationErrorKind::PropertyNames { error } => {
            format!("has a property whose name is not allowed: {}", describe(error))
        }
        ValidationErrorKind::FalseSchema => "is not allowed".to_owned(),
        ValidationErrorKind::Not { .. } => format!("has a shape that is not allowed, found {}", found()),
        ValidationErrorKind::BacktrackLimitExceeded { .. } => pattern::GAVE_UP.to_owned(),
        ValidationErrorKind::Custom { message, .. } => message.clone(),
        other => format!("does not match the rule \"{}\"", clip(other.keyword(), EXCERPT_MAX_BYTES)),
    }
}

pub(in crate::kernel::schema) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => single.to_string(),
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

fn list(options: &Value) -> String {
    const SHOWN_MAX: usize = 20;
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = options.iter().take(SHOWN_MAX).map(excerpt).collect::<Vec<_>>().join(", ");
    if options.len() > SHOWN_MAX {
        text.push_str(", …");
    }
    clip(&text, 4 * EXCERPT_MAX_BYTES)
}

fn unit_of(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "item",
        Value::Object(_) => "property",
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "character",
    }
}

fn size_of(value: &Value) -> u64 {
    let size = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::String(text) => text.chars().count(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size as u64
}
