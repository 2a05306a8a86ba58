//! Commands as tests read them: objects by the names of their fields, with the id of the turn that a key stands for.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::kernel::protocol::Command;
use crate::kernel::value::text::well_formed;

/// The ids of turns by the kernel's keys.
pub type Turns = BTreeMap<u64, String>;

/// The commands of a JSON array. What nests too deep for a reader is left out.
pub fn read(commands: &str, turns: &mut Turns) -> Vec<Value> {
    let readable = well_formed(commands);
    let commands: Vec<Vec<&RawValue>> = serde_json::from_str(&readable).expect("commands are arrays in a JSON array");
    commands.into_iter().map(|command| named(&command, turns)).collect()
}

fn named(command: &[&RawValue], turns: &mut Turns) -> Value {
    let kind: String = serde_json::from_str(command[0].get()).expect("a command begins with its name");
    let fields = Command::TABLE.iter().find(|row| row.name == kind).expect("a command that there is").fields;
    assert_eq!(fields.len(), command.len() - 1, "{kind} has all its fields");
    let readable = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    let values = fields.iter().zip(&command[1..]).map(|((name, _), raw)| (camel_case(name), readable(raw)));
    let mut object: Map<String, Value> = values.collect();
    if let Some(key) = object.get("turnKey").and_then(Value::as_u64) {
        if kind == "open" {
            turns.insert(key, object["turnId"].as_str().expect("a turn has an id").to_owned());
        }
        object.insert("turnId".to_owned(), json!(turns[&key]));
    }
    object.insert("type".to_owned(), json!(kind));
    object.into()
}

/// A name of Rust as JavaScript spells it.
pub fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| text + &word[..1].to_uppercase() + &word[1..])
}
