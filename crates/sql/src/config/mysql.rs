//! `user:password@tcp(host:3306)/database?parseTime=true`, or `mysql://user:password@host:3306/database`.

mod dsn;
mod escape;
mod param;
mod settings;
mod url;

use super::{Outside, Tls};
use crate::failure::{Failure, Trouble};

pub use self::settings::Settings;
pub(crate) use self::settings::{Address, Options};

impl Settings {
    pub(super) fn read(dsn: &str, outside: &dyn Outside) -> Result<Self, Failure> {
        let read = match url::rest(dsn) {
            Some(rest) => url::read(rest, outside),
            None => dsn::read(dsn, outside),
        };
        let mut settings = read.map_err(|why| Failure::new(Trouble::Config, why))?;
        if settings.password.is_empty() {
            settings.password = outside.variable("MYSQL_PWD").unwrap_or_default();
        }
        Ok(settings)
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    pub(super) fn socket(&self) -> Option<&str> {
        match &self.address {
            Address::Tcp { .. } | Address::Nowhere(_) => None,
            Address::Unix(path) => Some(path),
        }
    }
}

#[cfg(test)]
mod tests;
