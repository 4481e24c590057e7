//! The hashes of the Web Cryptography API.

use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// A hash algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// SHA-1, for what is old.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// Does `$make` with the type of the algorithm in the place of `$type`.
macro_rules! with_hash {
    ($hash:expr, $type:ident => $make:expr) => {
        match $hash {
            $crate::Hash::Sha1 => {
                type $type = sha1::Sha1;
                $make
            }
            $crate::Hash::Sha256 => {
                type $type = sha2::Sha256;
                $make
            }
            $crate::Hash::Sha384 => {
                type $type = sha2::Sha384;
                $make
            }
            $crate::Hash::Sha512 => {
                type $type = sha2::Sha512;
                $make
            }
        }
    };
}
pub(crate) use with_hash;

impl Hash {
    /// The algorithm of a name, in capital or small letters; `SHA1` will do for `SHA-1`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "SHA-1" | "SHA1" => Self::Sha1,
            "SHA-256" => Self::Sha256,
            "SHA-384" => Self::Sha384,
            "SHA-512" => Self::Sha512,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        }
    }

    /// The bytes that it works on at once: the default length of an HMAC key.
    pub fn block_size(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 => 128,
        }
    }

    /// The digest.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_k6_reads_them() {
        assert_eq!(Hash::named("sha-256"), Some(Hash::Sha256));
        assert_eq!(Hash::named("SHA1"), Some(Hash::Sha1));
        assert_eq!(Hash::named("SHA256"), None);
        for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            assert_eq!(Hash::named(hash.name()), Some(hash));
            assert!(hash.digest(b"").len() < hash.block_size());
        }
    }
}
