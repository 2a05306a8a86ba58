//! Identities. A child's id starts with its parent's, so a tree is a prefix (D-14); effect ids are never reused, so a
//! late answer cannot reach a younger effect.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A turn: the host names the root (`Start::turn_id`), the kernel names every descendant `<parent>.<n>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnId(Rc<str>);

/// Siblings stand in the order in which they were opened: a longer number is a later one. Ids of a tree begin alike, so they
/// are compared from the step on in which they differ.
impl Ord for TurnId {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (self.0.as_bytes(), other.0.as_bytes());
        let alike = own.iter().zip(others).take_while(|(own, others)| own == others).count();
        let start = own[..alike].iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
        let (own_step, others_step) = (first_step(&own[start..]), first_step(&others[start..]));
        let by_step = own_step.len().cmp(&others_step.len()).then_with(|| own_step.cmp(others_step));
        by_step.then_with(|| own.len().cmp(&others.len()))
    }
}

fn first_step(steps: &[u8]) -> &[u8] {
    steps.split(|byte| *byte == b'.').next().unwrap_or_default()
}

impl PartialOrd for TurnId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TurnId {
    pub fn child(&self, number: u32) -> Self {
        Self(joined(&self.0, '.', number))
    }

    /// The root of its tree.
    pub fn root(&self) -> Self {
        let (root, _) = self.0.split_once('.').unwrap_or((&self.0, ""));
        Self(root.into())
    }

    /// This turn is `ancestor`, or one of its descendants.
    pub fn is_within(&self, ancestor: &Self) -> bool {
        self.0.strip_prefix(&*ancestor.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The numbers of the turns from `ancestor` down to this one; `None` for a number that is none.
    pub fn below(&self, ancestor: &Self) -> Option<impl Iterator<Item = Option<u32>>> {
        let rest = self.0.strip_prefix(&*ancestor.0)?;
        let steps = if rest.is_empty() { None } else { Some(rest.strip_prefix('.')?) };
        Some(steps.into_iter().flat_map(|steps| steps.split('.')).map(|step| step.parse().ok()))
    }

    /// The `n` of `<parent>.<n>`; 0 for a root.
    pub fn number(&self) -> u32 {
        self.0.rsplit_once('.').and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Rc<str>> for TurnId {
    fn from(text: Rc<str>) -> Self {
        Self(text)
    }
}

#[cfg(test)]
impl From<String> for TurnId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Default for TurnId {
    fn default() -> Self {
        Self("".into())
    }
}

/// A tool call within its turn: the provider's id, or `c<step>_<index>` where that one cannot serve (D-14).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(Rc<str>);

impl CallId {
    /// The `n`th nested call of this call: `<parent>/<n>`. Ids of the model's own calls have no `/` in them: the host reads from
    /// an id where its call stands.
    pub fn nested(&self, number: u32) -> Self {
        Self(joined(&self.0, '/', number))
    }

    /// The `<parent>` of `<parent>/<n>`.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// The `n` of `<parent>/<n>`; 0 for a call of the model.
    pub fn nested_number(&self) -> u32 {
        self.0.rsplit_once('/').and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Rc<str>> for CallId {
    fn from(text: Rc<str>) -> Self {
        Self(text)
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// The formatter takes several times as long.
fn joined(parent: &str, separator: char, number: u32) -> Rc<str> {
    let mut digits = [0; 10];
    let mut begin = digits.len();
    let mut rest = number;
    loop {
        begin -= 1;
        digits[begin] = b'0' + u8::try_from(rest % 10).expect("a digit");
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut text = String::with_capacity(parent.len() + 1 + digits.len());
    text.push_str(parent);
    text.push(separator);
    text.extend(digits[begin..].iter().map(|digit| char::from(*digit)));
    text.into()
}

/// Ids of calls, for one question: is it there?
#[expect(
    clippy::disallowed_types,
    reason = "asked whether an id is there, never walked; it hashes the same everywhere"
)]
pub type CallIds = std::collections::HashSet<CallId, BuildHasherDefault<TextHasher>>;

/// Hashes short texts; the same on every machine and in every run.
#[derive(Default)]
pub struct TextHasher(u64);

impl Hasher for TextHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// One request to the host that gets exactly one answer, or is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u32);

/// A live turn as commands name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TurnKey(pub u32);

/// What the host keeps of its check of a call's arguments: what the body will get, or the promise of it. The host gives the
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptId(pub u32);

/// A `callTool()` or `next()` that waits on the host's side: names the promise to settle, and the async context in which
/// user code that runs for it belongs (D-37).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub u32);

macro_rules! text_id {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(|text| Self(text.into()))
            }
        }
    };
}

text_id!(TurnId);
text_id!(CallId);
