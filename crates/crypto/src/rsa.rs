//! RSA: OAEP, PSS and PKCS #1 v1.5.
//!
//! How long the operations with a private key take, tells a little of the key (RUSTSEC-2023-0071): good enough for
//! tests' keys, not for a server that strangers ask.

mod oaep;

use rsa::pkcs8::{
    DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _, SubjectPublicKeyInfoRef,
};
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};

use crate::hash::with_hash;
use crate::jwk::{self, Exported, Members};
use crate::{Failure, Hash, Random};

/// The fewest bits of a key that is generated, as in Go.
pub const BITS_MIN: usize = 1024;

/// The most bits of a key.
pub const BITS_MAX: usize = 16_384;

const NOT_RSA: &str = "unable to import RSA public key data";

/// A private key; its public one can be told from it.
#[derive(Debug, Clone)]
pub struct PrivateKey(RsaPrivateKey);

/// A public key.
#[derive(Debug, Clone)]
pub struct PublicKey(RsaPublicKey);

/// How a message is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSA-PSS, with random bytes.
    Pss {
        /// `saltLength`.
        salt: usize,
    },
}

impl PrivateKey {
    /// A new one; takes a second or ten, if it is long. `exponent` is big-endian.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if there is none of `bits` bits, or with this exponent.
    pub fn generate(bits: usize, exponent: &[u8], random: &mut Random) -> Result<Self, Failure> {
        if !(BITS_MIN..=BITS_MAX).contains(&bits) {
            let message = format!(
                "could not generate RSA key pair: {bits} bits are not {BITS_MIN} to {BITS_MAX}"
            );
            return Err(Failure::operation(message));
        }
        let is_odd = exponent.last().is_some_and(|byte| byte & 1 == 1);
        let exponent = BigUint::from_bytes_be(exponent);
        // An even one has no inverse: the search would go on for ever.
        if exponent < BigUint::from(3_u8) || !is_odd || exponent.bits() > 33 {
            return Err(Failure::operation("could not generate RSA key pair: the public exponent"));
        }
        RsaPrivateKey::new_with_exp(random, bits, &exponent).map(Self).map_err(|error| {
            Failure::operation(format!("could not generate RSA key pair: {error}"))
        })
    }

    /// From PKCS #8.
    ///
    /// # Errors
    /// [`Name::Data`](crate::Name::Data) for anything but an RSA key.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, Failure> {
        RsaPrivateKey::from_pkcs8_der(der).map(Self).map_err(|error| {
            Failure::data(format!("unable to import RSA private key data: {error}"))
        })
    }

    /// From a JSON Web Key with a member `d`.
    ///
    /// # Errors
    /// [`Name::Data`](crate::Name::Data) for anything but an RSA key.
    pub fn from_jwk(members: Members<'_>) -> Result<Self, Failure> {
        check_jwk(members)?;
        let number = |name| jwk::decode(members, name).map(|bytes| BigUint::from_bytes_be(&bytes));
        let mut primes = Vec::new();
        if members("p").is_some() {
            primes = vec![number("p")?, number("q")?];
        }
        let (n, e, d) = (number("n")?, number("e")?, number("d")?);
        if n.bits() > BITS_MAX {
            return Err(Failure::data("invalid RSA JWK: the modulus is too long"));
        }
        let refused = |error: rsa::Error| Failure::data(format!("invalid RSA JWK: {error}"));
        let key = RsaPrivateKey::from_components(n, e, d, primes).map_err(refused)?;
        key.validate().map_err(refused)?;
        Ok(Self(key))
    }

    /// The bits of its modulus.
    pub fn bits(&self) -> usize {
        self.0.n().bits()
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.to_public_key())
    }

    /// As PKCS #8.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if the encoder refuses.
    pub fn to_pkcs8(&self) -> Result<Vec<u8>, Failure> {
        let made = self.0.to_pkcs8_der().map_err(|error| Failure::operation(error.to_string()))?;
        Ok(made.as_bytes().to_vec())
    }

    /// As a JSON Web Key.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if it has not two primes.
    pub fn to_jwk(&self) -> Result<Exported, Failure> {
        let parts = || {
            let [p, q] = self.0.primes() else { return None };
            Some((p, q, self.0.dp()?, self.0.dq()?, self.0.crt_coefficient()?))
        };
        let (p, q, dp, dq, qi) =
            parts().ok_or_else(|| Failure::operation("the key has not two primes"))?;
        let mut members = self.public().to_jwk();
        for (name, number) in
            [("d", self.0.d()), ("p", p), ("q", q), ("dp", dp), ("dq", dq), ("qi", &qi)]
        {
            members.push((name, jwk::encode(&number.to_bytes_be())));
        }
        Ok(members)
    }

    /// Signs.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if hash and salt do not fit into the key.
    pub fn sign(
        &self,
        scheme: Scheme,
        hash: Hash,
        message: &[u8],
        random: &mut Random,
    ) -> Result<Vec<u8>, Failure> {
        let digest = hash.digest(message);
        let signed = with_hash!(hash, H => match scheme {
            Scheme::Pkcs1 => {
                self.0.sign_with_rng(random, Pkcs1v15Sign::new::<H>(), &digest)
            }
            Scheme::Pss { salt } => {
                if salt > self.0.size() {
                    return Err(Failure::operation("could not sign data: the salt is too long for the key"));
                }
                self.0.sign_with_rng(random, Pss::new_with_salt::<H>(salt), &digest)
            }
        });
        signed.map_err(|error| Failure::operation(format!("could not sign data: {error}")))
    }

    /// RSA-OAEP, undone.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if it was not made with this key, hash and label.
    pub fn decrypt(&self, hash: Hash, label: &[u8], encrypted: &[u8]) -> Result<Vec<u8>, Failure> {
        oaep::decrypt(&self.0, hash, label, encrypted)
            .ok_or_else(|| Failure::operation("could not decrypt data"))
    }
}

impl PublicKey {
    /// From a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`Name::Data`](crate::Name::Data) for anything but an RSA key.
    pub fn from_spki(der: &[u8]) -> Result<Self, Failure> {
        let refused = |why: String| Failure::data(format!("{NOT_RSA}: {why}"));
        let info = SubjectPublicKeyInfoRef::try_from(der).map_err(|e| refused(e.to_string()))?;
        if info.algorithm.oid != rsa::pkcs1::ALGORITHM_OID {
            return Err(refused("its algorithm is another".to_owned()));
        }
        let bytes = info.subject_public_key.raw_bytes();
        let key = rsa::pkcs1::RsaPublicKey::try_from(bytes).map_err(|e| refused(e.to_string()))?;
        let number = |number: rsa::pkcs1::UintRef<'_>| BigUint::from_bytes_be(number.as_bytes());
        Self::new(number(key.modulus), number(key.public_exponent))
    }

    /// From a JSON Web Key.
    ///
    /// # Errors
    /// [`Name::Data`](crate::Name::Data) for anything but an RSA key.
    pub fn from_jwk(members: Members<'_>) -> Result<Self, Failure> {
        check_jwk(members)?;
        let number = |name| jwk::decode(members, name).map(|bytes| BigUint::from_bytes_be(&bytes));
        Self::new(number("n")?, number("e")?)
    }

    fn new(n: BigUint, e: BigUint) -> Result<Self, Failure> {
        RsaPublicKey::new_with_max_size(n, e, BITS_MAX)
            .map(Self)
            .map_err(|error| Failure::data(format!("{NOT_RSA}: {error}")))
    }

    /// The bits of its modulus.
    pub fn bits(&self) -> usize {
        self.0.n().bits()
    }

    /// The public exponent, big-endian.
    pub fn exponent(&self) -> Vec<u8> {
        self.0.e().to_bytes_be()
    }

    /// As a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if the encoder refuses.
    pub fn to_spki(&self) -> Result<Vec<u8>, Failure> {
        let made = self.0.to_public_key_der();
        made.map(|document| document.as_bytes().to_vec())
            .map_err(|error| Failure::operation(error.to_string()))
    }

    /// As a JSON Web Key.
    pub fn to_jwk(&self) -> Exported {
        vec![
            ("kty", "RSA".to_owned()),
            ("n", jwk::encode(&self.0.n().to_bytes_be())),
            ("e", jwk::encode(&self.0.e().to_bytes_be())),
        ]
    }

    /// Whether the signature is that of this message.
    pub fn verify(&self, scheme: Scheme, hash: Hash, signature: &[u8], message: &[u8]) -> bool {
        let digest = hash.digest(message);
        with_hash!(hash, H => match scheme {
            Scheme::Pkcs1 => self.0.verify(Pkcs1v15Sign::new::<H>(), &digest, signature).is_ok(),
            Scheme::Pss { salt } => {
                salt <= self.0.size()
                    && self.0.verify(Pss::new_with_salt::<H>(salt), &digest, signature).is_ok()
            }
        })
    }

    /// RSA-OAEP.
    ///
    /// # Errors
    /// [`Name::Operation`](crate::Name::Operation) if the message is too long for the key.
    pub fn encrypt(
        &self,
        hash: Hash,
        label: &[u8],
        plain: &[u8],
        random: &mut Random,
    ) -> Result<Vec<u8>, Failure> {
        oaep::encrypt(&self.0, hash, label, plain, random).ok_or_else(|| {
            Failure::operation("could not encrypt data: message too long for RSA key size")
        })
    }
}

fn check_jwk(members: Members<'_>) -> Result<(), Failure> {
    let kind = members("kty").unwrap_or_default();
    if kind == "RSA" {
        Ok(())
    } else {
        Err(Failure::data(format!("invalid RSA JWK: invalid key type: {kind}")))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static KEY: LazyLock<PrivateKey> =
        LazyLock::new(|| PrivateKey::generate(1024, &[1, 0, 1], &mut Random::System).unwrap());

    #[test]
    fn what_was_signed_is_known() {
        for scheme in [Scheme::Pkcs1, Scheme::Pss { salt: 0 }, Scheme::Pss { salt: 20 }] {
            for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha512] {
                let signature = KEY.sign(scheme, hash, b"words", &mut Random::System).unwrap();
                assert!(KEY.public().verify(scheme, hash, &signature, b"words"));
                assert!(!KEY.public().verify(scheme, hash, &signature, b"word"));
                assert!(!KEY.public().verify(scheme, hash, b"short", b"words"));
            }
        }
        assert!(
            KEY.sign(Scheme::Pss { salt: 300 }, Hash::Sha256, b"words", &mut Random::System)
                .is_err()
        );
        assert!(
            KEY.sign(Scheme::Pss { salt: usize::MAX }, Hash::Sha256, b"words", &mut Random::System)
                .is_err()
        );
    }

    #[test]
    fn what_was_encrypted_opens_with_key_hash_and_label_alone() {
        for label in [&b""[..], b"label", &[0xFF, 0xFE]] {
            let encrypted =
                KEY.public().encrypt(Hash::Sha256, label, b"words", &mut Random::System).unwrap();
            assert_eq!(encrypted.len(), 128);
            assert_eq!(KEY.decrypt(Hash::Sha256, label, &encrypted).unwrap(), b"words");
            assert!(KEY.decrypt(Hash::Sha256, b"other", &encrypted).is_err());
            assert!(KEY.decrypt(Hash::Sha1, label, &encrypted).is_err());
            assert!(KEY.decrypt(Hash::Sha256, label, &encrypted[1..]).is_err());
        }
        assert!(KEY.public().encrypt(Hash::Sha256, b"", &[0; 62], &mut Random::System).is_ok());
        assert!(KEY.public().encrypt(Hash::Sha256, b"", &[0; 63], &mut Random::System).is_err());
    }

    #[test]
    fn keys_survive_each_of_their_formats() {
        let public = KEY.public();
        let spki = public.to_spki().unwrap();
        assert_eq!(PublicKey::from_spki(&spki).unwrap().to_jwk(), public.to_jwk());
        let again = PrivateKey::from_pkcs8(&KEY.to_pkcs8().unwrap()).unwrap();
        assert_eq!(again.to_jwk().unwrap(), KEY.to_jwk().unwrap());
        let members = KEY.to_jwk().unwrap();
        let find = |name: &str| {
            members.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone())
        };
        assert_eq!(PrivateKey::from_jwk(&find).unwrap().to_jwk().unwrap(), members);
        // Without its primes it is found all the same.
        let without = |name: &str| if "pq".contains(name) { None } else { find(name) };
        assert!(PrivateKey::from_jwk(&without).is_ok());
        assert!(PrivateKey::from_jwk(&|_| None).is_err());
        assert!(PrivateKey::from_pkcs8(b"junk").is_err());
        assert!(PublicKey::from_spki(b"junk").is_err());
    }

    #[test]
    fn keys_that_cannot_be_are_not_sought() {
        assert!(PrivateKey::generate(512, &[1, 0, 1], &mut Random::System).is_err());
        assert!(PrivateKey::generate(1 << 20, &[1, 0, 1], &mut Random::System).is_err());
        assert!(PrivateKey::generate(1024, &[2], &mut Random::System).is_err());
        assert!(PrivateKey::generate(1024, &[], &mut Random::System).is_err());
        assert!(PrivateKey::generate(1024, &[1; 9], &mut Random::System).is_err());
    }
}
