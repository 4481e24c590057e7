//! A new connection: whom to dial, TCP, a way through a proxy, TLS.

pub(crate) mod detour;
mod handshake;
mod race;
mod secure_proxy;
mod socks;
mod tunnel;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::ClientConfig;
use rustls_pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpSocket, TcpStream};

use self::detour::Place;
use crate::connection::{Connection, Route, Socket};
use crate::exchange::Recording;
use crate::failure::{Failure, Mismatch, from_connect};
use crate::network::Network;
use crate::proxy::{Language, Proxy};
use crate::target::{Scheme, Target};
use crate::tls::{Session, TlsInfo};

/// How often a silent connection is probed: k6's 30 s.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// What a client brings to a new connection.
pub(crate) struct Dialer<'a> {
    pub(crate) network: &'a Network,
    /// The address to dial from.
    pub(crate) local_ip: Option<IpAddr>,
    pub(crate) proxy: Option<&'a Proxy>,
    /// An HTTP proxy is asked for a tunnel even if nothing is encrypted.
    pub(crate) tunnels: bool,
}

impl Dialer<'_> {
    /// Opens a connection to `target`, ready for a request.
    ///
    /// `own` turns a TLS configuration of the core into the client's.
    pub(crate) async fn dial(
        &self,
        target: &Target<'_>,
        own: impl FnOnce(Arc<ClientConfig>) -> Arc<ClientConfig>,
        recording: &mut Recording<'_>,
    ) -> Result<Connection, Failure> {
        let (mut socket, address) = self.open(target, recording).await?;
        recording.connected(address);
        let mut proxy_tls = None;
        if let (Some(proxy), Socket::Tcp(_)) = (self.proxy.filter(|it| it.is_secure), &socket) {
            (socket, proxy_tls) = self.secure(socket, proxy, address, recording).await?;
        }
        let mut connection = Connection::new(socket, address, Route::new(target));
        // As Go has it: what was agreed on with the proxy, if the target itself has no TLS.
        connection.tls_info = proxy_tls;
        match self.proxy.map(|proxy| &proxy.language) {
            Some(Language::Socks5 { credentials }) => {
                let credentials = credentials.as_ref().map(|(user, password)| [&**user, password]);
                socks::ask(&mut connection, target, credentials, recording).await?;
            }
            Some(Language::Http { authorization })
                if self.tunnels || target.scheme == Scheme::Https =>
            {
                let authorization = authorization.as_deref();
                tunnel::open(&mut connection, self.network, target, authorization, recording)
                    .await?;
            }
            _ => {}
        }
        if target.scheme == Scheme::Https {
            recording.handshaking();
            let session = self.session(target, own)?;
            let session = handshake::run(&mut connection, session, self.network, recording).await?;
            recording.handshaken();
            connection.secure(session);
        }
        Ok(connection)
    }

    /// TLS with the proxy itself, which is dialed already.
    async fn secure(
        &self,
        socket: Socket,
        proxy: &Proxy,
        address: SocketAddr,
        recording: &mut Recording<'_>,
    ) -> Result<(Socket, Option<TlsInfo>), Failure> {
        let Socket::Tcp(socket) = socket else { return Ok((socket, None)) };
        recording.handshaking();
        let shaken = secure_proxy::shake_hands(socket, &proxy.host, &self.network.tls).await;
        let (socket, info) = shaken.map_err(|it| it.at_the_proxy(&proxy.host, address))?;
        recording.handshaken();
        Ok((socket, Some(info)))
    }

    /// The socket, and who is at its other end.
    async fn open(
        &self,
        target: &Target<'_>,
        recording: &mut Recording<'_>,
    ) -> Result<(Socket, SocketAddr), Failure> {
        let dialing = &self.network.settings.dialing;
        #[cfg(unix)]
        if let Some(path) = &dialing.unix_socket {
            recording.connecting();
            let connecting = tokio::net::UnixStream::connect(path);
            let socket = connecting.await.map_err(|error| from_connect(&error))?;
            return Ok((Socket::Unix(socket), SocketAddr::from(([0, 0, 0, 0], 0))));
        }
        let (host, port) = match self.proxy {
            Some(proxy) => (proxy.host.as_str(), proxy.port),
            None => (target.host.as_ref(), target.port),
        };
        let Place { host, port } = self.network.detours.find(host, port);
        let proxied = |failure: Failure, address: Option<SocketAddr>| match self.proxy {
            Some(proxy) => {
                let nowhere = SocketAddr::from(([0, 0, 0, 0], proxy.port));
                failure.at_the_proxy(&proxy.host, address.unwrap_or(nowhere))
            }
            None => failure,
        };
        let opened = if dialing.both_families {
            let addresses = self.addresses(host, port).await;
            let addresses = addresses.map_err(|failure| proxied(failure, None))?;
            recording.connecting();
            self.race(&addresses).await
        } else {
            let address = self.address(host, port).await;
            let address = address.map_err(|failure| proxied(failure, None))?;
            recording.dialed = Some(address);
            recording.connecting();
            self.connect(address).await.map(|socket| (socket, address))
        };
        let (socket, address) = opened.map_err(|failure| proxied(failure, recording.dialed))?;
        // Neither matters enough to give up the connection.
        let _ = socket.set_nodelay(true);
        if !dialing.no_probes {
            let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE);
            let _ = SockRef::from(&socket).set_tcp_keepalive(&keep_alive);
        }
        Ok((Socket::Tcp(socket), address))
    }

    /// The address behind a name: blocked names, overrides, literals, DNS, blacklisted addresses, in
    /// k6's order.
    pub(crate) async fn address(&self, host: &str, port: u16) -> Result<SocketAddr, Failure> {
        let hosts = &self.network.hosts;
        hosts.check_name(host)?;
        let address = if let Some(address) = hosts.find(host, port) {
            address
        } else if let Ok(ip) = host.parse() {
            SocketAddr::new(ip, port)
        } else {
            SocketAddr::new(self.network.dns.lookup(host).await?, port)
        };
        hosts.check_address(address.ip())?;
        Ok(address)
    }

    async fn connect(&self, address: SocketAddr) -> Result<TcpStream, Failure> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        };
        let socket = socket.map_err(|error| from_connect(&error))?;
        if let Some(ip) = self.local_ip {
            socket.bind(SocketAddr::new(ip, 0)).map_err(|error| from_connect(&error))?;
        }
        let connecting = socket.connect(address);
        tokio::time::timeout(self.network.settings.connect_timeout, connecting)
            .await
            .map_err(|_| Failure::DialTimeout)?
            .map_err(|error| from_connect(&error))
    }

    fn session(
        &self,
        target: &Target<'_>,
        own: impl FnOnce(Arc<ClientConfig>) -> Arc<ClientConfig>,
    ) -> Result<Box<Session>, Failure> {
        let name = ServerName::try_from(target.host.as_ref().to_owned())
            .map_err(|_| Failure::HostMismatch(Mismatch::UNKNOWN))?;
        // Versions or suites of which we have none: what a server says that has none of a client's.
        let config = self.network.tls.find(&target.host).map_err(|_| Failure::Alert(40))?;
        let session = Session::new(own(config), name);
        session.map(Box::new).map_err(|_| Failure::Tls("no session"))
    }
}
