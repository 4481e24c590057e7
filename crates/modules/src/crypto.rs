//! `k6/crypto`: hashes, HMACs, random bytes. And the `crypto` global of the web.

pub(crate) mod hash;
mod subtle;
pub(crate) mod web;
pub(crate) mod x509;

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::LazyLock;

use base64::Engine as _;
use brunt_crypto::Random;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value, Weight};

use crate::encoding::{self, with_input, with_input_of};
use crate::go_error::throw_go;
use crate::module::Module;
use crate::state::VuState;
use hash::{Algorithm, Hashing};

/// The most bytes that `randomBytes` makes at once: 256 MiB.
const RANDOM_MAX: f64 = 268_435_456.0;

static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .function(c"createHMAC", 2, create_hmac)
        .function(c"createHash", 1, create_hash)
        .function(c"hexEncode", 1, hex_encode)
        .function(c"hmac", 4, hmac)
        .function(c"md4", 2, |call| digest(&call, Algorithm::Md4))
        .function(c"md5", 2, |call| digest(&call, Algorithm::Md5))
        .function(c"randomBytes", 1, random_bytes)
        .function(c"ripemd160", 2, |call| digest(&call, Algorithm::Ripemd160))
        .function(c"sha1", 2, |call| digest(&call, Algorithm::Sha1))
        .function(c"sha256", 2, |call| digest(&call, Algorithm::Sha256))
        .function(c"sha384", 2, |call| digest(&call, Algorithm::Sha384))
        .function(c"sha512", 2, |call| digest(&call, Algorithm::Sha512))
        .function(c"sha512_224", 2, |call| digest(&call, Algorithm::Sha512_224))
        .function(c"sha512_256", 2, |call| digest(&call, Algorithm::Sha512_256))
});

/// The exports.
/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/crypto"
    }

    fn names(&self) -> Vec<String> {
        MEMBERS.names().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let object = ctx.object()?;
        object.define_members(&MEMBERS)?;
        for name in self.names() {
            exports.define(&name, object.get(&name)?)?;
        }
        Ok(())
    }
}

/// A hash or HMAC that is fed piece by piece.
struct Hasher {
    state: RefCell<Box<dyn Hashing>>,
    _weight: Weight,
}

/// Bytes of a state, about: one of SHA-512's with a block, of HMAC two.
const STATE: usize = 512;

/// The object that has this state.
fn hasher<'js>(ctx: Ctx<'js>, state: Box<dyn Hashing>) -> JsResult<'js> {
    let weight = Weight::of(ctx, STATE)?;
    ctx.instance(Hasher { state: RefCell::new(state), _weight: weight })
}

impl Class for Hasher {
    const NAME: &'static CStr = c"Hasher";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().function(c"update", 1, update).function(c"digest", 1, finish)
        });
        &MEMBERS
    }
}

fn this<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a Hasher> {
    value.instance().ok_or_else(|| ctx.throw_type("this is not a hasher of k6/crypto"))
}

fn update<'js>(call: Call<'js>) -> JsResult<'js> {
    let value = call.this();
    let hasher = this(call.ctx(), &value)?;
    with_input(&call.argument(0), |bytes| hasher.state.borrow_mut().update(bytes))?;
    Ok(call.ctx().undefined())
}

fn finish<'js>(call: Call<'js>) -> JsResult<'js> {
    let value = call.this();
    let digest = this(call.ctx(), &value)?.state.borrow().digest();
    output(call.ctx(), digest, &call.argument(0))
}

fn create_hash<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let algorithm = algorithm(ctx, &call.argument(0))?;
    hasher(ctx, algorithm.hash())
}

fn create_hmac<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let algorithm = algorithm(ctx, &call.argument(0))?;
    let hashing = with_input(&call.argument(1), |key| algorithm.hmac(key))?;
    hasher(ctx, hashing)
}

fn hmac<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let algorithm = algorithm(ctx, &call.argument(0))?;
    let mut hashing = with_input(&call.argument(1), |key| algorithm.hmac(key))?;
    with_input(&call.argument(2), |bytes| hashing.update(bytes))?;
    output(ctx, hashing.digest(), &call.argument(3))
}

fn digest<'js>(call: &Call<'js>, algorithm: Algorithm) -> JsResult<'js> {
    let mut hashing = algorithm.hash();
    let who = format!("{} failed: ", algorithm.name());
    with_input_of(&who, &call.argument(0), |bytes| hashing.update(bytes))?;
    output(call.ctx(), hashing.digest(), &call.argument(1))
}

/// The algorithm of a name. k6 crashes at an unknown one in `createHash`; here it can be caught.
fn algorithm<'js>(ctx: Ctx<'js>, name: &Value<'js>) -> JsResult<'js, Algorithm> {
    let name = text(name)?;
    Algorithm::named(&name).ok_or_else(|| throw_go(ctx, &format!("invalid algorithm: {name}")))
}

/// A digest in the encoding that the script asks for; k6 has no default.
fn output<'js>(ctx: Ctx<'js>, digest: Vec<u8>, encoding: &Value<'js>) -> JsResult<'js> {
    let encoding = text(encoding)?;
    match encoding.as_str() {
        "hex" => ctx.string(&hex(&digest)),
        "base64" => ctx.string(&encoding::STD.encode(digest)),
        "base64url" => ctx.string(&encoding::URL.encode(digest)),
        "base64rawurl" => ctx.string(&encoding::RAW_URL.encode(digest)),
        "binary" => ctx.array_buffer(digest),
        _ => Err(throw_go(ctx, &format!("invalid output encoding: {encoding}"))),
    }
}

fn text<'js>(value: &Value<'js>) -> JsResult<'js, String> {
    if value.is_nullish() { Ok(String::new()) } else { value.to_string_lossy() }
}

fn hex_encode<'js>(call: Call<'js>) -> JsResult<'js> {
    let text = with_input(&call.argument(0), hex)?;
    call.ctx().string(&text)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS[usize::from(nibble)] as char;
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn random_bytes<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let size = call.argument(0).to_number()?.trunc();
    if size.is_nan() || size < 1.0 {
        return Err(throw_go(ctx, "invalid size"));
    }
    if size > RANDOM_MAX {
        let message = format!("invalid size: randomBytes makes at most {RANDOM_MAX} bytes");
        return Err(throw_go(ctx, &message));
    }
    let mut bytes = vec![0; size as usize];
    fill_random(ctx, &mut bytes)?;
    ctx.array_buffer(bytes)
}

/// The random bytes of keys, salts and whatever else a script asks for: those of the system, which cannot be guessed, or
/// those of the seed that the run was given.
fn random(ctx: Ctx<'_>) -> Random {
    VuState::repeated(ctx).map_or(Random::System, Random::seeded)
}

/// Fills a slice with them.
fn fill_random<'js>(ctx: Ctx<'js>, bytes: &mut [u8]) -> JsResult<'js, ()> {
    random(ctx)
        .fill(bytes)
        .map_err(|error| throw_go(ctx, &format!("the system gives no random bytes: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn hashes_come_in_the_encodings_of_k6() {
        let vm = vm(|ctx| {
            crate::go_error::install(ctx)?;
            Exports.fill(ctx, &ctx.global())
        });
        all(
            &vm,
            &[
                (
                    "sha256('a', 'hex')",
                    "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
                ),
                ("sha256('a', 'base64')", "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="),
                ("sha256('a', 'base64url')", "ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs="),
                ("sha256('a', 'base64rawurl')", "ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs"),
                (
                    "new Uint8Array(md5('a', 'binary')).join()",
                    "12,193,117,185,192,241,182,168,49,195,153,226,105,119,38,97",
                ),
                ("md5('a')", "threw GoError: invalid output encoding: "),
                ("md5('a', 'zz')", "threw GoError: invalid output encoding: zz"),
                (
                    "/^GoError: md5 failed: invalid type int64/.test((() => { try { md5(5, 'hex') } catch (e) { return e } })())",
                    "true",
                ),
                (
                    "hmac('sha256', 'k', 'd', 'hex')",
                    "e7ea21c3bcb63a4da3ad78503168d36bdca0be622382ea60a108fad4e4966679",
                ),
                ("hmac('zz', 'k', 'd', 'hex')", "threw GoError: invalid algorithm: zz"),
                ("createHash('nope')", "threw GoError: invalid algorithm: nope"),
                (
                    "const h = createHash('sha1'); `${h.update('a')} ${h.digest('hex')} ${h.digest('hex') === sha1('a', 'hex')}`",
                    "undefined 86f7e437faa5a7fce15d1ddcb9eaeaea377667b8 true",
                ),
                ("h.update('b'); h.digest('hex') === sha1('ab', 'hex')", "true"),
                (
                    "const m = createHMAC('sha512', new Uint8Array([107])); m.update('d'); m.digest('hex') === hmac('sha512', 'k', 'd', 'hex')",
                    "true",
                ),
                ("h.update.call({}, 'x')", "threw TypeError: this is not a hasher of k6/crypto"),
                ("hexEncode('ab') + hexEncode(new Uint8Array([255]))", "6162ff"),
                ("randomBytes(0)", "threw GoError: invalid size"),
                ("randomBytes()", "threw GoError: invalid size"),
                ("randomBytes('2').byteLength", "2"),
                ("try { randomBytes(1e12) } catch (e) { e.name }", "GoError"),
                ("Array.from(new Uint32Array(randomBytes(64))).some(n => n !== 0)", "true"),
            ],
        );
    }
}
