//! `deriveBits` and `deriveKey`.

use brunt_crypto::{Failure, Name as ErrorName, derive};
use brunt_quickjs::{Ctx, Value};

use super::algorithm::{self, Algorithm, parameter};
use super::generate::{aes_size, hmac_size};
use super::key::{CryptoKey, Material, not_empty, not_for_this, usages};
use super::work::{Outcome, Trouble, Work};

const DERIVING: &[Algorithm] = &[Algorithm::Ecdh, Algorithm::Pbkdf2];

const KEYS: &[Algorithm] =
    &[Algorithm::AesCbc, Algorithm::AesCtr, Algorithm::AesGcm, Algorithm::Hmac];

/// From this number of rounds on, a password is hashed elsewhere, all blocks together: the other VUs of the core must
/// not wait.
const HEAVY_ROUNDS: u32 = 5_000;

fn operation(message: &str) -> Failure {
    Failure::new(ErrorName::Operation, message)
}

pub(super) fn bits<'js>(
    given: &Value<'js>,
    base: &Value<'js>,
    length: &Value<'js>,
) -> Result<Work<'js>, Trouble> {
    let algorithm = Algorithm::read(given, "deriveBits", DERIVING)?;
    let base = CryptoKey::of(base, "")?;
    base.check(algorithm, "deriveBits", "")?;
    let bits = if length.is_nullish() { 0.0 } else { length.to_number()? };
    let bits = bits.clamp(0.0, f64::from(u32::MAX)) as usize;
    if bits == 0 {
        return Err(operation("length can not be 0").into());
    }
    if !bits.is_multiple_of(8) {
        return Err(operation("currently only multiples of 8 are supported for length").into());
    }
    derived(algorithm, given, base, bits / 8, |ctx, bytes| Ok(ctx.array_buffer(bytes)?))
}

pub(super) fn key<'js>(
    given: &Value<'js>,
    base: &Value<'js>,
    wanted: &Value<'js>,
    extractable: bool,
    for_what: &Value<'js>,
) -> Result<Work<'js>, Trouble> {
    let algorithm = Algorithm::read(given, "deriveKey", DERIVING)?;
    let base = CryptoKey::of(base, "")?;
    base.check(algorithm, "deriveKey", "")?;
    let kind = Algorithm::read(wanted, "getKeyLength", KEYS)?;
    let (size, hash) = if kind.is_aes() {
        (aes_size(wanted)?, None)
    } else {
        let hash = algorithm::hash(wanted, "getKeyLength")?;
        (hmac_size(wanted, hash)?, Some(hash))
    };
    let usages = usages(kind, for_what)?;
    not_empty(&usages)?;
    derived(algorithm, given, base, size, move |ctx, bytes| {
        let material = Material::Secret(bytes);
        Ok(CryptoKey { algorithm: kind, hash, material, extractable, usages }.into_object(ctx)?)
    })
}

fn derived<'js>(
    algorithm: Algorithm,
    given: &Value<'js>,
    base: &CryptoKey,
    size: usize,
    then: impl for<'a> FnOnce(Ctx<'a>, Vec<u8>) -> Outcome<'a> + 'static,
) -> Result<Work<'js>, Trouble> {
    let ctx = given.ctx();
    if algorithm == Algorithm::Ecdh {
        let mut secret = shared_secret(given, base)?;
        if size > secret.len() {
            return Err(operation("length is too large").into());
        }
        secret.truncate(size);
        return then(ctx, secret).map(Work::Done);
    }
    let salt = algorithm::octets(&field(given, "salt")?)?;
    let rounds = field(given, "iterations")?.to_number()?.clamp(0.0, f64::from(u32::MAX)) as u32;
    let hash = algorithm::hash(given, "deriveBits")?;
    let password = base.secret()?.to_vec();
    let derive = move || derive::pbkdf2(hash, &password, &salt, rounds, size);
    // A digest has 20 bytes or more, and each block takes all rounds.
    let blocks = u32::try_from(size.div_ceil(20)).unwrap_or(u32::MAX);
    if rounds.saturating_mul(blocks) < HEAVY_ROUNDS {
        return then(ctx, derive()?).map(Work::Done);
    }
    Ok(Work::heavy(base.secret()?.len(), derive, then))
}

/// A member that must be there.
fn field<'js>(given: &Value<'js>, name: &str) -> Result<Value<'js>, Trouble> {
    parameter(given, name)?.ok_or_else(|| {
        let message = format!("field {name} is null or undefined");
        Failure::new(ErrorName::Type, message).into()
    })
}

fn shared_secret(given: &Value<'_>, base: &CryptoKey) -> Result<Vec<u8>, Trouble> {
    let Some(theirs) = parameter(given, "public")? else {
        let message = "algorithm does not contain a public key";
        return Err(Failure::new(ErrorName::Type, message).into());
    };
    let theirs = CryptoKey::of(&theirs, "public ")?;
    let refused = |message: String| Err(Failure::new(ErrorName::InvalidAccess, message).into());
    let Material::CurvePublic(point) = &theirs.material else {
        return refused("algorithm's public key is not a public key".to_owned());
    };
    if theirs.algorithm != base.algorithm {
        return refused(format!(
            "algorithm name does not match public key's algorithm name: {} != {}",
            base.algorithm.name(),
            theirs.algorithm.name()
        ));
    }
    let Material::CurvePrivate(own) = &base.material else { return Err(not_for_this().into()) };
    Ok(own.agree(point)?)
}
