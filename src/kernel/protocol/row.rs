//! Commands on their way out. Each is a row of whole numbers: a head (the command's number, and in the bits above it how long the row
//! is), then its fields in the order of `command.rs`, each in its [`Form`]. What is no number stands beside the rows as text,
//! and its field is the text's number. `js/host/command-table.js` is this format for the host, written by a test.

use serde::Serialize;

use crate::kernel::program::Stage;
use crate::kernel::protocol::{ErrorInfo, EventView, LedgerEntry, Offer, Pending};
use crate::kernel::value::{EffectId, Json, KeptId, Ticket, TurnKey};

/// How many bits of a row's head are its kind; the rest are the row's length, the head included.
const KIND_BITS: u32 = 8;

impl Form {
    /// The same field where it may hold [`NONE`]: most forms have it anyhow.
    const fn or_nothing(self) -> Self {
        if let Self::Number = self { Self::OptionalNumber } else { self }
    }

    /// How many words it takes; `None` where it says so itself.
    fn words(self) -> Option<usize> {
        match self {
            Self::Number
            | Self::OptionalNumber
            | Self::Flag
            | Self::Text
            | Self::OwnText
            | Self::Offer
            | Self::Stage => Some(1),
            Self::Double | Self::Call => Some(2),
            Self::Messages | Self::Result => None,
        }
    }
}

/// Rows and texts that the host has not taken yet.
#[derive(Default)]
pub struct Outbox {
    words: Vec<i32>,
    texts: Vec<String>,
    /// Texts are numbered on and on, so that a row may be read after the texts of later ones came.
    last_text: i32,
}

/// Nothing, in a field that may be empty.
pub const NONE: i32 = -1;
/// The host has it.
pub const OWN: i32 = -2;

/// Something that a row can hold.
pub trait Field {
    /// How the host reads it.
    const FORM: Form;

    fn write(&self, out: &mut Outbox);
}

/// How a field stands in its row: one word, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Number,
    /// [`NONE`] for nothing.
    OptionalNumber,
    /// 1 or 0.
    Flag,
    /// Two words: the lower and the upper half.
    Double,
    /// The number of a JSON text, [`NONE`] for nothing.
    Text,
    /// The same; [`OWN`] where the host has it.
    OwnText,
    /// Two words, which place a call among those that the host knows: its position in the reply, or its number among the
    /// nested calls of its caller, negated; and the JSON text of what is to be known of it, [`OWN`] where the host knows that.
    Call,
    /// The position in `OFFERS`, [`NONE`] for nothing.
    Offer,
    /// The position in `STAGES`.
    Stage,
    /// How many words follow, then for each message what the host makes it of (`Source`, negated), or the number of its text.
    Messages,
    /// [`NONE`] and the number of a JSON text, or the numbers of a plain result in the order of `record.rs`.
    Result,
}

impl Outbox {
    /// Begins a row.
    pub fn begin(&mut self) -> usize {
        self.words.push(0);
        self.words.len() - 1
    }

    /// Ends the row that began there.
    pub fn end(&mut self, row: usize, kind: i32) {
        let length = i32::try_from(self.words.len() - row).expect("a row is short");
        self.words[row] = (length << KIND_BITS) | kind;
    }

    pub fn field<T: Field>(&mut self, field: &T) {
        let begin = self.words.len();
        field.write(self);
        let written = self.words.len() - begin;
        debug_assert!(T::FORM.words().is_none_or(|words| words == written), "a field is as long as its form says");
    }

    pub fn word(&mut self, word: i32) {
        self.words.push(word);
    }

    pub fn json<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.text(serde_json::to_string(value).expect("a command is plain data: it always serialises"));
    }

    pub fn text(&mut self, text: String) {
        self.last_text = self.last_text.wrapping_add(1).max(0);
        self.words.push(self.last_text);
        self.texts.push(text);
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn words(&self) -> &[i32] {
        &self.words
    }

    /// The rows are taken.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    pub fn take_texts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.texts)
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the host reads the same 32 bits")]
fn bits(number: u32) -> i32 {
    number as i32
}

impl Field for u32 {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        out.word(bits(*self));
    }
}

impl Field for usize {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        out.word(i32::try_from(*self).expect("positions are small"));
    }
}

impl Field for bool {
    const FORM: Form = Form::Flag;

    fn write(&self, out: &mut Outbox) {
        out.word((*self).into());
    }
}

impl Field for f64 {
    const FORM: Form = Form::Double;

    #[expect(clippy::cast_possible_truncation, reason = "in two halves")]
    fn write(&self, out: &mut Outbox) {
        let halves = self.to_bits();
        out.word(bits(halves as u32));
        out.word(bits((halves >> 32) as u32));
    }
}

impl<T: Field> Field for Option<T> {
    const FORM: Form = T::FORM.or_nothing();

    fn write(&self, out: &mut Outbox) {
        match self {
            Some(value) => value.write(out),
            None => (0..T::FORM.words().unwrap_or(1)).for_each(|_| out.word(NONE)),
        }
    }
}

impl Field for Offer {
    const FORM: Form = Form::Offer;

    fn write(&self, out: &mut Outbox) {
        out.word(*self as i32);
    }
}

impl Field for Stage {
    const FORM: Form = Form::Stage;

    fn write(&self, out: &mut Outbox) {
        out.word(*self as i32);
    }
}

impl Field for EffectId {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        self.0.write(out);
    }
}

impl Field for TurnKey {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        self.0.write(out);
    }
}

impl Field for KeptId {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        self.0.write(out);
    }
}

impl Field for Ticket {
    const FORM: Form = Form::Number;

    fn write(&self, out: &mut Outbox) {
        self.0.write(out);
    }
}

impl Field for &Json {
    const FORM: Form = Form::Text;

    fn write(&self, out: &mut Outbox) {
        out.text(self.get().to_owned());
    }
}

/// Fields that are JSON text.
macro_rules! text_fields {
    ($( $type:ty ),* $(,)?) => {
        $( impl Field for $type {
            const FORM: Form = Form::Text;

            fn write(&self, out: &mut Outbox) {
                out.json(self);
            }
        } )*
    };
}
text_fields!(&[usize], &str, &Pending, &LedgerEntry<'_>, ErrorInfo, EventView<'_>);
