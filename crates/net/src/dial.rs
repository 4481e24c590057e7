//! A new connection: whom to dial, TCP or a socket in the file system, a way through a proxy, TLS.

pub(crate) mod detour;
mod handshake;
mod race;
mod reach;
mod secure_proxy;
mod socks;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rustls_pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpSocket, TcpStream};

use self::detour::Place;
use crate::connection::{Connection, Route, Socket};
use crate::dialer::Dialer;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, Mismatch, from_connect};
use crate::moments::Moments;
use crate::opened::Opened;
use crate::proxy::{Language, Proxy};
use crate::tls::{Offer, Session, TlsInfo};

/// How often a silent connection is probed: k6's 30 s.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

impl Dialer {
    /// Opens a connection for any protocol of bytes. No proxy is asked.
    ///
    /// # Errors
    /// Why it could not be opened. There is no time limit but that of the options for connecting: set one around it.
    pub async fn open(
        self: &Rc<Self>,
        endpoint: &Endpoint<'_>,
        offer: Offer,
    ) -> Result<Opened, Failure> {
        let host = endpoint.ascii_host().ok_or(Failure::NoSuchHost)?;
        let endpoint = Endpoint { host: &host, ..*endpoint };
        let mut moments = Moments::start(self.network().clock, self.meter());
        let mut connection = self.connect(&endpoint, None, &mut moments).await?;
        if endpoint.is_secure {
            self.secure(&mut connection, endpoint.host, offer, &mut moments).await?;
        }
        Ok(Opened::new(connection, Rc::clone(self), moments.way()))
    }

    /// Opens a socket to an endpoint, or to the proxy on the way there. A SOCKS proxy has passed us on when it is ready; an
    /// HTTP proxy was asked nothing yet. TLS with the endpoint comes after that: see [`Self::secure`].
    ///
    /// # Errors
    /// Why it could not be opened.
    pub async fn connect(
        &self,
        endpoint: &Endpoint<'_>,
        proxy: Option<&Proxy>,
        moments: &mut Moments<'_>,
    ) -> Result<Connection, Failure> {
        let (mut socket, address) = self.socket(endpoint, proxy, moments).await?;
        moments.connected(address);
        let mut proxy_tls = None;
        if let (Some(proxy), Socket::Tcp(_)) = (proxy.filter(|it| it.is_secure), &socket) {
            (socket, proxy_tls) = self.secure_proxy(socket, proxy, address, moments).await?;
        }
        let mut connection = Connection::new(socket, address, Route::new(endpoint));
        // As Go has it: what was agreed on with the proxy, if the target itself has no TLS.
        connection.tls_info = proxy_tls;
        if let Some(Language::Socks5 { credentials }) = proxy.map(|proxy| &proxy.language) {
            let credentials = credentials.as_ref().map(|(user, password)| [&**user, password]);
            socks::ask(&mut connection, endpoint, credentials, moments).await?;
        }
        Ok(connection)
    }

    /// Shakes hands with the server `host` on a connection that was plain so far. All that follows is encrypted.
    ///
    /// # Errors
    /// Why it failed: the connection is of no more use.
    pub async fn secure(
        &self,
        connection: &mut Connection,
        host: &str,
        offer: Offer,
        moments: &mut Moments<'_>,
    ) -> Result<(), Failure> {
        moments.handshaking();
        let session = self.session(host, offer)?;
        let session = handshake::run(connection, session, self.network(), moments).await?;
        moments.handshaken();
        connection.secure(session);
        Ok(())
    }

    fn session(&self, host: &str, offer: Offer) -> Result<Box<Session>, Failure> {
        let configs = &self.network().tls;
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Failure::HostMismatch(Mismatch::UNKNOWN))?;
        // Versions or suites of which we have none: what a server says that has none of a client's.
        let config = configs.find(host).map_err(|_| Failure::Alert(40))?;
        let session = Session::new(offer.on(self.sessions().own(configs, config)), name);
        session.map(Box::new).map_err(|_| Failure::Tls("no session"))
    }

    /// TLS with the proxy itself, which is dialed already.
    async fn secure_proxy(
        &self,
        socket: Socket,
        proxy: &Proxy,
        address: SocketAddr,
        moments: &mut Moments<'_>,
    ) -> Result<(Socket, Option<TlsInfo>), Failure> {
        let Socket::Tcp(socket) = socket else { return Ok((socket, None)) };
        moments.handshaking();
        let shaken = secure_proxy::shake_hands(socket, &proxy.host, &self.network().tls).await;
        let (socket, info) = shaken.map_err(|it| it.at_the_proxy(&proxy.host, address))?;
        moments.handshaken();
        Ok((socket, Some(info)))
    }

    /// The socket, and who is at its other end.
    async fn socket(
        &self,
        endpoint: &Endpoint<'_>,
        proxy: Option<&Proxy>,
        moments: &mut Moments<'_>,
    ) -> Result<(Socket, SocketAddr), Failure> {
        let network = &**self.network();
        let dialing = &network.settings.dialing;
        #[cfg(unix)]
        if let Some(path) = &dialing.unix_socket {
            moments.connecting();
            let connecting = tokio::net::UnixStream::connect(path);
            let socket = connecting.await.map_err(|error| from_connect(&error))?;
            return Ok((Socket::Unix(socket), SocketAddr::from(([0, 0, 0, 0], 0))));
        }
        let (host, port) = match proxy {
            Some(proxy) => (proxy.host.as_str(), proxy.port),
            None => (endpoint.host, endpoint.port),
        };
        let Place { host, port } = network.detours.find(host, port);
        let proxied = |failure: Failure, address: Option<SocketAddr>| match proxy {
            Some(proxy) => {
                let nowhere = SocketAddr::from(([0, 0, 0, 0], proxy.port));
                failure.at_the_proxy(&proxy.host, address.unwrap_or(nowhere))
            }
            None => failure,
        };
        let opened = if dialing.both_families {
            let addresses = self.addresses(host, port).await;
            let addresses = addresses.map_err(|failure| proxied(failure, None))?;
            moments.connecting();
            self.race(&addresses).await
        } else {
            let address = self.address(host, port).await;
            let address = address.map_err(|failure| proxied(failure, None))?;
            moments.dialed = Some(address);
            moments.connecting();
            self.connect_to(address).await.map(|socket| (socket, address))
        };
        let (socket, address) = opened.map_err(|failure| proxied(failure, moments.dialed))?;
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
    pub(super) async fn address(&self, host: &str, port: u16) -> Result<SocketAddr, Failure> {
        let hosts = &self.network().hosts;
        hosts.check_name(host)?;
        let address = if let Some(address) = hosts.find(host, port) {
            address
        } else if let Ok(ip) = host.parse() {
            SocketAddr::new(ip, port)
        } else {
            SocketAddr::new(self.network().dns.lookup(host, self.chance()).await?, port)
        };
        hosts.check_address(address.ip())?;
        Ok(address)
    }

    async fn connect_to(&self, address: SocketAddr) -> Result<TcpStream, Failure> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        };
        let socket = socket.map_err(|error| from_connect(&error))?;
        if let Some(ip) = self.local_ip() {
            socket.bind(SocketAddr::new(ip, 0)).map_err(|error| from_connect(&error))?;
        }
        let connecting = socket.connect(address);
        tokio::time::timeout(self.network().settings.connect_timeout, connecting)
            .await
            .map_err(|_| Failure::DialTimeout)?
            .map_err(|error| from_connect(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rcgen::{CertificateParams, KeyPair};
    use rustls::ServerConfig;
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::{Network, Settings, clock};

    fn dialer(change: impl FnOnce(&mut Settings)) -> Rc<Dialer> {
        let mut settings = Settings::default();
        change(&mut settings);
        Dialer::new(Network::new(settings, clock::now).unwrap(), None)
    }

    /// A server for `a.test`, and its certificate in PEM.
    fn acceptor() -> (TlsAcceptor, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        (TlsAcceptor::from(Arc::new(config)), certificate.pem())
    }

    #[tokio::test]
    async fn a_plain_connection_becomes_an_encrypted_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (acceptor, pem) = acceptor();
        let dialer = dialer(|settings| {
            settings.hosts = vec![("a.test".to_owned(), "127.0.0.1".to_owned())];
            settings.tls.extra_roots = vec![pem];
        });
        let server = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut asked = [0; 5];
            socket.read_exact(&mut asked).await.unwrap();
            socket.write_all(b"yes").await.unwrap();
            let mut secure = acceptor.accept(socket).await.unwrap();
            assert_eq!(secure.get_ref().1.alpn_protocol(), None);
            secure.read_exact(&mut asked).await.unwrap();
            secure.write_all(&asked).await.unwrap();
            secure.flush().await.unwrap();
        };
        let client = async {
            let to = Endpoint { host: "a.test", port: address.port(), is_secure: false };
            let mut stream = dialer.open(&to, Offer::Nothing).await.unwrap();
            stream.write_all(b"tls? ").await.unwrap();
            let mut said = [0; 3];
            stream.read_exact(&mut said).await.unwrap();
            assert_eq!((&said, stream.tls()), (b"yes", None));
            let mut stream = stream.secure("a.test", Offer::Nothing).await.unwrap();
            assert_eq!(stream.tls().unwrap().version, "tls1.3");
            stream.write_all(b"hello").await.unwrap();
            stream.flush().await.unwrap();
            let mut said = [0; 5];
            stream.read_exact(&mut said).await.unwrap();
            assert_eq!(&said, b"hello");
        };
        tokio::join!(server, client);
        let (sent, received) = dialer.meter().take();
        assert!(sent > 200 && received > 500, "{sent} {received}");
    }

    #[tokio::test]
    async fn the_rules_hold_for_every_protocol() {
        let dialer = dialer(|settings| {
            settings.block_hostnames = vec!["*.blocked.test".to_owned()];
            settings.blacklist_ips = vec!["10.0.0.0/8".to_owned()];
        });
        let refused = async |host: &str| {
            let endpoint = Endpoint { host, port: 1, is_secure: false };
            dialer.open(&endpoint, Offer::Nothing).await.unwrap_err()
        };
        assert_eq!(refused("a.blocked.test").await.code(), 1111);
        assert_eq!(refused("10.1.2.3").await.code(), 1110);
        assert_eq!(refused("nope.invalid").await, Failure::NoSuchHost);
        assert_eq!(refused("\u{fc} x").await, Failure::NoSuchHost);
        assert_eq!(dialer.address_of("127.0.0.1", 7).await, Ok("127.0.0.1:7".parse().unwrap()));
        assert_eq!(dialer.look_up("a.blocked.test").await.unwrap_err().code(), 1111);
    }

    #[tokio::test]
    async fn what_came_before_tls_and_was_not_read_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dialer = dialer(|_| ());
        let port = listener.local_addr().unwrap().port();
        let endpoint = Endpoint { host: "127.0.0.1", port, is_secure: false };
        let stream = dialer.open(&endpoint, Offer::Nothing).await.unwrap();
        let stream = stream.after(b"surprise".to_vec());
        assert_eq!(stream.secure("a.test", Offer::Nothing).await.unwrap_err(), Failure::NoTls);
    }
}
