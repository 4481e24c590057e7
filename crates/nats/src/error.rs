//! The reasons why the broker can't be used.

use std::time::Duration;

/// Why the broker can't be used, or did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// The address can't be read.
    #[error(
        "{address:?} is no address of a NATS server: write nats://HOST:4222 or tls://HOST:4222 ({reason})"
    )]
    Address {
        /// As it was given.
        address: String,
        /// The fault.
        reason: String,
    },
    /// A file of the access can't be read or used.
    #[error("{what} {path} can't be used: {reason}")]
    File {
        /// Its flag.
        what: &'static str,
        /// Its path.
        path: String,
        /// The fault.
        reason: String,
    },
    /// The server knows who calls, and does not let them in; or wants to know.
    #[error("the NATS server at {servers} refuses the login: {reason}")]
    Login {
        /// The addresses.
        servers: String,
        /// Its answer.
        reason: String,
    },
    /// The login is known, and may not do what is needed.
    #[error("the NATS server lets this login do less than is needed: {reason}")]
    Rights {
        /// The server's words: the subject that it does not allow.
        reason: String,
    },
    /// TLS did not come about.
    #[error("TLS with the NATS server at {servers} failed: {reason}")]
    Tls {
        /// The addresses.
        servers: String,
        /// The fault.
        reason: String,
    },
    /// No answer came in time.
    #[error("no NATS server answered at {servers} within {} s: {reason}", .limit.as_secs())]
    Unreachable {
        /// The addresses.
        servers: String,
        /// How long it was tried.
        limit: Duration,
        /// The last fault.
        reason: String,
    },
    /// The server is older than what is needed.
    #[error("the NATS server is {found}, and 2.10 or newer is needed")]
    Version {
        /// Its version.
        found: String,
    },
    /// The server takes only smaller messages.
    #[error(
        "the NATS server takes messages of at most {found} bytes (max_payload), and {needed} are needed"
    )]
    Payload {
        /// Its limit.
        found: usize,
        /// The least that is needed.
        needed: usize,
    },
    /// The server runs without JetStream, or this account may not use it.
    #[error(
        "the NATS server has no JetStream for this account: start it with --jetstream, or enable JetStream for the account ({0})"
    )]
    NoJetStream(String),
    /// A stream or a bucket can't be had.
    #[error("{what} can't be used: {reason}")]
    Store {
        /// Its name.
        what: &'static str,
        /// The fault.
        reason: String,
    },
    /// It did not do it, this time: the connection was lost, or it took too long.
    #[error("{what}: {reason}")]
    Failed {
        /// The attempt.
        what: &'static str,
        /// The fault.
        reason: String,
    },
}

impl BrokerError {
    /// An attempt that failed, perhaps only this time.
    pub(crate) fn failed(what: &'static str) -> impl Fn(String) -> BrokerError {
        move |reason| BrokerError::Failed { what, reason }
    }

    /// Whether the store has no room: another attempt succeeds once somebody has made some.
    pub fn is_full(&self) -> bool {
        let (BrokerError::Failed { reason, .. } | BrokerError::Store { reason, .. }) = self else {
            return false;
        };
        let reason = reason.to_lowercase();
        FULL.iter().any(|sign| reason.contains(sign))
    }

    /// Whether another attempt may succeed without anybody changing anything.
    pub fn is_passing(&self) -> bool {
        matches!(self, BrokerError::Unreachable { .. } | BrokerError::Failed { .. })
    }
}

/// See [`BrokerError::is_full`].
const FULL: [&str; 4] = [
    "maximum bytes exceeded",
    "maximum messages exceeded",
    "resource limits exceeded",
    "insufficient",
];

/// An error and its causes in one line, each cause once.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_store_is_told_from_a_lost_connection() {
        let failed =
            |reason: &str| BrokerError::failed("a frame was not stored")(reason.to_owned());
        assert!(failed("nats: maximum bytes exceeded").is_full());
        assert!(!failed("timed out").is_full());
    }
}
