//! TLS: what the options say becomes a rustls configuration, once per core.

mod auth;
mod locked_key;
mod own_root;
mod roots;
mod session;
mod staple;
mod suites;
mod verify;

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::sync::Arc;

use rustls::client::{ClientConfig, Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;

pub(crate) use session::{Session, State};
pub use staple::Staple;
pub(crate) use suites::of as info_of;

use crate::settings::{SettingsError, TlsSettings};
use auth::Certificates;

/// The result of a handshake, as k6 writes it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// `tls1.2` or `tls1.3`.
    pub version: &'static str,
    /// `TLS_AES_128_GCM_SHA256`.
    pub cipher_suite: &'static str,
    /// The statement of the certificate's authority that the server stapled to it, if any.
    pub staple: Option<&'static Staple>,
}

impl TlsInfo {
    /// The authority's statement about the certificate: `good`, `revoked` or `unknown`, as k6 also says without a
    /// statement.
    pub fn ocsp_status(&self) -> &'static str {
        self.staple.map_or("unknown", |staple| staple.status)
    }
}

/// The protocols offered to a server on top of TLS (ALPN).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// HTTP/1.1, and HTTP/2 if the settings say so.
    Http,
    /// HTTP/1.1 alone.
    Http1,
    /// Nothing: both sides know what will be spoken.
    Nothing,
}

impl Offer {
    /// The configuration with this offer.
    pub(crate) fn on(self, config: Arc<ClientConfig>) -> Arc<ClientConfig> {
        let keeps = |name: &Vec<u8>| match self {
            Self::Http => true,
            Self::Http1 => name != b"h2",
            Self::Nothing => false,
        };
        if config.alpn_protocols.iter().all(keeps) {
            return config;
        }
        let mut config = ClientConfig::clone(&config);
        config.alpn_protocols.retain(keeps);
        Arc::new(config)
    }
}

/// The configurations of one core: one for each order in which some host is offered the client
/// certificates, which is one in all when no `domains` are given.
pub(crate) struct TlsConfigs {
    settings: TlsSettings,
    provider: Arc<CryptoProvider>,
    certificates: Certificates,
    key_log: Arc<dyn rustls::KeyLog>,
    /// By the order of the certificates. At most one per order of `tlsAuth` entries that occurs.
    made: RefCell<Vec<(Vec<usize>, Arc<ClientConfig>)>>,
}

impl std::fmt::Debug for TlsConfigs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsConfigs").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl TlsConfigs {
    /// Checks all settings; reads no system certificates yet.
    pub(crate) fn new(settings: &TlsSettings) -> Result<Self, SettingsError> {
        let provider = Arc::new(suites::provider(settings)?);
        roots::check_extra(settings)?;
        Ok(Self {
            certificates: Certificates::parse(&settings.auth, &provider)?,
            key_log: key_log(settings)?,
            settings: settings.clone(),
            provider,
            made: RefCell::default(),
        })
    }

    /// The configuration for connections to `host`.
    pub(crate) fn find(&self, host: &str) -> Result<Arc<ClientConfig>, SettingsError> {
        let offered = self.certificates.order(host);
        let mut made = self.made.borrow_mut();
        if let Some((_, config)) = made.iter().find(|(order, _)| *order == offered) {
            return Ok(config.clone());
        }
        let config = Arc::new(self.make(&offered)?);
        made.push((offered, config.clone()));
        Ok(config)
    }

    fn make(&self, offered: &[usize]) -> Result<ClientConfig, SettingsError> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&suites::versions(&self.settings)?)
            .map_err(SettingsError::Tls)?;
        let builder = if self.settings.insecure_skip_verify {
            let verifier = verify::Anyone::new(&self.provider);
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        } else {
            let roots = roots::trusted(&self.settings)?;
            let provider = self.provider.clone();
            match WebPkiServerVerifier::builder_with_provider(roots.clone(), provider).build() {
                Ok(webpki) => {
                    let inner = Arc::new(verify::NameFirst(webpki));
                    let verifier = own_root::OwnRoot { inner, roots };
                    builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
                }
                // There are no authorities at all: whoever answers is unknown.
                Err(_) => builder.with_root_certificates(roots),
            }
        };
        let mut config = match self.certificates.resolver(offered) {
            Some(resolver) => builder.with_client_cert_resolver(resolver),
            None => builder.with_no_client_auth(),
        };
        if self.settings.http2 {
            config.alpn_protocols.push(b"h2".to_vec());
        }
        config.alpn_protocols.push(b"http/1.1".to_vec());
        config.key_log = self.key_log.clone();
        config.resumption = Resumption::disabled();
        Ok(config)
    }

    /// A client's own configuration where sessions are remembered: two VUs are two users, and never
    /// share a session. Otherwise the one of the core.
    pub(crate) fn of_client(&self, shared: Arc<ClientConfig>) -> Arc<ClientConfig> {
        match self.settings.remembered_sessions {
            0 => shared,
            sessions => {
                let mut own = ClientConfig::clone(&shared);
                own.resumption = Resumption::in_memory_sessions(sessions);
                Arc::new(own)
            }
        }
    }

    /// Clients have configurations of their own.
    pub(crate) fn remembers_sessions(&self) -> bool {
        self.settings.remembered_sessions > 0
    }
}

fn key_log(settings: &TlsSettings) -> Result<Arc<dyn rustls::KeyLog>, SettingsError> {
    let Some(path) = &settings.key_log else {
        return Ok(Arc::new(rustls::NoKeyLog {}));
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|source| SettingsError::KeyLog { path: path.clone(), source })?;
    Ok(Arc::new(KeyLog(file)))
}

/// NSS key log lines, appended; each line is one write, so cores don't mix theirs.
#[derive(Debug)]
struct KeyLog(std::fs::File);

impl rustls::KeyLog for KeyLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        use std::fmt::Write as _;
        use std::io::Write as _;
        let mut line = format!("{label} ");
        for (bytes, end) in [(client_random, ' '), (secret, '\n')] {
            for byte in bytes {
                let _ = write!(line, "{byte:02x}");
            }
            line.push(end);
        }
        // A debugging aid: a full disk must not end the connection.
        let _ = (&self.0).write_all(line.as_bytes());
    }
}
