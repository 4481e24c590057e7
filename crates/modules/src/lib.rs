//! The k6 API: one file or folder per import name.
//!
//! [`K6`] is what `js` hosts: it knows the built-in modules, installs the globals and keeps a state for each VM.
//! [`Config`] tells it the options as plain data. Each module has `names()`, its exports, and `fill()`, which makes
//! them in one VM; functions find their VU through `Host::of(ctx)`.
//!
//! Absent: options and their layers, printing, exit codes. Those are `cli`'s.
#![forbid(unsafe_code)]
#![allow(
    clippy::elidable_lifetime_names,
    reason = "native functions name the lifetime of their VM"
)]

mod api;
mod boxed;
pub mod config;
mod console;
mod crypto;
mod csv;
mod data;
mod data_json;
mod dns;
mod encoding;
mod execution;
mod extension;
mod faker;
mod fs;
mod globals;
mod go_error;
mod go_text;
mod grpc;
#[cfg(test)]
mod harness;
mod html;
mod http;
mod icmp;
pub mod jslib;
mod json_parse;
mod k6;
mod lazy;
mod metrics;
mod mqtt;
mod redis;
mod secrets;
mod shared_array;
mod state;
mod tcp;
mod timers;
pub mod watch;
mod websockets;
mod ws;

pub use api::K6;
pub use config::{Config, SystemTags, World};
