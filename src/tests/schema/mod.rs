//! What validation promises, checked against the validator underneath.

mod compile;
mod issues;
mod pattern;
mod text;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kernel::schema::{ISSUES_MAX, Invalid, Issues, RENDERED_MAX_BYTES, Schema, render};

fn schema(document: &Value) -> Schema {
    Schema::compile(&document.to_string()).expect("the schema compiles")
}

fn refusal(document: &Value) -> String {
    Schema::compile(&document.to_string()).expect_err("the schema is refused").to_string()
}

fn issues(document: &Value, value: &Value) -> Issues {
    match schema(document).validate_text(&value.to_string()) {
        Err(Invalid::Issues(issues)) => issues,
        other => panic!("expected issues, found {other:?}"),
    }
}

fn lines(document: &Value, value: &Value) -> Vec<String> {
    render(&issues(document, value)).lines().map(str::to_owned).collect()
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c\"\\\\é😀0-9]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub(super) fn sample_schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["number", "null"]}}, "required": ["a"], "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"$ref": "#"}}}),
        json!({"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "object", "additionalProperties": {"$ref": "#"}}, {"type": "string", "pattern": "^(?!b)"}]}),
        json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"type": "array", "minItems": 1}], "not": {"const": {}}}),
        json!({"properties": {"a": {"enum": [1, "a", null]}}, "patternProperties": {"^[bc]$": {"maxLength": 3}}, "unevaluatedProperties": false}),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn d_25_no_text_panics(text in "[\\[\\]{}\",:\\\\ud8-f0-9a\\u{e9} ]{0,60}") {
        for document in sample_schemas() {
            let _ = schema(&document).validate_text(&text);
        }
    }

    #[test]
    fn nt_17_validation_agrees_with_jsonschema_and_issues_are_bounded(value in any_json()) {
        for document in sample_schemas() {
            let expected = jsonschema::is_valid(&document, &value);
            match schema(&document).validate_text(&value.to_string()) {
                Ok(()) => prop_assert!(expected),
                Err(Invalid::Issues(issues)) => {
                    prop_assert!(!expected);
                    prop_assert!((1..=ISSUES_MAX).contains(&issues.as_slice().len()));
                    prop_assert!(render(&issues).len() <= RENDERED_MAX_BYTES);
                }
                Err(other) => prop_assert!(false, "{other:?}"),
            }
        }
    }
}
