//! Whom we trust: the system's authorities, read once per process and only if needed.

use std::sync::{Arc, OnceLock};

use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use crate::settings::{SettingsError, TlsSettings};

/// The system's authorities (`SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured) and the extra ones.
pub(super) fn trusted(settings: &TlsSettings) -> Result<Arc<RootCertStore>, SettingsError> {
    static SYSTEM: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    if settings.only_extra_roots {
        return Ok(Arc::new(extended(RootCertStore::empty(), settings)?));
    }
    let system = SYSTEM.get_or_init(|| {
        let mut store = RootCertStore::empty();
        // Errors mean files that can't be read or parsed: the others count. With none at all, each
        // handshake says "unknown authority".
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(store)
    });
    if settings.extra_roots.is_empty() {
        return Ok(system.clone());
    }
    Ok(Arc::new(extended(RootCertStore::clone(system), settings)?))
}

fn extended(
    mut store: RootCertStore,
    settings: &TlsSettings,
) -> Result<RootCertStore, SettingsError> {
    for pem in &settings.extra_roots {
        store.add_parsable_certificates(certificates(pem)?);
    }
    Ok(store)
}

/// Refuses extra authorities that are no PEM.
pub(super) fn check_extra(settings: &TlsSettings) -> Result<(), SettingsError> {
    settings.extra_roots.iter().try_for_each(|pem| certificates(pem).map(drop))
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, SettingsError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    certificates.ok().filter(|list| !list.is_empty()).ok_or(SettingsError::Roots)
}
