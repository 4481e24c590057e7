//! Tokens: a page hands one out as its view state, and its form gives it back. For the client they are noise in base64.
//!
//! ```text
//!   nonce 16 │ session 16, serial 8; with client state view 9 and filler │ tag 16
//!            └──────────── masked by a stream of nonce and secret ───────┘
//! ```
//!
//! A token tells by itself whose it is, so that a refusal can say why, and nothing need be kept of those that have expired.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::view::View;
use crate::dice::{Dice, mix};

const NONCE: usize = 16;
const TAG: usize = 16;

/// The content of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// The session that it was given to.
    pub(super) session: u128,
    /// Its number there.
    pub(super) serial: u64,
    /// The view itself, where the client keeps the state.
    pub(super) view: Option<View>,
}

/// Makes tokens, and knows its own again.
#[derive(Debug)]
pub(super) struct Mint {
    secret: [u8; 32],
    dice: Arc<Dice>,
}

impl Mint {
    pub(super) fn new(dice: Arc<Dice>) -> Self {
        let mut secret = [0; 32];
        for part in secret.chunks_mut(8) {
            part.copy_from_slice(&dice.bits().to_be_bytes());
        }
        Self { secret, dice }
    }

    /// A token as text: 76 characters, with client state 2 to 20 kB. It has `+`, `/` and `=`, each of which some clients
    /// encode wrongly.
    pub(super) fn make(&self, token: &Token) -> String {
        let mut content = Vec::with_capacity(64);
        content.extend(token.session.to_be_bytes());
        content.extend(token.serial.to_be_bytes());
        if let Some(view) = token.view {
            content.extend(view.to_bytes());
            let weight = view.page.weight();
            let mut size = (weight + self.dice.below(weight / 4)) as usize;
            // A multiple of three needs no `=`.
            size += usize::from((NONCE + size + TAG).is_multiple_of(3));
            content.resize(size, 0);
        }
        loop {
            let text = self.seal(&content);
            if text.contains('+') && text.contains('/') {
                return text;
            }
        }
    }

    fn seal(&self, content: &[u8]) -> String {
        let mut nonce = [0; NONCE];
        nonce[..8].copy_from_slice(&self.dice.bits().to_be_bytes());
        nonce[8..].copy_from_slice(&self.dice.bits().to_be_bytes());
        let masked = self.masked(&nonce, content);
        let tag = self.mac(&nonce, &masked).finalize().into_bytes();
        BASE64_STANDARD.encode([&nonce, masked.as_slice(), &tag[..TAG]].concat())
    }

    /// The content of a token; `None` of a text that we never made.
    pub(super) fn read(&self, text: &str) -> Option<Token> {
        let bytes = BASE64_STANDARD.decode(text).ok()?;
        let (nonce, rest) = bytes.split_first_chunk::<NONCE>()?;
        let (masked, tag) = rest.split_last_chunk::<TAG>()?;
        self.mac(nonce, masked).verify_truncated_left(tag).ok()?;
        let content = self.masked(nonce, masked);
        let (session, rest) = content.split_first_chunk()?;
        let (serial, rest) = rest.split_first_chunk()?;
        let view = View::from_bytes(rest);
        Some(Token {
            session: u128::from_be_bytes(*session),
            serial: u64::from_be_bytes(*serial),
            view,
        })
    }

    fn mac(&self, nonce: &[u8], masked: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.secret);
        mac.expect("HMAC takes keys of any size").chain_update(nonce).chain_update(masked)
    }

    /// The bytes with the stream laid over them; twice gives them back. It is there for their looks: the tag is the lock.
    fn masked(&self, nonce: &[u8; NONCE], bytes: &[u8]) -> Vec<u8> {
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        let seed = mix(word(&nonce[..8])) ^ mix(word(&nonce[8..])) ^ word(&self.secret[..8]);
        let mut masked = bytes.to_vec();
        for (index, part) in masked.chunks_mut(8).enumerate() {
            let stream = mix(seed.wrapping_add(index as u64)).to_be_bytes();
            part.iter_mut().zip(stream).for_each(|(byte, over)| *byte ^= over);
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::view::Page;

    fn mint() -> Mint {
        Mint::new(Arc::new(Dice::new(Some(1))))
    }

    #[test]
    fn a_token_is_read_again_and_never_looks_the_same() {
        let mint = mint();
        let token = Token { session: u128::MAX / 3, serial: 7, view: None };
        let (one, other) = (mint.make(&token), mint.make(&token));
        assert_ne!(one, other);
        assert_eq!((mint.read(&one), mint.read(&other)), (Some(token), Some(token)));
        for text in [one, other] {
            assert_eq!(text.len(), 76, "{text}");
            assert!(text.contains('+') && text.contains('/') && text.ends_with('='), "{text}");
        }
    }

    #[test]
    fn a_state_that_the_client_keeps_has_2_to_20_kb() {
        let mint = mint();
        for page in [Page::Login, Page::Orders, Page::Order, Page::Upload] {
            let token = Token { session: 1, serial: 2, view: Some(View { page, order: 3 }) };
            let mut sizes = std::collections::BTreeSet::new();
            for _ in 0..100 {
                let text = mint.make(&token);
                assert!((2000..=20_000).contains(&text.len()), "{page:?}: {}", text.len());
                assert!(text.contains('+') && text.contains('/') && text.ends_with('='), "{text}");
                assert_eq!(mint.read(&text), Some(token));
                sizes.insert(text.len());
            }
            assert!(sizes.len() > 50, "{page:?}: {sizes:?}");
        }
    }

    #[test]
    fn a_text_that_we_never_made_is_none() {
        let mint = mint();
        let text = mint.make(&Token { session: 1, serial: 2, view: None });
        let other = Mint::new(Arc::new(Dice::new(Some(2))));
        assert_eq!(other.read(&text), None);
        for wrong in [
            String::new(),
            "AAAA".to_owned(),
            "A".repeat(76),
            text.replace('+', " "),
            text.replace('+', "%2B"),
            text[..75].to_owned(),
            format!("{text}="),
            text.chars().rev().collect(),
        ] {
            assert_eq!(mint.read(&wrong), None, "{wrong}");
        }
    }
}
