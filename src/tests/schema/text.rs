use serde_json::{Value, json};

use super::{nested, schema};

use crate::kernel::schema::{Invalid, NESTING_MAX, nesting_depth};

#[test]
fn bl_080_text_that_is_no_json_says_so() {
    let object = schema(&json!({"type": "object"}));
    for text in ["{\"a\":", "abc", "{\"a\":1}}", "", "   ", "'x'"] {
        let refused = object.validate_text(text);
        assert!(matches!(refused, Err(Invalid::NotJson { .. })), "{text}: {refused:?}");
        assert!(refused.expect_err("refused").to_string().starts_with("invalid JSON: "));
    }
}

#[test]
fn d_25_nesting_of_128_passes_and_129_is_too_deep() {
    let anything = schema(&json!({}));
    assert_eq!(anything.validate_text(&nested(NESTING_MAX)), Ok(()));
    assert_eq!(anything.validate_text(&nested(NESTING_MAX + 1)), Err(Invalid::TooDeep));
    let objects = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert_eq!(anything.validate_text(&objects(NESTING_MAX)), Ok(()));
    assert_eq!(anything.validate_text(&objects(NESTING_MAX + 1)), Err(Invalid::TooDeep));
    assert_eq!(anything.validate_text(&nested(1_000_000)), Err(Invalid::TooDeep));
    assert_eq!(anything.validate_text(&"[".repeat(1_000_000)), Err(Invalid::TooDeep));
    let broken = nested(NESTING_MAX).replace("[]", "[,]");
    assert!(matches!(anything.validate_text(&broken), Err(Invalid::NotJson { .. })));
    assert_eq!(nesting_depth(r#"["[[[\"[", {"a": []}]"#), 3);

    let wrap = |levels: usize| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    assert_eq!(anything.validate_value(&wrap(NESTING_MAX)), Ok(()));
    assert_eq!(anything.validate_value(&wrap(NESTING_MAX + 1)), Err(Invalid::TooDeep));
    assert_eq!(anything.validate_value(&wrap(1_000)), Err(Invalid::TooDeep));
}

#[test]
fn d_25_lone_surrogates_are_read_as_u_fffd() {
    let one = schema(&json!({"const": "\u{fffd}"}));
    for text in [r#""\ud800""#, r#""\uDFFF""#, r#""\udbff""#] {
        assert_eq!(one.validate_text(text), Ok(()), "{text}");
    }
    let cases = [
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\ude00\ud83d\ude00\ud83d""#, "\u{fffd}😀\u{fffd}"),
        (r#""\ud800\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\\ud800""#, "\\ud800"),
        (r#""\ud800\n\\\ud800""#, "\u{fffd}\n\\\u{fffd}"),
    ];
    for (text, read) in cases {
        assert_eq!(schema(&json!({"const": read})).validate_text(text), Ok(()), "{text}");
    }
    assert_eq!(schema(&json!({"required": ["a\u{fffd}"]})).validate_text(r#"{"a\ud800":1}"#), Ok(()));
    for text in [r#""\ud8"#, r#""\ud800"#, r#""\é"#, "\"\\ud800\\\u{1f600}"] {
        assert!(matches!(one.validate_text(text), Err(Invalid::NotJson { .. })), "{text}");
    }
}

#[test]
fn d_25_big_numbers_and_equal_keys() {
    let integer = schema(&json!({"type": "integer"}));
    for text in ["1e21", "9007199254740991", "-9007199254740993", "18446744073709551616", "1.0"] {
        assert_eq!(integer.validate_text(text), Ok(()), "{text}");
    }
    assert!(matches!(integer.validate_text("1e400"), Err(Invalid::NotJson { .. })));
    assert!(integer.validate_text("1.5").is_err());
    let last = schema(&json!({"properties": {"a": {"const": 2}}}));
    assert_eq!(last.validate_text(r#"{"a":1,"a":2}"#), Ok(()));
    assert!(last.validate_text(r#"{"a":2,"a":1}"#).is_err());
}
