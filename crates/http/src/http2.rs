//! HTTP/2, for clients that share their connections: one connection for each host and core, all requests on it.
//!
//! ```text
//! Client ─► Lines ─┬─ Open: a Line, shared ─► exchange ─► Recording
//!                  ├─ Http1: this host has no HTTP/2
//!                  └─ nobody knows: one dials, the others wait for what comes of it
//! ```
//!
//! Frames are the business of the `h2` crate. A task drives each connection, on the runtime's own thread: unlike HTTP/1.1,
//! where who waits for an answer reads it, here many wait for the same socket.

mod exchange;
mod wire;

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use tokio::sync::Mutex;

pub(crate) use self::exchange::exchange;
use self::wire::Wire;
use crate::connection::{Connection, Route};
use crate::failure::{Failure, from_http2};
use crate::network::Network;
use crate::target::Target;
use crate::tls::TlsInfo;

/// What a server may send unasked on one stream, and on all of a connection, in bytes.
const WINDOW: u32 = 1 << 20;
const WINDOW_OF_ALL: u32 = 16 << 20;

/// The most hosts that are remembered; at the next one, all are forgotten. Connections in use live on.
const HOSTS_MAX: usize = 4096;

/// How each host is spoken to.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    hosts: RefCell<Vec<(Route, Rc<Mutex<Host>>)>>,
}

/// What is known of a host.
#[derive(Debug, Default)]
pub(crate) enum Host {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It speaks HTTP/1.1 only.
    Http1,
    /// There is a connection.
    Open(Line),
}

/// A connection that many requests share.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    sender: SendRequest<Bytes>,
    is_over: Rc<Cell<bool>>,
    pub(crate) remote: SocketAddr,
    pub(crate) tls: Option<TlsInfo>,
}

impl Lines {
    /// The host of a target.
    pub(crate) fn host(&self, target: &Target<'_>) -> Rc<Mutex<Host>> {
        let mut hosts = self.hosts.borrow_mut();
        if let Some((_, host)) = hosts.iter().find(|(route, _)| route.leads_to(target)) {
            return Rc::clone(host);
        }
        if hosts.len() >= HOSTS_MAX {
            hosts.clear();
        }
        let host = Rc::default();
        hosts.push((Route::new(target), Rc::clone(&host)));
        host
    }
}

impl Line {
    /// Begins HTTP/2 on a connection. Needs a runtime that takes tasks of its own thread.
    pub(crate) async fn open(connection: Connection, network: &Network) -> Result<Self, Failure> {
        let (remote, tls) = (connection.remote, connection.tls_info);
        let head_limit = u32::try_from(network.settings.head_limit).unwrap_or(u32::MAX);
        let shaken = Builder::new()
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW_OF_ALL)
            .max_header_list_size(head_limit)
            .enable_push(false)
            .handshake(Wire::new(connection))
            .await;
        let (sender, driver) = shaken.map_err(|error| from_http2(&error))?;
        let is_over = Rc::new(Cell::new(false));
        let over = Rc::clone(&is_over);
        tokio::task::spawn_local(async move {
            // What it ends with, each request on it is told.
            let _ = driver.await;
            over.set(true);
        });
        Ok(Self { sender, is_over, remote, tls })
    }

    /// It can still be used, as far as we know.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_over.get()
    }
}
