//! `postgres://user:password@host:5432/database?sslmode=disable`, or `host=… user=… dbname=…`.

mod pairs;
mod settings;
mod url;

use super::{Outside, Tls};
use crate::failure::{Failure, Trouble};

pub use self::settings::Settings;
pub(crate) use self::settings::{Attributes, Host};

impl Settings {
    pub(super) fn read(dsn: &str, outside: &dyn Outside) -> Result<Self, Failure> {
        let pairs = if url::is_url(dsn) { url::pairs(dsn) } else { pairs::read(dsn) };
        let read = pairs.and_then(|pairs| settings::read(pairs, outside));
        read.map_err(|why| Failure::new(Trouble::Config, why))
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    pub(super) fn socket(&self) -> Option<String> {
        self.hosts.first().and_then(Host::socket)
    }
}
