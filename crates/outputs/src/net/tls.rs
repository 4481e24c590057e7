//! An output's TLS settings, as a rustls configuration.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
};

/// Whom to believe, and as whom to come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tls {
    /// Believe anyone.
    pub(crate) insecure: bool,
    /// A file with authorities, instead of the system's.
    pub(crate) authorities: Option<String>,
    /// Files with our certificate and its key.
    pub(crate) identity: Option<(String, String)>,
    /// Refuse TLS 1.2.
    pub(crate) only_13: bool,
    /// Offer HTTP/2.
    pub(crate) http2: bool,
}

impl Tls {
    /// # Errors
    /// A sentence that names the file that cannot be read, or is not what it should be.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let both: &[&SupportedProtocolVersion] =
            &[&rustls::version::TLS13, &rustls::version::TLS12];
        let versions = if self.only_13 { &both[..1] } else { both };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| error.to_string())?;
        let builder = if self.insecure {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone::new(&provider)))
        } else {
            builder.with_root_certificates(self.roots()?)
        };
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate)?;
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
                    format!("no private key could be read from \"{key}\": {error}")
                })?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| format!("the certificate \"{certificate}\": {error}"))?
            }
        };
        if self.http2 {
            config.alpn_protocols = vec![b"h2".to_vec()];
        }
        Ok(Arc::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        match &self.authorities {
            Some(file) => {
                for certificate in certificates(file)? {
                    roots.add(certificate).map_err(|error| format!("\"{file}\": {error}"))?;
                }
            }
            None => {
                // Certificates of the system that rustls can't read are skipped, as Go does.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        Ok(roots)
    }
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error: String| format!("no certificate could be read from \"{file}\": {error}");
    let found = CertificateDer::pem_file_iter(Path::new(file))
        .map_err(|error| wrong(error.to_string()))?
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() { Err(wrong("it holds none".into())) } else { Ok(found) }
}

/// Accepts every certificate, and every signature by it: with the certificate unchecked, a signature
/// proves nothing.
#[derive(Debug)]
struct Anyone(Vec<SignatureScheme>);

impl Anyone {
    fn new(provider: &CryptoProvider) -> Self {
        Self(provider.signature_verification_algorithms.supported_schemes())
    }
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_there_are_named() {
        let tls = Tls { authorities: Some("no/such.pem".into()), ..Tls::default() };
        assert!(tls.config().unwrap_err().contains("no/such.pem"));
        let files = Some(("no/cert.pem".into(), "no/key.pem".into()));
        let tls = Tls { identity: files, insecure: true, ..Tls::default() };
        assert!(tls.config().unwrap_err().contains("no/cert.pem"));
    }

    #[test]
    fn a_file_without_certificates_is_no_authority() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        let tls = Tls { authorities: Some(path), ..Tls::default() };
        assert!(tls.config().unwrap_err().contains("it holds none"));
    }
}
