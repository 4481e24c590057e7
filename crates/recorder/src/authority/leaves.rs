//! A certificate for each host, made when it is first asked for.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::{LATE, serial};
use crate::Error;

/// Hosts whose TLS is remembered; the oldest is forgotten, and made anew if it is asked for.
const CACHED: usize = 1000;

/// Browsers refuse certificates of 398 days and more.
const VALID: Duration = Duration::from_hours(90 * 24);

/// Longer names don't fit into a common name; the alternative names count anyway.
const COMMON_NAME_MAX: usize = 64;

/// The certificates of hosts. All share one key, which lives as long as the process.
pub(super) struct Leaves {
    issuer: Issuer<'static, KeyPair>,
    authority: CertificateDer<'static>,
    key: KeyPair,
    provider: Arc<CryptoProvider>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    servers: HashMap<String, Arc<ServerConfig>>,
    order: VecDeque<String>,
}

// A key has nothing to show.
impl std::fmt::Debug for Leaves {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaves").finish_non_exhaustive()
    }
}

impl Leaves {
    pub(super) fn new(
        issuer: Issuer<'static, KeyPair>,
        authority: CertificateDer<'static>,
    ) -> Result<Self, Error> {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)
            .map_err(|error| Error::Tls(error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Ok(Self { issuer, authority, key, provider, cache: Mutex::default() })
    }

    /// TLS with a certificate that has these names.
    pub(super) fn server(&self, names: &[String]) -> Result<Arc<ServerConfig>, Error> {
        let id = names.join(" ");
        if let Some(server) =
            self.cache.lock().unwrap_or_else(PoisonError::into_inner).servers.get(&id)
        {
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(self.make(names)?);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.servers.insert(id.clone(), Arc::clone(&server)).is_none() {
            cache.order.push_back(id);
        }
        if cache.order.len() > CACHED
            && let Some(oldest) = cache.order.pop_front()
        {
            cache.servers.remove(&oldest);
        }
        Ok(server)
    }

    fn make(&self, names: &[String]) -> Result<ServerConfig, Error> {
        let certificate = self.certificate(names)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Tls(error.to_string()))?
            .with_no_client_auth()
            // With the authority, by whose key Chromium may recognise the chain.
            .with_single_cert(vec![certificate, self.authority.clone()], key)
            .map_err(|error| Error::Tls(error.to_string()))?;
        server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(server)
    }

    fn certificate(&self, names: &[String]) -> Result<CertificateDer<'static>, Error> {
        let failed = |name: &str, why: String| Error::Certificate { name: name.to_owned(), why };
        let mut params = CertificateParams::default();
        let mut subject = DistinguishedName::new();
        let common = names.iter().find(|name| name.len() <= COMMON_NAME_MAX);
        subject.push(DnType::CommonName, common.map_or("a host", String::as_str));
        params.distinguished_name = subject;
        for name in names {
            params.subject_alt_names.push(match name.parse::<IpAddr>() {
                Ok(ip) => SanType::IpAddress(ip),
                Err(_) => SanType::DnsName(
                    name.as_str()
                        .try_into()
                        .map_err(|error: rcgen::Error| failed(name, error.to_string()))?,
                ),
            });
        }
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let now = SystemTime::now();
        params.not_before = (now - LATE).into();
        params.not_after = (now + VALID).into();
        params.serial_number = Some(serial()?);
        let certificate = params
            .signed_by(&self.key, &self.issuer)
            .map_err(|error| failed(&names.join(" "), error.to_string()))?;
        Ok(certificate.into())
    }
}

#[cfg(test)]
mod tests {
    use x509_parser::prelude::GeneralName;

    use super::super::Authority;
    use super::*;

    fn leaf(authority: &Authority, names: &[&str]) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        authority.leaves.certificate(&names).unwrap().to_vec()
    }

    #[test]
    fn names_and_addresses_are_alternative_names() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        let der = leaf(&authority, &["shop.test", "127.0.0.1", "::1"]);
        let (_, parsed) = x509_parser::parse_x509_certificate(&der).unwrap();
        let names = &parsed.subject_alternative_name().unwrap().unwrap().value.general_names;
        assert!(names.contains(&GeneralName::DNSName("shop.test")));
        assert!(names.contains(&GeneralName::IPAddress(&[127, 0, 0, 1])));
        assert_eq!(names.len(), 3);
        let validity = parsed.validity();
        let days = (validity.not_after.timestamp() - validity.not_before.timestamp()) / 86400;
        assert!(days < 398 && validity.is_valid(), "{days}");
        let (_, issuer) = x509_parser::parse_x509_certificate(authority.der()).unwrap();
        assert_eq!(parsed.issuer(), issuer.subject());
        assert!(!parsed.is_ca());
        let other = leaf(&authority, &["shop.test"]);
        let (_, other) = x509_parser::parse_x509_certificate(&other).unwrap();
        assert_ne!(parsed.raw_serial(), other.raw_serial());
    }

    #[test]
    fn a_host_is_asked_for_once_and_the_oldest_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        let of = |n: usize| authority.server(&[format!("h{n}.test")]).unwrap();
        let first = of(0);
        assert!(Arc::ptr_eq(&first, &of(0)));
        for n in 1..=CACHED {
            of(n);
        }
        assert_eq!(authority.leaves.cache.lock().unwrap().servers.len(), CACHED);
        assert!(!Arc::ptr_eq(&first, &of(0)));
    }

    #[test]
    fn long_names_have_certificates_and_impossible_ones_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        leaf(&authority, &[&format!("{}.test", "long.".repeat(30))]);
        assert!(authority.server(&["schön.test".to_owned()]).is_err());
    }
}
