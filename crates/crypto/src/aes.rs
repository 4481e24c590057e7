//! AES: CBC, CTR and GCM.

use aes::cipher::consts::U12;
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{AeadInPlace as _, Key, KeyInit as _, Nonce};
use aes_gcm::{AesGcm, Tag};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockDecryptMut as _, BlockEncryptMut as _, KeyIvInit as _, StreamCipher as _};

use crate::Failure;

/// The bytes of a block: of an IV of CBC, and of a counter.
pub const BLOCK: usize = 16;

/// The bytes of an IV of GCM; k6 knows no other.
pub const GCM_IV: usize = 12;

/// The bytes of GCM's tag.
const TAG: usize = 16;

/// Does `$make` with the cipher of the key's length in the place of `$cipher`.
macro_rules! with_cipher {
    ($key:expr, $cipher:ident => $make:expr) => {
        match $key.len() {
            16 => {
                type $cipher = Aes128;
                $make
            }
            24 => {
                type $cipher = Aes192;
                $make
            }
            32 => {
                type $cipher = Aes256;
                $make
            }
            other => Err(Failure::operation(format!("invalid key length {other} bytes"))),
        }
    };
}

const CHECKED: &str = "the lengths of key and IV were looked at";

fn block(iv: &[u8], what: &str) -> Result<(), Failure> {
    if iv.len() == BLOCK {
        Ok(())
    } else {
        Err(Failure::operation(format!("{what} length is not 16 bytes")))
    }
}

/// Encrypts, with PKCS #7's padding.
///
/// # Errors
/// An IV or key of the wrong length.
pub fn cbc_encrypt(key: &[u8], iv: &[u8], plain: &[u8]) -> Result<Vec<u8>, Failure> {
    block(iv, "iv")?;
    with_cipher!(key, C => {
        let cipher = cbc::Encryptor::<C>::new_from_slices(key, iv).expect(CHECKED);
        Ok(cipher.encrypt_padded_vec_mut::<Pkcs7>(plain))
    })
}

/// Decrypts, and takes the padding off.
///
/// # Errors
/// An IV or key of the wrong length; bytes that are no whole blocks, or end with no padding.
pub fn cbc_decrypt(key: &[u8], iv: &[u8], encrypted: &[u8]) -> Result<Vec<u8>, Failure> {
    block(iv, "iv")?;
    with_cipher!(key, C => {
        let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).expect(CHECKED);
        cipher.decrypt_padded_vec_mut::<Pkcs7>(encrypted).map_err(|_| Failure::operation("invalid padding"))
    })
}

/// Encrypts or decrypts, which are the same.
///
/// # Errors
/// A counter or key of the wrong length.
pub fn ctr(key: &[u8], counter: &[u8], bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    block(counter, "counter")?;
    let mut bytes = bytes.to_vec();
    with_cipher!(key, C => {
        let mut cipher = ctr::Ctr128BE::<C>::new_from_slices(key, counter).expect(CHECKED);
        cipher.try_apply_keystream(&mut bytes).map_err(|_| Failure::operation("the counter ended"))
    })?;
    Ok(bytes)
}

fn gcm_check(iv: &[u8], tag: usize) -> Result<(), Failure> {
    if iv.len() != GCM_IV {
        let message = "only 12 bytes long iv are supported";
        return Err(Failure::new(crate::Name::NotSupported, message));
    }
    if !(12..=TAG).contains(&tag) {
        let message = "invalid tag length, should be one of 96, 104, 112, 120, 128";
        return Err(Failure::operation(message));
    }
    Ok(())
}

/// The tag of what is in `bytes`, which is encrypted in place.
fn gcm_seal(key: &[u8], iv: &[u8], more: &[u8], bytes: &mut [u8]) -> Result<[u8; TAG], Failure> {
    with_cipher!(key, C => {
        let key = Key::<AesGcm<C, U12>>::from_slice(key);
        let nonce = Nonce::<AesGcm<C, U12>>::from_slice(iv);
        AesGcm::<C, U12>::new(key)
            .encrypt_in_place_detached(nonce, more, bytes)
            .map(Into::into)
            .map_err(|_| Failure::operation("the plaintext is too long"))
    })
}

/// Encrypts; the tag's first `tag` bytes follow. `more` is vouched for by the tag and not encrypted.
///
/// # Errors
/// An IV, key or tag of the wrong length.
pub fn gcm_encrypt(
    key: &[u8],
    iv: &[u8],
    more: &[u8],
    tag: usize,
    plain: &[u8],
) -> Result<Vec<u8>, Failure> {
    gcm_check(iv, tag)?;
    let mut bytes = Vec::with_capacity(plain.len() + TAG);
    bytes.extend_from_slice(plain);
    let whole = gcm_seal(key, iv, more, &mut bytes)?;
    bytes.extend_from_slice(&whole[..tag]);
    Ok(bytes)
}

/// Decrypts what [`gcm_encrypt`] made.
///
/// # Errors
/// An IV, key or tag of the wrong length; a tag that is not that of these bytes.
pub fn gcm_decrypt(
    key: &[u8],
    iv: &[u8],
    more: &[u8],
    tag: usize,
    encrypted: &[u8],
) -> Result<Vec<u8>, Failure> {
    gcm_check(iv, tag)?;
    let Some((encrypted, claimed)) = encrypted.split_last_chunk_of(tag) else {
        return Err(Failure::operation("ciphertext is too short"));
    };
    let wrong = || Failure::operation("could not decrypt ciphertext");
    let mut bytes = encrypted.to_vec();
    if let Ok(claimed) = <[u8; TAG]>::try_from(claimed) {
        with_cipher!(key, C => {
            let key = Key::<AesGcm<C, U12>>::from_slice(key);
            let nonce = Nonce::<AesGcm<C, U12>>::from_slice(iv);
            AesGcm::<C, U12>::new(key)
                .decrypt_in_place_detached(nonce, more, &mut bytes, Tag::from_slice(&claimed))
                .map_err(|_| wrong())
        })?;
        return Ok(bytes);
    }
    // A shorter tag: the whole one is that of the plaintext encrypted again.
    let mut counter = [0; BLOCK];
    counter[..GCM_IV].copy_from_slice(iv);
    counter[BLOCK - 1] = 2;
    with_cipher!(key, C => {
        let mut cipher = ctr::Ctr32BE::<C>::new_from_slices(key, &counter).expect(CHECKED);
        cipher.try_apply_keystream(&mut bytes).map_err(|_| wrong())
    })?;
    let whole = gcm_seal(key, iv, more, &mut bytes.clone())?;
    // Without a branch that would tell how much of it was right.
    let differs = whole.iter().zip(claimed).fold(0, |seen, (a, b)| seen | (a ^ b));
    if differs == 0 { Ok(bytes) } else { Err(wrong()) }
}

/// The standard library's split, which it has only for lengths known when it is compiled.
trait SplitLast {
    fn split_last_chunk_of(&self, size: usize) -> Option<(&[u8], &[u8])>;
}

impl SplitLast for [u8] {
    fn split_last_chunk_of(&self, size: usize) -> Option<(&[u8], &[u8])> {
        self.split_at_checked(self.len().checked_sub(size)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_undoes_what_it_did() {
        for size in [16, 24, 32] {
            let key = vec![7; size];
            for text in [&b""[..], b"a", b"sixteen bytes ..", b"more than one block of text"] {
                let encrypted = cbc_encrypt(&key, &[1; 16], text).unwrap();
                assert_eq!(encrypted.len() % 16, 0);
                assert_eq!(cbc_decrypt(&key, &[1; 16], &encrypted).unwrap(), text);
                let encrypted = ctr(&key, &[255; 16], text).unwrap();
                assert_eq!(ctr(&key, &[255; 16], &encrypted).unwrap(), text);
                for tag in 12..=16 {
                    let mut encrypted = gcm_encrypt(&key, &[2; 12], b"more", tag, text).unwrap();
                    assert_eq!(encrypted.len(), text.len() + tag);
                    let opened = gcm_decrypt(&key, &[2; 12], b"more", tag, &encrypted);
                    assert_eq!(opened.unwrap(), text);
                    assert!(gcm_decrypt(&key, &[2; 12], b"less", tag, &encrypted).is_err());
                    *encrypted.last_mut().unwrap() ^= 1;
                    assert!(gcm_decrypt(&key, &[2; 12], b"more", tag, &encrypted).is_err());
                }
            }
        }
    }

    // NIST SP 800-38A, F.2.1, its first block.
    #[test]
    fn cbc_is_that_of_nist() {
        let key = [
            0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf,
            0x4f, 0x3c,
        ];
        let iv: Vec<u8> = (0..16).collect();
        let plain = [
            0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93,
            0x17, 0x2a,
        ];
        let encrypted = cbc_encrypt(&key, &iv, &plain).unwrap();
        assert_eq!(encrypted[..4], [0x76, 0x49, 0xab, 0xac]);
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        assert!(cbc_encrypt(&[0; 15], &[0; 16], b"").is_err());
        assert!(cbc_encrypt(&[0; 16], &[0; 15], b"").is_err());
        assert!(cbc_decrypt(&[0; 16], &[0; 16], b"abc").is_err());
        assert!(cbc_decrypt(&[0; 16], &[0; 16], b"").is_err());
        assert!(ctr(&[0; 16], &[0; 17], b"").is_err());
        assert!(gcm_encrypt(&[0; 16], &[0; 13], b"", 16, b"").is_err());
        assert!(gcm_encrypt(&[0; 16], &[0; 12], b"", 11, b"").is_err());
        assert!(gcm_decrypt(&[0; 16], &[0; 12], b"", 16, &[0; 15]).is_err());
    }
}
