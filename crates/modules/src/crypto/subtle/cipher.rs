//! `encrypt` and `decrypt`.

use std::sync::Arc;

use brunt_crypto::{Failure, Name as ErrorName, aes};
use brunt_quickjs::{Ctx, Value};

use super::algorithm::{self, Algorithm, buffer, bytes_or_none, parameter};
use super::key::{CryptoKey, Material, not_for_this};
use super::work::{Trouble, Work};
use crate::crypto;

const CIPHERS: &[Algorithm] =
    &[Algorithm::AesCbc, Algorithm::AesCtr, Algorithm::AesGcm, Algorithm::RsaOaep];

/// The direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Encrypt,
    Decrypt,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }
}

pub(super) fn run<'js>(
    ctx: Ctx<'js>,
    way: Way,
    given: &Value<'js>,
    key: &Value<'js>,
    data: &Value<'js>,
) -> Result<Work<'js>, Trouble> {
    let algorithm = Algorithm::read(given, way.name(), CIPHERS)?;
    let who = format!("{}'s ", way.name());
    let key = CryptoKey::of(key, &who)?;
    key.check(algorithm, way.name(), &who)?;
    let data = buffer(data)?;
    let made = match algorithm {
        Algorithm::AesCbc => {
            let iv = bytes_or_none(given, "iv")?;
            match way {
                Way::Encrypt => aes::cbc_encrypt(key.secret()?, &iv, &data)?,
                Way::Decrypt => aes::cbc_decrypt(key.secret()?, &iv, &data)?,
            }
        }
        Algorithm::AesCtr => {
            let counter = bytes_or_none(given, "counter")?;
            if counter.len() == aes::BLOCK {
                counter_bits(given)?;
            }
            aes::ctr(key.secret()?, &counter, &data)?
        }
        Algorithm::AesGcm => {
            let iv = bytes_or_none(given, "iv")?;
            let more = bytes_or_none(given, "additionalData")?;
            let tag = tag_size(given)?;
            match way {
                Way::Encrypt => aes::gcm_encrypt(key.secret()?, &iv, &more, tag, &data)?,
                Way::Decrypt => aes::gcm_decrypt(key.secret()?, &iv, &more, tag, &data)?,
            }
        }
        _ => {
            let label = bytes_or_none(given, "label")?;
            match (way, &key.material) {
                (Way::Encrypt, Material::RsaPublic(rsa)) => {
                    rsa.encrypt(key.hash()?, &label, &data, &mut crypto::random(ctx))?
                }
                (Way::Decrypt, Material::RsaPrivate(rsa)) => {
                    let (private, hash) = (Arc::clone(rsa), key.hash()?);
                    return Ok(Work::heavy(
                        data.len(),
                        move || private.decrypt(hash, &label, &data),
                        |ctx, made| Ok(ctx.array_buffer(made)?),
                    ));
                }
                _ => return Err(not_for_this().into()),
            }
        }
    };
    Ok(Work::Done(ctx.array_buffer(made)?))
}

/// k6 wants `length` to be there and counts with all bits all the same.
fn counter_bits(given: &Value<'_>) -> Result<(), Trouble> {
    let bits = parameter(given, "length")?.map_or(Ok(0.0), |bits| bits.to_number())?;
    if (1.0..=128.0).contains(&bits) {
        return Ok(());
    }
    let message = "invalid counter length, out of the 0 < x < 128 bounds";
    Err(Failure::new(ErrorName::Operation, message).into())
}

/// The bytes of GCM's tag, told in bits.
fn tag_size(given: &Value<'_>) -> Result<usize, Trouble> {
    if parameter(given, "tagLength")?.is_none() {
        return Ok(16);
    }
    let bits = algorithm::count(given, "tagLength")?;
    let is_negative = parameter(given, "tagLength")?.map(|bits| bits.to_number()).transpose()?;
    match bits {
        0 if is_negative.is_some_and(|bits| bits < 0.0) => return Ok(0),
        0 => return Ok(16),
        32 | 64 => {
            let message = "tag length 32 and 64 are not supported";
            return Err(Failure::new(ErrorName::NotSupported, message).into());
        }
        _ => {}
    }
    // GCM has no tag with a part of a byte.
    Ok(if bits.is_multiple_of(8) { bits / 8 } else { 0 })
}
