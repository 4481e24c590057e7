//! How to reach the servers: a URL, or the options that k6's `Client` takes as an object.

mod json;
mod link;

use std::time::Duration;

use thiserror::Error;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Server {
    /// A name or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// The relation of the servers to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// There is one.
    Single(Server),
    /// Each has a part of the keys.
    Cluster {
        /// Those that are asked first.
        nodes: Vec<Server>,
        /// How often a command is sent on.
        max_redirects: u32,
    },
    /// A sentinel tells who is the master of this name.
    Sentinel {
        /// The sentinel.
        sentinel: Server,
        /// The master's name.
        master: String,
        /// How to log in to the sentinel.
        username: String,
        /// Its password.
        password: String,
    },
}

/// TLS of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Authorities to trust, in PEM; none means the system's.
    pub roots: Vec<String>,
    /// A client's certificate and its key, in PEM.
    pub identity: Option<(String, String)>,
}

/// How to reach the servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The servers.
    pub topology: Topology,
    /// The user; empty for the default one.
    pub username: String,
    /// Empty for none.
    pub password: String,
    /// How the connection is called in `CLIENT LIST`; empty for nothing.
    pub client_name: String,
    /// `SELECT`; 0 needs none.
    pub database: u32,
    /// TLS, if it is spoken.
    pub tls: Option<Tls>,
    /// Version 3 of the protocol.
    pub resp3: bool,
    /// Tries after the first.
    pub max_retries: u32,
    /// Between tries at least.
    pub min_backoff: Duration,
    /// Between tries at most.
    pub max_backoff: Duration,
    /// To open a connection.
    pub dial_timeout: Duration,
    /// For a reply; none waits for ever.
    pub read_timeout: Option<Duration>,
    /// Connections to each server at most.
    pub pool_size: usize,
    /// For a connection to become idle.
    pub pool_timeout: Duration,
}

/// The fault of options.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionsError(pub String);

fn wrong(why: impl Into<String>) -> OptionsError {
    OptionsError(why.into())
}

impl Options {
    /// The options of one server; defaults are k6's.
    fn new(topology: Topology) -> Self {
        Self {
            topology,
            username: String::new(),
            password: String::new(),
            client_name: String::new(),
            database: 0,
            tls: None,
            resp3: false,
            max_retries: 3,
            min_backoff: Duration::from_millis(8),
            max_backoff: Duration::from_millis(512),
            dial_timeout: Duration::from_secs(5),
            read_timeout: Some(Duration::from_secs(3)),
            pool_size: 10,
            pool_timeout: Duration::from_secs(4),
        }
    }

    /// From `redis://user:password@host:port/database` or `rediss://…`.
    ///
    /// # Errors
    /// It is no such URL.
    pub fn from_url(text: &str) -> Result<Self, OptionsError> {
        link::parse(text)
    }

    /// From the JSON of the object that scripts give.
    ///
    /// # Errors
    /// An unknown member, or one of the wrong type.
    pub fn from_json(text: &str) -> Result<Self, OptionsError> {
        json::parse(text)
    }
}
