//! How much a TLS peer may say without a byte of data.

/// The most that may come after the handshake without a byte of data among it: tickets, updates of keys, empty records. A
/// server of good will needs a few hundred bytes. Beyond it, the session is over.
pub(crate) const QUIET: usize = 128 * 1024;

/// The same for a whole handshake. rustls refuses messages beyond 64 KiB; this is for those that come in tiny pieces.
pub(crate) const QUIET_IN_HANDSHAKE: usize = 512 * 1024;

/// The message about a server that passes either: Go's words.
pub(crate) const TOO_QUIET: &str = "too many ignored records";
