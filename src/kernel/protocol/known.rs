//! Fields of commands of which the host mostly has the value itself, so that a row only says so.

use serde::Serialize;

use crate::kernel::protocol::ResultView;
use crate::kernel::protocol::row::{Field, Form, NONE, OWN, Outbox};
use crate::kernel::value::{CallId, Json, TurnId};

/// How a call is named to the host, which knows the calls of a reply, and the calls that a body makes.
#[derive(Clone, Copy)]
pub struct CallName<'a> {
    pub id: &'a CallId,
    pub place: Place,
    /// The host knows which call it is nested in.
    pub is_known: bool,
}

/// Where a call came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the calls of the reply, under the id that it has there.
    Given(u32),
    /// Among the calls of the reply, under an id of ours.
    Renamed(u32),
    /// Among the nested calls of its caller.
    Nested(u32),
}

impl Place {
    /// As a word: the position in the reply, or the number among the nested calls, negated.
    pub(super) fn write(self, out: &mut Outbox) {
        match self {
            Self::Given(position) | Self::Renamed(position) => position.write(out),
            Self::Nested(number) => out.word(-i32::try_from(number).unwrap_or(i32::MAX)),
        }
    }
}

impl Serialize for CallName<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl Field for CallName<'_> {
    const FORM: Form = Form::Call;

    fn write(&self, out: &mut Outbox) {
        self.place.write(out);
        let is_told_by_place = match self.place {
            Place::Given(_) => true,
            Place::Renamed(_) => false,
            Place::Nested(_) => self.is_known,
        };
        if is_told_by_place { out.word(OWN) } else { out.json(self.id) }
    }
}

/// The arguments of a body.
#[derive(Clone, Copy)]
pub enum Args<'a> {
    /// The host keeps what it checked.
    Kept,
    /// Those of the reply.
    Given(&'a Json),
    /// Others, repaired, filled in or rewritten.
    Other(&'a Json),
}

impl Serialize for Args<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Kept => serializer.serialize_none(),
            Self::Given(json) | Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl Field for Args<'_> {
    const FORM: Form = Form::OwnText;

    fn write(&self, out: &mut Outbox) {
        match self {
            Self::Kept => out.word(NONE),
            Self::Given(_) => out.word(OWN),
            Self::Other(json) => out.text(json.get().to_owned()),
        }
    }
}

/// A turn's id, of which the host knows all but a child's number.
#[derive(Clone, Copy)]
pub struct TurnName<'a>(pub &'a TurnId);

impl Serialize for TurnName<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Field for TurnName<'_> {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        self.0.number().write(out);
    }
}

/// Positions of tools.
#[derive(Clone, Copy)]
pub struct Offered<'a> {
    pub tools: &'a [usize],
    /// They are all that the agent lists.
    pub are_all: bool,
}

impl Serialize for Offered<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tools.serialize(serializer)
    }
}

impl Field for Offered<'_> {
    const FORM: Form = Form::OwnText;

    fn write(&self, out: &mut Outbox) {
        if self.are_all { out.word(OWN) } else { out.json(self.tools) }
    }
}

/// Names of scopes, mostly none.
pub struct Scopes<'a>(pub Vec<&'a str>);

impl Serialize for Scopes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Field for Scopes<'_> {
    const FORM: Form = Form::OwnText;

    fn write(&self, out: &mut Outbox) {
        if self.0.is_empty() { out.word(OWN) } else { out.json(&self.0) }
    }
}

impl Field for ResultView<'_> {
    const FORM: Form = Form::OwnText;

    fn write(&self, out: &mut Outbox) {
        match self {
            Self::AsAnswered(_) => out.word(OWN),
            Self::Whole { .. } => out.json(self),
        }
    }
}
