//! The state that the clients of one core share: connections' rules, the settings of HTTP, heads that came before.

use std::cell::RefCell;
use std::rc::Rc;

use brunt_net::clock::Clock;
use brunt_net::{Endpoint, Proxy, SettingsError};

use crate::http1::known::KnownHeads;
use crate::http2::Tended;
use crate::settings::Settings;

/// The network as the HTTP clients of one core see it. Shared by them; not `Send`.
#[derive(Debug)]
pub struct Network {
    pub(crate) settings: Settings,
    pub(crate) net: Rc<brunt_net::Network>,
    /// Borrowed inside one poll only, never across an await.
    pub(crate) known: RefCell<KnownHeads>,
    pub(crate) tended: Rc<Tended>,
}

impl Network {
    /// Each request has a connection of its own, and says so.
    pub fn closes_each(&self) -> bool {
        self.settings.no_connection_reuse
    }

    /// The most bytes of a body that is kept.
    pub fn body_limit(&self) -> u64 {
        self.settings.body_limit
    }

    /// Compiles the settings for one core.
    ///
    /// `clock` must be a monotonic one; [`clock::now`](crate::clock::now) will do. Needs a tokio
    /// `current_thread` runtime with IO and time when it is used, not here.
    ///
    /// # Errors
    /// Settings that can't be carried out. System certificates are not read here.
    pub fn new(settings: Settings, clock: Clock) -> Result<Rc<Self>, SettingsError> {
        let net = brunt_net::Network::new(settings.net.clone(), clock)?;
        let tended = Tended::new(Rc::clone(&net));
        Ok(Rc::new(Self { net, known: RefCell::default(), tended, settings }))
    }

    /// Refuses settings that can't be carried out: for the moment when options are read.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(settings: &Settings) -> Result<(), SettingsError> {
        brunt_net::Network::check(&settings.net)
    }

    /// The network's clock: nanoseconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        (self.net.clock)()
    }

    /// Its part for connections in general.
    pub fn net(&self) -> &Rc<brunt_net::Network> {
        &self.net
    }

    /// The proxy on the way to an endpoint, if there is one.
    #[inline]
    pub(crate) fn proxy(&self, endpoint: &Endpoint<'_>) -> Option<&Proxy> {
        let settings = &self.settings.net;
        if settings.dialing.unix_socket.is_some() {
            return None;
        }
        settings.proxies.find(endpoint)
    }

    /// The settings it was made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
