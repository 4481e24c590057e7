//! The way to servers: requests are made by the output, and sent on a thread of their own.
//!
//! [`Endpoint`] says where and how, [`Post`] what; a [`Sender`] takes posts without ever waiting, and
//! counts what did not arrive. [`Totals`] tell the same series again and again with one.

mod client;
mod dial;
mod endpoint;
mod sender;
pub(crate) mod tls;
mod totals;

pub(crate) use self::client::{Answer, Post};
pub(crate) use self::endpoint::{Endpoint, Protocol, Proxy};
pub(crate) use self::sender::{Sender, Sending};
pub(crate) use self::totals::Totals;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The value of `Authorization` for a name and a password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

#[cfg(test)]
mod tests;
