//! From the errors of the system and of rustls to ours.

use std::io;

use rustls::{CertificateError, ContentType, InvalidMessage};

use super::{Failure, Mismatch, Operation, Truncated, Validity};
use crate::quiet::TOO_QUIET;
use crate::shortage;

/// Alerts (RFC 8446 §6) that we answer with.
const UNEXPECTED_MESSAGE: u8 = 10;
const BAD_RECORD_MAC: u8 = 20;
const DECODE_ERROR: u8 = 50;

/// Why a socket could not be read, or written to. `EPIPE` and `ECONNRESET` have codes of their own in k6; `io::ErrorKind`
/// knows both on any system.
pub fn from_socket(operation: Operation, error: &io::Error) -> Failure {
    shortage::count(error);
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
    shortage::count(error);
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Failure::Refused,
        io::ErrorKind::TimedOut => Failure::DialTimeout,
        _ => error.raw_os_error().map_or(Failure::Dial, Failure::DialErrno),
    }
}

/// `in_handshake`: bytes that are no TLS mean that the peer doesn't speak it.
pub(crate) fn from_tls(error: &rustls::Error, in_handshake: bool) -> Failure {
    match error {
        // Said goodbye before anything else: Go takes it for the end that it is.
        rustls::Error::AlertReceived(rustls::AlertDescription::CloseNotify) if in_handshake => {
            Failure::Ended(Truncated::Empty)
        }
        rustls::Error::AlertReceived(alert) => Failure::Alert(u8::from(*alert)),
        rustls::Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge,
        )
        | rustls::Error::InappropriateMessage { got_type: ContentType::ApplicationData, .. }
            if in_handshake =>
        {
            Failure::NoTls
        }
        rustls::Error::InvalidCertificate(error) => from_certificate(error),
        rustls::Error::PeerIncompatible(_) => Failure::Tls("no protocol or cipher in common"),
        rustls::Error::PeerMisbehaved(_) => Failure::Tls("the peer breaks the protocol"),
        rustls::Error::DecryptError => Failure::LocalAlert(BAD_RECORD_MAC),
        rustls::Error::PeerSentOversizedRecord => Failure::Tls("oversized record received"),
        rustls::Error::NoCertificatesPresented => Failure::Tls("the server sent no certificate"),
        rustls::Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge) => {
            Failure::Tls("handshake message exceeds maximum of 65535 bytes")
        }
        rustls::Error::General(text) if text == TOO_QUIET => Failure::Tls(TOO_QUIET),
        rustls::Error::InvalidMessage(
            InvalidMessage::InvalidEmptyPayload
            | InvalidMessage::InvalidCcs
            | InvalidMessage::UnexpectedMessage(_),
        )
        | rustls::Error::InappropriateMessage { .. }
        | rustls::Error::InappropriateHandshakeMessage { .. } => {
            Failure::LocalAlert(UNEXPECTED_MESSAGE)
        }
        rustls::Error::InvalidMessage(_) => Failure::LocalAlert(DECODE_ERROR),
        _ => Failure::Tls("handshake failed"),
    }
}

/// Failures of our own wire come out again; the rest is the protocol's.
fn from_certificate(error: &CertificateError) -> Failure {
    match error {
        // An issuer that can't have signed it is not its authority, as Go sees it.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            Failure::UnknownAuthority
        }
        CertificateError::NotValidForName => Failure::HostMismatch(Mismatch::UNKNOWN),
        CertificateError::NotValidForNameContext { expected, presented } => {
            Failure::HostMismatch(Mismatch::of(expected, presented))
        }
        CertificateError::ExpiredContext { time, not_after: limit }
        | CertificateError::NotValidYetContext { time, not_before: limit } => {
            Failure::CertificateTime(Validity { now: time.as_secs(), limit: limit.as_secs() })
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            Failure::Certificate("certificate specifies an incompatible key usage")
        }
        CertificateError::UnhandledCriticalExtension => {
            Failure::Certificate("unhandled critical extension")
        }
        CertificateError::ApplicationVerificationFailure => Failure::Certificate(
            "cannot verify the handshake: its signature is wrong, or its key of a kind that is not supported",
        ),
        CertificateError::BadEncoding => Failure::Certificate("malformed certificate"),
        CertificateError::Other(other) => from_webpki(&other.to_string()),
        _ => Failure::Certificate("certificate is not valid"),
    }
}

/// Failures that rustls has no words for.
fn from_webpki(error: &str) -> Failure {
    match error {
        // A certificate that signed itself, or that a certificate signed which may not: no authority signed it,
        // which Go calls an unknown authority.
        _ if error.contains("CaUsedAsEndEntity") || error.contains("EndEntityUsedAsCa") => {
            Failure::UnknownAuthority
        }
        _ if error.contains("NameConstraintViolation") => Failure::Certificate(
            "a root or intermediate certificate is not authorized to sign for this name",
        ),
        _ if error.contains("PathLenConstraintViolated") => {
            Failure::Certificate("too many intermediates for path length constraint")
        }
        _ if error.contains("CriticalExtension") => {
            Failure::Certificate("unhandled critical extension")
        }
        _ if error.contains("Unsupported") => Failure::Certificate(
            "cannot verify signature: the kind of signature or key is not supported",
        ),
        _ => Failure::Certificate("certificate is not valid"),
    }
}
