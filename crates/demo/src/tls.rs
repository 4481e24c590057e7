//! The self-signed certificate of `--tls`.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use crate::server::DemoError;

/// A fresh acceptor for localhost, with its certificate as PEM.
pub(crate) fn acceptor(host: &str) -> Result<(TlsAcceptor, String), DemoError> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    if !names.iter().any(|name| name == host) {
        names.push(host.to_owned());
    }
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(|e| DemoError::Tls { reason: e.to_string() })?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key)
        })
        .map_err(|e| DemoError::Tls { reason: e.to_string() })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), made.cert.pem()))
}

/// The same, for those who speak HTTP/2 alone.
pub(crate) fn only_http2(acceptor: &TlsAcceptor) -> TlsAcceptor {
    let mut config = ServerConfig::clone(acceptor.config());
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}
