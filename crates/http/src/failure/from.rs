//! From the errors of the system and of rustls to ours.

use std::io;

use rustls::{CertificateError, InvalidMessage};

use super::{Failure, Operation};

/// `EPIPE` and `ECONNRESET` have codes of their own in k6; `io::ErrorKind` knows both on any system.
pub(crate) fn from_socket(operation: Operation, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionReset => Failure::Reset(operation),
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        io::ErrorKind::TimedOut => Failure::Errno(operation, error.raw_os_error().unwrap_or(110)),
        _ => error
            .raw_os_error()
            .map_or(Failure::Socket(operation), |errno| Failure::Errno(operation, errno)),
    }
}

pub(crate) fn from_connect(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Failure::Refused,
        io::ErrorKind::TimedOut => Failure::DialTimeout,
        _ => error.raw_os_error().map_or(Failure::Dial, Failure::DialErrno),
    }
}

/// `in_handshake`: bytes that are no TLS mean that the peer doesn't speak it.
pub(crate) fn from_tls(error: &rustls::Error, in_handshake: bool) -> Failure {
    match error {
        rustls::Error::AlertReceived(alert) => Failure::Alert(u8::from(*alert)),
        rustls::Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::InvalidEmptyPayload
            | InvalidMessage::MessageTooLarge,
        ) if in_handshake => Failure::NoTls,
        rustls::Error::InvalidCertificate(error) => from_certificate(error),
        rustls::Error::PeerIncompatible(_) => Failure::Tls("no protocol or cipher in common"),
        rustls::Error::PeerMisbehaved(_) => Failure::Tls("the peer breaks the protocol"),
        rustls::Error::DecryptError => Failure::Tls("bad record MAC"),
        rustls::Error::PeerSentOversizedRecord => Failure::Tls("oversized record received"),
        rustls::Error::NoCertificatesPresented => Failure::Tls("the server sent no certificate"),
        rustls::Error::InvalidMessage(_)
        | rustls::Error::InappropriateMessage { .. }
        | rustls::Error::InappropriateHandshakeMessage { .. } => Failure::Tls("unexpected message"),
        _ => Failure::Tls("handshake failed"),
    }
}

/// What our own wire said comes out again; the rest is the protocol's.
fn from_certificate(error: &CertificateError) -> Failure {
    match error {
        CertificateError::UnknownIssuer => Failure::UnknownAuthority,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Failure::HostMismatch
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Failure::CertificateTime,
        // webpki's `CaUsedAsEndEntity`: a certificate that signed itself. Nobody else vouches for it,
        // which Go calls an unknown authority.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            Failure::UnknownAuthority
        }
        _ => Failure::Certificate,
    }
}
