//! A Redis client: commands out, replies in.
//!
//! A [`Client`] belongs to one VU and dials through the VU's network, so that hosts, blocked addresses and TLS are those of
//! the test's options, and bytes are counted. It keeps a few connections to each server, sends a command on an idle one and
//! waits for its reply. In a cluster it learns from the servers' answers where a key lives; behind sentinels it asks them
//! for the master.
//!
//! [`resp`] reads and writes the protocol without sockets; [`Options`] are read from a URL or from JSON.
//!
//! Absent: JavaScript, the names of commands, metrics.
#![forbid(unsafe_code)]

mod client;
mod connection;
mod failure;
mod options;
pub mod resp;
mod slot;

pub use client::Client;
pub use failure::Failure;
pub use options::{Options, OptionsError, Server, Tls, Topology};
