use serde_json::json;

use super::{issues, lines, schema};

use crate::kernel::schema::{ISSUES_MAX, RENDERED_MAX_BYTES, render};

#[test]
fn bl_047_every_missing_path_and_the_unknown_key_are_named() {
    let document = json!({"type": "object", "properties": {"agent": {"type": "string"}, "id": {"type": "string"}},
        "required": ["agent", "id"], "additionalProperties": false});
    let mut found = lines(&document, &json!({"to": "x"}));
    found.sort();
    assert_eq!(found, ["- /agent: is required", "- /id: is required", "- /to: is not a known property"]);
    let text = serde_json::to_string(&issues(&document, &json!({"agent": "a"}))).expect("issues serialise");
    assert_eq!(text, r#"[{"path":"/id","message":"is required"}]"#);
}

#[test]
fn bl_047_messages_say_what_was_expected_and_found() {
    let cases = [
        (json!({"type": "string"}), json!(3), "- the value: expected string, found number"),
        (json!({"type": ["string", "null"]}), json!([]), "- the value: expected null or string, found array"),
        (json!({"enum": ["a", "b"]}), json!("c"), "- the value: must be one of \"a\", \"b\", found \"c\""),
        (json!({"const": 1}), json!(2), "- the value: must be 1, found 2"),
        (json!({"pattern": "^a$"}), json!("b"), "- the value: must match the pattern ^a$, found \"b\""),
        (json!({"minimum": 1}), json!(0), "- the value: must be at least 1, found 0"),
        (json!({"exclusiveMaximum": 1}), json!(1), "- the value: must be less than 1, found 1"),
        (json!({"minLength": 2}), json!("é"), "- the value: must have at least 2 characters, found 1 character"),
        (json!({"maxItems": 1}), json!([1, 2]), "- the value: must have at most 1 item, found 2 items"),
        (json!({"minProperties": 1}), json!({}), "- the value: must have at least 1 property, found 0 properties"),
        (json!({"properties": {"a~/b": false}}), json!({"a~/b": 1}), "- /a~0~1b: is not allowed"),
        (json!({"unevaluatedProperties": false}), json!({"x": 1}), "- /x: is not a known property"),
        (json!({"not": {"type": "string"}}), json!("x"), "- the value: has a shape that is not allowed, found \"x\""),
    ];
    for (document, value, expected) in cases {
        assert_eq!(lines(&document, &value), [expected], "{document}");
    }
}

#[test]
fn bl_047_a_union_explains_the_branch_that_was_meant() {
    let circle = json!({"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]});
    let square = json!({"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]});
    for keyword in ["anyOf", "oneOf"] {
        let document = json!({"properties": {"s p": {keyword: [{"$ref": "#/$defs/circle"}, square]}}, "$defs": {"circle": circle}});
        assert_eq!(lines(&document, &json!({"s p": {"kind": "circle"}})), ["- /s p/r: is required"]);
        assert_eq!(
            lines(&document, &json!({"s p": {"kind": "square", "a": "1"}})),
            ["- /s p/a: expected number, found string"]
        );
        let unknown = lines(&document, &json!({"s p": {"kind": "line"}}));
        assert_eq!(unknown, ["- /s p/kind: must be one of \"circle\", \"square\", found \"line\""]);
        assert_eq!(lines(&document, &json!({"s p": 1})), ["- /s p: expected object, found number"]);
        assert_eq!(lines(&document, &json!({"s p": {}})), ["- /s p: matches none of the 2 allowed shapes"]);
    }
    let nullable = json!({"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]});
    assert_eq!(lines(&nullable, &json!(1)), ["- the value: expected null or string, found number"]);
    assert_eq!(lines(&nullable, &json!("a")), ["- the value: must have at least 3 characters, found 1 character"]);
    let literals = json!({"anyOf": [{"const": "a"}, {"const": "b"}]});
    assert_eq!(lines(&literals, &json!("c")), ["- the value: must be one of \"a\", \"b\", found \"c\""]);
    let twice = json!({"oneOf": [{"type": "number"}, {"minimum": 1}, {"type": "string"}]});
    let text = "- the value: matches 2 of the 3 shapes of which exactly one is allowed";
    assert_eq!(lines(&twice, &json!(1)), [text]);
}

#[test]
fn nt_17_at_most_10_issues_and_2_kib() {
    let required: Vec<String> = (0..50).map(|index| format!("field{index:02}")).collect();
    assert_eq!(issues(&json!({"required": required}), &json!({})).as_slice().len(), ISSUES_MAX);
    let ten: Vec<_> = required.iter().take(ISSUES_MAX).collect();
    assert_eq!(issues(&json!({"required": ten}), &json!({})).as_slice().len(), ISSUES_MAX);

    let long: Vec<String> = (0..10).map(|index| format!("{index}{}", "é".repeat(3000))).collect();
    let found = issues(&json!({"required": long, "additionalProperties": false}), &json!({}));
    assert!(!found.as_slice().is_empty());
    assert!(render(&found).len() <= RENDERED_MAX_BYTES);

    let big = "x".repeat(5_000_000);
    let found = issues(&json!({"enum": [big.clone() + "y", 1]}), &json!(big));
    assert!(render(&found).len() < 500, "a value is never echoed whole");
}

#[test]
fn bl_081_values_that_are_no_objects_are_refused_in_few_words() {
    let object = schema(&json!({"type": "object"}));
    for text in ["null", "[]", "\"x\"", "3", "true"] {
        let message = object.validate_text(text).expect_err("refused").to_string();
        assert!(message.starts_with("- the value: expected object, found "), "{message}");
    }
    for garbage in
        ["x".repeat(5_000_000), format!("\"{}\"", "x".repeat(5_000_000)), format!("[{}1]", "1,".repeat(2_500_000))]
    {
        let message = object.validate_text(&garbage).expect_err("refused").to_string();
        assert!(message.len() < RENDERED_MAX_BYTES);
    }
    let wrong_items = format!("[{}1]", "1,".repeat(500_000));
    let strings = schema(&json!({"items": {"type": "string"}}));
    assert_eq!(
        strings.validate_text(&wrong_items).expect_err("refused").to_string(),
        "- /0: expected string, found number"
    );
}

#[test]
fn bl_118_keys_are_checked_by_property_names() {
    let document = json!({"propertyNames": {"enum": ["a", "b"]}});
    assert_eq!(schema(&document).validate_text(r#"{"a":1}"#), Ok(()));
    let expected = "- the value: has a property whose name is not allowed: must be one of \"a\", \"b\", found \"c\"";
    assert_eq!(lines(&document, &json!({"c": 1})), [expected]);
}
