//! Why a HAR file can't be read.

use thiserror::Error;

/// Why a HAR file can't be read. Lines and columns count from 1.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HarError {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It ends early: an export that was not finished, a full disk.
    #[error(
        "{line}:{column}: the file ends in the middle of {place}; {}: export it again, or cut it off behind the last whole \
         entry and close it with ]}}}}",
        whole_entries(*whole)
    )]
    Truncated {
        /// The last line.
        line: usize,
        /// Behind its last byte.
        column: usize,
        /// `entry 7`, or `the log`.
        place: String,
        /// The number of whole entries before it.
        whole: usize,
    },
    /// It is not JSON.
    #[error("{line}:{column}: no valid JSON in {place}: {problem}; {}", whole_entries(*whole))]
    Syntax {
        /// Of the first wrong byte.
        line: usize,
        /// Of the first wrong byte.
        column: usize,
        /// `entry 7`, or `the log`.
        place: String,
        /// The words of the parser.
        problem: String,
        /// The number of whole entries before it.
        whole: usize,
    },
    /// It is JSON, but no HAR.
    #[error("no HAR file: {0}")]
    NotHar(&'static str),
    /// No entry can be used.
    #[error("the file has no request that can be used{}", reasons(.0))]
    Nothing(Vec<(String, u64)>),
}

impl HarError {
    /// Whether its text begins with a line and a column.
    pub fn has_place(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::Syntax { .. })
    }
}

fn whole_entries(whole: usize) -> String {
    match whole {
        0 => "no entry before it is whole".to_owned(),
        1 => "1 entry before it is whole".to_owned(),
        _ => format!("{whole} entries before it are whole"),
    }
}

fn reasons(left_out: &[(String, u64)]) -> String {
    if left_out.is_empty() {
        return ": its list of entries is empty".to_owned();
    }
    let all: Vec<_> = left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
    format!("; left out: {}", all.join(", "))
}
