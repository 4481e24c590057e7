//! What is to be made, and what is there already.

use std::time::Duration;

use brunt_demo::bulk_text;

use crate::failure::Failure;

/// The rows to make.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) rows: u64,
    pub(super) seed: u64,
    pub(super) force: bool,
}

/// A table that is there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    None,
    /// It has these rows already.
    Same,
    /// `--force` replaces it.
    Other,
}

/// How it went.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) existing: Existing,
    pub(super) took: Duration,
}

/// The facts of a table that is there: its count, its highest id, and the texts of its first and last row.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) count: u64,
    pub(super) highest: u64,
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
}

impl Wish {
    pub(super) fn text(&self, id: u64) -> [u8; brunt_demo::BULK_TEXT_LENGTH] {
        bulk_text(self.seed, id)
    }

    /// The facts of the table when it is filled.
    fn facts(&self) -> Facts {
        let text = |id| String::from_utf8(self.text(id).to_vec()).ok().filter(|_| self.rows > 0);
        Facts { count: self.rows, highest: self.rows, first: text(1), last: text(self.rows) }
    }

    /// Decides about a table that is there.
    ///
    /// # Errors
    /// It is another one, and nothing is said of replacing it.
    pub(super) fn judge(&self, place: &str, facts: &Facts) -> Result<Existing, Failure> {
        if self.force {
            return Ok(Existing::Other);
        }
        if *facts == self.facts() {
            return Ok(Existing::Same);
        }
        let count = facts.count;
        let message = format!("{place} has a table bulktest already, with {count} other rows");
        Err(Failure::usage(message).hint("--force replaces it; all its rows are lost"))
    }
}
