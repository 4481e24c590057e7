//! Checks of a server's certificate: as in Go, names before issuers; or, with `insecureSkipTLSVerify`, anyone.

use std::sync::Arc;

use super::staple;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Checks what webpki checks. A certificate that fails for several reasons is first of all one that can't be read
/// wholly or whose time it isn't, then one for another host, as in Go.
#[derive(Debug)]
pub(super) struct NameFirst(pub(super) Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for NameFirst {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        staple::see(ocsp_response);
        let checked =
            self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        if let Err(error) = &checked
            && !comes_before_names(error)
            && let Ok(certificate) = ParsedCertificate::try_from(end_entity)
        {
            verify_server_name(&certificate, server_name)?;
        }
        checked
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, dss).map_err(of_handshake)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, dss).map_err(of_handshake)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// A signature that is wrong says something else of a handshake than of a certificate.
fn of_handshake(error: Error) -> Error {
    match error {
        Error::InvalidCertificate(CertificateError::BadSignature) => {
            Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
        }
        other => other,
    }
}

/// Whether Go looks at this before it compares names.
fn comes_before_names(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(
            CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYetContext { .. }
                | CertificateError::UnhandledCriticalExtension
        )
    )
}

/// Accepts every certificate, and every signature by it: with the certificate unchecked, a signature
/// proves nothing, and certificates that webpki can't read are let through, too.
#[derive(Debug)]
pub(super) struct Anyone {
    schemes: Vec<SignatureScheme>,
}

impl Anyone {
    pub(super) fn new(provider: &CryptoProvider) -> Self {
        let mut schemes = provider.signature_verification_algorithms.supported_schemes();
        // They are not checked, so it is no matter that rustls couldn't.
        schemes.extend([SignatureScheme::ECDSA_NISTP521_SHA512, SignatureScheme::RSA_PKCS1_SHA1]);
        Self { schemes }
    }
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        staple::see(ocsp_response);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
