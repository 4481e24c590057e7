//! Why a request got no response: for the record, for the browser's page, and for the terminal.

use std::error::Error;

use http::StatusCode;
use rustls::{CertificateError, Error as TlsError};

use crate::dialer::DialError;

/// Alerts of servers that want a client certificate. With TLS 1.3 they come late, and HTTP/2 keeps of an error only its text.
const WANTS_CERTIFICATE: [&str; 5] = [
    "fatal alert: CertificateRequired",
    "fatal alert: BadCertificate",
    "fatal alert: CertificateUnknown",
    "fatal alert: UnknownCA",
    "fatal alert: AccessDenied",
];

/// A request that could not be passed on.
#[derive(Debug)]
pub(crate) struct Failure {
    /// For the page.
    pub(crate) status: StatusCode,
    /// The heading of the page.
    pub(crate) title: &'static str,
    /// In one line.
    pub(crate) why: String,
    /// How to go on.
    pub(crate) advice: String,
    /// Whether the terminal says it, too: the user must do something.
    pub(crate) is_notice: bool,
}

/// The message of an error and of its causes, each once.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let message = cause.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        next = cause.source();
    }
    text
}

/// The first cause of a type.
pub(crate) fn find<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // An error in an io::Error is not its source, but its inside.
        if let Some(found) = cause
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .and_then(|inner| inner.downcast_ref())
        {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

impl Failure {
    /// The meaning of an error of hyper's client.
    pub(crate) fn new(host: &str, error: &(dyn Error + 'static)) -> Self {
        if let Some(tls) = find::<TlsError>(error)
            && let Some(failure) = of_tls(host, tls)
        {
            return failure;
        }
        let text = chain(error);
        if WANTS_CERTIFICATE.iter().any(|alert| text.contains(alert)) {
            return Self {
                status: StatusCode::BAD_GATEWAY,
                title: "The server wants another certificate from us",
                why: format!("{host} wants a client certificate that it trusts: {text}"),
                advice: "Name it with --upstream-cert FILE and --upstream-key FILE.".to_owned(),
                is_notice: true,
            };
        }
        let (status, title, why, is_notice) = match find::<DialError>(error) {
            Some(dial @ DialError::Late { .. }) => {
                (StatusCode::GATEWAY_TIMEOUT, "The server does not answer", dial.to_string(), false)
            }
            Some(dial @ DialError::Proxy { .. }) => {
                (StatusCode::BAD_GATEWAY, "The upstream proxy failed", dial.to_string(), true)
            }
            Some(dial) => {
                (StatusCode::BAD_GATEWAY, "The server cannot be reached", dial.to_string(), false)
            }
            None => {
                let title = "The server broke the connection off";
                (StatusCode::BAD_GATEWAY, title, format!("no response from {host}: {text}"), false)
            }
        };
        let advice =
            "Is the server up, and is the address right? Try it without the proxy.".to_owned();
        Self { status, title, why, advice, is_notice }
    }
}

fn of_tls(host: &str, error: &TlsError) -> Option<Failure> {
    let status = StatusCode::BAD_GATEWAY;
    match error {
        TlsError::InvalidCertificate(certificate) => Some(Failure {
            status,
            title: "The server's certificate is not trusted",
            why: format!(
                "the certificate of {host} is not trusted: {}",
                of_certificate(certificate)
            ),
            advice: advice_of_certificate(certificate).to_owned(),
            is_notice: true,
        }),
        _ => None,
    }
}

/// In plain words.
fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => {
            "no authority that is trusted here has signed it".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it is out of date".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet; is the clock right?".to_owned()
        }
        CertificateError::NotValidForName => "it is for another name".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!("it is for another name ({})", presented.join(", "))
        }
        CertificateError::Revoked => "it was revoked".to_owned(),
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "it is signed by itself".to_owned()
        }
        other => other.to_string(),
    }
}

fn advice_of_certificate(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "Open the server by a name that its certificate has, or start brunt record with --insecure-skip-tls-verify."
        }
        _ => {
            "If you trust this server, start brunt record with --upstream-ca FILE (the certificate of its authority, in PEM), or with \
             --insecure-skip-tls-verify."
        }
    }
}
