//! Why there is no recorder.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Each names the thing and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something else listens there, or the address is not ours.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The folder of the authority cannot be made or written.
    #[error("cannot keep the recorder's certificate authority in \"{}\": {source}", .path.display())]
    Folder {
        /// The folder, or the file in it.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file of the authority is there, but is no authority.
    #[error(
        "\"{}\" holds no certificate authority of brunt record: {why}; move it away, and a new one is made",
        .path.display()
    )]
    Authority {
        /// The file.
        path: PathBuf,
        /// The fault of it.
        why: String,
    },
    /// A certificate could not be made.
    #[error("cannot make a certificate for \"{name}\": {why}")]
    Certificate {
        /// For whom.
        name: String,
        /// Why not.
        why: String,
    },
    /// A PEM file of the way to servers.
    #[error("no {what} could be read from \"{}\": {why}", .path.display())]
    Pem {
        /// `certificate`, `private key`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// TLS towards servers cannot be set up.
    #[error("cannot set up TLS towards servers: {0}")]
    Tls(String),
    /// The further proxy has an address that is not understood.
    #[error("the upstream proxy {0}")]
    Proxy(String),
}
