//! The Redis stand-in: a subset of Redis behind its own protocol (RESP2), enough for the caching
//! routes, for `redis-cli` and for client libraries.
//!
//! `wire` moves bytes, `command` decides what a command answers, `store` keeps the values.

mod command;
mod store;
pub(crate) mod wire;

pub(crate) use store::Store;
