//! The options of a test about connections, as plain data.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::proxy::Proxies;

/// How connections come about. One value for a whole test: each core compiles it into a
/// [`Network`](crate::Network).
#[derive(Clone, Debug)]
pub struct Settings {
    /// `host[:port]` or `*.host[:port]`, and the `ip` or `ip:port` that is dialed instead.
    pub hosts: Vec<(String, String)>,
    /// Host patterns that are never dialed: `name`, `*.name`, `*name`.
    pub block_hostnames: Vec<String>,
    /// CIDRs (or single addresses) that are never dialed.
    pub blacklist_ips: Vec<String>,
    /// How names become addresses.
    pub dns: DnsSettings,
    /// How TLS is spoken.
    pub tls: TlsSettings,
    /// The proxies of the environment.
    pub proxies: Proxies,
    /// How long opening a TCP connection may take. k6: 30 s.
    pub connect_timeout: Duration,
    /// Settings of opening connections that no option of k6 has.
    pub dialing: Dialing,
}

/// How connections are opened, beyond what the options of k6 can say. By default: as there.
#[derive(Clone, Debug, Default)]
pub struct Dialing {
    /// Where is dialed instead.
    pub connect_to: Vec<ConnectTo>,
    /// A socket in the file system that is dialed for every request; no name is looked up, no proxy asked.
    pub unix_socket: Option<PathBuf>,
    /// The name servers that are asked, in turns; none means the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Dial an address of each family at once; the first that answers wins. Else: one, as `dns.policy` says.
    pub both_families: bool,
    /// Don't let the system probe silent connections.
    pub no_probes: bool,
}

/// A host and port, and those that are dialed instead, in turns. TLS keeps the name of the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    /// Whom the URL names.
    pub from: (String, u16),
    /// Whom we dial; at least one.
    pub to: Vec<(String, u16)>,
}

impl Default for Settings {
    /// k6's defaults.
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            block_hostnames: Vec::new(),
            blacklist_ips: Vec::new(),
            dns: DnsSettings::default(),
            tls: TlsSettings::default(),
            proxies: Proxies::default(),
            connect_timeout: Duration::from_secs(30),
            dialing: Dialing::default(),
        }
    }
}

/// k6's `dns` option.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DnsSettings {
    /// How long an answer is believed; zero asks each time. k6's `inf` is a year.
    pub ttl: Duration,
    /// Which of several addresses is dialed.
    pub select: DnsSelect,
    /// Which kinds of address count.
    pub policy: DnsPolicy,
}

impl Default for DnsSettings {
    fn default() -> Self {
        Self {
            ttl: Duration::from_mins(5),
            select: DnsSelect::default(),
            policy: DnsPolicy::default(),
        }
    }
}

/// Which of several addresses is dialed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum DnsSelect {
    /// The first of the answer.
    First,
    /// Any.
    #[default]
    Random,
    /// One after the other (counted per core).
    RoundRobin,
}

/// Which kinds of address count.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum DnsPolicy {
    /// IPv4 if there is any, else IPv6.
    #[default]
    PreferIpv4,
    /// IPv6 if there is any, else IPv4.
    PreferIpv6,
    /// IPv4 only.
    OnlyIpv4,
    /// IPv6 only.
    OnlyIpv6,
    /// Both.
    Any,
}

/// The versions of TLS that options can name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// `tls1.0`, which we don't speak.
    Tls10,
    /// `tls1.1`, which we don't speak.
    Tls11,
    /// `tls1.2`.
    Tls12,
    /// `tls1.3`.
    Tls13,
}

/// How `https` is spoken.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
    /// The lowest version; below 1.2 means 1.2.
    pub min: Option<TlsVersion>,
    /// The highest version; below 1.2 is an error.
    pub max: Option<TlsVersion>,
    /// Cipher suites by name, for TLS 1.2; none means all. The suites of TLS 1.3 are always on, as in Go.
    pub cipher_suites: Vec<String>,
    /// Client certificates.
    pub auth: Vec<TlsAuth>,
    /// Authorities to trust beside those of the system, in PEM.
    pub extra_roots: Vec<String>,
    /// Offer HTTP/2 where HTTP is spoken.
    pub http2: bool,
    /// Trust those alone, and not the system's.
    pub only_extra_roots: bool,
    /// Where session secrets are written for packet analysers (`SSLKEYLOGFILE`).
    pub key_log: Option<PathBuf>,
    /// How many sessions a client remembers to resume them. Default 0, as k6: each new connection
    /// makes a full handshake.
    pub remembered_sessions: usize,
}

/// A client certificate.
#[derive(Clone, Default)]
pub struct TlsAuth {
    /// The certificate and its chain, PEM.
    pub cert: String,
    /// Its private key, PEM.
    pub key: String,
    /// The password of the key, if it is encrypted as OpenSSL did before PKCS#8; encrypted PKCS#8 is refused.
    pub password: Option<String>,
    /// The hosts it is shown to, `*.` wildcards allowed; none means all.
    pub domains: Vec<String>,
}

impl std::fmt::Debug for TlsAuth {
    /// Leaves the secrets out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsAuth").field("domains", &self.domains).finish_non_exhaustive()
    }
}

/// Settings that can't be carried out. The message names the option, the value and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A key or value of `hosts`.
    #[error("hosts: {0:?} is no IP address, with or without a port")]
    Hosts(String),
    /// A pattern of `blockHostnames`.
    #[error("blockHostnames: invalid pattern {0:?}: a wildcard may only stand at its beginning")]
    BlockHostnames(String),
    /// An entry of `blacklistIPs`.
    #[error("blacklistIPs: {0:?} is no CIDR, such as 10.0.0.0/8")]
    BlacklistIps(String),
    /// A proxy of the environment.
    #[error("{variable} is {proxy:?}: only http://, https:// and socks5:// proxies are supported")]
    Proxy {
        /// `HTTP_PROXY`, or as it was written.
        variable: String,
        /// Its value without the password.
        proxy: String,
    },
    /// TLS below 1.2 is asked for.
    #[error("tlsVersion: TLS 1.0 and 1.1 are not supported; the lowest is tls1.2")]
    OldTls,
    /// min > max.
    #[error("tlsVersion: min is above max")]
    TlsRange,
    /// A cipher suite of this name is not known.
    #[error("tlsCipherSuites: unknown cipher suite {0:?}")]
    UnknownCipher(String),
    /// An entry of `tlsAuth`, counted from 0.
    #[error("tlsAuth[{index}]: {problem}")]
    Auth {
        /// Which entry.
        index: usize,
        /// The fault.
        problem: &'static str,
        /// The message of rustls.
        #[source]
        source: Option<rustls::Error>,
    },
    /// An authority to trust is no PEM certificate.
    #[error("no PEM certificate in the authorities to trust")]
    Roots,
    /// The key log can't be opened.
    #[error("SSLKEYLOGFILE {path:?} can't be written")]
    KeyLog {
        /// Its path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// rustls refuses the combination.
    #[error("TLS settings don't fit together")]
    Tls(#[source] rustls::Error),
}
