//! A number that all processes add to.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::ask::{Wait, ask};
use crate::cell::{Cell, State};
use crate::wire::{ABSENT, Late};

/// The largest whole number that a script can tell from its neighbours: `Number.MAX_SAFE_INTEGER`.
pub const WHOLE_MAX: i64 = (1 << 53) - 1;

/// A counter of a test. Its additions have one order in all processes: no two get the same value as long as all add 1.
#[derive(Debug)]
pub struct Counter {
    wire: Arc<Late>,
    key: String,
    start: i64,
    cell: OnceLock<Arc<Cell<Number>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Number(i64);

/// Adds this; 0 looks.
struct Add(i64);

impl State for Number {
    type Rules = i64;
    type Ask = Add;
    type Told = i64;

    fn first(start: &i64) -> Self {
        Self(*start)
    }

    fn apply(&mut self, _: &i64, Add(more): &Add) -> Result<i64, String> {
        let sum = self.0.checked_add(*more).filter(|sum| sum.abs() <= WHOLE_MAX);
        let too_many = || {
            let value = self.0;
            format!("{value} and {more} are more than a script can count: {WHOLE_MAX}")
        };
        self.0 = sum.ok_or_else(too_many)?;
        Ok(self.0)
    }
}

impl Counter {
    pub(crate) fn new(wire: &Arc<Late>, key: String, start: i64) -> Self {
        Self { wire: Arc::clone(wire), key, start, cell: OnceLock::new() }
    }

    /// Adds `more`, at most [`WHOLE_MAX`] up or down; the new value comes.
    ///
    /// # Errors
    /// The sum would be more than a script can count; no answer in time: then it may have been added or not.
    pub fn add(&self, more: i64) -> Wait<i64> {
        let cell = self.cell();
        let work = |gate| async move {
            match cell {
                Some(cell) => cell.ask(Add(more), &gate).await,
                None => Err(ABSENT.to_owned()),
            }
        };
        ask(&self.wire, "it may have been added or not", work, |_| {})
    }

    /// The value now.
    ///
    /// # Errors
    /// No answer in time.
    pub fn value(&self) -> Wait<i64> {
        self.add(0)
    }

    /// The value before any addition.
    pub fn start(&self) -> i64 {
        self.start
    }

    fn cell(&self) -> Option<Arc<Cell<Number>>> {
        let wire = self.wire.get()?;
        let open = || Arc::new(Cell::open(&wire, self.key.clone(), self.start));
        Some(Arc::clone(self.cell.get_or_init(open)))
    }
}
