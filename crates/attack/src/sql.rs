//! Statements on a database as a load.
//!
//! ```text
//! script::read (a file, `;` between statements) ─┐
//! Rows (CSV, JSON lines) ────────────────────────┤
//! Config (whose database) ───────────────────────┴─► Queries ─► one Statements per core: pool, records, Figures
//! ```
//!
//! A hit leases a connection of its core's pool, sends a statement and reads all its rows, of which it keeps none. Its record has
//! status 200 if the database took the statement; failures have the status of HTTP that means about the same ([`status`]) and begin their
//! text with the SQLSTATE, so that reports, thresholds and plots of attacks work as they are. The [`Figures`] tell the rest.

mod course;
mod figures;
mod load;
mod placeholder;
mod rows;
pub mod script;
mod statement;

use std::sync::{Mutex, PoisonError};

use brunt_sql::{Config, Failure, Trouble};

pub use self::figures::{Figures, State};
pub(crate) use self::load::Statements;
pub use self::rows::{Rows, RowsError};
pub use self::script::{Script, ScriptError};
pub use self::statement::{Prepared, Statement, Unbound};

/// The statements of an attack, their arguments, and the database.
#[derive(Debug)]
pub struct Queries {
    config: Config,
    settings: Settings,
    statements: Vec<Prepared>,
    /// The statement of each place of the cycle, and how often it came before in it.
    cycle: Vec<(usize, u64)>,
    rows: Rows,
    /// The name of a hit that runs all statements.
    all: String,
    figures: Mutex<Figures>,
}

/// How statements are run. Plain data: change fields of [`Settings::default`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Statements for each new connection.
    pub each_connection: Vec<String>,
    /// A hit runs all statements, in order, in one transaction.
    pub is_transaction: bool,
    /// The server keeps statements, prepared, for the next time.
    pub is_prepared: bool,
    /// Statements and arguments are drawn by lot with this seed; `None`: in turn.
    pub lot: Option<u64>,
    /// How often a hit that met a deadlock or a serialization failure is tried again.
    pub retries: u32,
    /// Records have headers that tell rows, SQLSTATE and times.
    pub keeps_details: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            each_connection: Vec::new(),
            is_transaction: false,
            is_prepared: true,
            lot: None,
            retries: 0,
            keeps_details: false,
        }
    }
}

/// The most places of the cycle in which statements take turns.
pub const WEIGHTS_MAX: u64 = 10_000;

/// Why statements can't be a load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueriesError {
    /// There is none.
    #[error("there is no statement")]
    None,
    /// Placeholders without arguments, or arguments that don't fit.
    #[error(transparent)]
    Unbound(#[from] Unbound),
    /// Weights that are too many together.
    #[error("the weights of the statements are {0} together, more than {WEIGHTS_MAX}")]
    Weights(u64),
}

impl Queries {
    /// Binds the statements to the columns of `rows`.
    ///
    /// # Errors
    /// [`QueriesError`].
    pub fn new(
        config: Config,
        settings: Settings,
        statements: Vec<Statement>,
        rows: Rows,
    ) -> Result<Self, QueriesError> {
        if statements.is_empty() {
            return Err(QueriesError::None);
        }
        let weights =
            statements.iter().map(|statement| statement.weight).fold(0, u64::saturating_add);
        if weights > WEIGHTS_MAX {
            return Err(QueriesError::Weights(weights));
        }
        let driver = config.driver();
        let cycle = cycle(&statements.iter().map(|one| one.weight).collect::<Vec<_>>());
        let statements = statements.into_iter().enumerate();
        let statements = statements.map(|(index, statement)| statement.bind(index, driver, &rows));
        let statements = statements.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&str> = statements.iter().map(Prepared::label).collect();
        let mut all = names.join("; ");
        all.truncate(all.floor_char_boundary(brunt_sql::statement::FOLDED_MAX));
        let figures = Mutex::default();
        Ok(Self { config, settings, statements, cycle, rows, all, figures })
    }

    /// The database.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How statements are run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The statements in their order.
    pub fn statements(&self) -> &[Prepared] {
        &self.statements
    }

    /// The rows of arguments.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The figures of all cores that have ended.
    pub fn figures(&self) -> Figures {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, figures: &Figures) {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner).merge(figures);
    }

    /// The statement of hit `seq`, if it runs one alone, and the row of arguments.
    fn turn(&self, seq: u64) -> (Option<usize>, usize) {
        let rows = self.rows.len().max(1) as u64;
        let (statement, row) = match self.settings.lot {
            Some(seed) => {
                let (one, other) = (mixed(seed, 2 * seq), mixed(seed, 2 * seq + 1));
                (self.cycle[(one % self.cycle.len() as u64) as usize].0, other)
            }
            None if self.settings.is_transaction => (0, seq),
            None => {
                let length = self.cycle.len() as u64;
                let (statement, before) = self.cycle[(seq % length) as usize];
                (statement, seq / length * self.statements[statement].weight() + before)
            }
        };
        ((!self.settings.is_transaction).then_some(statement), (row % rows) as usize)
    }
}

/// Places in which each statement comes as often as its weight says, as evenly as can be.
fn cycle(weights: &[u64]) -> Vec<(usize, u64)> {
    let whole: u64 = weights.iter().sum();
    let mut before = vec![0; weights.len()];
    (0..whole)
        .map(|place| {
            // The one that is furthest behind its share.
            let behind = |index: &usize| {
                let due = u128::from(place + 1) * u128::from(weights[*index]);
                let had = u128::from(before[*index]) * u128::from(whole);
                (due as i128 - had as i128, std::cmp::Reverse(*index))
            };
            let open = (0..weights.len()).filter(|&index| before[index] < weights[index]);
            let next = open.max_by_key(behind).expect("places are as many as weights");
            before[next] += 1;
            (next, before[next] - 1)
        })
        .collect()
}

/// A number that follows from two, without a pattern (SplitMix64).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The status of HTTP that means about what the failure means: 0 where no answer came, 503 where there was no room for us, 409 for
/// deadlocks and their like, 403 where we may not, 400 where the statement or its values are at fault, 500 for the rest.
pub fn status(failure: &Failure) -> u16 {
    let code = failure.code();
    match (failure.trouble(), failure.number()) {
        // MySQL and MariaDB have no SQLSTATE of its own for these.
        (_, 1040 | 1203 | 1226) => return 503,
        (_, 1205) => return 409,
        _ => {}
    }
    if code == "53300" || code == "53400" || code.starts_with("SQLITE_FULL") {
        return 503;
    }
    if code.starts_with("28") || code == "42501" {
        return 403;
    }
    match failure.trouble() {
        Trouble::Retry => 409,
        Trouble::Server if code.starts_with("SQLITE_BUSY") || code.starts_with("SQLITE_LOCKED") => {
            409
        }
        Trouble::Server if code.starts_with("SQLITE_CONSTRAINT") || code == "SQLITE_ERROR" => 400,
        Trouble::Server => match code.get(..2) {
            Some("21" | "22" | "23" | "26" | "2D" | "34" | "3D" | "3F" | "42" | "44") => 400,
            _ => 500,
        },
        Trouble::Usage | Trouble::Config => 400,
        Trouble::TooLarge => 413,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_come_as_often_as_they_weigh() {
        let places: Vec<_> = cycle(&[3, 1]).into_iter().map(|(index, _)| index).collect();
        assert_eq!(places.iter().filter(|index| **index == 0).count(), 3);
        assert_eq!(cycle(&[1, 1, 1]), [(0, 0), (1, 0), (2, 0)]);
        let before: Vec<_> = cycle(&[1, 4]).into_iter().filter(|one| one.0 == 1).collect();
        assert_eq!(before, [(1, 0), (1, 1), (1, 2), (1, 3)]);
        assert!(cycle(&[]).is_empty());
    }

    #[test]
    fn failures_have_the_status_that_means_the_same() {
        for (trouble, code, number, expected) in [
            (Trouble::Server, "42P01", 0, 400),
            (Trouble::Server, "23505", 0, 400),
            (Trouble::Server, "08004", 1040, 503),
            (Trouble::Connect, "53300", 0, 503),
            (Trouble::Connect, "28P01", 0, 403),
            (Trouble::Retry, "40001", 1213, 409),
            (Trouble::Server, "HY000", 1205, 409),
            (Trouble::Server, "XX000", 0, 500),
            (Trouble::Timeout, "timeout", 0, 0),
            (Trouble::Broken, "08006", 0, 0),
        ] {
            let failure = Failure::new(trouble, "").with_code(code, number);
            assert_eq!(status(&failure), expected, "{code} {number}");
        }
    }
}
