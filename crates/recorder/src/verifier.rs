//! Whom to believe among servers.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore,
    SignatureScheme,
};

use crate::{Error, Upstream};

/// TLS towards servers. HTTP/2 is offered unless `is_http1`.
pub(crate) fn client(upstream: &Upstream, is_http1: bool) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: TlsError| Error::Tls(error.to_string());
    let verifier: Arc<dyn ServerCertVerifier> = if upstream.insecure {
        Arc::new(Anyone(provider.signature_verification_algorithms.supported_schemes()))
    } else {
        Arc::new(Listed::new(upstream, &provider)?)
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match &upstream.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let pem = |why: String| Error::Pem { what: "private key", path: key.clone(), why };
            let private =
                PrivateKeyDer::from_pem_file(key).map_err(|error| pem(error.to_string()))?;
            builder
                .with_client_auth_cert(chain, private)
                .map_err(|error| pem(format!("it does not fit the certificate: {error}")))?
        }
    };
    config.alpn_protocols = if is_http1 {
        vec![b"http/1.1".to_vec()]
    } else {
        vec![b"h2".to_vec(), b"http/1.1".to_vec()]
    };
    Ok(Arc::new(config))
}

/// The certificates of a PEM file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let failed = |why: String| Error::Pem { what: "certificate", path: path.to_owned(), why };
    let found = CertificateDer::pem_file_iter(path)
        .map_err(|error| failed(error.to_string()))?
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(error.to_string()))?;
    if found.is_empty() { Err(failed("it holds none".to_owned())) } else { Ok(found) }
}

/// Believes the authorities of the system and of the user's files. A server's own certificate may be in such a file, too, though it is no
/// authority's; its names and dates are verified all the same.
#[derive(Debug)]
struct Listed {
    authorities: Arc<WebPkiServerVerifier>,
    own: Vec<CertificateDer<'static>>,
}

impl Listed {
    fn new(upstream: &Upstream, provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        // Certificates of the system that rustls can't read are skipped.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let mut own = Vec::new();
        for path in &upstream.authorities {
            for certificate in certificates(path)? {
                roots.add(certificate.clone()).map_err(|error| Error::Pem {
                    what: "certificate",
                    path: path.clone(),
                    why: error.to_string(),
                })?;
                own.push(certificate);
            }
        }
        if roots.is_empty() {
            return Err(Error::Tls(
                "the system has no certificates of authorities; install ca-certificates, or name a file with --upstream-ca"
                    .to_owned(),
            ));
        }
        let authorities =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                .build()
                .map_err(|error| Error::Tls(error.to_string()))?;
        Ok(Self { authorities, own })
    }
}

impl ServerCertVerifier for Listed {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        staple: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let verified = self.authorities.verify_server_cert(certificate, chain, name, staple, now);
        let is_own = self.own.iter().any(|own| own.as_ref() == certificate.as_ref());
        if verified.is_ok() || !is_own {
            return verified;
        }
        rustls::client::verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate)
            .map_err(|_| CertificateError::BadEncoding)?;
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let validity = parsed.validity();
        if now < validity.not_before.timestamp() {
            return Err(CertificateError::NotValidYet.into());
        }
        if now > validity.not_after.timestamp() {
            return Err(CertificateError::Expired.into());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Believes everyone, and every signature: with the certificate unchecked, a signature proves nothing.
#[derive(Debug)]
struct Anyone(Vec<SignatureScheme>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}
