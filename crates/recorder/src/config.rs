//! The settings of a recorder.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use url::Url;

use crate::Authority;

/// All of them.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where browsers find the proxy. Port 0: any free one.
    pub address: SocketAddr,
    /// Signs the certificates that browsers see.
    pub authority: Arc<Authority>,
    /// The way to servers.
    pub upstream: Upstream,
    /// Hosts whose TLS is passed on as it is, unrecorded: `pinned.test`, `*.pinned.test`.
    pub pass: Vec<String>,
    /// Large bodies become files here. The caller keeps the folder as long as the recording.
    pub folder: PathBuf,
    /// How much is kept.
    pub limits: Limits,
}

/// The way to servers.
#[derive(Debug, Clone, Default)]
pub struct Upstream {
    /// A further HTTP proxy: `http://user:password@proxy.test:3128`.
    pub proxy: Option<Url>,
    /// PEM files of authorities that are believed beside the system's. Names are verified all the same.
    pub authorities: Vec<PathBuf>,
    /// PEM files: our certificate for servers that want one, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Believe every certificate.
    pub insecure: bool,
}

/// How much is kept. Whatever passes a limit still reaches the browser; the recording says that it lacks it.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A larger body lies in a file.
    pub body_in_memory: u64,
    /// All bodies in memory together; beyond it, bodies lie in files.
    pub memory: u64,
    /// Of a larger response, only the size is kept.
    pub response: u64,
    /// Of a larger request, only the size is kept.
    pub request: u64,
    /// All files together; of bodies beyond it, only sizes are kept.
    pub disk: u64,
    /// All messages of WebSockets together, in bytes; later ones are not kept.
    pub messages: u64,
    /// Requests; later ones are passed on, not kept.
    pub exchanges: usize,
    /// Connections of browsers at a time; others wait.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            body_in_memory: MIB,
            memory: 64 * MIB,
            response: 64 * MIB,
            request: 1024 * MIB,
            disk: 8 * 1024 * MIB,
            messages: 64 * MIB,
            exchanges: 100_000,
            connections: 2000,
        }
    }
}
