//! The client on real sockets of the loopback, against servers that do exactly as they are told.

mod failures;
mod http1;
mod proxy;
mod support;
mod tls;
