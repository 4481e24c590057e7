//! Client certificates (`tlsAuth`).

use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::parse_x509_certificate;

use super::locked_key;
use crate::settings::{SettingsError, TlsAuth};

/// All entries of `tlsAuth`, checked.
#[derive(Debug)]
pub(super) struct Certificates {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    key: Arc<CertifiedKey>,
    /// The names of those who signed the chain, DER.
    issuers: Vec<Vec<u8>>,
    domains: Vec<String>,
}

impl Certificates {
    pub(super) fn parse(
        auth: &[TlsAuth],
        provider: &CryptoProvider,
    ) -> Result<Self, SettingsError> {
        let parse = |(index, entry)| {
            Entry::parse(entry, provider).map_err(|(problem, source)| SettingsError::Auth {
                index,
                problem,
                source,
            })
        };
        let entries: Result<Vec<_>, _> = auth.iter().enumerate().map(parse).collect();
        entries.map(|entries| Self { entries })
    }

    /// In which order the entries are offered to a host, by index: those made for it, those made for no
    /// host in particular, the others. k6 takes them as they come and doesn't look at `domains`, so
    /// none is ever left out.
    pub(super) fn order(&self, host: &str) -> Vec<usize> {
        let rank = |&index: &usize| {
            let domains = &self.entries[index].domains;
            match domains.iter().any(|domain| covers(domain, host)) {
                true => 0,
                false if domains.is_empty() => 1,
                false => 2,
            }
        };
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(rank);
        order
    }

    /// The resolver that answers a server that asks for a certificate; `None` if there is nothing to show.
    pub(super) fn resolver(&self, which: &[usize]) -> Option<Arc<dyn ResolvesClientCert>> {
        let shown: Vec<_> = which
            .iter()
            .map(|&index| (self.entries[index].key.clone(), self.entries[index].issuers.clone()))
            .collect();
        if shown.is_empty() { None } else { Some(Arc::new(Shown(shown))) }
    }
}

impl Entry {
    fn parse(
        auth: &TlsAuth,
        provider: &CryptoProvider,
    ) -> Result<Self, (&'static str, Option<rustls::Error>)> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(auth.cert.as_bytes()).collect();
        let chain: Vec<CertificateDer<'static>> = match chain {
            Ok(chain) if !chain.is_empty() => chain,
            _ => return Err(("cert holds no PEM certificate", None)),
        };
        if auth.key.contains("BEGIN ENCRYPTED PRIVATE KEY") {
            let problem =
                "the key is encrypted as PKCS#8 does it, which is not supported: decrypt it first";
            return Err((problem, None));
        }
        if chain.iter().any(|certificate| parse_x509_certificate(certificate).is_err()) {
            return Err(("cert holds a malformed certificate (x509)", None));
        }
        let is_locked = auth.key.contains("Proc-Type: 4,ENCRYPTED");
        if !is_locked && auth.password.is_some() {
            // The beginning is k6's.
            let problem = "x509: no DEK-Info header in block: there is a password, but the key is not encrypted";
            return Err((problem, None));
        }
        let key = if is_locked {
            let password = auth.password.as_deref().unwrap_or_default();
            locked_key::open(&auth.key, password).map_err(|problem| (problem, None))?
        } else {
            PrivateKeyDer::from_pem_slice(auth.key.as_bytes())
                .map_err(|_| ("key holds no PEM private key", None))?
        };
        let issuers = chain.iter().filter_map(|certificate| issuer(certificate)).collect();
        let key = CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => ("cert and key don't belong together", None),
            other => ("the key can't be used", Some(other)),
        })?;
        Ok(Self { key: Arc::new(key), issuers, domains: auth.domains.clone() })
    }
}

fn issuer(certificate: &[u8]) -> Option<Vec<u8>> {
    let (_, parsed) = parse_x509_certificate(certificate).ok()?;
    Some(parsed.issuer().as_raw().to_vec())
}

/// `*.x.com` means one label before `.x.com`.
fn covers(domain: &str, host: &str) -> bool {
    match domain.strip_prefix("*.") {
        Some(rest) => {
            host.split_once('.').is_some_and(|(_, parent)| parent.eq_ignore_ascii_case(rest))
        }
        None => domain.eq_ignore_ascii_case(host),
    }
}

/// The certificates that may be shown, with the names of their issuers. As in Go, the first one that
/// fits what the server asks for is shown; if none fits, none.
#[derive(Debug)]
struct Shown(Vec<(Arc<CertifiedKey>, Vec<Vec<u8>>)>);

impl ResolvesClientCert for Shown {
    fn resolve(
        &self,
        root_hint_subjects: &[&[u8]],
        sigschemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let fits = |(key, issuers): &&(Arc<CertifiedKey>, Vec<Vec<u8>>)| {
            let is_trusted = root_hint_subjects.is_empty()
                || issuers.iter().any(|issuer| root_hint_subjects.contains(&issuer.as_slice()));
            is_trusted && key.key.choose_scheme(sigschemes).is_some()
        };
        self.0.iter().find(fits).map(|(key, _)| key.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(vec!["client.test".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn parse(cert: &str, key: &str, domains: &[&str]) -> Result<Certificates, String> {
        let domains = domains.iter().map(|domain| (*domain).to_owned()).collect();
        let auth = TlsAuth { cert: cert.to_owned(), key: key.to_owned(), password: None, domains };
        let provider = rustls::crypto::ring::default_provider();
        Certificates::parse(&[auth], &provider).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_wrong_with_a_pair_is_said() {
        let (cert, key) = pair();
        let (_, other) = pair();
        assert!(parse(&cert, &key, &[]).is_ok());
        let error = |cert: &str, key: &str| parse(cert, key, &[]).unwrap_err();
        assert_eq!(error("junk", &key), "tlsAuth[0]: cert holds no PEM certificate");
        assert_eq!(error(&cert, "junk"), "tlsAuth[0]: key holds no PEM private key");
        assert_eq!(error(&cert, &other), "tlsAuth[0]: cert and key don't belong together");
        let encrypted =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n";
        assert!(error(&cert, encrypted).contains("the key is encrypted"));
    }

    #[test]
    fn domains_say_which_comes_first_and_leave_none_out() {
        let (cert, key) = pair();
        let mut all = parse(&cert, &key, &["a.test"]).unwrap();
        all.entries.extend(parse(&cert, &key, &[]).unwrap().entries);
        all.entries.extend(parse(&cert, &key, &["*.b.test"]).unwrap().entries);
        for (host, order) in [
            ("A.test", [0, 1, 2]),
            ("x.b.test", [2, 1, 0]),
            ("b.test", [1, 0, 2]),
            ("y.x.b.test", [1, 0, 2]),
        ] {
            assert_eq!(all.order(host), order, "{host}");
        }
    }

    #[test]
    fn a_certificate_is_shown_to_those_who_know_its_issuer() {
        let (cert, key) = pair();
        let certificates = parse(&cert, &key, &[]).unwrap();
        let issuer = certificates.entries[0].issuers[0].clone();
        let resolver = certificates.resolver(&[0]).unwrap();
        let schemes = [SignatureScheme::ECDSA_NISTP256_SHA256];
        assert!(resolver.resolve(&[], &schemes).is_some());
        assert!(resolver.resolve(&[&issuer], &schemes).is_some());
        assert!(resolver.resolve(&[b"other"], &schemes).is_none());
        assert!(resolver.resolve(&[], &[SignatureScheme::ED25519]).is_none());
    }
}
