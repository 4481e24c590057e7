//! `postgres://user:password@host:5432/database?sslmode=disable`, or `host=… user=… dbname=…`.

use super::{Outside, Tls};
use crate::failure::{Failure, Trouble};

/// How a PostgreSQL server is reached and spoken with.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    database: String,
    tls: Tls,
    socket: Option<String>,
}

impl Settings {
    pub(super) fn read(_dsn: &str, _outside: &dyn Outside) -> Result<Self, Failure> {
        Err(Failure::new(Trouble::Config, "not written yet"))
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    pub(super) fn socket(&self) -> Option<&str> {
        self.socket.as_deref()
    }
}
