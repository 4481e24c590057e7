//! `crypto.subtle` of the Web Cryptography API: promises around what `brunt-crypto` computes.
//!
//! What takes long (an RSA key, a password hashed often) is computed on a thread apart, so that the other VUs of the core
//! go on. All else is done when the promise is made.

mod algorithm;
mod apart;
mod cipher;
mod derivation;
mod generate;
mod key;
mod signature;
mod transfer;

use std::sync::LazyLock;

use brunt_crypto::{Failure, Hash, Name as ErrorName};
use brunt_js::{Host, Phase};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, Deferred, JsResult, Members, Name, Thrown, Value};

use self::cipher::Way;
use self::key::CryptoKey;
use crate::go_error::throw_go;

static NAME: Name = Name::new("name");

/// Why a promise is rejected.
enum Trouble {
    /// With an error of the API.
    Failure(Failure),
    /// With what the script threw, or the engine.
    Thrown(Thrown),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Thrown> for Trouble {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

type Outcome<'js> = Result<Value<'js>, Trouble>;

/// What a call has come to.
enum Work<'js> {
    Done(Value<'js>),
    /// It takes long.
    Heavy(Heavy),
}

/// Something to be computed on another thread, and what becomes of it here.
struct Heavy(Start);

type Start = Box<dyn for<'a> FnOnce(Ctx<'a>, Deferred) -> JsResult<'a, ()>>;

impl<'js> Work<'js> {
    fn heavy<T: Send + 'static>(
        compute: impl FnOnce() -> Result<T, Failure> + Send + 'static,
        then: impl for<'a> FnOnce(Ctx<'a>, T) -> Outcome<'a> + 'static,
    ) -> Self {
        Self::Heavy(Heavy(Box::new(move |ctx, deferred| {
            let host = Host::of(ctx);
            if host.core().is_none() || host.phase() == Phase::Init || !brunt_fiber::on_fiber() {
                return finish(ctx, deferred, compute(), then);
            }
            let computing = apart::compute(compute);
            let computed = async move {
                computing.await.unwrap_or_else(|_| {
                    Err(Failure::new(ErrorName::Operation, "the computation failed"))
                })
            };
            host.events()
                .spawn(computed, move |ctx, computed| finish(ctx, deferred, computed, then));
            Ok(())
        })))
    }
}

/// Settles a promise with what was computed.
fn finish<'js, T>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    computed: Result<T, Failure>,
    then: impl FnOnce(Ctx<'js>, T) -> Outcome<'js>,
) -> JsResult<'js, ()> {
    let outcome = computed.map_err(Trouble::from).and_then(|made| then(ctx, made));
    settle(ctx, deferred, outcome)
}

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

/// A promise of what is known already.
fn done<'js>(ctx: Ctx<'js>, outcome: Outcome<'js>) -> JsResult<'js> {
    promise(ctx, outcome.map(Work::Done))
}

fn promise<'js>(ctx: Ctx<'js>, work: Result<Work<'js>, Trouble>) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    match work {
        Ok(Work::Done(value)) => settle(ctx, deferred, Ok(value))?,
        Ok(Work::Heavy(heavy)) => (heavy.0)(ctx, deferred)?,
        Err(trouble) => settle(ctx, deferred, Err(trouble))?,
    }
    Ok(promise)
}

fn settle<'js>(ctx: Ctx<'js>, deferred: Deferred, outcome: Outcome<'js>) -> JsResult<'js, ()> {
    let result = match outcome {
        Ok(value) => Ok(value),
        Err(Trouble::Failure(failure)) => Err(error(ctx, &failure)?),
        Err(Trouble::Thrown(thrown)) => match ctx.take_exception() {
            Some(exception) => Err(exception.value),
            None => return Err(thrown),
        },
    };
    ctx.settle(deferred, result)
}

/// An error with the name that the API gives it.
fn error<'js>(ctx: Ctx<'js>, failure: &Failure) -> JsResult<'js> {
    let kind = match failure.name {
        ErrorName::Type => ErrorKind::Type,
        ErrorName::Syntax => ErrorKind::Syntax,
        _ => ErrorKind::Plain,
    };
    let error = ctx.error(kind, &failure.message);
    error.define_hidden(&NAME, ctx.string(failure.name.as_str())?)?;
    Ok(error)
}
