//! HTTP on the wire: every exchange timed, every byte counted.
//!
//! One VU has one [`Client`]: its connections, shared with nobody. All clients of a core hang on one
//! [`Network`]: the rules of the options, names and addresses, TLS configurations, and the buffers for
//! whoever is at work. [`Client::exchange`] sends one [`Request`] and gives back one [`Exchange`]:
//! the [`Response`] or the [`Failure`], the moments, the bytes.
//!
//! ```text
//! Client ──take──► Pool                     Network (one per core)
//!   │ none there                              ├─ Hosts    who is blocked, who is elsewhere
//!   ├─► Dialer ─► TCP ─► tunnel ─► handshake  ├─ Dns      names, remembered
//!   ▼                                         ├─ TlsConfigs
//! converse: Outgoing ─► Connection ─► Parser  └─ Scratch  buffers, lent for one poll
//!   │                    (TLS Session)  │
//!   └────────────► Recording ◄── Answer ┘  ──finish──► Exchange
//! ```
//!
//! Everything runs on a tokio `current_thread` runtime with IO and time enabled. Futures are polled by
//! whoever waits for the response; there is no task per connection and no channel. On a kept connection
//! a GET costs one write, one read, four looks at the clock and one allocation (head and body of the
//! response, in one buffer). A connection that waits holds no buffer.
//!
//! If the settings say so and a server agrees, HTTP/2 is spoken: one connection for each host, with many requests at once.
//!
//! What is absent: metric names, JavaScript, redirects and authentication (the caller's business, with
//! [`resolve`], [`cookie`], [`content`], [`form`] to help).
#![forbid(unsafe_code)]

pub mod auth;
pub mod budget;
mod client;
pub mod clock;
mod connection;
pub mod content;
pub mod cookie;
mod counted;
mod dial;
mod dns;
mod excerpt;
mod exchange;
mod failure;
pub mod form;
mod headers;
mod hosts;
pub mod http1;
mod http2;
mod network;
mod opened;
mod outbox;
mod payload;
mod pool;
mod proxy;
mod reach;
mod request;
mod settings;
mod shared;
mod spool;
mod target;
mod timer;
mod tls;
mod upgrade;

pub use client::Client;
pub use dns::no_such_host;
pub use excerpt::{Excerpt, Tail};
pub use exchange::{Exchange, HeaderLines, Response, Timings};
pub use failure::{
    ConnectionHeader, Failure, FileTrouble, Http2Trouble, Mismatch, Operation, ProxyTrouble,
    Refusal, Validity,
};
pub use headers::{Headers, Iter, canonical_name};
pub use http1::Malformed;
pub use http1::parser::Truncated;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use http2::fuzz;
pub use network::Network;
pub use opened::Opened;
pub use payload::{FileRange, Payload, Piece, Shared, Source};
pub use proxy::Proxies;
pub use request::{Body, MovesOn, Request, WriteBy};
pub use settings::{
    ConnectTo, Dialing, DnsPolicy, DnsSelect, DnsSettings, Settings, SettingsError, TlsAuth,
    TlsSettings, TlsVersion,
};
pub use shared::Shared as SharedConnections;
pub use spool::{Chunk, Spool};
pub use target::{InvalidUrl, OwnedTarget, Scheme, Target, TargetError, resolve};
pub use tls::{Staple, TlsInfo};
pub use upgrade::Upgraded;
