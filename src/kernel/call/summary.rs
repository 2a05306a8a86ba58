//! The summary of a call's nested calls, as its result's metadata shows it: the first 32 in the order in which they ended.
//! The keys keep the seed's spelling (D-13).

use std::rc::Rc;

use serde::Serialize;

use crate::kernel::schema::Object;
use crate::kernel::value::{CallId, Json};

const ENTRIES_MAX: usize = 32;
const ARGS_BYTES_MAX: usize = 1_024;
const ERROR_BYTES_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct Summary {
    entries: Vec<Entry>,
    truncated: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    /// The tool reported its own failure.
    Error,
    /// Refused or raised.
    Failed,
    /// The caller no longer waits.
    Abandoned,
}

#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    pub id: CallId,
    pub name: Rc<str>,
    pub status: Status,
    pub duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Summary {
    /// Takes an entry, which is made where there is room for it; its texts are cut here.
    pub fn add(&mut self, entry: impl FnOnce() -> Entry) {
        if self.entries.len() == ENTRIES_MAX {
            self.truncated += 1;
            return;
        }
        let mut entry = entry();
        entry.args = entry.args.map(|args| cut(args, ARGS_BYTES_MAX));
        entry.error = entry.error.filter(|error| !error.is_empty()).map(|error| cut(error, ERROR_BYTES_MAX));
        self.entries.push(entry);
    }

    /// A result's metadata with the summary in it. Metadata that is no object, or has such keys of its own, stays.
    pub fn attach(&self, metadata: Option<Json>) -> Option<Json> {
        if self.entries.is_empty() {
            return metadata;
        }
        let mut text = String::from("{");
        if let Some(metadata) = &metadata {
            let members = serde_json::from_str::<Object<'_>>(metadata.get());
            let taken = |name: &str| name == "nested_calls" || name == "nested_calls_truncated";
            let Ok(Object(members)) = members else { return Some(metadata.clone()) };
            if members.iter().any(|(name, _)| taken(name)) {
                return Some(metadata.clone());
            }
            for (name, value) in members {
                let name = serde_json::to_string(&name).expect("a string always serialises");
                text.push_str(&format!("{name}:{},", value.get()));
            }
        }
        text.push_str(r#""nested_calls":"#);
        text.push_str(&serde_json::to_string(&self.entries).expect("entries always serialise"));
        if self.truncated > 0 {
            text.push_str(&format!(r#","nested_calls_truncated":{}"#, self.truncated));
        }
        text.push('}');
        Some(Json::known(text))
    }
}

/// Cut at a character boundary and marked.
fn cut(mut text: String, max: usize) -> String {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
        text.push_str("...");
    }
    text
}
