use proptest::prelude::*;
use serde_json::{Value, json};

use super::schema::{any_json, sample_schemas};

use crate::kernel::call::normalize;
use crate::kernel::schema::Schema;

fn repaired(document: &Value, text: &str) -> Option<String> {
    normalize(text, &Schema::compile(&document.to_string()).expect("the schema compiles"), document)
}

fn search() -> Value {
    json!({"type": "object", "required": ["q"], "properties": {
        "q": {"type": "string"}, "n": {"type": "number"}, "limit": {"type": "integer"}, "deep": {"type": "boolean"},
        "tag": {"type": ["string", "null"]}, "list": {"type": "array", "items": {"type": "integer"}}}})
}

fn optional() -> Value {
    json!({"type": "object", "properties": {"limit": {"type": "integer"}}})
}

#[test]
fn section_5_1_valid_arguments_are_untouched() {
    assert_eq!(repaired(&search(), r#" {"q":"5","x":null} "#), None);
    assert_eq!(repaired(&json!({"type": ["string", "object"]}), "\"{}\""), None);
}

#[test]
fn section_5_2_a_schema_that_takes_no_object_is_skipped() {
    for document in [
        json!({"type": "number"}),
        json!({"enum": [1, 2]}),
        json!({"anyOf": [{"type": "array"}, {"$ref": "#/$defs/n"}], "$defs": {"n": {"const": 1}}}),
        json!(false),
    ] {
        for text in ["\"1\"", "{}", "", "null"] {
            assert_eq!(repaired(&document, text), None, "{document} {text}");
        }
    }
}

#[test]
fn section_5_3_a_string_is_decoded() {
    let inner = r#"{"q":"a","n":1.50}"#;
    let quoted = |text: &str| Value::from(text).to_string();
    let fenced = format!("```json\n{inner}\n```");
    let prose = format!("Here you are:\n```\n{inner}\n```\nDone.");
    for text in [quoted(inner), quoted(&fenced), fenced, quoted(&prose), prose, format!("```{inner}```")] {
        assert_eq!(repaired(&search(), &text).as_deref(), Some(inner), "{text}");
    }
    let relaxed = repaired(&search(), r#"{"q":"None, }","deep":True,"tag":None,"list":[1,2,],}"#);
    assert_eq!(relaxed.as_deref(), Some(r#"{"q":"None, }","deep":true,"tag":null,"list":[1,2]}"#));
    assert_eq!(repaired(&search(), &quoted("[1]")).as_deref(), Some("[1]"), "the real error shows");
    assert_eq!(repaired(&search(), &quoted(r#"{"x":1}"#)).as_deref(), Some(r#"{"x":1}"#), "the real error shows");
}

#[test]
fn section_5_4_an_invented_envelope_is_unwrapped() {
    let inner = r#"{"q":"a"}"#;
    let envelopes = ["arguments", "args", "input", "parameters", "params", "tool_input", "search", "whatever"];
    for text in envelopes.map(|key| format!(r#"{{"{key}":{inner}}}"#)) {
        assert_eq!(repaired(&search(), &text).as_deref(), Some(inner), "{text}");
    }
    assert_eq!(repaired(&search(), r#"{"name":"search","arguments":{"q":"a"}}"#).as_deref(), Some(inner));
    assert_eq!(repaired(&search(), r#"{"arguments":"{\"q\":\"a\"}"}"#).as_deref(), Some(inner));
    assert_eq!(repaired(&search(), r#"{"other":1,"arguments":{"q":"a"}}"#), None);
    assert_eq!(repaired(&search(), r#"{"arguments":{"x":1}}"#), None, "kept only when valid");
    let declared = json!({"required": ["input", "q"], "properties": {"input": {"type": "object"}}});
    assert_eq!(repaired(&declared, r#"{"input":{"input":{},"q":1}}"#), None, "a declared member is no envelope");
}

#[test]
fn section_5_5_strings_become_the_declared_scalars() {
    let text = r#"{"q":"7","limit":" 7 ","n":"1e3","deep":"True","z":"7","list":["1",2]}"#;
    let expected = r#"{"q":"7","limit":7,"n":1e3,"deep":true,"z":"7","list":[1,2]}"#;
    assert_eq!(repaired(&search(), text).as_deref(), Some(expected));
    for text in
        [r#"{"q":"a","limit":"7.5"}"#, r#"{"q":"a","limit":"seven"}"#, r#"{"q":"a","deep":"yes"}"#, r#"{"limit":"7"}"#]
    {
        assert_eq!(repaired(&search(), text), None, "{text}");
    }
    let both = repaired(&search(), r#"{"args":{"q":"a","limit":"7"}}"#);
    assert_eq!(both.as_deref(), Some(r#"{"q":"a","limit":7}"#));
    let nested = json!({"properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}}, "$defs": {"n": {"type": "object", "properties": {"b": {"type": "integer"}}}}});
    assert_eq!(repaired(&nested, r#"{"a":{"b":"1"}}"#).as_deref(), Some(r#"{"a":{"b":1}}"#));
}

#[test]
fn section_5_5_what_is_untouched_keeps_its_order_and_bytes() {
    let text = r#"{"z":{"y":1.0, "x":12345678901234567890123},"q":"\ud800\u0041","limit":"1"}"#;
    let expected = r#"{"z":{"y":1.0, "x":12345678901234567890123},"q":"\ud800\u0041","limit":1}"#;
    assert_eq!(repaired(&search(), text).as_deref(), Some(expected));
}

#[test]
fn bl_122_null_is_dropped_for_optional_members_that_are_not_nullable() {
    assert_eq!(repaired(&optional(), r#"{"limit":null}"#).as_deref(), Some("{}"));
    let found = repaired(&search(), r#"{"q":"a","limit":null,"tag":null,"n":"1","z":null}"#);
    assert_eq!(found.as_deref(), Some(r#"{"q":"a","tag":null,"n":1,"z":null}"#));
    assert_eq!(repaired(&search(), r#"{"q":null,"limit":null}"#), None, "a required null is an error");
}

#[test]
fn section_5_6_what_cannot_be_decoded_becomes_empty_only_without_required_fields() {
    for text in ["null", "[]", "3", "true", "\"abc\"", "", "  "] {
        assert_eq!(repaired(&optional(), text).as_deref(), Some("{}"), "{text}");
        assert_eq!(repaired(&search(), text), None, "{text}");
    }
}

#[test]
fn bl_080_broken_json_never_becomes_empty() {
    for text in ["{\"a\":", "abc", "{\"a\":1}}", "{a:1}", "```", "``` ```"] {
        assert_eq!(repaired(&optional(), text), None, "{text}");
    }
    assert_eq!(repaired(&optional(), &"[".repeat(100_000)), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn section_5_no_text_panics(text in "[\\[\\]{}\",:`\\\\uTrueN0-9a\\u{e9} ]{0,40}") {
        for document in sample_schemas() {
            let _ = repaired(&document, &text);
        }
    }

    #[test]
    fn section_5_objects_are_changed_only_into_valid_ones(value in any_json(), wrap in any::<bool>()) {
        for document in sample_schemas() {
            let schema = Schema::compile(&document.to_string()).expect("the schema compiles");
            let value = if wrap { json!({"arguments": value}) } else { value.clone() };
            let found = normalize(&value.to_string(), &schema, &document);
            if schema.validate_value(&value).is_ok() {
                prop_assert_eq!(found, None);
            } else if let (true, Some(found)) = (value.is_object(), found) {
                prop_assert!(schema.validate_text(&found).is_ok());
            }
        }
    }
}
