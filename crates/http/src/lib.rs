//! HTTP on the wire: every exchange timed, every byte counted.
//!
//! One VU has one [`Client`]: its connections, shared with no other. All clients of a core hang on one
//! [`Network`]: `brunt-net`'s state of a core, and the settings of HTTP. [`Client::exchange`] sends one
//! [`Request`] and gives back one [`Exchange`]: the [`Response`] or the [`Failure`], the moments, the bytes.
//!
//! ```text
//! Client ──take──► Pool                        Network (one per core)
//!   │ none there                                 ├─ net::Network  rules, names, TLS, buffers
//!   ├─► net::Dialer: connect ─► tunnel ─► secure ├─ KnownHeads    heads that came before
//!   ▼                                            └─ Tended        idle connections of HTTP/2
//! converse: Outgoing ─► net::Connection ─► Parser
//!   │                                         │
//!   └───────────────► Recording ◄── Answer ───┘  ──finish──► Exchange
//! ```
//!
//! Everything runs on a tokio `current_thread` runtime with IO and time enabled. Futures are polled by
//! whoever waits for the response; there is no task per connection and no channel. On a kept connection
//! a GET costs one write, one read, four looks at the clock and one allocation (head and body of the
//! response, in one buffer). A connection that waits holds no buffer.
//!
//! If the settings say so and a server agrees, HTTP/2 is spoken: one connection for each host, with many requests at once.
//!
//! Sockets, names, TLS and the rules about them are those of `brunt-net`; [`Failure`] wraps its failures.
//!
//! Absent: metric names, JavaScript, redirects and authentication (the caller's business, with [`resolve`],
//! [`cookie`], [`content`], [`form`] to help).
#![forbid(unsafe_code)]

pub mod auth;
mod client;
pub mod content;
pub mod cookie;
mod dial;
mod exchange;
mod failure;
pub mod form;
mod headers;
pub mod http1;
pub mod http2;
mod network;
mod payload;
mod pool;
mod request;
mod settings;
mod shared;
mod spool;
mod target;
mod timer;
mod tunnel;
mod upgrade;

pub use brunt_net::{Staple, TlsInfo, Truncated, clock};
pub use client::Client;
pub use exchange::{Exchange, HeaderLines, Response, Timings};
pub use failure::{ConnectionHeader, Failure, FileTrouble, Http2Trouble};
pub use headers::{Headers, Iter, canonical_name};
pub use http1::Malformed;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use http2::fuzz;
pub use network::Network;
pub use payload::{FileRange, Payload, Piece, Shared, Source};
pub use request::{Body, MovesOn, Request, WriteBy};
pub use settings::Settings;
pub use shared::Shared as SharedConnections;
pub use spool::{Chunk, Spool};
pub use target::{InvalidUrl, OwnedTarget, Scheme, Target, TargetError, resolve};
