//! The client on real sockets of the loopback, against servers that do exactly as they are told.
#![expect(clippy::unwrap_used, reason = "a test that fails here says where")]

mod bodies;
mod downloads;
mod failures;
mod frames;
mod hostile;
mod http1;
mod http2;
mod line;
mod outbox;
mod proxy;
mod support;
mod tls;
