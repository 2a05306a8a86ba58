//! What a turn has brought forth so far.

use std::rc::Rc;

use crate::kernel::program::Persist;
use crate::kernel::protocol::{FinishReason, PartView, Submits};
use crate::kernel::turn::Reply;
use crate::kernel::value::Json;

#[derive(Debug, Default)]
pub struct Progressed {
    pub parts: Vec<EmittedPart>,
    pub deliverable: Option<Json>,
    pub submits: Submits,
    pub partial: bool,
    pub answer_step: bool,
    text: Option<String>,
    /// The text is that of the last reply.
    text_is_last: bool,
    finish_reason: Option<FinishReason>,
}

#[derive(Clone, Debug)]
pub struct EmittedPart {
    pub part: Rc<str>,
    pub value: Json,
    pub persist: Persist,
}

impl Progressed {
    pub fn note(&mut self, reply: &Reply) {
        self.finish_reason = Some(reply.finish_reason);
        self.text_is_last = reply.is_as_given && !reply.text.is_empty();
        if !reply.text.is_empty() {
            self.text = Some(reply.text.clone());
        }
    }

    /// A tool's result is the answer, where it asks for that.
    pub fn answer(&mut self, text: Option<String>) {
        self.text_is_last &= text.is_none();
        self.text = text.or(self.text.take());
    }

    /// The text of the last step that produced any (NT-12).
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    pub fn text_is_last(&self) -> bool {
        self.text_is_last
    }

    pub fn finish_reason(&self) -> Option<FinishReason> {
        self.finish_reason
    }

    /// Nothing came of the turn: never a silent success.
    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.parts.is_empty()
    }

    pub fn part_views(&self) -> impl Iterator<Item = PartView<'_>> {
        self.parts.iter().map(|part| PartView { part: &part.part, value: &part.value })
    }
}
