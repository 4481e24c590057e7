//! The settings of the stand-in for MySQL.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How the stand-in for MySQL listens, how long its work takes and how it fails.
#[derive(Debug, Clone)]
pub struct MysqlConfig {
    /// `--listen ADDR`: the address (default `127.0.0.1:0`, a free port).
    pub listen: SocketAddr,
    /// `--password TEXT`: the password of the user `brunt` (default: any is right).
    pub password: Option<String>,
    /// `--rows N`: rows of `bulktest` at the beginning (default 100 000). They are made when the first client logs in.
    pub rows: u64,
    /// `--seed N`: the seed of their texts (default 1).
    pub seed: u64,
    /// `--commit-ms MS`: duration of a commit; a statement outside a transaction is one.
    pub commit: Duration,
    /// `--row-us US`: duration of a row that is written; rows of all connections queue.
    pub row: Duration,
    /// `--read-us US`: duration of a row that is read; they queue, too.
    pub read: Duration,
    /// `--workers N`: commits at the same time.
    pub workers: usize,
    /// `--deadlock-every N`: one statement in N that writes is the victim of a deadlock; 0: none.
    pub deadlock_every: u64,
    /// `--kill-every N`: one statement in N loses its connection; 0: none.
    pub kill_every: u64,
    /// `--max-connections N`: connections at once; more are refused.
    pub max_connections: u64,
    /// `--max-rows N`: rows of all tables together, of 256 bytes on average; more are refused.
    pub max_rows: u64,
    /// `--read-only`: refuse statements that write.
    pub read_only: bool,
}

impl Default for MysqlConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            password: None,
            rows: 100_000,
            seed: 1,
            commit: Duration::from_millis(1),
            row: Duration::from_micros(2),
            read: Duration::ZERO,
            workers: 9,
            deadlock_every: 0,
            kill_every: 0,
            max_connections: 2000,
            max_rows: 25_000_000,
            read_only: false,
        }
    }
}

impl MysqlConfig {
    /// The same server without artificial durations.
    pub fn fast() -> Self {
        Self { commit: Duration::ZERO, row: Duration::ZERO, ..Self::default() }
    }

    /// The first setting that makes no sense, as a sentence.
    pub(crate) fn complaint(&self) -> Option<String> {
        if self.workers == 0 {
            return Some("--workers: 0 would commit nothing".to_owned());
        }
        if self.max_connections == 0 {
            return Some("--max-connections: 0 would let no client in".to_owned());
        }
        if self.rows > self.max_rows {
            let (rows, most) = (self.rows, self.max_rows);
            return Some(format!("--rows: {rows} are more than --max-rows allows, {most}"));
        }
        None
    }
}
