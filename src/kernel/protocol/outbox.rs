//! Commands on their way out. Each is a row of whole numbers: a head (its kind, and how long the row is), then its fields.
//! What is no number stands beside the rows as JSON text, and its field is the text's number.

use serde::Serialize;

/// How many bits of a row's head are its kind; the rest are the row's length, the head included.
const KIND_BITS: u32 = 8;

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
    fn write(&self, out: &mut Outbox);
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
    fn write(&self, out: &mut Outbox) {
        out.word(bits(*self));
    }
}

impl Field for usize {
    fn write(&self, out: &mut Outbox) {
        out.word(i32::try_from(*self).expect("positions are small"));
    }
}

impl Field for bool {
    fn write(&self, out: &mut Outbox) {
        out.word((*self).into());
    }
}

impl Field for f64 {
    #[expect(clippy::cast_possible_truncation, reason = "in two halves")]
    fn write(&self, out: &mut Outbox) {
        let halves = self.to_bits();
        out.word(bits(halves as u32));
        out.word(bits((halves >> 32) as u32));
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self, out: &mut Outbox) {
        match self {
            Some(value) => value.write(out),
            None => out.word(NONE),
        }
    }
}

/// Fields that are JSON text.
macro_rules! text_fields {
    ($( $type:ty ),* $(,)?) => {
        $( impl Field for $type {
            fn write(&self, out: &mut Outbox) {
                out.json(self);
            }
        } )*
    };
}
pub(crate) use text_fields;
