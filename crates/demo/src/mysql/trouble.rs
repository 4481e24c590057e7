//! Refusals, with numbers, states and texts as MySQL has them.

use std::fmt::Display;

/// Why a statement was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) code: u16,
    /// SQLSTATE: five characters.
    pub(crate) state: &'static str,
    pub(crate) text: String,
}

impl Trouble {
    pub(crate) fn new(code: u16, state: &'static str, text: impl Into<String>) -> Self {
        Self { code, state, text: text.into() }
    }

    /// The stand-in does not know a statement, or a part of it.
    pub(crate) fn unknown(part: impl Display) -> Self {
        let mut part = part.to_string();
        if part.chars().count() > 120 {
            part = part.chars().take(119).chain(['…']).collect();
        }
        Self::new(
            1064,
            "42000",
            format!("brunt's stand-in for MySQL does not know this statement: {part}"),
        )
    }

    pub(crate) fn no_table(name: &str) -> Self {
        Self::new(1146, "42S02", format!("Table 'demo.{name}' doesn't exist"))
    }

    pub(crate) fn no_column(name: &str, place: &str) -> Self {
        Self::new(1054, "42S22", format!("Unknown column '{name}' in '{place}'"))
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(1317, "70100", "Query execution was interrupted")
    }

    pub(crate) fn deadlock() -> Self {
        let text = "Deadlock found when trying to get lock; try restarting transaction";
        Self::new(1213, "40001", text)
    }

    pub(crate) fn full(table: &str) -> Self {
        Self::new(1114, "HY000", format!("The table '{table}' is full"))
    }
}
