//! An address of each family, dialed at once.

use std::net::SocketAddr;
use std::pin::pin;

use futures_util::future::select;
use tokio::net::TcpStream;

use crate::dialer::Dialer;
use crate::failure::Failure;

impl Dialer {
    /// One address of each family that the name has: one or two.
    pub(super) async fn addresses(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Failure> {
        let hosts = &self.network().hosts;
        if hosts.find(host, port).is_some() || host.parse::<std::net::IpAddr>().is_ok() {
            return Ok(vec![self.address(host, port).await?]);
        }
        hosts.check_name(host)?;
        let ips = self.network().dns.lookup_families(host, self.chance()).await?;
        let addresses = ips.into_iter().flatten().map(|ip| SocketAddr::new(ip, port));
        let mut refused = Failure::NoSuchHost;
        let mut allowed = Vec::new();
        for address in addresses {
            match hosts.check_address(address.ip()) {
                Ok(()) => allowed.push(address),
                Err(failure) => refused = failure,
            }
        }
        if allowed.is_empty() { Err(refused) } else { Ok(allowed) }
    }

    /// The first connection that succeeds, of one or two. If none does: why the last one didn't.
    pub(super) async fn race(
        &self,
        addresses: &[SocketAddr],
    ) -> Result<(TcpStream, SocketAddr), Failure> {
        let dial = async |address| self.connect_to(address).await.map(|socket| (socket, address));
        let [first, second] = *addresses else {
            return dial(addresses[0]).await;
        };
        let (first, second) = (pin!(dial(first)), pin!(dial(second)));
        let (won, other) = select(first, second).await.factor_first();
        match won {
            Ok(won) => Ok(won),
            Err(_) => other.await,
        }
    }
}
