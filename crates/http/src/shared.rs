//! Connections that several clients of one core share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use brunt_net::Sessions;
use rustc_hash::FxHashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http2::Lines;
use crate::network::Network;
use crate::pool::Pool;
use crate::target::{Scheme, Target};

/// The most hosts whose limits are remembered; beyond it, unused ones are forgotten.
const HOSTS_MAX: usize = 4096;

/// Whom limits are for.
type Host = (Scheme, u16, Box<str>);

/// The state that clients of [`Client::sharing`](crate::Client::sharing) share: idle connections, TLS sessions, and
/// how many connections one host may have.
#[derive(Debug)]
pub struct Shared {
    pub(crate) pool: RefCell<Pool>,
    pub(crate) sessions: Rc<Sessions>,
    pub(crate) per_host_max: usize,
    pub(crate) lines: Lines,
    hosts: RefCell<FxHashMap<Host, Arc<Semaphore>>>,
}

impl Shared {
    /// No connections yet.
    pub fn new(network: &Network) -> Rc<Self> {
        Rc::new(Self {
            pool: RefCell::default(),
            sessions: Rc::default(),
            per_host_max: network.settings.per_host_max,
            lines: Lines::default(),
            hosts: RefCell::default(),
        })
    }

    /// The leave to use a connection to the target. An exchange uses one and finds the idle ones first, so there are
    /// never more connections to a host than leaves.
    pub(crate) async fn permit(&self, target: &Target<'_>) -> OwnedSemaphorePermit {
        let semaphore = {
            let mut hosts = self.hosts.borrow_mut();
            if hosts.len() >= HOSTS_MAX {
                let all = self.per_host_max;
                hosts.retain(|_, semaphore| semaphore.available_permits() < all);
            }
            let key = (target.scheme, target.port, Box::from(&*target.host));
            let make = || Arc::new(Semaphore::new(self.per_host_max));
            hosts.entry(key).or_insert_with(make).clone()
        };
        semaphore.acquire_owned().await.expect("it is never closed")
    }
}
