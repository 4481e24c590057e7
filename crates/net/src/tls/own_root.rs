//! A server whose own certificate is among the roots: Go believes it, whatever else it may be used for.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Checks what `inner` checks, but for who signed a certificate that is a root itself. webpki takes no authority's
/// certificate for a server's, and `openssl req -x509` makes all certificates an authority's.
#[derive(Debug)]
pub(super) struct OwnRoot {
    pub(super) inner: Arc<dyn ServerCertVerifier>,
    pub(super) roots: Arc<RootCertStore>,
}

impl OwnRoot {
    /// By its key, which is all that roots are kept of.
    fn is_root(&self, certificate: &CertificateDer<'_>) -> bool {
        let Ok(certificate) = ParsedCertificate::try_from(certificate) else { return false };
        let key = certificate.subject_public_key_info();
        self.roots.roots.iter().any(|root| key.ends_with(&root.subject_public_key_info))
    }
}

impl ServerCertVerifier for OwnRoot {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // `inner` finds fault with names and times before it asks who signed it.
        let checked = self.inner.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match checked {
            Err(Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::Other(_),
            )) if self.is_root(end_entity) => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    use rustls::client::WebPkiServerVerifier;

    use super::super::verify::NameFirst;
    use super::*;

    /// A certificate as `openssl req -x509` makes it.
    fn own() -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = rcgen::date_time_ymd(2100, 1, 1);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    fn believing(root: &CertificateDer<'static>) -> OwnRoot {
        let mut roots = RootCertStore::empty();
        roots.add(root.clone()).unwrap();
        let roots = Arc::new(roots);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let webpki = WebPkiServerVerifier::builder_with_provider(roots.clone(), provider);
        OwnRoot { inner: Arc::new(NameFirst(webpki.build().unwrap())), roots }
    }

    #[test]
    fn a_root_is_believed_for_itself_within_its_name_and_time() {
        let certificate = own();
        let believing = |root: &CertificateDer<'static>, name: &'static str, year: u64| {
            let name = ServerName::try_from(name).unwrap();
            let now = UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_557_600));
            believing(root).verify_server_cert(&certificate, &[], &name, &[], now).is_ok()
        };
        assert!(believing(&certificate, "localhost", 2030));
        assert!(!believing(&certificate, "other.test", 2030));
        assert!(!believing(&certificate, "localhost", 2101));
        assert!(!believing(&own(), "localhost", 2030));
    }
}
