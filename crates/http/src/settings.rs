//! The options of a test about HTTP, as plain data.

use crate::headers::Headers;

/// How clients speak HTTP, and how they connect. One value for a whole test: each core compiles it into a
/// [`Network`](crate::Network).
#[derive(Clone, Debug)]
pub struct Settings {
    /// How connections come about.
    pub net: brunt_net::Settings,
    /// The most idle connections that a client keeps (k6's `batch`); 0 is no limit, as in Go.
    pub idle_total: usize,
    /// The most idle connections that a client keeps to one host (k6's `batchPerHost`); 0 is 2, as in
    /// Go.
    pub idle_per_host: usize,
    /// The most connections of any kind to one host from clients that share theirs; 0 is no limit. Requests
    /// beyond it wait inside their exchange.
    pub per_host_max: usize,
    /// Every request on a connection of its own, with `Connection: close`.
    pub no_connection_reuse: bool,
    /// Speak HTTP/2 to `http` URLs, as if it had been agreed on.
    pub prior_http2: bool,
    /// Headers that a proxy gets with `CONNECT`.
    pub proxy_headers: Headers,
    /// The most bytes of a response's head, and of its trailers. Default 1 MiB (Go's client: 10 MiB).
    pub head_limit: usize,
    /// The most bytes of a body that is kept. Default 1 GiB. Bodies that are discarded have no limit.
    pub body_limit: u64,
}

impl Default for Settings {
    /// k6's defaults.
    fn default() -> Self {
        Self {
            net: brunt_net::Settings::default(),
            idle_total: 20,
            idle_per_host: 6,
            per_host_max: 0,
            no_connection_reuse: false,
            prior_http2: false,
            proxy_headers: Headers::default(),
            head_limit: 1 << 20,
            body_limit: 1 << 30,
        }
    }
}
