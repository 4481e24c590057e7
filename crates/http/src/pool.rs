//! The idle connections of one client.

use std::rc::Rc;

use brunt_net::{Connection, Endpoint, Wire};

/// Connections that wait for their next request, the longest idle first. They have no time limit, as
/// in k6; one that the server closed is noticed when it is asked for.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: Vec<Connection>,
}

impl Pool {
    /// The most recently used connection to an endpoint.
    pub(crate) fn take(&mut self, endpoint: &Endpoint<'_>) -> Option<Connection> {
        let at = self.idle.iter().rposition(|connection| connection.route.leads_to(endpoint))?;
        Some(self.idle.remove(at))
    }

    /// Takes a connection in. Gives back the one for which there is no room: this one, if its host has
    /// `per_host` already, else the longest idle, if there are `total` in all (0: no limit).
    pub(crate) fn put(
        &mut self,
        connection: Connection,
        total: usize,
        per_host: usize,
    ) -> Option<Connection> {
        // With fewer idle than that, the hosts need not be counted.
        let is_full = self.idle.len() >= per_host
            && self.idle.iter().filter(|other| other.route == connection.route).count() >= per_host;
        if is_full {
            return Some(connection);
        }
        self.idle.push(connection);
        (total > 0 && self.idle.len() > total).then(|| self.idle.remove(0))
    }

    /// Takes all out; keeps no memory.
    pub(crate) fn drain(&mut self) -> Vec<Connection> {
        std::mem::take(&mut self.idle)
    }

    /// Where the connection lies that is used next, probably: address, bytes.
    pub(crate) fn places(&self) -> Vec<(usize, usize)> {
        let Some(last) = self.idle.last() else { return Vec::new() };
        let host = last.route.host();
        vec![
            (std::ptr::from_ref(last).addr(), size_of::<Connection>()),
            (host.as_ptr().addr(), host.len()),
            (Rc::as_ptr(last.wire()).addr(), size_of::<Wire>()),
        ]
    }

    pub(crate) fn len(&self) -> usize {
        self.idle.len()
    }
}
