//! Which regex engine runs a pattern, and what bounds it.
//!
//! A schema whose patterns all run in the linear-time engine uses that engine alone. Otherwise the keyword `pattern`
//! is taken over by [`keyword`], which chooses per pattern: the linear engine where it can, else backtracking. A
//! backtrack limit alone is no bound, since each retry may scan the whole string again (`(?=.*\d)` on 100 KB takes
//! seconds below any limit), so one validation also has a budget of squared string lengths. Who runs out of either
//! has given up, and the value is invalid whatever else the schema says, also under `not`.

use std::cell::Cell;

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::Location;
use jsonschema::{FancyRegex, Keyword, PatternOptions, Regex, ValidationError, Validator};
use serde_json::{Map, Value, json};

/// Sum over one validation of the squared byte lengths of strings that a backtracking pattern saw: one string of
/// 8 KiB, or 4,096 strings of 128 bytes.
pub(super) const BACKTRACKING_BUDGET: u64 = 1 << 26;
/// Retries within one string.
const BACKTRACKS_MAX: usize = 100_000;
/// Keys have no budget of their own: `patternProperties` runs inside the validator.
const BACKTRACKING_KEY_MAX_BYTES: usize = 256;

pub(super) const GAVE_UP: &str = "takes too long to match against the pattern";

/// What is left for backtracking in the validation that runs; `None` once it gave up.
type Budget = Option<u64>;

thread_local! {
    static BUDGET: Cell<Budget> = const { Cell::new(None) };
}

pub(super) fn linear() -> PatternOptions<Regex> {
    PatternOptions::regex()
}

pub(super) fn backtracking() -> PatternOptions<FancyRegex> {
    PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX)
}

pub(super) fn start_budget() {
    BUDGET.set(Some(BACKTRACKING_BUDGET));
}

pub(super) fn gave_up() -> bool {
    BUDGET.get().is_none()
}

pub(super) fn keys_are_short(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().all(|(key, value)| key.len() <= BACKTRACKING_KEY_MAX_BYTES && keys_are_short(value))
        }
        Value::Array(items) => items.iter().all(keys_are_short),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Builds the keyword `pattern` for a schema that has a pattern which needs backtracking.
pub(super) fn keyword<'a>(
    _siblings: &'a Map<String, Value>,
    given: &'a Value,
    _location: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let document = json!({ "pattern": given });
    let options = jsonschema::draft202012::options();
    let (validator, backtracks) = match options.clone().with_pattern_options(linear()).build(&document) {
        Ok(validator) => (validator, false),
        Err(_) => (options.with_pattern_options(backtracking()).build(&document)?, true),
    };
    Ok(Box::new(Pattern { validator, backtracks, source: given.as_str().unwrap_or_default().to_owned() }))
}

struct Pattern {
    validator: Validator,
    backtracks: bool,
    source: String,
}

impl Pattern {
    fn spend(&self, subject: &Value) -> bool {
        let Value::String(subject) = subject else { return true };
        if !self.backtracks {
            return true;
        }
        let length = subject.len() as u64;
        let left = BUDGET.get().and_then(|left| left.checked_sub(length.saturating_mul(length)));
        BUDGET.set(left);
        left.is_some()
    }
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        let gave_up = self.backtracks && gave_up();
        Err(ValidationError::custom(if gave_up {
            GAVE_UP.to_owned()
        } else {
            format!("must match the pattern {}", super::issue::clip(&self.source, super::issue::EXCERPT_MAX_BYTES))
        }))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        if !self.backtracks {
            return self.validator.is_valid(instance);
        }
        if !self.spend(instance) {
            return false;
        }
        let Err(error) = self.validator.validate(instance) else {
            return true;
        };
        let unfinished = matches!(
            error.kind(),
            ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. }
        );
        if unfinished {
            BUDGET.set(None);
        }
        false
    }
}
