//! A proxy that is spoken to over TLS.

use std::io;
use std::sync::Arc;

use rustls::client::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::connection::{Paced, Socket};
use crate::failure::{Failure, Mismatch, Operation, Truncated, from_socket, from_tls};
use crate::tls::{TlsConfigs, TlsInfo, info_of};

/// Shakes hands with the proxy `host`. The result takes plain bytes, and tells the result of the handshake.
///
/// The target's own TLS, if it has one, goes through this one: so it is rustls' buffered kind, which needs no buffers of
/// its caller.
pub(super) async fn shake_hands(
    socket: TcpStream,
    host: &str,
    configs: &TlsConfigs,
) -> Result<(Socket, TlsInfo), Failure> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| Failure::HostMismatch(Mismatch::UNKNOWN))?;
    let shared = configs.find(host).map_err(|_| Failure::Tls("no configuration"))?;
    let mut config = ClientConfig::clone(&shared);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, Paced::new(socket));
    let mut stream = connecting.await.map_err(|error| why(&error))?;
    stream.get_mut().0.was_of_use();
    let info = info_of(stream.get_ref().1);
    Ok((Socket::Tls(Box::new(stream)), info))
}

/// The error of rustls is inside this one.
fn why(error: &io::Error) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => from_tls(error, true),
        None if error.kind() == io::ErrorKind::UnexpectedEof => Failure::Ended(Truncated::Empty),
        None => from_socket(Operation::Read, error),
    }
}
