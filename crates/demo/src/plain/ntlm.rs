//! `/ntlm/{user}/{password}`: NTLM version 2 (MS-NLMP), as a server.
//!
//! Its challenge is the same as long as the process lives, so that no connection has to remember one. Real servers let the
//! whole connection in; here each request must show that it may.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use md4::{Digest as _, Md4};
use md5::Md5;
use serde_json::json;

use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

// Flags of MS-NLMP §2.2.2.5: Unicode, a target is named and described, NTLM, signed if at all, version 2, long keys.
const FLAGS: u32 =
    0x1 | 0x4 | 0x200 | 0x8000 | 0x1_0000 | 0x8_0000 | 0x80_0000 | 0x2000_0000 | 0x8000_0000;

const TARGET: &str = "BRUNT";

static CHALLENGE: LazyLock<[u8; 8]> = LazyLock::new(|| fastrand::u64(..).to_le_bytes());

/// 200 for the user and password that the path names, else 401: first with the name of the scheme, then with a challenge.
pub(super) fn answer(call: &Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let Some((user, password)) = rest.split_once('/') else {
        return Err(reply::bad_request("use /ntlm/{user}/{password}"));
    };
    let (user, password) = (reply::unescaped(user), reply::unescaped(password));
    let message = call.header(AUTHORIZATION).and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        let bytes = STANDARD.decode(rest.trim()).ok()?;
        (scheme.eq_ignore_ascii_case("NTLM") && bytes.starts_with(SIGNATURE)).then_some(bytes)
    });
    let kind = message.as_deref().and_then(|message| number(message, 8));
    if kind == Some(3)
        && message.is_some_and(|bytes| is_right(&bytes, &user, &password) == Some(true))
    {
        return Ok(reply::json(&json!({ "authenticated": true, "user": user })));
    }
    let challenge = match kind {
        Some(1) => format!("NTLM {}", STANDARD.encode(challenge())),
        _ => "NTLM".to_owned(),
    };
    let mut answer = reply::refuse(StatusCode::UNAUTHORIZED, "credentials are missing or wrong");
    let challenge = HeaderValue::from_str(&challenge).expect("base64 is a header's value");
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    Err(answer)
}

/// The message of type 2.
fn challenge() -> Vec<u8> {
    let target = utf16(TARGET);
    // The names of domain and server, and the end.
    let pair = |id: u16| [&id.to_le_bytes()[..], &size(&target), &target].concat();
    let info = [pair(2), pair(1), vec![0; 4]].concat();
    let field =
        |bytes: &[u8], at: u32| [&size(bytes)[..], &size(bytes), &at.to_le_bytes()].concat();
    let mut out = SIGNATURE.to_vec();
    out.extend(2_u32.to_le_bytes());
    out.extend(field(&target, 48));
    out.extend(FLAGS.to_le_bytes());
    out.extend(*CHALLENGE);
    out.extend([0; 8]);
    out.extend(field(&info, 48 + target.len() as u32));
    out.extend(target);
    out.extend(info);
    out
}

/// Whether a message of type 3 proves that its sender knows the password (§3.3.2); `None`: it is cut off.
fn is_right(message: &[u8], user: &str, password: &str) -> Option<bool> {
    let field = |at: usize| {
        let size = usize::from(u16::from_le_bytes(*message.get(at..)?.first_chunk()?));
        message.get(number(message, at + 4)? as usize..)?.get(..size)
    };
    let (proof, domain, name) = (field(20)?, field(28)?, field(36)?);
    let (proof, said) = proof.split_first_chunk::<16>()?;
    let who = [&utf16(&user.to_uppercase())[..], domain].concat();
    let key = hmac(&Md4::digest(utf16(password)), &who);
    let is_known = *proof == hmac(&key, &[&CHALLENGE[..], said].concat());
    let name: Vec<u16> =
        name.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Some(is_known && String::from_utf16_lossy(&name).to_uppercase() == user.to_uppercase())
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn size(bytes: &[u8]) -> [u8; 2] {
    (bytes.len() as u16).to_le_bytes()
}

fn hmac(key: &[u8], data: &[u8]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any size");
    mac.update(data);
    mac.finalize().into_bytes().into()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of type 3 of a client that knows `password`.
    fn shown(user: &str, password: &str) -> Vec<u8> {
        let key = hmac(&Md4::digest(utf16(password)), &utf16(&user.to_uppercase()));
        let said = [7; 40];
        let proof = [&hmac(&key, &[&CHALLENGE[..], &said].concat())[..], &said].concat();
        let user = utf16(user);
        let mut out = SIGNATURE.to_vec();
        out.extend(3_u32.to_le_bytes());
        let mut at = 64_u32;
        for field in [&[][..], &proof, &[], &user, &[], &[]] {
            out.extend([size(field), size(field)].concat());
            out.extend(at.to_le_bytes());
            at += field.len() as u32;
        }
        out.extend(FLAGS.to_le_bytes());
        out.extend([proof, user].concat());
        out
    }

    #[test]
    fn who_knows_the_password_may_come_in_and_nobody_else() {
        assert_eq!(is_right(&shown("Ada", "secret"), "ada", "secret"), Some(true));
        assert_eq!(is_right(&shown("Ada", "other"), "ada", "secret"), Some(false));
        assert_eq!(is_right(&shown("Bob", "secret"), "ada", "secret"), Some(false));
    }

    #[test]
    fn messages_that_are_cut_off_prove_nothing() {
        let whole = shown("ada", "secret");
        for size in 0..whole.len() {
            assert_ne!(is_right(&whole[..size], "ada", "secret"), Some(true));
        }
    }
}
