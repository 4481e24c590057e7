//! Where names lead, for protocols that dial by themselves: the rules of the options hold for them, too.

use std::net::{IpAddr, SocketAddr};

use crate::dialer::Dialer;
use crate::failure::Failure;

impl Dialer {
    /// Where `host:port` leads: blocked names, overrides (`hosts`), literals, names (`dns`), blacklisted addresses, in
    /// k6's order.
    ///
    /// # Errors
    /// The name leads nowhere, or access to it is blocked.
    pub async fn address_of(&self, host: &str, port: u16) -> Result<SocketAddr, Failure> {
        self.address(host, port).await
    }

    /// All addresses of a name, asked for now: nothing is remembered, and `hosts` is not looked at. An address is its
    /// own.
    ///
    /// # Errors
    /// The name is unknown, no name server answers, or it is blocked.
    pub async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let network = self.network();
        network.hosts.check_name(host)?;
        match host.parse() {
            Ok(ip) => Ok(vec![ip]),
            Err(_) => network.dns.look_up(host).await,
        }
    }
}
