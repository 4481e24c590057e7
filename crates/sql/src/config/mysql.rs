//! `user:password@tcp(host:3306)/database?parseTime=true`, or `mysql://user:password@host:3306/database`.

use super::{Outside, Tls};
use crate::failure::{Failure, Trouble};

/// How a MySQL server is reached and spoken with.
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
