use serde_json::json;

use super::{lines, schema};

#[test]
fn d_26_a_pattern_with_lookaround_runs_beside_linear_ones() {
    let document = json!({"properties": {"a": {"pattern": "^(?!x)[a-z]+$"}, "b": {"pattern": "^[0-9]+$"}}, "patternProperties": {"^c": {"type": "null"}}});
    let mixed = schema(&document);
    assert_eq!(mixed.validate_text(r#"{"a":"abc","b":"1","c":null}"#), Ok(()));
    let found = lines(&document, &json!({"a": "xa", "b": "1"}));
    assert_eq!(found, ["- /a: must match the pattern ^(?!x)[a-z]+$"]);
    let huge = json!({"a": "a", "b": "1".repeat(1_000_000)});
    assert_eq!(mixed.validate_text(&huge.to_string()), Ok(()), "linear patterns have no budget");
}

#[test]
fn d_26_a_pattern_that_backtracks_too_long_makes_the_value_invalid() {
    let slow = json!({"pattern": r"(?=.*\d)(?=.*[a-z])x"});
    let long = json!("a".repeat(8_193));
    assert_eq!(lines(&slow, &long), ["- the value: takes too long to match against the pattern"]);
    let catastrophic = json!({"pattern": r"^((a|aa)+)\1$"});
    let subject = json!(format!("{}b", "a".repeat(60)));
    assert_eq!(lines(&catastrophic, &subject), ["- the value: takes too long to match against the pattern"]);
    for pattern in [slow, catastrophic] {
        for value in [&long, &subject] {
            let negated = schema(&json!({"not": pattern})).validate_value(value);
            let matched = schema(&pattern).validate_value(value);
            assert!(
                negated.is_err() || (matched.is_err() && value == &subject),
                "giving up is no match and no mismatch"
            );
        }
    }
    let many = json!({"items": {"pattern": "^(?!x)a"}});
    assert_eq!(schema(&many).validate_value(&json!(vec!["a".repeat(128); 4_096])), Ok(()));
    assert!(schema(&many).validate_value(&json!(vec!["a".repeat(128); 4_097])).is_err());
}

#[test]
fn d_26_keys_matched_by_backtracking_are_short() {
    let keys = schema(&json!({"patternProperties": {"^(?!x-)": {"type": "number"}}}));
    assert_eq!(keys.validate_text(r#"{"x-a":"s","b":1}"#), Ok(()));
    assert!(keys.validate_text(r#"{"b":"s"}"#).is_err());
    assert_eq!(keys.validate_value(&json!({"k".repeat(256): 1})), Ok(()));
    assert!(keys.validate_value(&json!({"k".repeat(257): 1})).is_err());
}
