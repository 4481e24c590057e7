//! The whole server over real sockets on loopback, with latencies scaled down.
#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

mod caching;
mod client;
mod control;
mod faults;
mod forms;
mod images;
mod mysql;
mod plain;
mod redis;
