//! `sign` and `verify`.

use std::sync::Arc;

use brunt_crypto::{mac, rsa};
use brunt_quickjs::{Ctx, Value};

use super::algorithm::{self, Algorithm, buffer};
use super::key::{CryptoKey, Material, not_for_this};
use super::work::{Outcome, Trouble, Work};
use crate::crypto;

const SIGNATURES: &[Algorithm] =
    &[Algorithm::Hmac, Algorithm::Ecdsa, Algorithm::RsaPss, Algorithm::RsaPkcs1];

pub(super) fn sign<'js>(
    ctx: Ctx<'js>,
    given: &Value<'js>,
    key: &Value<'js>,
    data: &Value<'js>,
) -> Result<Work<'js>, Trouble> {
    let algorithm = Algorithm::read(given, "sign", SIGNATURES)?;
    let data = buffer(data)?;
    let key = CryptoKey::of(key, "")?;
    key.check(algorithm, "sign", "")?;
    let made = match &key.material {
        Material::Secret(secret) => mac::sign(key.hash()?, secret, &data),
        Material::CurvePrivate(private) => private.sign(algorithm::hash(given, "sign")?, &data)?,
        Material::RsaPrivate(private) => {
            let (private, hash) = (Arc::clone(private), key.hash()?);
            let scheme = scheme(algorithm, given)?;
            let mut random = crypto::random(ctx);
            return Ok(Work::heavy(
                data.len(),
                move || private.sign(scheme, hash, &data, &mut random),
                |ctx, made| Ok(ctx.array_buffer(made)?),
            ));
        }
        _ => return Err(not_for_this().into()),
    };
    Ok(Work::Done(ctx.array_buffer(made)?))
}

pub(super) fn verify<'js>(
    ctx: Ctx<'js>,
    given: &Value<'js>,
    key: &Value<'js>,
    signature: &Value<'js>,
    data: &Value<'js>,
) -> Outcome<'js> {
    let algorithm = Algorithm::read(given, "verify", SIGNATURES)?;
    let (signature, data) = (buffer(signature)?, buffer(data)?);
    let key = CryptoKey::of(key, "")?;
    key.check(algorithm, "verify", "")?;
    let fits = match &key.material {
        Material::Secret(secret) => mac::verify(key.hash()?, secret, &signature, &data),
        Material::CurvePublic(public) => {
            public.verify(algorithm::hash(given, "verify")?, &signature, &data)
        }
        Material::RsaPublic(public) => {
            public.verify(scheme(algorithm, given)?, key.hash()?, &signature, &data)
        }
        _ => return Err(not_for_this().into()),
    };
    Ok(ctx.bool(fits))
}

fn scheme(algorithm: Algorithm, given: &Value<'_>) -> Result<rsa::Scheme, Trouble> {
    if algorithm == Algorithm::RsaPkcs1 {
        return Ok(rsa::Scheme::Pkcs1);
    }
    Ok(rsa::Scheme::Pss { salt: algorithm::count(given, "saltLength")? })
}
