//! The exceptions that ended iterations on a core.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::checks::next_number;
use crate::frame::{ExceptionDelta, ExceptionDeltas};

/// Different texts that a core tells apart between two frames; others are counted together.
const TEXTS_MAX: usize = 100;

/// The bytes of a text that count: its beginning says what was thrown, and where.
const TEXT_MAX: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Exceptions {
    by_text: FxHashMap<Arc<str>, usize>,
    seen: ExceptionDeltas,
}

/// As much of a text as is kept.
pub(super) fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

impl Exceptions {
    pub(super) fn add(&mut self, text: &str) {
        if let Some(place) = self.by_text.get(text) {
            self.seen.told[*place].count += 1;
        } else if self.seen.told.len() >= TEXTS_MAX {
            self.seen.others += 1;
        } else {
            let text: Arc<str> = Arc::from(text);
            self.by_text.insert(Arc::clone(&text), self.seen.told.len());
            self.seen.told.push(ExceptionDelta { text, count: 1, order: next_number() });
        }
    }

    pub(super) fn take(&mut self) -> ExceptionDeltas {
        self.by_text.clear();
        std::mem::take(&mut self.seen)
    }
}
