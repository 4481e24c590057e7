//! `CryptoKey`: what scripts hold of a key.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use brunt_crypto::curve::{self, Curve};
use brunt_crypto::{Failure, Hash, Name as ErrorName, rsa};
use brunt_quickjs::{Class, Ctx, JsResult, Members, Name, Value};

use super::algorithm::Algorithm;
use super::work::Trouble;
use crate::throwing::throw;

static TYPE: Name = Name::new("type");
static EXTRACTABLE: Name = Name::new("extractable");
static KEY_ALGORITHM: Name = Name::new("key_algorithm");
static ALGORITHM: Name = Name::new("algorithm");
static USAGES: Name = Name::new("usages");
static NAME: Name = Name::new("name");
static LENGTH: Name = Name::new("length");
static HASH: Name = Name::new("hash");
static NAMED_CURVE: Name = Name::new("namedCurve");
static MODULUS_LENGTH: Name = Name::new("modulusLength");
static PUBLIC_EXPONENT: Name = Name::new("publicExponent");

/// The members of a key that k6 1.8 lists beside the standard's; scripts that print keys print them.
static INNER: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .fixed_function(c"containsUsage", 0, |call| {
            let (this, usage) = (call.this(), call.argument(0).to_string_lossy()?);
            let key: Option<&CryptoKey> = this.instance();
            let is_in = key.is_some_and(|key| key.usages.iter().any(|known| *known == usage));
            Ok(call.ctx().bool(is_in))
        })
        .fixed_function(c"isKeyPair", 0, |call| Ok(call.ctx().bool(false)))
        .fixed_function(c"resolveCryptoKey", 0, |call| Ok(call.this()))
        .fixed_function(c"resolveCryptoKeyPair", 0, |call| {
            Err(throw(call.ctx(), "not a Crypto Key Pair"))
        })
        .fixed_function(c"validate", 0, |call| Ok(call.ctx().undefined()))
});

/// The same of a pair of keys.
pub(super) static INNER_OF_PAIR: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .fixed_function(c"isKeyPair", 0, |call| Ok(call.ctx().bool(true)))
        .fixed_function(c"resolveCryptoKey", 0, |call| Err(throw(call.ctx(), "not a CryptoKey")))
        .fixed_function(c"resolveCryptoKeyPair", 0, |call| Ok(call.this()))
});

/// The material of a key.
#[derive(Clone)]
pub(super) enum Material {
    Secret(Vec<u8>),
    CurvePrivate(curve::PrivateKey),
    CurvePublic(curve::PublicKey),
    /// Shared with the thread that computes with it.
    RsaPrivate(Arc<rsa::PrivateKey>),
    RsaPublic(rsa::PublicKey),
}

/// A key. Its properties that the script sees are copies: changing them changes nothing.
pub(super) struct CryptoKey {
    pub(super) algorithm: Algorithm,
    /// Of HMAC and RSA.
    pub(super) hash: Option<Hash>,
    pub(super) material: Material,
    pub(super) extractable: bool,
    pub(super) usages: Vec<&'static str>,
}

impl Class for CryptoKey {
    const NAME: &'static CStr = c"CryptoKey";
    fn members() -> &'static Members {
        static MEMBERS: Members = Members::new();
        &MEMBERS
    }
}

impl CryptoKey {
    /// The key that a script gives. `who` begins the sentence that refuses another thing.
    pub(super) fn of<'a>(value: &'a Value<'_>, who: &str) -> Result<&'a Self, Trouble> {
        value.instance().ok_or_else(|| {
            let message = format!("{who}key argument does hold not a valid CryptoKey object");
            Failure::new(ErrorName::InvalidAccess, message).into()
        })
    }

    /// The key as an object of the script's.
    pub(super) fn into_object(self, ctx: Ctx<'_>) -> JsResult<'_> {
        let kind = match self.material {
            Material::Secret(_) => "secret",
            Material::CurvePrivate(_) | Material::RsaPrivate(_) => "private",
            Material::CurvePublic(_) | Material::RsaPublic(_) => "public",
        };
        let algorithm = self.describe(ctx)?;
        let usages: Result<Vec<_>, _> = self.usages.iter().map(|name| ctx.string(name)).collect();
        let (extractable, usages) = (ctx.bool(self.extractable), ctx.array_from(usages?)?);
        let object = ctx.instance(self)?;
        object.define(&TYPE, ctx.string(kind)?)?;
        object.define(&EXTRACTABLE, extractable)?;
        object.define(&ALGORITHM, algorithm)?;
        object.define(&USAGES, usages)?;
        object.define_members(&INNER)?;
        Ok(object)
    }

    /// The value of `algorithm` for scripts. k6 shows inner members beside the standard's, and scripts that print
    /// keys print them; the exponent it lacks is there, but not listed.
    fn describe<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let named = |name: &str| ctx.object_from([(&NAME, ctx.string(name)?)]);
        let object = ctx.object()?;
        let name = self.algorithm.name();
        if !self.algorithm.is_aes() && self.algorithm != Algorithm::Pbkdf2 {
            object.define(&KEY_ALGORITHM, nested(ctx, name)?)?;
        }
        object.define(&ALGORITHM, named(name)?)?;
        object.define(&NAME, ctx.string(name)?)?;
        let curve = |curve: Curve| object.define(&NAMED_CURVE, ctx.string(curve.name())?);
        let rsa = |key: &rsa::PublicKey| {
            object.define(&MODULUS_LENGTH, ctx.number(key.bits() as f64))?;
            object.define_hidden(&PUBLIC_EXPONENT, ctx.uint8_array(key.exponent())?)
        };
        match &self.material {
            Material::CurvePrivate(key) => curve(key.curve())?,
            Material::CurvePublic(key) => curve(key.curve())?,
            Material::RsaPrivate(key) => rsa(&key.public())?,
            Material::RsaPublic(key) => rsa(key)?,
            Material::Secret(_) => {}
        }
        if let Some(hash) = self.hash {
            let is_secret = matches!(self.material, Material::Secret(_));
            let hash = if is_secret { nested(ctx, hash.name()) } else { named(hash.name()) };
            object.define(&HASH, hash?)?;
        }
        if let Material::Secret(key) = &self.material
            && self.algorithm != Algorithm::Pbkdf2
        {
            object.define(&LENGTH, ctx.number(key.len() as f64 * 8.0))?;
        }
        Ok(object)
    }

    /// Refuses a key that is not for this. `who` begins the sentence.
    pub(super) fn check(
        &self,
        algorithm: Algorithm,
        usage: &'static str,
        who: &str,
    ) -> Result<(), Failure> {
        let refused = |message: String| Err(Failure::new(ErrorName::InvalidAccess, message));
        if self.algorithm != algorithm {
            return refused(format!("{who}algorithm name does not match key algorithm name"));
        }
        if !self.usages.contains(&usage) {
            return refused(format!("{who}key does not contain the '{usage}' usage"));
        }
        Ok(())
    }

    /// The bytes of a secret.
    pub(super) fn secret(&self) -> Result<&[u8], Failure> {
        match &self.material {
            Material::Secret(bytes) => Ok(bytes),
            _ => Err(not_for_this()),
        }
    }

    /// The hash of a key that has one.
    pub(super) fn hash(&self) -> Result<Hash, Failure> {
        self.hash.ok_or_else(not_for_this)
    }
}

/// An algorithm within one: `{ algorithm: { name }, name }`.
fn nested<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js> {
    let inner = ctx.object_from([(&NAME, ctx.string(name)?)])?;
    ctx.object_from([(&ALGORITHM, inner), (&NAME, ctx.string(name)?)])
}

/// The key has the right algorithm and usage, and still is not of the right kind.
pub(super) fn not_for_this() -> Failure {
    Failure::new(ErrorName::InvalidAccess, "the key is not of the kind that this needs")
}

/// The usages that a script wants a key for: a list that its algorithm allows.
pub(super) fn usages(
    algorithm: Algorithm,
    given: &Value<'_>,
) -> Result<Vec<&'static str>, Trouble> {
    let mut usages = Vec::new();
    if given.is_nullish() {
        return Ok(usages);
    }
    if !given.is_object() {
        return Err(Failure::new(ErrorName::Type, "the usages of a key are a list").into());
    }
    for index in 0..given.length()?.min(64) {
        let name = given.get_index(index)?.to_string_lossy()?;
        let known = algorithm.usages().iter().find(|known| **known == name);
        let known = known
            .ok_or_else(|| Failure::new(ErrorName::Syntax, format!("invalid key usage: {name}")))?;
        usages.push(*known);
    }
    Ok(usages)
}

/// Refuses a secret or private key that is for nothing.
pub(super) fn not_empty(usages: &[&str]) -> Result<(), Failure> {
    if usages.is_empty() {
        let message = "usages cannot not be empty for a secret or private CryptoKey";
        return Err(Failure::new(ErrorName::Syntax, message));
    }
    Ok(())
}
