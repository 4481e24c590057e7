//! The outcome of a statement.

/// The outcome of a statement that is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows that it changed, as the Go driver's `RowsAffected` counts them. `None`: the server did not say.
    pub rows_affected: Option<u64>,
    /// The last id that it gave out. `None`: the driver has no such thing (PostgreSQL).
    pub last_insert_id: Option<i64>,
    /// Rows that it returned.
    pub rows: u64,
    /// Warnings of the server, where it counts them.
    pub warnings: u32,
}

impl Outcome {
    /// The outcome of several statements as one: counts together, the id of the last.
    pub fn add(&mut self, next: &Self) {
        self.rows_affected = match (self.rows_affected, next.rows_affected) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
        };
        self.last_insert_id = next.last_insert_id.or(self.last_insert_id);
        self.rows += next.rows;
        self.warnings = self.warnings.saturating_add(next.warnings);
    }
}
