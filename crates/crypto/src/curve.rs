//! Elliptic curves: ECDSA and ECDH on P-256, P-384 and P-521.

use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use p256::elliptic_curve::ecdh::diffie_hellman;
use p256::elliptic_curve::sec1::ToEncodedPoint as _;
use p256::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};

use crate::jwk::{self, Exported, Members};
use crate::{Failure, Hash, Name, Random};

/// A curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// NIST's P-256.
    P256,
    /// NIST's P-384.
    P384,
    /// NIST's P-521.
    P521,
}

impl Curve {
    /// The curve of a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::P256, Self::P384, Self::P521].into_iter().find(|curve| curve.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// The bytes of a coordinate.
    fn size(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

/// A private key; its public one can be told from it.
#[derive(Clone)]
pub enum PrivateKey {
    /// Of P-256.
    P256(p256::SecretKey),
    /// Of P-384.
    P384(p384::SecretKey),
    /// Of P-521.
    P521(p521::SecretKey),
}

/// A public key: a point of its curve.
#[derive(Clone)]
pub enum PublicKey {
    /// Of P-256.
    P256(p256::PublicKey),
    /// Of P-384.
    P384(p384::PublicKey),
    /// Of P-521.
    P521(p521::PublicKey),
}

/// Does `$make` with the crate of the key's curve in the place of `$nist`.
macro_rules! with_key {
    ($type:ident, $key:expr, $it:ident, $nist:ident => $make:expr) => {
        match $key {
            $type::P256($it) => {
                #[allow(
                    unused_imports,
                    reason = "not every expression names the crate of its curve"
                )]
                use p256 as $nist;
                $make
            }
            $type::P384($it) => {
                #[allow(
                    unused_imports,
                    reason = "not every expression names the crate of its curve"
                )]
                use p384 as $nist;
                $make
            }
            $type::P521($it) => {
                #[allow(
                    unused_imports,
                    reason = "not every expression names the crate of its curve"
                )]
                use p521 as $nist;
                $make
            }
        }
    };
}

/// Makes a key of `$type` by an expression that is the same on all curves.
macro_rules! on_curve {
    ($type:ident, $curve:expr, $nist:ident => $make:expr) => {
        match $curve {
            Curve::P256 => {
                use p256 as $nist;
                $type::P256($make)
            }
            Curve::P384 => {
                use p384 as $nist;
                $type::P384($make)
            }
            Curve::P521 => {
                use p521 as $nist;
                $type::P521($make)
            }
        }
    };
}

/// A hash as long as ECDSA wants it at least, half a coordinate: a short one is the same number with zeros before it.
fn prehash(curve: Curve, hash: Hash, message: &[u8]) -> Vec<u8> {
    let digest = hash.digest(message);
    let mut padded = vec![0; curve.size().div_ceil(2).saturating_sub(digest.len())];
    padded.extend_from_slice(&digest);
    padded
}

impl PrivateKey {
    /// A new one.
    pub fn generate(curve: Curve, random: &mut Random) -> Self {
        on_curve!(PrivateKey, curve, nist => nist::SecretKey::random(random))
    }

    /// From PKCS #8.
    ///
    /// # Errors
    /// [`Name::Data`] if it is none of this curve.
    pub fn from_pkcs8(curve: Curve, der: &[u8]) -> Result<Self, Failure> {
        let refused = |error: p256::pkcs8::Error| {
            Failure::data(format!("unable to import EC private key data: {error}"))
        };
        Ok(
            on_curve!(PrivateKey, curve, nist => nist::SecretKey::from_pkcs8_der(der).map_err(refused)?),
        )
    }

    /// From a JSON Web Key with a member `d`.
    ///
    /// # Errors
    /// [`Name::Data`] if it is none of this curve.
    pub fn from_jwk(curve: Curve, members: Members<'_>) -> Result<Self, Failure> {
        check_jwk(curve, members)?;
        let scalar = padded(curve, &jwk::decode(members, "d")?)?;
        let refused = |_| Failure::data("invalid EC JWK key: d is not a private key of the curve");
        let key = on_curve!(PrivateKey, curve, nist => nist::SecretKey::from_slice(&scalar).map_err(refused)?);
        let point = PublicKey::from_jwk(curve, members)?;
        if point.to_raw() != key.public().to_raw() {
            return Err(Failure::data("invalid EC JWK key: d does not belong to x and y"));
        }
        Ok(key)
    }

    /// Its curve.
    pub fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
        }
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        match self {
            Self::P256(key) => PublicKey::P256(key.public_key()),
            Self::P384(key) => PublicKey::P384(key.public_key()),
            Self::P521(key) => PublicKey::P521(key.public_key()),
        }
    }

    /// As PKCS #8, the public key in it.
    ///
    /// # Errors
    /// [`Name::Operation`] if the encoder refuses.
    pub fn to_pkcs8(&self) -> Result<Vec<u8>, Failure> {
        let made = with_key!(PrivateKey, self, key, nist => key.to_pkcs8_der());
        made.map(|document| document.as_bytes().to_vec())
            .map_err(|error| Failure::operation(error.to_string()))
    }

    /// As a JSON Web Key.
    pub fn to_jwk(&self) -> Exported {
        let mut members = self.public().to_jwk();
        let scalar = with_key!(PrivateKey, self, key, nist => jwk::encode(&key.to_bytes()));
        members.push(("d", scalar));
        members
    }

    /// ECDSA: the signature as two numbers of the coordinates' length, one after the other.
    ///
    /// # Errors
    /// [`Name::Operation`] if it cannot be done.
    pub fn sign(&self, hash: Hash, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let digest = prehash(self.curve(), hash, message);
        let failed = |error: p256::ecdsa::Error| Failure::operation(error.to_string());
        with_key!(PrivateKey, self, key, nist => {
            let key = nist::ecdsa::SigningKey::from_slice(&key.to_bytes()).map_err(failed)?;
            let signature: nist::ecdsa::Signature = key.sign_prehash(&digest).map_err(failed)?;
            Ok(signature.to_bytes().to_vec())
        })
    }

    /// ECDH: the secret that this key shares with another's public one.
    ///
    /// # Errors
    /// [`Name::InvalidAccess`] if that is of another curve.
    pub fn agree(&self, with: &PublicKey) -> Result<Vec<u8>, Failure> {
        macro_rules! shared {
            ($own:expr, $other:expr) => {
                diffie_hellman($own.to_nonzero_scalar(), $other.as_affine())
                    .raw_secret_bytes()
                    .to_vec()
            };
        }
        Ok(match (self, with) {
            (Self::P256(own), PublicKey::P256(other)) => shared!(own, other),
            (Self::P384(own), PublicKey::P384(other)) => shared!(own, other),
            (Self::P521(own), PublicKey::P521(other)) => shared!(own, other),
            _ => {
                let message = "the keys are of different curves";
                return Err(Failure::new(Name::InvalidAccess, message));
            }
        })
    }
}

impl PublicKey {
    /// From the point, uncompressed (a 4 and two coordinates) or compressed.
    ///
    /// # Errors
    /// [`Name::Data`] if it is no point of this curve.
    pub fn from_raw(curve: Curve, bytes: &[u8]) -> Result<Self, Failure> {
        let refused = |_| Failure::data("unable to import EC public key data");
        Ok(
            on_curve!(PublicKey, curve, nist => nist::PublicKey::from_sec1_bytes(bytes).map_err(refused)?),
        )
    }

    /// From a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`Name::Data`] if it is none of this curve.
    pub fn from_spki(curve: Curve, der: &[u8]) -> Result<Self, Failure> {
        let refused = |error: p256::pkcs8::spki::Error| {
            Failure::data(format!("unable to import EC public key data: {error}"))
        };
        Ok(
            on_curve!(PublicKey, curve, nist => nist::PublicKey::from_public_key_der(der).map_err(refused)?),
        )
    }

    /// From a JSON Web Key; a member `d` is not looked at.
    ///
    /// # Errors
    /// [`Name::Data`] if it is none of this curve.
    pub fn from_jwk(curve: Curve, members: Members<'_>) -> Result<Self, Failure> {
        check_jwk(curve, members)?;
        let mut point = vec![4];
        for coordinate in ["x", "y"] {
            point.extend(padded(curve, &jwk::decode(members, coordinate)?)?);
        }
        Self::from_raw(curve, &point)
    }

    /// Its curve.
    pub fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
        }
    }

    /// As an uncompressed point.
    pub fn to_raw(&self) -> Vec<u8> {
        with_key!(PublicKey, self, key, nist => key.to_encoded_point(false).as_bytes().to_vec())
    }

    /// As a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`Name::Operation`] if the encoder refuses.
    pub fn to_spki(&self) -> Result<Vec<u8>, Failure> {
        let made = with_key!(PublicKey, self, key, nist => key.to_public_key_der());
        made.map(|document| document.as_bytes().to_vec())
            .map_err(|error| Failure::operation(error.to_string()))
    }

    /// As a JSON Web Key.
    pub fn to_jwk(&self) -> Exported {
        let (point, size) = (self.to_raw(), self.curve().size());
        let (x, y) = point[1..].split_at(size);
        vec![
            ("kty", "EC".to_owned()),
            ("crv", self.curve().name().to_owned()),
            ("x", jwk::encode(x)),
            ("y", jwk::encode(y)),
        ]
    }

    /// ECDSA: whether the signature is that of this message; one of another length is not.
    pub fn verify(&self, hash: Hash, signature: &[u8], message: &[u8]) -> bool {
        let digest = prehash(self.curve(), hash, message);
        let point = self.to_raw();
        with_key!(PublicKey, self, _key, nist => {
            let Ok(signature) = nist::ecdsa::Signature::from_slice(signature) else { return false };
            let Ok(key) = nist::ecdsa::VerifyingKey::from_sec1_bytes(&point) else { return false };
            key.verify_prehash(&digest, &signature).is_ok()
        })
    }
}

fn check_jwk(curve: Curve, members: Members<'_>) -> Result<(), Failure> {
    let kind = members("kty").unwrap_or_default();
    if kind != "EC" {
        return Err(Failure::data(format!("invalid EC JWK key: invalid key type: {kind}")));
    }
    let named = members("crv").unwrap_or_default();
    if named != curve.name() {
        let message = format!("invalid EC JWK key: its curve is {named:?}, not {}", curve.name());
        return Err(Failure::data(message));
    }
    Ok(())
}

/// A number in the coordinates' length: some encoders leave out zeros in front.
fn padded(curve: Curve, number: &[u8]) -> Result<Vec<u8>, Failure> {
    let missing = curve.size().checked_sub(number.len());
    let missing =
        missing.ok_or_else(|| Failure::data("invalid EC JWK key: a number is too long"))?;
    let mut all = vec![0; missing];
    all.extend_from_slice(number);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVES: [Curve; 3] = [Curve::P256, Curve::P384, Curve::P521];

    #[test]
    fn what_was_signed_is_known_with_every_hash() {
        for curve in CURVES {
            let (key, other) = (
                PrivateKey::generate(curve, &mut Random::System),
                PrivateKey::generate(curve, &mut Random::System),
            );
            for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
                let signature = key.sign(hash, b"words").unwrap();
                assert_eq!(signature.len(), 2 * curve.size());
                assert!(key.public().verify(hash, &signature, b"words"), "{curve:?} {hash:?}");
                assert!(!key.public().verify(hash, &signature, b"other words"));
                assert!(!other.public().verify(hash, &signature, b"words"));
                assert!(!key.public().verify(hash, &signature[1..], b"words"));
            }
        }
    }

    #[test]
    fn keys_survive_each_of_their_formats() {
        for curve in CURVES {
            let key = PrivateKey::generate(curve, &mut Random::System);
            let point = key.public().to_raw();
            let again = PrivateKey::from_pkcs8(curve, &key.to_pkcs8().unwrap()).unwrap();
            assert_eq!(again.public().to_raw(), point);
            let members = key.to_jwk();
            let find = |name: &str| {
                members.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone())
            };
            let again = PrivateKey::from_jwk(curve, &find).unwrap();
            assert_eq!(again.public().to_raw(), point);
            let spki = key.public().to_spki().unwrap();
            assert_eq!(PublicKey::from_spki(curve, &spki).unwrap().to_raw(), point);
            assert_eq!(PublicKey::from_raw(curve, &point).unwrap().to_raw(), point);
        }
    }

    #[test]
    fn two_keys_agree_on_a_secret_and_curves_do_not_mix() {
        for curve in CURVES {
            let (a, b) = (
                PrivateKey::generate(curve, &mut Random::System),
                PrivateKey::generate(curve, &mut Random::System),
            );
            let secret = a.agree(&b.public()).unwrap();
            assert_eq!(secret, b.agree(&a.public()).unwrap());
            assert_eq!(secret.len(), curve.size());
        }
        let other = PrivateKey::generate(Curve::P384, &mut Random::System).public();
        assert!(PrivateKey::generate(Curve::P256, &mut Random::System).agree(&other).is_err());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for curve in CURVES {
            assert!(PublicKey::from_raw(curve, &[4; 65]).is_err());
            assert!(PublicKey::from_raw(curve, &[]).is_err());
            assert!(PublicKey::from_spki(curve, b"junk").is_err());
            assert!(PrivateKey::from_pkcs8(curve, b"junk").is_err());
            assert!(PublicKey::from_jwk(curve, &|_| None).is_err());
            assert!(
                PrivateKey::from_jwk(curve, &|name| Some(match name {
                    "kty" => "EC".to_owned(),
                    "crv" => curve.name().to_owned(),
                    _ => "AAAA".to_owned(),
                }))
                .is_err()
            );
        }
        let spki =
            PrivateKey::generate(Curve::P256, &mut Random::System).public().to_spki().unwrap();
        assert!(PublicKey::from_spki(Curve::P384, &spki).is_err());
    }
}
