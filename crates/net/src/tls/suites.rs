//! Versions and cipher suites: k6's names, rustls' values.

use rustls::crypto::{CryptoProvider, ring};
use rustls::{CipherSuite, ProtocolVersion, SupportedProtocolVersion, version};

use super::TlsInfo;
use crate::settings::{SettingsError, TlsSettings, TlsVersion};

/// The suites of TLS 1.2 that rustls has: k6's name, the IANA name where it differs, the suite.
const OURS: &[(&str, &str, CipherSuite)] = &[
    (
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// The suites of TLS 1.3: always on.
const ALWAYS: &[(&str, CipherSuite)] = &[
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
];

/// Names that k6 knows and rustls refuses to speak: CBC, RC4, 3DES, and keys without forward secrecy.
const REFUSED: &[&str] = &[
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
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
];

/// ring, with the suites that the settings allow.
pub(super) fn provider(settings: &TlsSettings) -> Result<CryptoProvider, SettingsError> {
    let mut provider = ring::default_provider();
    // Go's order, which is also the cheaper one: most servers take the first that they know.
    provider.cipher_suites.sort_by_key(|suite| rank(suite.suite()));
    match versions(settings) {
        // The script may not use TLS at all: connections fail that would. So do those without any suite.
        Ok(_) | Err(SettingsError::OldTls) => {}
        Err(error) => return Err(error),
    }
    if settings.cipher_suites.is_empty() {
        return Ok(provider);
    }
    let mut allowed = Vec::new();
    for name in &settings.cipher_suites {
        let ours = OURS.iter().find(|(k6, iana, _)| name == k6 || name == iana);
        match ours {
            Some((_, _, suite)) => allowed.push(*suite),
            None if ALWAYS.iter().any(|(other, _)| name == other) => {}
            None if REFUSED.contains(&name.as_str()) => {}
            None => return Err(SettingsError::UnknownCipher(name.clone())),
        }
    }
    let always = |suite: CipherSuite| ALWAYS.iter().any(|(_, other)| *other == suite);
    provider
        .cipher_suites
        .retain(|suite| always(suite.suite()) || allowed.contains(&suite.suite()));
    Ok(provider)
}

/// AES with 128 bits before AES with 256 before ChaCha20.
fn rank(suite: CipherSuite) -> usize {
    let name = suite.as_str().unwrap_or_default();
    let order = ["AES_128", "AES_256", "CHACHA20"];
    order.iter().position(|part| name.contains(part)).unwrap_or(order.len())
}

/// The versions that the settings allow.
pub(super) fn versions(
    settings: &TlsSettings,
) -> Result<Vec<&'static SupportedProtocolVersion>, SettingsError> {
    let min = settings.min.unwrap_or(TlsVersion::Tls12);
    let max = settings.max.unwrap_or(TlsVersion::Tls13);
    if max < TlsVersion::Tls12 {
        return Err(SettingsError::OldTls);
    }
    if min > max {
        return Err(SettingsError::TlsRange);
    }
    let all = [(TlsVersion::Tls13, &version::TLS13), (TlsVersion::Tls12, &version::TLS12)];
    Ok(all
        .into_iter()
        .filter(|(at, _)| (min..=max).contains(at))
        .map(|(_, version)| version)
        .collect())
}

/// The result of the handshake of a connection that rustls buffers.
pub(crate) fn of(connection: &rustls::ClientConnection) -> TlsInfo {
    let suite = connection.negotiated_cipher_suite().map(|suite| suite.suite());
    info(connection.protocol_version(), suite)
}

/// k6's names for what was agreed on.
pub(super) fn info(version: Option<ProtocolVersion>, suite: Option<CipherSuite>) -> TlsInfo {
    let ours = OURS.iter().map(|(name, _, suite)| (*name, *suite));
    let name = ours.chain(ALWAYS.iter().copied()).find(|(_, other)| Some(*other) == suite);
    TlsInfo {
        version: match version {
            Some(ProtocolVersion::TLSv1_2) => "tls1.2",
            Some(ProtocolVersion::TLSv1_3) => "tls1.3",
            _ => "",
        },
        cipher_suite: name.map_or("", |(name, _)| name),
        staple: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(names: &[&str], max: Option<TlsVersion>) -> Result<usize, String> {
        let cipher_suites = names.iter().map(|name| (*name).to_owned()).collect();
        let settings = TlsSettings { max, cipher_suites, ..TlsSettings::default() };
        provider(&settings).map(|provider| provider.cipher_suites.len()).map_err(|e| e.to_string())
    }

    #[test]
    fn named_suites_stay_and_those_of_tls_1_3_always_do() {
        assert_eq!(with(&[], None), Ok(9));
        assert_eq!(with(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], None), Ok(4));
        assert_eq!(with(&["TLS_RSA_WITH_RC4_128_SHA"], None), Ok(3));
        // Suites of TLS 1.3, which 1.2 can't use: connections fail, not the start.
        let old = ["TLS_RSA_WITH_RC4_128_SHA"].as_slice();
        assert_eq!(with(old, Some(TlsVersion::Tls12)), Ok(3));
        assert_eq!(with(&[], Some(TlsVersion::Tls11)), Ok(9));
        let error = with(&["TLS_NONE"], None).unwrap_err();
        assert_eq!(error, r#"tlsCipherSuites: unknown cipher suite "TLS_NONE""#);
    }

    #[test]
    fn versions_are_clamped_to_what_we_speak() {
        let count = |min, max| {
            let settings = TlsSettings { min, max, ..TlsSettings::default() };
            versions(&settings).map(|list| list.len()).map_err(|error| error.to_string())
        };
        assert_eq!(count(None, None), Ok(2));
        assert_eq!(count(Some(TlsVersion::Tls10), Some(TlsVersion::Tls12)), Ok(1));
        assert_eq!(count(Some(TlsVersion::Tls13), None), Ok(1));
        assert!(count(None, Some(TlsVersion::Tls11)).unwrap_err().contains("TLS 1.0 and 1.1"));
        assert!(count(Some(TlsVersion::Tls13), Some(TlsVersion::Tls12)).is_err());
    }

    #[test]
    fn every_suite_of_ring_has_a_name() {
        for suite in ring::ALL_CIPHER_SUITES {
            let info = info(Some(ProtocolVersion::TLSv1_3), Some(suite.suite()));
            assert!(info.cipher_suite.starts_with("TLS_"), "{suite:?}");
        }
    }
}
