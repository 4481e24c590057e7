//! The client of postgres.

pub(crate) mod row;

use std::rc::Rc;

use brunt_net::Dialer;

use crate::args::Args;
use crate::chunk::Chunk;
use crate::column::Columns;
use crate::config::postgres::Settings;
use crate::connection::{Ask, Insert};
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// A connection to it.
#[derive(Debug)]
pub struct Connection {
    columns: Columns,
}

fn absent() -> Failure {
    Failure::new(Trouble::Usage, "not written yet")
}

impl Connection {
    pub(crate) async fn open(_settings: &Settings, _dialer: &Rc<Dialer>) -> Result<Self, Failure> {
        Err(absent())
    }

    pub(crate) async fn start(&mut self, _ask: &Ask<'_>) -> Result<(), Failure> {
        Err(absent())
    }

    pub(crate) fn columns(&self) -> Columns {
        Rc::clone(&self.columns)
    }

    pub(crate) async fn next(&mut self, _chunk: &mut Chunk) -> Result<bool, Failure> {
        Err(absent())
    }

    pub(crate) async fn next_result(&mut self) -> Result<bool, Failure> {
        Err(absent())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::default()
    }

    pub(crate) async fn batch(
        &mut self,
        _sql: &str,
        _width: usize,
        _args: &Args,
    ) -> Result<Outcome, Failure> {
        Err(absent())
    }

    pub(crate) async fn insert(&mut self, _insert: &Insert<'_>) -> Result<Outcome, Failure> {
        Err(absent())
    }

    pub(crate) fn is_idle(&self) -> bool {
        false
    }

    pub(crate) fn is_stale(&mut self) -> bool {
        false
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        false
    }

    pub(crate) async fn cancel(self, _dialer: &Rc<Dialer>) {}

    pub(crate) fn close(self) {}

    pub(crate) fn take_bytes(&mut self) -> (u64, u64) {
        (0, 0)
    }
}
