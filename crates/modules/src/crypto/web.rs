//! The `crypto` global: `getRandomValues`, `randomUUID`, and `subtle`, which is made when it is first read.

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Ctx, JsResult, Members, Value};

use super::{fill_random, subtle};
use crate::go_error::throw_go;
use crate::lazy::{LazyGlobal, lazy};

/// The most bytes that `getRandomValues` fills, as the Web Cryptography API has it.
const VALUES_MAX: usize = 65_536;

struct Crypto;

impl LazyGlobal for Crypto {
    const NAME: &'static CStr = c"crypto";
    fn make(ctx: Ctx<'_>) -> JsResult<'_> {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"getRandomValues", 1, get_random_values)
                .function(c"randomUUID", 0, random_uuid)
                .accessor(c"subtle", read_subtle, |call| keep(&call, "subtle", call.argument(0)))
                .accessor(c"CryptoKey", read_key, |call| keep(&call, "CryptoKey", call.argument(0)))
        });
        let crypto = ctx.object()?;
        crypto.define_members(&MEMBERS)?;
        Ok(crypto)
    }
}

/// Gives the VM its `crypto`.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| lazy::<Crypto>(Members::new()));
    ctx.global().define_members(&MEMBERS)
}

fn read_subtle<'js>(call: Call<'js>) -> JsResult<'js> {
    let made = subtle::make(call.ctx())?;
    keep(&call, "subtle", made.clone())?;
    Ok(made)
}

fn read_key<'js>(call: Call<'js>) -> JsResult<'js> {
    let made = subtle::key_class(call.ctx())?;
    keep(&call, "CryptoKey", made.clone())?;
    Ok(made)
}

/// From now on it is a plain property.
fn keep<'js>(call: &Call<'js>, name: &str, value: Value<'js>) -> JsResult<'js> {
    call.this().define(name, value)?;
    Ok(call.ctx().undefined())
}

fn get_random_values<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let array = call.argument(0);
    if array.typed_array_name().is_none_or(|name| name.starts_with("Float")) {
        let message = "TypeMismatchError: getRandomValues needs a typed array of integers";
        return Err(throw_go(ctx, message));
    }
    let size = array.with_bytes(<[u8]>::len).unwrap_or(0);
    if size > VALUES_MAX {
        let message = format!(
            "QuotaExceededError: getRandomValues fills at most {VALUES_MAX} bytes, not {size}"
        );
        return Err(throw_go(ctx, &message));
    }
    if array.is_read_only() {
        return Err(ctx.throw_type("getRandomValues cannot write to this array: it is frozen"));
    }
    let mut random = vec![0; size];
    fill_random(ctx, &mut random)?;
    let _ = array.with_bytes_mut(|bytes| bytes.copy_from_slice(&random));
    Ok(array)
}

fn random_uuid<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let mut bytes = [0; 16];
    fill_random(ctx, &mut bytes)?;
    // RFC 9562: version 4, variant 10.
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let hex = super::hex(&bytes);
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    ctx.string(&parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn random_values_and_uuids() {
        let vm = vm(|ctx| {
            crate::go_error::install(ctx)?;
            install(ctx)
        });
        all(
            &vm,
            &[
                (
                    "const a = new Uint32Array(16); crypto.getRandomValues(a) === a && a.some(n => n !== 0)",
                    "true",
                ),
                (
                    "const v = new Uint8Array(new ArrayBuffer(8), 2, 4); crypto.getRandomValues(v); new Uint8Array(v.buffer).filter((_, i) => i < 2 || i > 5).join()",
                    "0,0,0,0",
                ),
                (
                    "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
                    "true",
                ),
                ("crypto.randomUUID() !== crypto.randomUUID()", "true"),
                (
                    "try { crypto.getRandomValues(new Float32Array(1)) } catch (e) { e.message.split(':')[0] }",
                    "TypeMismatchError",
                ),
                (
                    "try { crypto.getRandomValues(5) } catch (e) { e.message.split(':')[0] }",
                    "TypeMismatchError",
                ),
                (
                    "try { crypto.getRandomValues(new Uint8Array(65537)) } catch (e) { e.message.split(':')[0] }",
                    "QuotaExceededError",
                ),
                ("crypto.subtle === crypto.subtle", "true"),
                (
                    "Object.keys(crypto.subtle).join()",
                    "decrypt,deriveBits,deriveKey,digest,encrypt,exportKey,generateKey,importKey,sign,unwrapKey,verify,wrapKey",
                ),
                (
                    "new crypto.CryptoKey()",
                    "threw TypeError: a CryptoKey is made by crypto.subtle alone",
                ),
                ("globalThis.crypto === crypto", "true"),
            ],
        );
    }
}
