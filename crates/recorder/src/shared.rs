//! The parts of a recorder that all connections share.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Authority;
use crate::dialer::Network;
use crate::line::Line;
use crate::tape::Tape;
use crate::tasks::Tasks;

/// Notices that were given; beyond it, all are given.
const NOTICES_MAX: usize = 1000;

/// All of them.
pub(crate) struct Shared {
    /// Where the proxy listens.
    pub(crate) own: SocketAddr,
    pub(crate) authority: Arc<Authority>,
    pub(crate) network: Arc<Network>,
    /// Hosts that are passed on unread.
    pub(crate) pass: Vec<String>,
    pub(crate) tape: Arc<Tape>,
    pub(crate) tasks: Tasks,
    pub(crate) told: Mutex<HashSet<String>>,
}

impl Shared {
    /// Whether the proxy itself listens there.
    pub(crate) fn is_own(&self, host: &str, port: u16) -> bool {
        if port != self.own.port() {
            return false;
        }
        let host = host.trim_matches(['[', ']']);
        host.eq_ignore_ascii_case("localhost")
            || host
                .parse::<IpAddr>()
                .is_ok_and(|ip| ip == self.own.ip() || ip.is_loopback() || ip.is_unspecified())
    }

    /// Whether connections to a host are passed on unread.
    pub(crate) fn passes(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.pass.iter().any(|pattern| {
            let pattern = pattern.to_ascii_lowercase();
            match pattern.strip_prefix("*.") {
                Some(end) => host.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')),
                None => host == pattern,
            }
        })
    }

    /// Tells the user once for each topic.
    pub(crate) fn notice(&self, topic: String, text: String) {
        let is_news = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.len() >= NOTICES_MAX || told.insert(topic)
        };
        if is_news {
            self.tape.tell(&Line::Notice(text));
        }
    }
}
