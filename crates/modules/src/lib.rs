//! The k6 API: one file or folder per import name.
//!
//! [`K6`] is what `js` hosts: it knows the built-in modules, which `api.rs` lists, and installs the globals. [`Config`] tells
//! it the options as plain data. Each module has a folder, and in it `Exports`, its `Module` (`module.rs`): the name that
//! scripts import, the exports, and what the module does as iterations begin and end. Functions find their VU through
//! `Host::of(ctx)`.
//!
//! State that a module keeps lies in slots of its own types (`brunt_js::slot`): `host.slot::<T>()` in a VM,
//! `host.core_slot::<T>()` on a core, `shared.slot::<T>()` in the whole test. The common state of a VU (its tags, groups,
//! metadata) is `state.rs`; its connections are `connections.rs`, its cookies
//! `vu_jar.rs`.
//!
//! Absent: options and their layers, printing, exit codes. Those are `cli`'s.
#![forbid(unsafe_code)]
#![allow(
    clippy::elidable_lifetime_names,
    reason = "native functions name the lifetime of their VM"
)]

mod api;
mod boxed;
mod brunt_data;
pub mod config;
mod connections;
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
mod hosted;
mod html;
mod http;
mod icmp;
pub mod jslib;
mod json_parse;
mod k6;
mod lazy;
mod metrics;
mod module;
mod mqtt;
mod named;
mod reading;
mod redis;
mod secrets;
mod shared;
mod shared_array;
mod sql;
mod state;
mod tcp;
mod throwing;
mod timers;
mod vu_jar;
pub mod watch;
mod websockets;
mod ws;

pub use config::{Config, SystemTags, World};
pub use globals::open::path_beside;
pub use hosted::K6;
