//! HMAC.

use hmac::{Mac as _, SimpleHmac};

use crate::Hash;
use crate::hash::with_hash;

/// The code of a message. A key may have any length.
pub fn sign(hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8> {
    with_hash!(hash, H => {
        let made = SimpleHmac::<H>::new_from_slice(key);
        made.expect("an HMAC takes keys of any length").chain_update(message).finalize().into_bytes().to_vec()
    })
}

/// Whether this is the code of a message. How long it looks tells nothing about the key.
pub fn verify(hash: Hash, key: &[u8], code: &[u8], message: &[u8]) -> bool {
    with_hash!(hash, H => {
        let made = SimpleHmac::<H>::new_from_slice(key);
        made.expect("an HMAC takes keys of any length").chain_update(message).verify_slice(code).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 4231, case 2.
    #[test]
    fn a_code_is_that_of_the_rfc_and_knows_itself() {
        let code = sign(Hash::Sha256, b"Jefe", b"what do ya want for nothing?");
        assert_eq!(code[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        assert!(verify(Hash::Sha256, b"Jefe", &code, b"what do ya want for nothing?"));
        assert!(!verify(Hash::Sha256, b"Jefe", &code[..31], b"what do ya want for nothing?"));
        assert!(!verify(Hash::Sha256, b"jefe", &code, b"what do ya want for nothing?"));
    }
}
