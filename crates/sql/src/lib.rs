//! SQL databases: statements out, rows in. MySQL and MariaDB, PostgreSQL, SQLite.
//!
//! ```text
//! Config (a DSN, read) ─► Pool ─► Lease ─► Connection ─► mysql, postgres: on brunt-net's connections
//!                                   │                └─► sqlite: on a thread of its own
//!            Ask (statement, Args) ─┤
//!                                   ▼
//!            Columns, Chunk (rows as they came), Outcome
//! ```
//!
//! One [`Pool`] belongs to one core and is polled there; no lock, no message to another core. A [`Chunk`] holds rows in the
//! form of the wire and hands out each value as a [`Cell`], which borrows from it: no row and no value has memory of its own.
//! Statements are told apart by [`statement::folded`]. A future that is dropped in the middle of a statement costs the
//! connection, never the pool: the server is asked to stop the statement.
//!
//! Absent: JavaScript, metrics, flags.
#![forbid(unsafe_code)]

mod args;
pub mod calendar;
mod cell;
mod chunk;
mod column;
pub mod config;
mod connection;
mod failure;
mod mysql;
mod outcome;
mod pool;
mod postgres;
mod spelling;
mod sqlite;
pub mod statement;

pub use args::Args;
pub use cell::{Cell, Moment};
pub use chunk::{Chunk, Format, ROOM};
pub use column::{Column, Columns, Kind};
pub use config::{Config, Driver};
pub use connection::{Ask, Connection, Insert, Way};
pub use failure::{Failure, Trouble};
pub use outcome::Outcome;
pub use pool::{Lease, Pool, PoolOptions};
