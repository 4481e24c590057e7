//! One VU's way to the network: the address it dials from, its TLS sessions, its bytes.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use rustls::client::ClientConfig;

use crate::chance::Chance;
use crate::moments::Meter;
use crate::network::Network;
use crate::tls::TlsConfigs;

/// Opens connections for one client. Their bytes count as the client's.
#[derive(Debug)]
pub struct Dialer {
    meter: Meter,
    network: Rc<Network>,
    local_ip: Option<IpAddr>,
    sessions: Rc<Sessions>,
    chance: Chance,
}

/// The TLS sessions that a client, or several that share theirs, can resume: the core's configurations and the versions of
/// them that remember. Empty if none are remembered.
#[derive(Debug, Default)]
pub struct Sessions(RefCell<Vec<(Arc<ClientConfig>, Arc<ClientConfig>)>>);

impl Sessions {
    /// The version of a configuration that remembers these sessions.
    pub(crate) fn own(&self, configs: &TlsConfigs, config: Arc<ClientConfig>) -> Arc<ClientConfig> {
        if !configs.remembers_sessions() {
            return config;
        }
        let mut own = self.0.borrow_mut();
        if let Some((_, mine)) = own.iter().find(|(shared, _)| Arc::ptr_eq(shared, &config)) {
            return mine.clone();
        }
        let mine = configs.of_client(config.clone());
        own.push((config, mine.clone()));
        mine
    }
}

impl Dialer {
    /// A dialer with TLS sessions of its own. `local_ip`: the address it dials from, if not the system's choice.
    pub fn new(network: Rc<Network>, local_ip: Option<IpAddr>) -> Rc<Self> {
        Self::sharing(network, local_ip, Rc::default())
    }

    /// A dialer that shares its TLS sessions.
    pub fn sharing(
        network: Rc<Network>,
        local_ip: Option<IpAddr>,
        sessions: Rc<Sessions>,
    ) -> Rc<Self> {
        let chance = Chance::default();
        Rc::new(Self { meter: Meter::default(), network, local_ip, sessions, chance })
    }

    /// The network it is part of.
    #[inline]
    pub fn network(&self) -> &Rc<Network> {
        &self.network
    }

    /// The address it dials from, if not the system's choice.
    pub fn local_ip(&self) -> Option<IpAddr> {
        self.local_ip
    }

    /// The count of its bytes.
    #[inline]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// From now on its random choices are those of a seed: which address of a name, all that is [drawn](Self::draw). Where
    /// addresses are taken in turn, it begins with the one at `first_turn`, so that clients spread.
    pub fn seed(&self, seed: u64, first_turn: usize) {
        self.chance.seed(seed, first_turn);
    }

    /// A random number, for protocols that send such.
    pub fn draw(&self) -> u64 {
        self.chance.draw()
    }

    pub(crate) fn chance(&self) -> &Chance {
        &self.chance
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
