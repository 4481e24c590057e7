//! `atob` and `btoa`, with plain errors.

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, JsResult, Name, Thrown};

static ATOB: Name = Name::new("atob");
static BTOA: Name = Name::new("btoa");
static NAME: Name = Name::new("name");

/// Gives the VM `atob` and `btoa`; in the place of the engine's, which exist only beside `DOMException`.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let global = ctx.global();
    global.define_hidden(&ATOB, ctx.function(c"atob", 1, atob)?)?;
    global.define_hidden(&BTOA, ctx.function(c"btoa", 1, btoa)?)
}

/// The WHATWG's forgiving base64: padding is taken off before, and too many bits are let go.
static FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

fn btoa<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let text = argument(&call, "btoa")?;
    let bytes: Option<Vec<u8>> =
        text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    match bytes {
        Some(bytes) => ctx.string(&base64::engine::general_purpose::STANDARD.encode(bytes)),
        None => Err(invalid(ctx, "btoa takes characters up to U+00FF only")),
    }
}

fn atob<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let mut text = argument(&call, "atob")?;
    text.retain(|character| !matches!(character, '\t' | '\n' | '\u{C}' | '\r' | ' '));
    if text.len() % 4 == 0 {
        let padding = text.bytes().rev().take(2).take_while(|&byte| byte == b'=').count();
        text.truncate(text.len() - padding);
    }
    match FORGIVING.decode(&text) {
        Ok(bytes) => ctx.string(&bytes.into_iter().map(char::from).collect::<String>()),
        Err(_) => Err(invalid(ctx, "atob was given a text that is not base64")),
    }
}

fn argument<'js>(call: &Call<'js>, name: &str) -> JsResult<'js, String> {
    if call.is_empty() {
        return Err(call.ctx().throw_type(&format!("{name} needs an argument")));
    }
    call.argument(0).to_string_lossy()
}

fn invalid(ctx: Ctx<'_>, message: &str) -> Thrown {
    let error = ctx.error(ErrorKind::Plain, message);
    match ctx.string("InvalidCharacterError").and_then(|name| error.define_hidden(&NAME, name)) {
        Ok(()) => ctx.throw(error),
        Err(thrown) => thrown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn characters_are_bytes() {
        all(
            &vm(install),
            &[
                ("btoa('a\\xff\\0')", "Yf8A"),
                ("btoa('')", ""),
                ("btoa(null)", "bnVsbA=="),
                (
                    "try { btoa('é€') } catch (e) { `${e.name} ${e instanceof Error}` }",
                    "InvalidCharacterError true",
                ),
                ("atob(' Y f8\\nA ').split('').map(c => c.charCodeAt()).join()", "97,255,0"),
                ("atob('YQ') + atob('YQ==') + atob('YWI=') + atob('YR==')", "aaaba"),
                (
                    "['Y', 'YQ=', 'YQ===', 'a!bc', 'YQ==YQ==', '=', '===='].map(t => { try { return atob(t) } catch (e) { return e.name[0] } }).join('')",
                    "IIIIIII",
                ),
                ("atob()", "threw TypeError: atob needs an argument"),
            ],
        );
    }
}
