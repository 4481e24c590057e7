//! TLS versions, cipher suites and client certificates.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use crate::error::Fault;
use crate::json::Json;
use crate::value::{Entry, OptionValue, Place, record, text_entry};

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// `tls1.0`
    Tls10,
    /// `tls1.1`
    Tls11,
    /// `tls1.2`
    Tls12,
    /// `tls1.3`
    Tls13,
}

impl TlsVersion {
    const NAMES: [(&str, Self); 4] = [
        ("tls1.0", Self::Tls10),
        ("tls1.1", Self::Tls11),
        ("tls1.2", Self::Tls12),
        ("tls1.3", Self::Tls13),
    ];

    /// Such as `tls1.2`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// The `tlsVersion` option: which versions may be spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TlsVersions {
    /// The lowest; `None` leaves it to the TLS library.
    pub min: Option<TlsVersion>,
    /// The highest; `None` leaves it to the TLS library.
    pub max: Option<TlsVersion>,
}

/// An empty string is no version, as in k6.
fn version(text: &str) -> Result<Option<TlsVersion>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = TlsVersion::NAMES.iter().find(|(name, _)| *name == text);
    let found =
        found.ok_or_else(|| format!("expected tls1.0, tls1.1, tls1.2 or tls1.3, got {text:?}"))?;
    Ok(Some(found.1))
}

impl OptionValue for TlsVersions {
    /// `"tls1.2"`, or an object with `min` and `max`.
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let read = |json: &Json<'_>| version(json.string()?).map_err(|reason| json.fault(reason));
        match json.value() {
            Value::String(_) => read(json).map(|only| Self { min: only, max: only }),
            Value::Object(_) => {
                let mut versions = Self::default();
                for (name, value) in json.entries()? {
                    match name.to_ascii_lowercase().as_str() {
                        "min" => versions.min = read(&value)?,
                        "max" => versions.max = read(&value)?,
                        _ => {
                            return Err(
                                value.fault("unknown field: the known ones are min and max")
                            );
                        }
                    }
                }
                if let (Some(min), Some(max)) = (versions.min, versions.max)
                    && min > max
                {
                    let (min, max) = (min.name(), max.name());
                    return Err(json.fault(format!("min ({min}) is above max ({max})")));
                }
                Ok(versions)
            }
            _ => Err(json.expected("a version such as \"tls1.2\", or an object with min and max")),
        }
    }

    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        let only = version(texts.last().copied().unwrap_or_default())?;
        Ok(Self { min: only, max: only })
    }

    fn print(&self) -> Value {
        let name = |version: Option<TlsVersion>| version.map_or("", TlsVersion::name);
        json!({ "min": name(self.min), "max": name(self.max) })
    }
}

/// The cipher suites that k6 knows by name.
const CIPHER_SUITES: [&str; 25] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];

/// A cipher suite by its IANA name (k6's spelling).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsCipherSuite(&'static str);

impl TlsCipherSuite {
    /// Such as `TLS_AES_128_GCM_SHA256`.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl FromStr for TlsCipherSuite {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = CIPHER_SUITES.into_iter().find(|name| *name == text);
        found.map(Self).ok_or_else(|| {
            format!(
                "expected an IANA cipher suite name such as TLS_AES_128_GCM_SHA256, got {text:?}"
            )
        })
    }
}

impl fmt::Display for TlsCipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

text_entry!(TlsCipherSuite);

record! {
    /// The fields of a `tlsAuth` entry.
    pub(crate) struct TlsAuthFields {
        /// The certificate and its chain, PEM.
        cert: String = "cert",
        /// The private key, PEM.
        key: String = "key",
        /// The password of an encrypted key.
        password: String = "password",
        /// The hosts the certificate is shown to.
        domains: Vec<String> = "domains",
    }
}

/// A client certificate, one entry of the `tlsAuth` option.
#[derive(Clone, PartialEq)]
pub struct TlsAuth {
    /// The certificate and its chain: PEM with at least one `CERTIFICATE` block.
    pub cert: String,
    /// The private key: PEM with a `PRIVATE KEY` block of some kind.
    pub key: String,
    /// For a key in an encrypted legacy PEM block.
    pub password: Option<String>,
    /// The hosts it is shown to, `*.` wildcards allowed; empty is all. Deprecated.
    pub domains: Vec<String>,
}

impl fmt::Debug for TlsAuth {
    /// Leaves the secrets out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsAuth").field("domains", &self.domains).finish_non_exhaustive()
    }
}

impl Entry for TlsAuth {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut fields = TlsAuthFields::default();
        for (name, value) in json.entries()? {
            match TlsAuthFields::key(name) {
                Some(key) => {
                    fields.read_key(key, &value)?;
                    check_pem(key, &value)?;
                }
                None => json.note_unknown(name),
            }
        }
        let missing = |what: &str| json.fault(format!("{what} is missing: it must hold PEM text"));
        Ok(Self {
            cert: fields.cert.ok_or_else(|| missing("cert"))?,
            key: fields.key.ok_or_else(|| missing("key"))?,
            password: fields.password,
            domains: fields.domains.unwrap_or_default(),
        })
    }

    fn parse(_: &str, _: Place) -> Result<Self, String> {
        Err("client certificates can only be given in the script or the config file".into())
    }

    fn print(&self) -> Value {
        json!({
            "cert": self.cert,
            "key": self.key,
            "password": self.password,
            "domains": if self.domains.is_empty() { Value::Null } else { json!(self.domains) },
        })
    }
}

/// Whether the text can be what it should; that certificate and key fit is found out by the client.
fn check_pem(key: &str, json: &Json<'_>) -> Result<(), Fault> {
    let has_block = |kind: &str| {
        let text = json.value().as_str().unwrap_or_default();
        let begins = |line: &str| {
            line.trim().strip_prefix("-----BEGIN ").is_some_and(|rest| rest.starts_with(kind))
        };
        text.lines().any(begins)
    };
    let is_fine = match key {
        "cert" => has_block("CERTIFICATE-----"),
        "key" if has_block("ENCRYPTED PRIVATE KEY-----") => {
            return Err(
                json.fault("encrypted PKCS#8 keys are not supported: decrypt the key first")
            );
        }
        "key" => {
            ["", "RSA ", "EC "].iter().any(|kind| has_block(&format!("{kind}PRIVATE KEY-----")))
        }
        _ => true,
    };
    if is_fine {
        return Ok(());
    }
    let block = if key == "cert" { "CERTIFICATE" } else { "PRIVATE KEY" };
    Err(json.fault(format!("expected PEM text with a {block} block; open() reads it from a file")))
}
