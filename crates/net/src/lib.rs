//! Connections: whom a name means, who may be dialed, how; TLS; every byte counted.
//!
//! One VU has one [`Dialer`]: the address that it dials from, its TLS sessions, its count of bytes. All dialers of a core
//! hang on one [`Network`]: the rules of the options, names and addresses, TLS configurations, and the buffers for whoever
//! is at work. [`Dialer::open`] goes to an [`Endpoint`] and gives back [`Opened`]: bytes in, bytes out, TLS inside.
//!
//! ```text
//! Dialer (one per VU)                       Network (one per core)
//!   │ connect: name ─► address ─► TCP         ├─ Hosts    who is blocked, who is elsewhere
//!   │          (or a unix socket), proxy      ├─ Dns      names, remembered
//!   │ secure:  TLS handshake                  ├─ TlsConfigs
//!   ▼                                         ├─ Outbox   small writings, sent together
//! Connection ─► Opened (counted, for any      └─ Scratch  buffers, lent for one poll
//!   │           protocol of bytes)
//!   └─► or taken apart by a protocol with needs of its own: HTTP
//! ```
//!
//! Everything runs on a tokio `current_thread` runtime with IO and time enabled, polled by whoever waits. A connection that
//! waits holds no buffer. The times of dialling are kept in [`Moments`]; a failure is a small [`Failure`] with k6's
//! number and words.
//!
//! Absent: URLs, HTTP (a tunnel through an HTTP proxy is asked for by the crate that speaks HTTP), metric names,
//! JavaScript.
#![forbid(unsafe_code)]

pub mod budget;
mod chance;
pub mod clock;
mod connection;
mod counted;
mod dial;
mod dialer;
mod dns;
mod endpoint;
mod excerpt;
mod failure;
mod hosts;
mod moments;
mod name_server;
mod network;
mod opened;
mod outbox;
mod proxy;
mod quiet;
mod scratch;
mod settings;
mod shortage;
mod tls;
mod unescape;

pub use connection::{Connection, Letter, Received, Route, Sent, Wire};
pub use dialer::{Dialer, Sessions};
pub use endpoint::Endpoint;
pub use excerpt::{Excerpt, Tail};
pub use failure::{
    Failure, Mismatch, Operation, ProxyTrouble, Refusal, Truncated, Validity, from_socket, words,
};
pub use moments::{Meter, Moments};
pub use name_server::no_such_host;
pub use network::Network;
pub use opened::Opened;
pub use outbox::Outbox;
pub use proxy::{Language, Proxies, Proxy};
pub use scratch::Scratch;
pub use settings::{
    ConnectTo, Dialing, DnsPolicy, DnsSelect, DnsSettings, Settings, SettingsError, TlsAuth,
    TlsSettings, TlsVersion,
};
pub use shortage::{Shortage, shortages};
pub use tls::{Offer, Staple, TlsInfo};
pub use unescape::unescape;
