//! The recorder's own certificate authority.
//!
//! One file holds key and certificate, so that a half-written authority cannot exist: `ca-key.pem`, for its owner's eyes alone. Beside it
//! lies `ca.pem`, the certificate, which browsers may import.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData as _, SerialNumber,
};
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};

use self::leaves::Leaves;
use crate::Error;

mod leaves;

/// Key and certificate.
const KEY_FILE: &str = "ca-key.pem";

/// The certificate alone.
const CERTIFICATE_FILE: &str = "ca.pem";

/// Ten years. Only the machine that made it has the key.
const VALID: Duration = Duration::from_hours(3650 * 24);

/// Clocks of other machines may be late by this.
const LATE: Duration = Duration::from_hours(48);

/// The authority: made once, kept in a folder, signs a certificate for each host.
#[derive(Debug)]
pub struct Authority {
    folder: PathBuf,
    certificate: CertificateDer<'static>,
    pin: String,
    leaves: Leaves,
    is_new: bool,
}

impl Authority {
    /// Reads the authority of a folder, or makes it.
    ///
    /// # Errors
    /// The folder cannot be written; the file in it is none of ours, or is out of date.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(KEY_FILE);
        let failed = |source| Error::Folder { path: folder.to_owned(), source };
        let mut is_new = false;
        if !path.try_exists().map_err(failed)? {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(failed)?;
            is_new = keep(folder, &make()?).map_err(failed)?;
        }
        let authority = Self::read(folder, &path, is_new)?;
        let public = folder.join(CERTIFICATE_FILE);
        if std::fs::read_to_string(&public).ok().as_deref() != Some(authority.pem().as_str()) {
            // A copy for convenience: an authority in a folder that cannot be written works without it.
            let _ = std::fs::write(&public, authority.pem());
        }
        Ok(authority)
    }

    fn read(folder: &Path, path: &Path, is_new: bool) -> Result<Self, Error> {
        let failed = |source| Error::Folder { path: path.to_owned(), source };
        let wrong = |why: String| Error::Authority { path: path.to_owned(), why };
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).map_err(failed)?;
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        // The reader's own words could repeat parts of the key.
        let key = KeyPair::from_pem(&text).map_err(|_| wrong("it has no private key".into()))?;
        let certificate = CertificateDer::from_pem_slice(text.as_bytes())
            .map_err(|_| wrong("it has no certificate".into()))?;
        check(&certificate, &key).map_err(wrong)?;
        let pin = STANDARD.encode(Sha256::digest(key.subject_public_key_info()));
        let issuer = Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|error| wrong(error.to_string()))?;
        let leaves = Leaves::new(issuer, certificate.clone())?;
        Ok(Self { folder: folder.to_owned(), certificate, pin, leaves, is_new })
    }

    /// Whether [`Authority::open`] has made it just now.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The folder that it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of its certificate, in PEM.
    pub fn certificate_file(&self) -> PathBuf {
        self.folder.join(CERTIFICATE_FILE)
    }

    /// The certificate in DER.
    pub fn der(&self) -> &[u8] {
        &self.certificate
    }

    /// The certificate in PEM.
    pub fn pem(&self) -> String {
        let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
        for line in STANDARD.encode(&self.certificate).as_bytes().chunks(64) {
            text.extend(line.iter().map(|&byte| char::from(byte)));
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
        text
    }

    /// SHA-256 of the certificate: `AB:CD:…`, as browsers show it.
    pub fn fingerprint(&self) -> String {
        let mut text = String::new();
        for byte in Sha256::digest(&self.certificate) {
            let colon = if text.is_empty() { "" } else { ":" };
            // Writing to a String can't fail.
            let _ = write!(text, "{colon}{byte:02X}");
        }
        text
    }

    /// SHA-256 of its public key (SPKI) in base64: Chromium's `--ignore-certificate-errors-spki-list`.
    pub fn key_pin(&self) -> &str {
        &self.pin
    }

    /// TLS for these names of a host.
    pub(crate) fn server(&self, names: &[String]) -> Result<Arc<ServerConfig>, Error> {
        self.leaves.server(names)
    }
}

/// Key and certificate in PEM.
fn make() -> Result<String, Error> {
    let failed = |error: rcgen::Error| Error::Certificate {
        name: "the authority".to_owned(),
        why: error.to_string(),
    };
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(failed)?;
    let pin = Sha256::digest(key.subject_public_key_info());
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    // Two authorities of one name confuse browsers; a part of the key tells them apart.
    name.push(
        DnType::CommonName,
        format!("brunt record CA {:02x}{:02x}{:02x}", pin[0], pin[1], pin[2]),
    );
    name.push(DnType::OrganizationName, "Brunt, this machine's recorder");
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let now = SystemTime::now();
    params.not_before = (now - LATE).into();
    params.not_after = (now + VALID).into();
    params.serial_number = Some(serial()?);
    let certificate = params.self_signed(&key).map_err(failed)?;
    Ok(format!("{}{}", key.serialize_pem(), certificate.pem()))
}

/// A number that no other certificate of the authority has.
fn serial() -> Result<SerialNumber, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Certificate {
        name: "serial number".to_owned(),
        why: error.to_string(),
    })?;
    // Positive and without leading zeros.
    bytes[0] = bytes[0] & 0x3f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

/// Writes the file in one step. `false`: another process was first, and its authority is as good.
fn keep(folder: &Path, pem: &str) -> io::Result<bool> {
    // Mode 0600 from the first byte on.
    let mut file = tempfile::Builder::new().prefix(".ca-key").tempfile_in(folder)?;
    file.write_all(pem.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(folder.join(KEY_FILE)) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Whether the certificate is an authority's, is valid, and fits the key.
fn check(certificate: &CertificateDer<'_>, key: &KeyPair) -> Result<(), String> {
    let (_, parsed) = x509_parser::parse_x509_certificate(certificate)
        .map_err(|_| "its certificate cannot be read".to_owned())?;
    if !parsed.is_ca() {
        return Err("its certificate is no authority's".to_owned());
    }
    if !parsed.validity().is_valid() {
        return Err(format!("its certificate was valid until {}", parsed.validity().not_after));
    }
    if parsed.public_key().raw != key.subject_public_key_info() {
        return Err("its certificate and its key are no pair".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn it_is_made_once_and_its_key_is_the_owners_alone() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/ca");
        let first = Authority::open(&folder).unwrap();
        let second = Authority::open(&folder).unwrap();
        assert!(first.is_new() && !second.is_new());
        assert_eq!(first.der(), second.der());
        assert_eq!(first.key_pin(), second.key_pin());
        assert_eq!((mode(&folder), mode(&folder.join(KEY_FILE))), (0o700, 0o600));
        assert_eq!(std::fs::read_to_string(first.certificate_file()).unwrap(), first.pem());
        assert!(!first.pem().contains("PRIVATE"));
        assert_eq!(first.fingerprint().len(), 32 * 3 - 1);
    }

    #[test]
    fn a_key_that_others_could_read_is_locked_again() {
        let folder = tempfile::tempdir().unwrap();
        Authority::open(folder.path()).unwrap();
        let path = folder.path().join(KEY_FILE);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        Authority::open(folder.path()).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn two_at_once_agree_on_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let made = std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..4).map(|_| scope.spawn(|| Authority::open(path).unwrap())).collect();
            all.into_iter().map(|one| one.join().unwrap().der().to_vec()).collect::<Vec<_>>()
        });
        assert!(made.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn a_file_that_is_something_else_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KEY_FILE);
        std::fs::write(&path, "hello").unwrap();
        let error = Authority::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("ca-key.pem") && error.contains("move it away"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
        // A key and a certificate that are no pair.
        let (one, other) = (make().unwrap(), make().unwrap());
        let end = one.find("-----BEGIN CERT").unwrap();
        let certificate = &other[other.find("-----BEGIN CERT").unwrap()..];
        std::fs::write(&path, format!("{}{certificate}", &one[..end])).unwrap();
        let error = Authority::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no pair") && !error.contains("PRIVATE"), "{error}");
    }

    #[test]
    fn the_certificate_is_an_authoritys() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        let (_, parsed) = x509_parser::parse_x509_certificate(authority.der()).unwrap();
        assert_eq!(parsed.version, x509_parser::x509::X509Version::V3);
        let constraints = parsed.basic_constraints().unwrap().unwrap();
        assert!(constraints.critical && constraints.value.ca);
        assert_eq!(constraints.value.path_len_constraint, Some(0));
        let usage = parsed.key_usage().unwrap().unwrap();
        assert!(usage.critical && usage.value.key_cert_sign());
    }
}
