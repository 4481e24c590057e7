//! HTTP/2 (RFC 9113): one connection for each host, all requests of a client on it.
//!
//! ```text
//! Client ─► Lines ─┬─ Open: a Link ─► Running: one stream ─► Recording
//!                  ├─ Http1: this host has no HTTP/2
//!                  └─ Unknown: one dials, the others wait for the result
//!
//! Line ─► Link, Duplex ─► one stream: for protocols on top of HTTP/2
//!
//! Link ─ Protocol ─┬─ Encoder, Decoder (HPACK)
//!                  └─ Stream, Stream, …
//! ```
//!
//! As with HTTP/1.1, the task that waits for an answer reads the socket, and no task drives a connection (except of a
//! [`Line`]); a connection that waits holds no buffer. One task per core answers now and then the questions of servers on
//! connections without a reader. Server push is refused, priorities are not sent.

mod asked;
mod duplex;
mod exchange;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod hpack;
mod line;
mod link;
mod outflow;
mod protocol;
mod stream;
mod tending;

use std::cell::RefCell;
use std::rc::Rc;

use brunt_net::{Endpoint, Route};
use tokio::sync::Mutex;

pub use self::asked::Asked;
pub use self::duplex::{Cut, Duplex};
pub(crate) use self::exchange::Running;
pub use self::line::{Line, NoLine, NoStream};
pub(crate) use self::link::Link;
pub(crate) use self::tending::Tended;

/// The most hosts that are remembered; at the next one, all are forgotten. Connections in use live on.
const HOSTS_MAX: usize = 4096;

/// How each host is spoken to.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    hosts: RefCell<Vec<(Route, Rc<Mutex<Host>>)>>,
}

/// The knowledge about a host.
#[derive(Debug, Default)]
pub(crate) enum Host {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It speaks HTTP/1.1 only.
    Http1,
    /// There is a connection.
    Open(Rc<Link>),
}

impl Lines {
    /// The host of an endpoint.
    pub(crate) fn host(&self, endpoint: &Endpoint<'_>) -> Rc<Mutex<Host>> {
        let mut hosts = self.hosts.borrow_mut();
        if let Some((_, host)) = hosts.iter().find(|(route, _)| route.leads_to(endpoint)) {
            return Rc::clone(host);
        }
        if hosts.len() >= HOSTS_MAX {
            hosts.clear();
        }
        let host = Rc::default();
        hosts.push((Route::new(endpoint), Rc::clone(&host)));
        host
    }

    /// The host of an endpoint is known to speak HTTP/1.1 only.
    pub(crate) fn is_http1(&self, endpoint: &Endpoint<'_>) -> bool {
        let hosts = self.hosts.borrow();
        let host = hosts.iter().find(|(route, _)| route.leads_to(endpoint));
        host.and_then(|(_, host)| host.try_lock().ok())
            .is_some_and(|state| matches!(*state, Host::Http1))
    }

    /// Closes connections that are not used. Returns the bytes sent.
    pub(crate) fn close(&self) -> usize {
        let mut sent = 0;
        for (_, host) in &*self.hosts.borrow() {
            if let Ok(mut state) = host.try_lock()
                && let Host::Open(link) = &*state
            {
                sent += link.close();
                *state = Host::Unknown;
            }
        }
        sent
    }
}
