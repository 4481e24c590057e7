//! The demo target: the server that tests, examples, benches and README aim at.
//!
//! One [`Demo::start`] gives a running server in its own threads, with nothing outside the process:
//! a slow origin behind eleven caching routes, a Redis stand-in, an image handler that saturates, an
//! application of forms with a token in each, plain routes (status, delay, redirect, compression,
//! cookies, upload …) and a second port that answers HTTP wrongly on purpose.
//!
//! ```text
//!   listener ── worker 1 … N ── app ──┬── control   /_demo/stats, reset, fault, time, warm
//!   (TCP/TLS)   one runtime each      ├── caching   strategies ── memory, redis tier ── origin
//!                                     ├── images    instances ── cache, queue ── codec
//!                                     ├── forms     sessions, tokens, pages
//!                                     └── plain     the simple routes
//!   redis port ── resp (store + wire)          faults port ── faults::raw          gRPC port ── grpc
//!   MySQL port ── mysql (session ── database)
//! ```
//!
//! Its promises: every answer carries `Server-Timing`, `/_demo/stats` tells the server's side of the truth, all
//! randomness comes from one seed, and every map, queue and body has a limit. It imports no other crate of ours on
//! purpose, so it can judge them.
#![forbid(unsafe_code)]

mod app;
mod body;
mod bulk;
mod caching;
mod call;
mod config;
mod control;
mod dice;
mod dispatch;
mod faults;
mod flights;
mod forms;
mod governor;
mod grpc;
mod images;
mod lru;
mod mysql;
mod plain;
mod reply;
mod resp;
mod routes;
mod server;
mod stats;
mod timing;
mod tls;

pub use bulk::{BULK_TEXT_LENGTH, bulk_text};
pub use config::{DemoConfig, RedisFallback};
pub use forms::FormConfig;
pub use images::ImageConfig;
pub use mysql::MysqlConfig;
pub use server::{Demo, DemoError, DemoHandle, FakeMysql};
