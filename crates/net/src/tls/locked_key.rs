//! Private keys that a password locks, as OpenSSL wrote them before PKCS#8 (RFC 1423): `Proc-Type: 4,ENCRYPTED`.

use aes::{Aes128, Aes192, Aes256};
use base64::Engine as _;
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockDecryptMut, KeyIvInit};
use des::{Des, TdesEde3};
use md5::{Digest as _, Md5};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};

/// Opens the key. The error says what is wrong with it, or with the password.
pub(super) fn open(pem: &str, password: &str) -> Result<PrivateKeyDer<'static>, &'static str> {
    const UNREADABLE: &str = "key holds no PEM private key";
    let start = pem.find("-----BEGIN ").ok_or(UNREADABLE)? + 11;
    let (label, rest) = pem[start..].split_once("-----").ok_or(UNREADABLE)?;
    let (inside, _) = rest.split_once("-----END").ok_or(UNREADABLE)?;
    let (mut info, mut body) = (None, String::new());
    for line in inside.lines().map(str::trim) {
        match line.split_once(": ") {
            Some(("DEK-Info", value)) => info = value.split_once(','),
            Some(_) => {}
            None => body.push_str(line),
        }
    }
    let (cipher, salt) = info.ok_or(UNREADABLE)?;
    let salt = unhex(salt.trim()).ok_or(UNREADABLE)?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(body).map_err(|_| UNREADABLE)?;
    let opened = match cipher.trim() {
        "DES-CBC" => decrypt::<Decryptor<Des>>(&bytes, password, &salt, 8),
        "DES-EDE3-CBC" => decrypt::<Decryptor<TdesEde3>>(&bytes, password, &salt, 24),
        "AES-128-CBC" => decrypt::<Decryptor<Aes128>>(&bytes, password, &salt, 16),
        "AES-192-CBC" => decrypt::<Decryptor<Aes192>>(&bytes, password, &salt, 24),
        "AES-256-CBC" => decrypt::<Decryptor<Aes256>>(&bytes, password, &salt, 32),
        _ => return Err("the key is encrypted with an unknown cipher"),
    };
    // The text begins as every key does, or the padding was right by chance.
    let der = opened.filter(|der| der.first() == Some(&0x30));
    let der = der.ok_or("the key can't be opened: is the password right?")?;
    match label.trim() {
        "RSA PRIVATE KEY" => Ok(PrivatePkcs1KeyDer::from(der).into()),
        "EC PRIVATE KEY" => Ok(PrivateSec1KeyDer::from(der).into()),
        "PRIVATE KEY" => Ok(PrivatePkcs8KeyDer::from(der).into()),
        _ => Err("the key is of an unknown kind"),
    }
}

fn decrypt<C>(bytes: &[u8], password: &str, salt: &[u8], key_len: usize) -> Option<Vec<u8>>
where
    C: KeyIvInit + BlockDecryptMut,
{
    let key = key(password.as_bytes(), salt.get(..8)?, key_len);
    C::new_from_slices(&key, salt).ok()?.decrypt_padded_vec_mut::<Pkcs7>(bytes).ok()
}

/// OpenSSL's way from a password to a key: MD5 over and over.
fn key(password: &[u8], salt: &[u8], len: usize) -> Vec<u8> {
    let mut key = Vec::new();
    let mut last = Vec::new();
    while key.len() < len {
        last = Md5::new()
            .chain_update(&last)
            .chain_update(password)
            .chain_update(salt)
            .finalize()
            .to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(len);
    key
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One key of P-256, made for this test, locked with "secret" by `openssl ec -aes256` and `-des3`.
    const EXAMPLES: [&str; 2] = [
        "-----BEGIN EC PRIVATE KEY-----\n\
     Proc-Type: 4,ENCRYPTED\n\
     DEK-Info: AES-256-CBC,FAE548F35288494C0E1F2F4815314B88\n\
     \n\
     pCw2zRpxu7eHMev2ACt4yg6u3EP1JwWN0qVZja5bNppNEvEBf8kI/H68CcPVwccX\n\
     TOx+62RQjXz73VTtobyKc0BIVjcHxeL5ZEwe/j5z4Z04pGAyc3k/AuAeHZjFzflz\n\
     rKltQb4KXr2GpGHD4lMHwXLYkl0tWfLmOCy83i5eTKQ=\n\
     -----END EC PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\n\
     Proc-Type: 4,ENCRYPTED\n\
     DEK-Info: DES-EDE3-CBC,7C7DB8130D42D63E\n\
     \n\
     9HcWrDwttSePxarKhNHEj2qT4YVqz6Ixaf9ygk9RfpLBLrOgc9bTuK90eYpeqcoc\n\
     KlSuR42OqsxPHa9cYz2dM/WiPbKL8gRRkJccrA6/IVz0H19X2hII0yDFL46NYGek\n\
     wbJaObaYAkqNVV+3ykVTGkj51C6QjZyImz6FhawRdhU=\n\
     -----END EC PRIVATE KEY-----",
    ];

    #[test]
    fn keys_of_openssl_open_with_their_password() {
        for pem in EXAMPLES {
            let key = open(pem, "secret").unwrap();
            assert!(matches!(key, PrivateKeyDer::Sec1(_)), "{pem}");
            assert_eq!(key.secret_der().len(), 121, "{pem}");
            assert!(open(pem, "wrong").is_err());
        }
        assert!(open("", "x").is_err() && open("-----BEGIN X-----", "x").is_err());
    }
}
