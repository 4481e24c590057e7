//! Keys made of passwords: PBKDF2 (RFC 8018).

use pbkdf2::pbkdf2_hmac;

use crate::hash::with_hash;
use crate::{Failure, Hash};

/// The most bytes that are derived at once.
pub const DERIVED_MAX: usize = 1 << 20;

/// `size` bytes, derived from a password.
///
/// # Errors
/// [`Name::Operation`](crate::Name::Operation) if there are no rounds, or more than [`DERIVED_MAX`] bytes are wanted.
pub fn pbkdf2(
    hash: Hash,
    password: &[u8],
    salt: &[u8],
    rounds: u32,
    size: usize,
) -> Result<Vec<u8>, Failure> {
    if rounds == 0 {
        return Err(Failure::operation("number of iterations can't be 0"));
    }
    if size > DERIVED_MAX {
        return Err(Failure::operation(format!("at most {DERIVED_MAX} bytes can be derived")));
    }
    let mut derived = vec![0; size];
    with_hash!(hash, H => pbkdf2_hmac::<H>(password, salt, rounds, &mut derived));
    Ok(derived)
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 6070, the second vector; its first 8 bytes.
    #[test]
    fn it_derives_what_the_rfc_says() {
        let derived = pbkdf2(Hash::Sha1, b"password", b"salt", 2, 8).unwrap();
        assert_eq!(derived, [0xea, 0x6c, 0x01, 0x4d, 0xc7, 0x2d, 0x6f, 0x8c]);
        assert!(pbkdf2(Hash::Sha1, b"", b"", 0, 8).is_err());
        assert!(pbkdf2(Hash::Sha1, b"", b"", 1, DERIVED_MAX + 1).is_err());
    }
}
