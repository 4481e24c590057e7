//! WebSockets (RFC 6455) with permessage-deflate (RFC 7692), over the connections of [`brunt_net`]; the handshake is an
//! exchange of [`brunt_http`].
//!
//! ```text
//! connect ── Handshake ──► Client::upgrade ──► Socket
//!                                               │ send, ping, close: encoded, queued, written when somebody polls
//!                                               └ next: written what waits, read, decoded ──► Event
//! ```
//!
//! [`frame`] and [`Decoder`] take bytes and give bytes; only [`Socket`] has a connection. Everything runs on a tokio
//! `current_thread` runtime; a socket that waits holds no buffer but what is left of a frame.
//!
//! Absent: metric names, JavaScript, cookies and redirects. Text is not checked for UTF-8: Go's most used library
//! doesn't, and the display replaces invalid bytes.
#![forbid(unsafe_code)]

mod close;
mod decoder;
mod deflate;
pub mod frame;
mod handshake;
mod socket;

pub use close::{Close, reason_of};
pub use decoder::{Decoder, Event, Kind, Violation};
pub use handshake::{Asked, Connected, Handshake, HandshakeError, connect};
pub use socket::{Ended, Socket};
