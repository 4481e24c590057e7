//! A connection for requests: dialed by the rules of all connections; an HTTP proxy is asked for a tunnel on the way.

use brunt_net::{Connection, Dialer, Endpoint, Language, Offer, Proxy};

use crate::exchange::Recording;
use crate::failure::Failure;
use crate::network::Network;
use crate::tunnel;

/// A way to a server.
pub(crate) struct Way<'a> {
    pub(crate) network: &'a Network,
    pub(crate) dialer: &'a Dialer,
    pub(crate) proxy: Option<&'a Proxy>,
    /// An HTTP proxy is asked for a tunnel even if nothing is encrypted.
    pub(crate) tunnels: bool,
    /// The protocols to offer on top of TLS.
    pub(crate) offer: Offer,
}

impl Way<'_> {
    /// Opens a connection to `endpoint`, ready for a request.
    pub(crate) async fn dial(
        &self,
        endpoint: &Endpoint<'_>,
        recording: &mut Recording<'_>,
    ) -> Result<Connection, Failure> {
        let moments = &mut recording.moments;
        let mut connection = self.dialer.connect(endpoint, self.proxy, moments).await?;
        if let Some(Language::Http { authorization }) = self.proxy.map(|proxy| &proxy.language)
            && (self.tunnels || endpoint.is_secure)
        {
            let authorization = authorization.as_deref();
            tunnel::open(&mut connection, self.network, endpoint, authorization, moments).await?;
        }
        if endpoint.is_secure {
            self.dialer.secure(&mut connection, endpoint.host, self.offer, moments).await?;
        }
        Ok(connection)
    }
}
