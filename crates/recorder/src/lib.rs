//! A proxy that records what goes through it, TLS included.
//!
//! ```text
//! browser ──▶ gate ── CONNECT ──▶ tunnel: TLS by a leaf of our Authority ──▶ gate
//!              │ a request                                                    │
//!              └──────────────▶ forward ──▶ upstream: dialled, verified ◀─────┘
//!                                  │ bodies, messages and events pass at once, and a copy goes to the
//!                                  ▼
//!                                Tape ── at the end ──▶ Recording
//! ```
//!
//! HTTP is hyper's on both sides, TLS is rustls', certificates are rcgen's (decision 20). Bodies are streamed: a copy of each is kept in
//! memory up to a limit, then in a file, and beyond another limit its size alone is. Content codings are taken off in the copy, never
//! on the way.
//!
//! Absent: scripts, flags, terminals. The caller shows [`Line`]s, starts browsers, decides when it is over.
#![forbid(unsafe_code)]

mod authority;
mod coding;
mod config;
mod dialer;
mod error;
mod event_stream;
mod failure;
mod forward;
mod gate;
mod headers;
mod line;
mod page;
mod prefixed;
mod recorder;
mod shared;
mod socket;
mod store;
mod tape;
mod tasks;
mod tee;
mod tunnel;
mod verifier;

pub use authority::Authority;
pub use config::{Config, Limits, Upstream};
pub use error::Error;
pub use line::{Line, Moment, Told, shown_url};
pub use recorder::{Marker, Recorder};
