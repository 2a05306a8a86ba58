use serde_json::{Value, json};

use super::{issues, lines, refusal, schema};

use crate::kernel::schema::{NESTING_MAX, Schema};

#[test]
fn nt_09_a_refused_schema_names_the_path_and_the_fault() {
    let remote = "https://example.com/user.json";
    let cases = [
        (json!({"properties": {"a": {"type": "strin"}}}), "/properties/a/type\": must be one of \"array\""),
        (json!({"properties": {"a": {"minLength": -1}}}), "/properties/a/minLength\": must be at least 0, found -1"),
        (json!({"properties": {"a": {"pattern": "(["}}}), "/properties/a/pattern\": (["),
        (json!({"patternProperties": {"(": {}}}), "/patternProperties/(\": ("),
        (json!({"items": {"$ref": remote}}), "/items/$ref\": https://example.com/user.json is outside the schema"),
        (json!({"items": {"$ref": "file:///etc/passwd"}}), "/items/$ref\": file:///etc/passwd is outside"),
        (json!({"properties": {"a/b": {"$ref": "other.json#/x"}}}), "/properties/a~1b/$ref\": other.json"),
        (json!({"items": {"$ref": "#/$defs/x"}}), "/items/$ref\": /$defs/x does not exist in the schema"),
        (json!({"items": {"$ref": "#x"}}), "/items/$ref\": x is not an anchor of the schema"),
        (json!({"$schema": "http://example.com/draft"}), "unknown draft: http://example.com/draft"),
        (json!([1]), "must be an object or a boolean, found array"),
        (json!({"allOf": [{"pattern": "^(?=a)("}]}), "/allOf/0/pattern\": ^(?=a)("),
    ];
    for (document, expected) in cases {
        let message = refusal(&document);
        assert!(message.contains(expected), "{document}: {message}");
    }
    let message = Schema::compile("{\"type\":").expect_err("no JSON").to_string();
    assert!(message.starts_with("the schema is not JSON: "), "{message}");
}

#[test]
fn nt_09_known_drafts_and_unusual_ids_compile() {
    for id in ["", "http://x/#", "urn:x", "foo.json"] {
        let document = json!({"$id": id, "$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["k"]}]}}});
        assert!(schema(&document).validate_text("\"a\"").is_ok(), "{id}");
        assert_eq!(lines(&document, &json!({})), ["- /k: is required"], "{id}");
    }
    let draft_7 =
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string", "format": "email"}]});
    assert!(schema(&draft_7).validate_text("[\"no address\"]").is_ok(), "format is an annotation");
    assert_eq!(lines(&draft_7, &json!([1])), ["- /0: expected string, found number"]);
    for constant in [true, false] {
        assert_eq!(schema(&json!(constant)).validate_text("1").is_ok(), constant);
    }
}

#[test]
fn bl_121_reference_cycles_of_length_1_2_3_and_recursive_unions_end() {
    let cycles = [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/a"}}}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
    ];
    for document in &cycles {
        let _ = schema(document).validate_text("1");
    }
    let node = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "left": {"$ref": "#"}, "right": {"$ref": "#"}}, "required": ["kind"]});
    let tree = json!({"anyOf": [node("add"), node("mul"), {"type": "number"}]});
    let value = |leaf: Value| {
        (1..NESTING_MAX).fold(
            leaf,
            |inner, level| json!({"kind": if level % 2 == 0 { "add" } else { "mul" }, "left": inner, "right": 1}),
        )
    };
    assert_eq!(schema(&tree).validate_value(&value(json!(1))), Ok(()));
    let found = issues(&tree, &value(json!("leaf")));
    assert_eq!(found.as_slice().len(), 1);
    assert!(found.as_slice()[0].path.starts_with("/left/left"));
    let shallow = json!({"kind": "add", "left": {"kind": "mul", "right": {"kind": "mul", "left": "x"}}});
    assert_eq!(lines(&tree, &shallow), ["- /left/right/left: expected number or object, found string"]);
    let alike = json!({"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"type": "object", "properties": {"c": {"$ref": "#/$defs/n"}}}, {"type": "object", "properties": {"c": {"$ref": "#/$defs/n"}}}]}}});
    let deep = (1..NESTING_MAX).fold(json!(1), |inner, _| json!({"c": inner}));
    assert_eq!(lines(&alike, &deep), ["- the value: matches none of the 2 allowed shapes"]);
}

#[test]
fn schemas_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&schema(&json!({})));
}
