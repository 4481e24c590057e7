//! Which database, where it is, who logs in: a DSN of the Go drivers, or a URL.

pub mod mysql;
pub mod postgres;
pub mod sqlite;

use std::io;

use crate::failure::{Failure, Trouble};

/// The databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Driver {
    /// MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl Driver {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::MySql, Self::Postgres, Self::Sqlite];

    /// The name as xk6-sql's modules have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MySql => "mysql",
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite3",
        }
    }
}

/// The things that a DSN may refer to: variables of the environment (`PGPASSWORD`) and files (certificates). The caller decides what it may see.
pub trait Outside {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn file(&self, path: &str) -> io::Result<String>;
}

/// Nothing but the DSN.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl Outside for Nowhere {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The settings of a server.
#[derive(Debug, Clone)]
pub enum Server {
    /// MySQL and MariaDB.
    MySql(mysql::Settings),
    /// PostgreSQL.
    Postgres(postgres::Settings),
    /// SQLite.
    Sqlite(sqlite::Settings),
}

/// TLS as a DSN wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Whether it is spoken.
    pub mode: TlsMode,
    /// Authorities to trust instead of those of the system, in PEM.
    pub roots: Vec<String>,
    /// Our certificate and its key, in PEM.
    pub identity: Option<(String, String)>,
    /// The name that the certificate must have, if it is not the host's.
    pub server_name: Option<String>,
}

/// Whether TLS is spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// No.
    #[default]
    Off,
    /// If the server offers it; its certificate is not checked.
    Preferred,
    /// Yes; its certificate is not checked.
    Unchecked,
    /// Yes; its certificate must come from an authority that we trust, whatever its name.
    Authority,
    /// Yes; its certificate must come from such an authority and have the name of the host.
    Full,
}

/// A DSN, read.
#[derive(Debug, Clone)]
pub struct Config {
    /// The settings of the server.
    pub server: Server,
}

impl Config {
    /// Reads a DSN for this driver: in the Go driver's form, or as a URL. No file is opened but certificates, no server is dialed.
    ///
    /// # Errors
    /// [`Trouble::Config`]: the Go driver's text, where it has one. The password is not in it.
    pub fn read(driver: Driver, dsn: &str, outside: &dyn Outside) -> Result<Self, Failure> {
        let server = match driver {
            Driver::MySql => Server::MySql(mysql::Settings::read(dsn, outside)?),
            Driver::Postgres => Server::Postgres(postgres::Settings::read(dsn, outside)?),
            Driver::Sqlite => Server::Sqlite(sqlite::Settings::read(dsn)?),
        };
        Ok(Self { server })
    }

    /// Reads a URL whose scheme tells the driver: `mysql:` or `mariadb:`, `postgres:` or `postgresql:`, `sqlite:` or `sqlite3:`.
    ///
    /// # Errors
    /// As [`Self::read`]; the scheme is none of these.
    pub fn of_url(url: &str, outside: &dyn Outside) -> Result<Self, Failure> {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        let driver = match scheme.as_str() {
            "mysql" | "mariadb" => Driver::MySql,
            "postgres" | "postgresql" => Driver::Postgres,
            "sqlite" | "sqlite3" | "file" => Driver::Sqlite,
            _ => {
                let why = "the URL of a database begins with mysql://, mariadb://, postgres://, postgresql:// or sqlite:";
                return Err(Failure::new(Trouble::Config, why));
            }
        };
        Self::read(driver, url, outside)
    }

    /// The driver.
    pub fn driver(&self) -> Driver {
        match self.server {
            Server::MySql(_) => Driver::MySql,
            Server::Postgres(_) => Driver::Postgres,
            Server::Sqlite(_) => Driver::Sqlite,
        }
    }

    /// The value of the tag `db`: the name of the database, of a file without its folders. No host, no user.
    pub fn database(&self) -> &str {
        match &self.server {
            Server::MySql(settings) => settings.database(),
            Server::Postgres(settings) => settings.database(),
            Server::Sqlite(settings) => settings.database(),
        }
    }

    /// The settings of the network that its connections need, made of those of the test: TLS, a socket in the file system. `None`:
    /// it dials no server, or the network of the test will do.
    pub fn network(&self, of_test: &brunt_net::Settings) -> Option<brunt_net::Settings> {
        let (tls, socket) = match &self.server {
            Server::MySql(settings) => (settings.tls(), settings.socket().map(str::to_owned)),
            Server::Postgres(settings) => (settings.tls(), settings.socket()),
            Server::Sqlite(_) => return None,
        };
        let mut settings = of_test.clone();
        // Where HTTP is sent to is no matter of databases.
        settings.dialing.connect_to.clear();
        settings.dialing.unix_socket = socket.map(Into::into);
        settings.tls.insecure_skip_verify =
            matches!(tls.mode, TlsMode::Preferred | TlsMode::Unchecked);
        if !tls.roots.is_empty() {
            settings.tls.extra_roots.clone_from(&tls.roots);
            settings.tls.only_extra_roots = true;
        }
        if let Some((cert, key)) = &tls.identity {
            let auth = brunt_net::TlsAuth {
                cert: cert.clone(),
                key: key.clone(),
                ..brunt_net::TlsAuth::default()
            };
            settings.tls.auth = vec![auth];
        }
        Some(settings)
    }
}
