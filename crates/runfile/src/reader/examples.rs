//! Examples of failures: exchanges that were kept, as lines for a shell.

use std::collections::BTreeMap;

use brunt_metrics::summary::FailureSummary;

use super::RunFile;
use crate::error::RunFileError;

/// By code, and by method and route: the first that was kept.
#[derive(Clone, Debug, Default)]
pub struct Examples(BTreeMap<(String, String), String>);

impl RunFile {
    /// An example of each kind of failure of which any exchange was kept.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn examples(&self) -> Result<Examples, RunFileError> {
        let rows = self.rows(
            "SELECT code, route, curl FROM exchange WHERE why = 'failure' ORDER BY id DESC",
            [],
            |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)),
        )?;
        // The first of a kind comes last and stays.
        Ok(Examples(rows.into_iter().collect()))
    }
}

impl Examples {
    /// The example of a kind.
    pub fn of(&self, kind: &FailureSummary) -> Option<&str> {
        let name = format!("{} {}", kind.method, kind.route);
        self.0.get(&(kind.code.clone(), name)).map(String::as_str)
    }
}
