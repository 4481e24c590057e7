//! NTLM version 2 (MS-NLMP), inside `Authorization: NTLM …` or `Negotiate …`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use md4::{Digest as _, Md4};
use md5::Md5;

use super::of_kind;

/// The name under which a server wants it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `NTLM`.
    Ntlm,
    /// `Negotiate`.
    Negotiate,
}

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

// Flags of MS-NLMP §2.2.2.5.
const UNICODE: u32 = 1;
const REQUEST_TARGET: u32 = 4;
const LM_KEY: u32 = 0x80;
const NTLM: u32 = 0x200;
const ALWAYS_SIGN: u32 = 0x8000;
const EXTENDED_SECURITY: u32 = 0x8_0000;
const TARGET_INFO: u32 = 0x80_0000;
const KEYS_OF_128: u32 = 0x2000_0000;
const KEY_EXCHANGE: u32 = 0x4000_0000;
const KEYS_OF_56: u32 = 0x8000_0000;

/// The pair that holds the server's time.
const TIMESTAMP: u16 = 7;

/// From the year 1601, whence Windows counts, to 1970, in tenths of microseconds.
const TO_1970: u64 = 116_444_736_000_000_000;

impl Kind {
    /// The kind that a server asks for with its 401; `None`: something else.
    pub fn wanted<'h>(challenges: &(impl Iterator<Item = &'h str> + Clone)) -> Option<Self> {
        let has = |kind: Self| of_kind(challenges.clone(), kind.name()).is_some();
        [Self::Ntlm, Self::Negotiate].into_iter().find(|kind| has(*kind))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ntlm => "NTLM",
            Self::Negotiate => "Negotiate",
        }
    }

    /// The first message, as the value of `Authorization`.
    pub fn negotiate(self) -> String {
        let flags = UNICODE
            | REQUEST_TARGET
            | NTLM
            | ALWAYS_SIGN
            | EXTENDED_SECURITY
            | TARGET_INFO
            | KEYS_OF_128
            | KEYS_OF_56;
        let mut message = SIGNATURE.to_vec();
        message.extend(1_u32.to_le_bytes());
        message.extend(flags.to_le_bytes());
        // No domain, no workstation.
        for _ in 0..2 {
            message.extend([0; 4]);
            message.extend(32_u32.to_le_bytes());
        }
        self.value(&message)
    }

    /// The last message, as the value of `Authorization`: the answer to the server's, from its `WWW-Authenticate`.
    /// `now_ns`: since 1970; `nonce`: the client's own, a random one. `None`: it is no challenge that we can answer.
    pub fn authenticate<'h>(
        self,
        challenges: impl Iterator<Item = &'h str>,
        (user, password): (&str, &str),
        now_ns: u64,
        nonce: u64,
    ) -> Option<String> {
        let challenge = STANDARD.decode(of_kind(challenges, self.name())?).ok()?;
        let nonce = nonce.to_be_bytes();
        let message = answer(&challenge, user, password, nonce, TO_1970 + now_ns / 100)?;
        Some(self.value(&message))
    }

    fn value(self, message: &[u8]) -> String {
        format!("{} {}", self.name(), STANDARD.encode(message))
    }
}

/// A server's message, taken apart.
struct Challenge<'a> {
    flags: u32,
    nonce: [u8; 8],
    info: &'a [u8],
}

impl<'a> Challenge<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        if bytes.first_chunk::<8>()? != SIGNATURE || number(8)? != 2 {
            return None;
        }
        let field = |at: usize| {
            let size = usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
            bytes.get(number(at + 4)? as usize..)?.get(..size)
        };
        let flags = number(20)?;
        let info = if flags & TARGET_INFO == 0 { &[] } else { field(40)? };
        let nonce = *bytes.get(24..)?.first_chunk()?;
        Some(Self { flags, nonce, info })
    }

    /// The value of a pair of the target's description.
    fn pair(&self, id: u16) -> Option<&'a [u8]> {
        let mut rest = self.info;
        loop {
            let (head, after) = rest.split_first_chunk::<4>()?;
            let (other, size) = (
                u16::from_le_bytes([head[0], head[1]]),
                usize::from(u16::from_le_bytes([head[2], head[3]])),
            );
            let value = after.get(..size)?;
            if other == id || other == 0 {
                return (other == id).then_some(value);
            }
            rest = &after[size..];
        }
    }
}

/// The message of type 3. `now`: in Windows' count.
fn answer(
    challenge: &[u8],
    user: &str,
    password: &str,
    own_nonce: [u8; 8],
    now: u64,
) -> Option<Vec<u8>> {
    let challenge = Challenge::parse(challenge)?;
    // Both belong to weaker versions.
    if challenge.flags & (LM_KEY | KEY_EXCHANGE) != 0 {
        return None;
    }
    // As k6 does: a user who names no domain has none.
    let (domain, user) = user.split_once('\\').unwrap_or(("", user));
    let domain = utf16(domain);
    let key = key(user, password, &domain);
    let moment = challenge.pair(TIMESTAMP).and_then(|value| value.try_into().ok());
    let moment: [u8; 8] = moment.unwrap_or(now.to_le_bytes());
    let nt = nt_response(&key, &challenge, own_nonce, moment);
    let lm = if challenge.info.is_empty() {
        let seen = [&challenge.nonce[..], &own_nonce].concat();
        [&hmac(&key, &seen)[..], &own_nonce].concat()
    } else {
        Vec::new()
    };
    let user = utf16(user);
    let mut message = SIGNATURE.to_vec();
    message.extend(3_u32.to_le_bytes());
    let fields: [&[u8]; 6] = [&lm, &nt, &domain, &user, &[], &[]];
    let mut at = 64_u32;
    for field in fields {
        let size = u16::try_from(field.len()).ok()?;
        message.extend(size.to_le_bytes());
        message.extend(size.to_le_bytes());
        message.extend(at.to_le_bytes());
        at += u32::from(size);
    }
    message.extend(challenge.flags.to_le_bytes());
    message.extend(fields.concat());
    Some(message)
}

/// MS-NLMP §3.3.2: what password, user and domain come to.
fn key(user: &str, password: &str, domain: &[u8]) -> [u8; 16] {
    let secret = Md4::digest(utf16(password));
    let who = [&utf16(&user.to_uppercase())[..], domain].concat();
    hmac(&secret, &who)
}

fn nt_response(
    key: &[u8; 16],
    challenge: &Challenge<'_>,
    own_nonce: [u8; 8],
    moment: [u8; 8],
) -> Vec<u8> {
    let said: [&[u8]; 7] =
        [&[1, 1, 0, 0, 0, 0, 0, 0], &moment, &own_nonce, &[0; 4], challenge.info, &[0; 4], &[]];
    let said = said.concat();
    let proof = hmac(key, &[&challenge.nonce[..], &said].concat());
    [&proof[..], &said].concat()
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
    use crate::auth::hex;

    /// The server's message of MS-NLMP §4.2.4.
    fn challenge() -> Vec<u8> {
        let (target, info) = (utf16("Server"), info());
        let mut out = SIGNATURE.to_vec();
        out.extend(2_u32.to_le_bytes());
        let field = |size: usize, at: u32| {
            [&[size as u8, 0, size as u8, 0][..], &at.to_le_bytes()].concat()
        };
        out.extend(field(target.len(), 48));
        out.extend((UNICODE | NTLM | TARGET_INFO).to_le_bytes());
        out.extend([0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
        out.extend([0; 8]);
        out.extend(field(info.len(), 48 + target.len() as u32));
        out.extend(target);
        out.extend(info);
        out
    }

    fn info() -> Vec<u8> {
        let pair = |id: u8, text: &str| {
            let text = utf16(text);
            [&[id, 0, text.len() as u8, 0][..], &text].concat()
        };
        [pair(2, "Domain"), pair(1, "Server"), vec![0; 4]].concat()
    }

    #[test]
    fn the_example_of_the_specification_comes_out() {
        let key = key("User", "Password", &utf16("Domain"));
        assert_eq!(hex(&key), "0c868a403bfd7a93a3001ef22ef02e3f");
        let bytes = challenge();
        let challenge = Challenge::parse(&bytes).unwrap();
        let nt = nt_response(&key, &challenge, [0xaa; 8], [0; 8]);
        assert_eq!(hex(&nt[..16]), "68cd0ab851e51c96aabc927bebef6a1c");
    }

    #[test]
    fn users_have_the_domain_that_they_say_or_none() {
        let domain = |user: &str| {
            let message = answer(&challenge(), user, "x", [1; 8], 5).unwrap();
            let (size, at) = (usize::from(message[28]), usize::from(message[32]));
            message[at..at + size].to_vec()
        };
        assert_eq!(domain("dom\\user"), utf16("dom"));
        assert_eq!(domain("user"), b"");
    }

    #[test]
    fn what_is_no_challenge_has_no_answer() {
        let whole = challenge();
        for size in 0..whole.len() {
            let cut = STANDARD.encode(&whole[..size]);
            let value = format!("NTLM {cut}");
            let _ = Kind::Ntlm.authenticate([value.as_str()].into_iter(), ("a", "b"), 0, 7);
        }
        for value in ["", "NTLM", "NTLM !!", "Negotiate AAAA", "Basic x"] {
            let answer = Kind::Ntlm.authenticate([value].into_iter(), ("a", "b"), 0, 7);
            assert_eq!(answer, None, "{value}");
        }
        assert_eq!(Kind::wanted(&["Basic x", "negotiate"].into_iter()), Some(Kind::Negotiate));
        assert_eq!(Kind::wanted(&["Basic x"].into_iter()), None);
    }
}
