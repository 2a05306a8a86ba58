//! A JSON text that travels as it is: written once, shared by whoever keeps it, never written anew.

use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Shared JSON text. What makes one knows that it is JSON: a reader of JSON, a writer of it, or the host's own.
#[derive(Clone, Debug)]
pub struct Json(Rc<str>);

impl Json {
    pub const NULL: &'static str = "null";

    /// A text that is known to be JSON.
    pub fn known(text: impl Into<Rc<str>>) -> Self {
        Self(text.into())
    }

    /// # Errors
    /// The text is no JSON.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Self(raw.get().into()))
    }

    /// The value as JSON.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Self(serde_json::to_string(value).expect("plain data always serialises").into())
    }

    pub fn null() -> Self {
        Self(Self::NULL.into())
    }

    pub fn get(&self) -> &str {
        &self.0
    }

    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get().into()))
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}
