//! The inside of a database, a connection or a transaction of a script: its source, its options.

use std::cell::Cell;
use std::rc::Rc;

use brunt_js::Host;
use brunt_sql::{Driver, Failure, Trouble};

use super::core::{Label, SqlCore};
use super::options::Options;
use super::record::{Spent, SqlMeters, Told, record};
use super::source::{PoolHere, Source};
use crate::state::Tags;

/// Where statements go, and how.
pub(super) struct Door {
    pub(super) source: Source,
    pub(super) options: Options,
    pub(super) meters: SqlMeters,
    /// Failures in a transaction.
    pub(super) faults: Option<Rc<Faults>>,
}

/// The failures of the statements of a transaction.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) any: Cell<bool>,
    /// The server would take the transaction the next time.
    pub(super) is_to_retry: Cell<bool>,
}

impl Door {
    pub(super) fn pool(&self) -> &Rc<PoolHere> {
        self.source.pool()
    }

    pub(super) fn core(&self) -> &Rc<SqlCore> {
        &self.source.pool().core
    }

    pub(super) fn driver(&self) -> Driver {
        self.source.pool().place.driver
    }

    /// The same with other options.
    pub(super) fn with(&self, options: Options) -> Rc<Self> {
        let (source, faults) = (self.source.clone(), self.faults.clone());
        Rc::new(Self { source, options, meters: self.meters, faults })
    }

    /// Records a statement that is over.
    pub(super) fn over(&self, host: &Host, tags: &Tags, end: &End<'_>) {
        if let (Some(failure), Some(faults)) = (end.failure, &self.faults) {
            faults.any.set(true);
            if failure.trouble() == Trouble::Retry {
                faults.is_to_retry.set(true);
            }
        }
        let told = Told {
            label: end.label,
            marks: &self.options.marks,
            spent: end.spent,
            rows: end.rows,
            affected: end.affected,
            failure: end.failure,
        };
        record(host, self.core(), self.meters, tags, &told);
    }
}

/// The end of a statement.
pub(super) struct End<'a> {
    pub(super) label: &'a Rc<Label>,
    pub(super) spent: Spent,
    pub(super) rows: u64,
    pub(super) affected: u64,
    pub(super) failure: Option<&'a Failure>,
}
