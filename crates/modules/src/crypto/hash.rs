//! Hash algorithms behind one face.

use hmac::digest::Digest;
use hmac::{Mac, SimpleHmac};

/// The hashes that k6 knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Md4,
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
    Ripemd160,
}

/// A hash or HMAC in the making.
pub(crate) trait Hashing {
    /// More input.
    fn update(&mut self, bytes: &[u8]);
    /// The digest of the input so far; more may follow.
    fn digest(&self) -> Vec<u8>;
}

struct Plain<D>(D);

impl<D: Digest + Clone> Hashing for Plain<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().to_vec()
    }
}

struct Keyed<M>(M);

impl<M: Mac + Clone> Hashing for Keyed<M> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }
}

/// Does `$make` with the type of the algorithm in the place of `$hash`.
macro_rules! with_hash {
    ($algorithm:expr, $hash:ident => $make:expr) => {
        match $algorithm {
            Algorithm::Md4 => {
                type $hash = md4::Md4;
                $make
            }
            Algorithm::Md5 => {
                type $hash = md5::Md5;
                $make
            }
            Algorithm::Sha1 => {
                type $hash = sha1::Sha1;
                $make
            }
            Algorithm::Sha256 => {
                type $hash = sha2::Sha256;
                $make
            }
            Algorithm::Sha384 => {
                type $hash = sha2::Sha384;
                $make
            }
            Algorithm::Sha512 => {
                type $hash = sha2::Sha512;
                $make
            }
            Algorithm::Sha512_224 => {
                type $hash = sha2::Sha512_224;
                $make
            }
            Algorithm::Sha512_256 => {
                type $hash = sha2::Sha512_256;
                $make
            }
            Algorithm::Ripemd160 => {
                type $hash = ripemd::Ripemd160;
                $make
            }
        }
    };
}

impl Algorithm {
    const ALL: [Self; 9] = [
        Self::Md4,
        Self::Md5,
        Self::Sha1,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Ripemd160,
    ];

    /// The algorithm that k6 calls so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Its name in k6.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Md4 => "md4",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
            Self::Sha512_224 => "sha512_224",
            Self::Sha512_256 => "sha512_256",
            Self::Ripemd160 => "ripemd160",
        }
    }

    /// A hash of nothing yet.
    pub(crate) fn hash(self) -> Box<dyn Hashing> {
        with_hash!(self, Hash => Box::new(Plain(Hash::new())))
    }

    /// An HMAC of nothing yet. Keys may have any length.
    pub(crate) fn hmac(self, key: &[u8]) -> Box<dyn Hashing> {
        with_hash!(self, Hash => {
            let made = SimpleHmac::<Hash>::new_from_slice(key);
            Box::new(Keyed(made.expect("an HMAC takes keys of any length")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The digests of nothing, from the algorithms' own publications.
    #[test]
    fn each_name_is_its_own_algorithm() {
        let empty = [
            ("md4", "31d6cfe0"),
            ("md5", "d41d8cd9"),
            ("sha1", "da39a3ee"),
            ("sha256", "e3b0c442"),
            ("sha384", "38b060a7"),
            ("sha512", "cf83e135"),
            ("sha512_224", "6ed0dd02"),
            ("sha512_256", "c672b8d1"),
            ("ripemd160", "9c1185a5"),
        ];
        for (name, start) in empty {
            let digest = Algorithm::named(name).unwrap().hash().digest();
            assert!(super::super::hex(&digest).starts_with(start), "{name}");
        }
    }
}
