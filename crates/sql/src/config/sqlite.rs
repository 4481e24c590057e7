//! `file.db`, `:memory:`, `file:file.db?mode=ro&cache=shared`, `sqlite:file.db`.

use crate::failure::{Failure, Trouble};

/// Which file of SQLite, and how it is opened.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    database: String,
}

impl Settings {
    pub(super) fn read(_dsn: &str) -> Result<Self, Failure> {
        Err(Failure::new(Trouble::Config, "not written yet"))
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }
}
