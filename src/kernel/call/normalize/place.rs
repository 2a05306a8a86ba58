//! What a schema declares about one place in a value, as far as a repair needs to know.
//!
//! This is a guess that ignores most keywords: the repaired value is validated anyway.

use std::collections::BTreeSet;

use serde_json::Value;

/// Schemas looked at for one place: `$ref`s followed, branches of unions.
const SHAPES_MAX: usize = 32;

/// The schemas of one place, `$ref`s followed and unions laid out flat.
pub(super) struct Place<'s> {
    root: &'s Value,
    shapes: Vec<&'s Value>,
}

pub(super) struct Declared<'s> {
    pub(super) place: Place<'s>,
    /// Named by `properties`, not caught by `additionalProperties`.
    pub(super) is_declared: bool,
}

impl<'s> Place<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self::of(root, vec![root])
    }

    fn of(root: &'s Value, mut waiting: Vec<&'s Value>) -> Self {
        waiting.reverse();
        let mut shapes = Vec::new();
        for _ in 0..SHAPES_MAX {
            let Some(schema) = waiting.pop() else { break };
            let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
            waiting.extend(target.and_then(|pointer| root.pointer(pointer)));
            for keyword in ["anyOf", "oneOf", "allOf"] {
                waiting.extend(schema.get(keyword).and_then(Value::as_array).into_iter().flatten());
            }
            let delegates = ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.get(keyword).is_some());
            let says_something =
                ["type", "properties", "const", "enum"].iter().any(|keyword| schema.get(keyword).is_some());
            if says_something || !delegates {
                shapes.push(schema);
            }
        }
        Self { root, shapes }
    }

    pub(super) fn may_be(&self, type_name: &str) -> bool {
        self.shapes.iter().any(|shape| types(shape).is_none_or(|types| types.contains(type_name)))
    }

    pub(super) fn requires(&self, key: &str) -> bool {
        let named = |shape: &&Value| {
            let required = shape.get("required").and_then(Value::as_array);
            required.is_some_and(|required| required.iter().any(|name| name == key))
        };
        self.shapes.iter().any(named)
    }

    pub(super) fn member(&self, key: &str) -> Option<Declared<'s>> {
        let under = |keyword: &str| self.shapes.iter().filter_map(|shape| shape.get(keyword)).collect::<Vec<_>>();
        let declared: Vec<_> = under("properties").into_iter().filter_map(|properties| properties.get(key)).collect();
        let is_declared = !declared.is_empty();
        let schemas = if is_declared { declared } else { under("additionalProperties") };
        (!schemas.is_empty()).then(|| Declared { place: Place::of(self.root, schemas), is_declared })
    }

    pub(super) fn item(&self, index: usize) -> Option<Place<'s>> {
        let in_list = |list: Option<&'s Value>| list.and_then(Value::as_array).and_then(|list| list.get(index));
        let of_shape =
            |shape: &&'s Value| match in_list(shape.get("prefixItems")).or_else(|| in_list(shape.get("items"))) {
                Some(schema) => Some(schema),
                None => shape.get("items").filter(|items| !items.is_array()),
            };
        let schemas: Vec<_> = self.shapes.iter().filter_map(of_shape).collect();
        (!schemas.is_empty()).then(|| Place::of(self.root, schemas))
    }
}

/// The types that a schema names or implies by its values; `None` when it says nothing about types.
fn types(schema: &Value) -> Option<BTreeSet<&str>> {
    let of_value = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match (schema.get("type"), schema.get("const"), schema.get("enum")) {
        (Some(Value::String(name)), _, _) => Some(BTreeSet::from([name.as_str()])),
        (Some(Value::Array(names)), _, _) => Some(names.iter().filter_map(Value::as_str).collect()),
        (_, Some(value), _) => Some(BTreeSet::from([of_value(value)])),
        (_, None, Some(Value::Array(values))) => Some(values.iter().map(of_value).collect()),
        (_, None, _) if schema.get("properties").is_some() => None,
        (_, None, _) => (schema == &Value::Bool(false)).then(BTreeSet::new),
    }
}
