//! `generateKey`.

use std::sync::Arc;

use brunt_crypto::curve;
use brunt_crypto::{Failure, Hash, Name as ErrorName, rsa};
use brunt_quickjs::{Ctx, Name, Value};

use super::algorithm::{self, Algorithm, parameter};
use super::key::{CryptoKey, INNER_OF_PAIR, Material, not_empty, usages};
use super::work::{Outcome, Trouble, Work};
use crate::crypto::{self, fill_random};

static PRIVATE_KEY: Name = Name::new("privateKey");
static PUBLIC_KEY: Name = Name::new("publicKey");

/// The bytes of an HMAC key at most.
const HMAC_MAX: usize = 1 << 20;

/// A key, or a pair of them.
pub(super) fn generate<'js>(
    ctx: Ctx<'js>,
    given: &Value<'js>,
    extractable: bool,
    wanted: &Value<'js>,
) -> Result<Work<'js>, Trouble> {
    let algorithm = Algorithm::read(given, "generateKey", GENERATED)?;
    match algorithm {
        Algorithm::Hmac => {
            let hash = algorithm::hash(given, "generateKey")?;
            let size = hmac_size(given, hash)?;
            let usages = usages(algorithm, wanted)?;
            not_empty(&usages)?;
            let material = Material::Secret(random(ctx, size)?);
            secret(ctx, CryptoKey { algorithm, hash: Some(hash), material, extractable, usages })
        }
        Algorithm::Ecdsa | Algorithm::Ecdh => {
            let curve = algorithm::curve(given)?;
            let usages = generated(algorithm, wanted)?;
            of_pair(&usages)?;
            let key = curve::PrivateKey::generate(curve, &mut crypto::random(ctx));
            let public = Material::CurvePublic(key.public());
            let pair = Pair { algorithm, hash: None, extractable, usages };
            pair.into_object(ctx, Material::CurvePrivate(key), public).map(Work::Done)
        }
        Algorithm::RsaOaep | Algorithm::RsaPss | Algorithm::RsaPkcs1 => {
            let bits = algorithm::count(given, "modulusLength")?;
            let exponent = algorithm::bytes(given, "publicExponent")?;
            let hash = algorithm::hash(given, "generateKey")?;
            let usages = usages(algorithm, wanted)?;
            of_pair(&usages)?;
            let pair = Pair { algorithm, hash: Some(hash), extractable, usages };
            let mut random = crypto::random(ctx);
            Ok(Work::heavy(
                0,
                move || rsa::PrivateKey::generate(bits, &exponent, &mut random),
                move |ctx, key| {
                    let public = Material::RsaPublic(key.public());
                    pair.into_object(ctx, Material::RsaPrivate(Arc::new(key)), public)
                },
            ))
        }
        _ => {
            parameter(given, "length")?.ok_or_else(|| algorithm::missing("length"))?;
            let size = aes_size(given)?;
            let usages = generated(algorithm, wanted)?;
            // Here k6 knows that such keys wrap and do nothing else.
            if algorithm == Algorithm::AesKw
                && usages.iter().any(|usage| !usage.ends_with("rapKey"))
            {
                return Err(Failure::new(ErrorName::Syntax, "invalid key usage").into());
            }
            not_empty(&usages)?;
            let material = Material::Secret(random(ctx, size)?);
            secret(ctx, CryptoKey { algorithm, hash: None, material, extractable, usages })
        }
    }
}

/// The usages of a new key of AES or of a curve, of which k6 doesn't say which is wrong.
fn generated(algorithm: Algorithm, wanted: &Value<'_>) -> Result<Vec<&'static str>, Trouble> {
    usages(algorithm, wanted).map_err(|trouble| match trouble {
        Trouble::Failure(failure) if failure.name == ErrorName::Syntax => {
            Failure::new(ErrorName::Syntax, "invalid key usage").into()
        }
        other => other,
    })
}

/// Refuses a pair of keys that is for nothing.
fn of_pair(usages: &[&str]) -> Result<(), Failure> {
    if usages.is_empty() {
        return Err(Failure::new(ErrorName::Syntax, "key usages cannot be empty"));
    }
    Ok(())
}

/// All but PBKDF2, whose keys are passwords.
const GENERATED: &[Algorithm] = &[
    Algorithm::AesCbc,
    Algorithm::AesCtr,
    Algorithm::AesGcm,
    Algorithm::AesKw,
    Algorithm::Hmac,
    Algorithm::Ecdsa,
    Algorithm::Ecdh,
    Algorithm::RsaOaep,
    Algorithm::RsaPss,
    Algorithm::RsaPkcs1,
];

fn secret(ctx: Ctx<'_>, key: CryptoKey) -> Result<Work<'_>, Trouble> {
    Ok(Work::Done(key.into_object(ctx)?))
}

fn random(ctx: Ctx<'_>, size: usize) -> Result<Vec<u8>, Trouble> {
    let mut bytes = vec![0; size];
    fill_random(ctx, &mut bytes)?;
    Ok(bytes)
}

/// The bytes of an AES key, told in bits.
pub(super) fn aes_size(given: &Value<'_>) -> Result<usize, Trouble> {
    let bits = parameter(given, "length")?.map_or(Ok(0.0), |bits| bits.to_number())?;
    match bits as u32 {
        bits @ (128 | 192 | 256) => Ok(bits as usize / 8),
        _ => Err(Failure::new(ErrorName::Operation, "invalid key length").into()),
    }
}

/// The bytes of an HMAC key, told in bits; the hash's own size if nothing is told.
pub(super) fn hmac_size(given: &Value<'_>, hash: Hash) -> Result<usize, Trouble> {
    let Some(bits) = parameter(given, "length")? else { return Ok(hash.block_size()) };
    let bits = bits.to_number()?;
    if bits.is_nan() || bits < 1.0 {
        let message = "algorithm's length cannot be 0";
        return Err(Failure::new(ErrorName::Operation, message).into());
    }
    let size = (bits / 8.0) as usize;
    if size > HMAC_MAX {
        return Err(Failure::new(ErrorName::Operation, "algorithm's length is too large").into());
    }
    Ok(size)
}

/// Two keys that belong together.
struct Pair {
    algorithm: Algorithm,
    hash: Option<Hash>,
    extractable: bool,
    usages: Vec<&'static str>,
}

impl Pair {
    /// The private one does what only its owner may, the public one the rest and is no secret.
    fn into_object(self, ctx: Ctx<'_>, private: Material, public: Material) -> Outcome<'_> {
        let (algorithm, hash) = (self.algorithm, self.hash);
        let (theirs, own): (Vec<_>, Vec<_>) = self
            .usages
            .into_iter()
            .partition(|usage| matches!(*usage, "verify" | "encrypt" | "wrapKey"));
        let private = CryptoKey {
            algorithm,
            hash,
            material: private,
            extractable: self.extractable,
            usages: own,
        };
        let public =
            CryptoKey { algorithm, hash, material: public, extractable: true, usages: theirs };
        let pair = ctx.object_from([
            (&PRIVATE_KEY, private.into_object(ctx)?),
            (&PUBLIC_KEY, public.into_object(ctx)?),
        ])?;
        pair.define_members(&INNER_OF_PAIR)?;
        Ok(pair)
    }
}
