//! The figures of statements that records have no place for.

use std::collections::BTreeMap;

use brunt_records::Histogram;

use super::course::Course;

/// SQLSTATEs that are kept; failures with further ones are counted under `other`.
const STATES_MAX: usize = 200;

/// The figures of all hits so far, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Rows that were read.
    pub rows: u64,
    /// Rows that were changed, where the database counts them.
    pub rows_affected: u64,
    /// Hits that were tried again, each time counted.
    pub retries: u64,
    /// From asking for a connection to having one, without connecting, in nanoseconds.
    pub pool_wait: Histogram,
    /// Connecting and logging in, in nanoseconds.
    pub connecting: Histogram,
    /// From sending to the first row, or to the answer if it has none, in nanoseconds; of hits that went well.
    pub first_row: Histogram,
    /// From sending to the last row.
    pub last_row: Histogram,
    /// Failures by their SQLSTATE (or the name of SQLite's code).
    pub states: BTreeMap<String, State>,
}

/// Failures with one SQLSTATE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// How many.
    pub count: u64,
    /// The text of the first.
    pub example: String,
}

impl Figures {
    pub(super) fn add(&mut self, course: &Course, finished: u64) {
        self.rows += course.rows;
        self.rows_affected += course.rows_affected;
        self.retries += u64::from(course.retries);
        if course.is_leased {
            self.pool_wait.add(course.waited_ns);
        }
        if let Some(ns) = course.connecting_ns {
            self.connecting.add(ns);
        }
        match &course.failure {
            None => {
                let (sent, first) = (course.sent, course.first_row.unwrap_or(finished));
                self.first_row.add(first.saturating_sub(sent));
                self.last_row.add(finished.saturating_sub(sent));
            }
            Some(failure) => {
                let state = self.state(failure.code());
                state.count += 1;
                if state.example.is_empty() {
                    failure.text().clone_into(&mut state.example);
                }
            }
        }
    }

    fn state(&mut self, code: &str) -> &mut State {
        let is_known = self.states.contains_key(code);
        let code = if is_known || self.states.len() < STATES_MAX { code } else { "other" };
        self.states.entry(code.to_owned()).or_default()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.rows_affected += other.rows_affected;
        self.retries += other.retries;
        self.pool_wait.merge(&other.pool_wait);
        self.connecting.merge(&other.connecting);
        self.first_row.merge(&other.first_row);
        self.last_row.merge(&other.last_row);
        for (code, from) in &other.states {
            let state = self.state(code);
            state.count += from.count;
            if state.example.is_empty() {
                state.example.clone_from(&from.example);
            }
        }
    }
}
