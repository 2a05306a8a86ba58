//! Which branch of a failed union the value most likely meant.
//!
//! Only what is written in the branch itself counts: its `type`, and properties that are fixed by `const` or `enum`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{member, type_name};

use crate::kernel::schema::issue::{clip, excerpt};

/// `$ref`s followed from a branch to what it says.
const HOPS_MAX: usize = 16;
const LIST_MAX_BYTES: usize = 240;

pub(super) enum Choice {
    Branch(usize),
    /// No branch is meant, and all of them agree on what is wrong at `path` below the value.
    Nobody {
        path: String,
        message: String,
    },
    Unclear,
}

pub(super) fn choose(document: &Value, branches: &[Value], value: &Value) -> Choice {
    let branches: Vec<&Value> = branches.iter().map(|branch| resolve(document, branch)).collect();
    let typed: Vec<usize> = (0..branches.len()).filter(|&index| accepts_type(branches[index], value)).collect();
    if typed.is_empty() {
        let names: BTreeSet<&str> = branches.iter().flat_map(|branch| type_names(branch)).collect();
        let names: Vec<_> = names.into_iter().collect();
        let message = format!("expected {}, found {}", names.join(" or "), type_name(value));
        return Choice::Nobody { path: String::new(), message };
    }
    let fixed: Vec<_> = typed.iter().map(|&index| fixed_members(document, branches[index], value)).collect();
    let meant = |agreement: &Agreement| agreement.differing.is_empty();
    let most = fixed.iter().filter(|agreement| meant(agreement)).map(|agreement| agreement.equal).max();
    match most {
        None => disagreement(&fixed, value),
        Some(most) => {
            let mut best =
                typed.iter().zip(&fixed).filter(|(_, agreement)| meant(agreement) && agreement.equal == most);
            match (best.next(), best.next()) {
                (Some((&index, _)), None) => Choice::Branch(index),
                (_, _) => Choice::Unclear,
            }
        }
    }
}

/// How the value compares with what a branch fixes; `""` stands for the value itself.
#[derive(Default)]
struct Agreement<'s> {
    equal: usize,
    differing: Vec<(&'s str, Vec<&'s Value>)>,
}

fn fixed_members<'s>(document: &'s Value, branch: &'s Value, value: &Value) -> Agreement<'s> {
    let mut agreement = Agreement::default();
    let mut compare = |key: &'s str, schema: &'s Value, found: &Value| {
        let allowed = fixed_values(schema);
        if allowed.contains(&found) {
            agreement.equal += 1;
        } else if !allowed.is_empty() {
            agreement.differing.push((key, allowed));
        }
    };
    compare("", branch, value);
    if let (Some(Value::Object(properties)), Value::Object(members)) = (branch.get("properties"), value) {
        for (key, schema) in properties {
            if let Some(found) = members.get(key) {
                compare(key, resolve(document, schema), found);
            }
        }
    }
    agreement
}

/// What all branches together would have allowed in the place where each of them differs.
fn disagreement(fixed: &[Agreement<'_>], value: &Value) -> Choice {
    let common = fixed.first().and_then(|first| {
        first
            .differing
            .iter()
            .map(|(key, _)| *key)
            .find(|key| fixed.iter().all(|agreement| agreement.differing.iter().any(|(other, _)| other == key)))
    });
    let Some(key) = common else { return Choice::Unclear };
    let differing = fixed.iter().flat_map(|agreement| &agreement.differing).filter(|(other, _)| *other == key);
    let mut names: Vec<String> = Vec::new();
    for name in differing.flat_map(|(_, allowed)| allowed).map(|allowed| excerpt(allowed)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (path, found) = if key.is_empty() { (String::new(), value) } else { (member("", key), &value[key]) };
    let message = format!("must be one of {}, found {}", clip(&names.join(", "), LIST_MAX_BYTES), excerpt(found));
    Choice::Nobody { path, message }
}

fn fixed_values(schema: &Value) -> Vec<&Value> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        (None, _) => Vec::new(),
    }
}

fn accepts_type(branch: &Value, value: &Value) -> bool {
    let names = type_names(branch);
    let found = type_name(value);
    names.is_empty() || names.iter().any(|&name| name == found || (name == "integer" && value.is_number()))
}

fn type_names(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn resolve<'s>(document: &'s Value, schema: &'s Value) -> &'s Value {
    let mut resolved = schema;
    for _ in 0..HOPS_MAX {
        let pointer = resolved.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        let Some(target) = pointer.and_then(|pointer| document.pointer(pointer)) else {
            break;
        };
        resolved = target;
    }
    resolved
}
