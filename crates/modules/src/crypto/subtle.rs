//! `crypto.subtle` of the Web Cryptography API: promises around what `brunt-crypto` computes.
//!
//! Long computations (an RSA key, a password hashed often) run on a thread apart, so that the other VUs of the core
//! go on. All else is done when the promise is made.

mod algorithm;
mod apart;
mod cipher;
mod derivation;
mod generate;
mod key;
mod signature;
mod transfer;
mod work;

use std::sync::LazyLock;

use brunt_crypto::{Failure, Hash, Name as ErrorName};
use brunt_quickjs::{Call, Ctx, JsResult, Members, Value};

use self::cipher::Way;
use self::key::CryptoKey;
use self::work::{Outcome, done, promise};
use crate::go_error::throw_go;

/// The object `crypto.subtle`.
pub(super) fn make(ctx: Ctx<'_>) -> JsResult<'_> {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
        Members::new()
            .function(c"decrypt", 3, |call| cipher(&call, Way::Decrypt))
            .function(c"deriveBits", 3, |call| {
                let [given, base, length] = arguments(&call);
                promise(call.ctx(), derivation::bits(&given, &base, &length))
            })
            .function(c"deriveKey", 5, |call| {
                let [given, base, wanted, extractable, usages] = arguments(&call);
                let extractable = extractable.truthy();
                promise(call.ctx(), derivation::key(&given, &base, &wanted, extractable, &usages))
            })
            .function(c"digest", 2, |call| done(call.ctx(), digest(&call)))
            .function(c"encrypt", 3, |call| cipher(&call, Way::Encrypt))
            .function(c"exportKey", 2, |call| {
                let [format, key] = arguments(&call);
                let format = format.to_string_lossy()?;
                done(call.ctx(), transfer::export(call.ctx(), &format, &key))
            })
            .function(c"generateKey", 3, |call| {
                let [given, extractable, usages] = arguments(&call);
                let ctx = call.ctx();
                promise(ctx, generate::generate(ctx, &given, extractable.truthy(), &usages))
            })
            .function(c"importKey", 5, |call| {
                let [format, data, given, extractable, usages] = arguments(&call);
                let (ctx, format) = (call.ctx(), format.to_string_lossy()?);
                let extractable = extractable.truthy();
                done(ctx, transfer::import(ctx, &format, &data, &given, extractable, &usages))
            })
            .function(c"sign", 3, |call| {
                let [given, key, data] = arguments(&call);
                promise(call.ctx(), signature::sign(call.ctx(), &given, &key, &data))
            })
            .function(c"unwrapKey", 7, absent)
            .function(c"verify", 4, |call| {
                let [given, key, signature, data] = arguments(&call);
                done(call.ctx(), signature::verify(call.ctx(), &given, &key, &signature, &data))
            })
            .function(c"wrapKey", 4, absent)
    });
    let subtle = ctx.object()?;
    subtle.define_members(&MEMBERS)?;
    Ok(subtle)
}

/// The class `CryptoKey`, for `instanceof`: keys come from [`make`]'s functions alone.
pub(super) fn key_class(ctx: Ctx<'_>) -> JsResult<'_> {
    let prototype = ctx.class_prototype::<CryptoKey>()?;
    ctx.constructor(
        c"CryptoKey",
        0,
        |call| Err(call.ctx().throw_type("a CryptoKey is made by crypto.subtle alone")),
        &prototype,
    )
}

fn arguments<'js, const N: usize>(call: &Call<'js>) -> [Value<'js>; N] {
    std::array::from_fn(|index| call.argument(index))
}

fn absent(call: Call<'_>) -> JsResult<'_> {
    Err(throw_go(call.ctx(), "not implemented"))
}

fn cipher<'js>(call: &Call<'js>, way: Way) -> JsResult<'js> {
    let [given, key, data] = arguments(call);
    promise(call.ctx(), cipher::run(call.ctx(), way, &given, &key, &data))
}

fn digest<'js>(call: &Call<'js>) -> Outcome<'js> {
    let [given, data] = arguments(call);
    let name = algorithm::name(&given)?;
    let Some(hash) = Hash::named(&name) else {
        return Err(algorithm::unsupported(&name, "digest").into());
    };
    let digest = data.with_bytes(|bytes| hash.digest(bytes)).ok_or_else(|| {
        let message = "data must be an ArrayBuffer, TypedArray, or DataView";
        Failure::new(ErrorName::Type, message)
    })?;
    Ok(call.ctx().array_buffer(digest)?)
}
