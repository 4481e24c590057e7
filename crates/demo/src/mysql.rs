//! A stand-in for a MySQL server: its protocol on a port, one table `bulktest` and tables like it in memory, and a model of costs.
//!
//! ```text
//!   login ── session ── parse ── statement
//!     │         │                    │
//!    wire ── reply ◄── select ◄── database ── table ── page
//!                          costs, faults: how long, and how it fails
//! ```
//!
//! `wire` moves packets, `session` does one connection's commands, `parse` knows the statements, `database` does them.
//! Statements of several connections take turns; transactions can be rolled back, and are seen by others before they end.

mod args;
mod bind;
mod change;
mod config;
mod costs;
mod database;
mod facts;
mod filter;
mod guard;
mod login;
mod page;
mod parse;
mod reply;
mod row;
mod schema;
mod select;
mod serve;
mod session;
mod statement;
mod table;
mod trouble;
mod undo;
mod wire;

pub use config::MysqlConfig;
pub(crate) use serve::{Shared, serve};
