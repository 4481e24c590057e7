//! Random texts that a seed repeats.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};

/// Makes tokens, ids and numbers.
#[derive(Debug, Clone)]
pub struct Dice(fastrand::Rng);

impl Dice {
    /// The same seed gives the same texts.
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number of a range, its end not included.
    pub fn number(&mut self, range: std::ops::Range<u64>) -> u64 {
        self.0.u64(range)
    }

    /// Random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.0.u8(..)).collect()
    }

    /// Hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.0.usize(..16)])).collect()
    }

    /// Letters and digits.
    pub fn letters(&mut self, count: usize) -> String {
        (0..count).map(|_| self.0.alphanumeric()).collect()
    }

    /// Random bytes in base64, with at least one `+` and one `/`, which some clients encode wrongly.
    pub fn base64(&mut self, bytes: usize) -> String {
        loop {
            let text = BASE64_STANDARD.encode(self.bytes(bytes));
            if text.contains('+') && text.contains('/') {
                return text;
            }
        }
    }

    /// Random bytes in base64 for URLs.
    pub fn base64_url(&mut self, bytes: usize) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.bytes(bytes))
    }

    /// A random UUID.
    pub fn uuid(&mut self) -> String {
        let hex = self.hex(30);
        format!(
            "{}-{}-4{}-{}{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..15],
            char::from(b"89ab"[self.0.usize(..4)]),
            &hex[15..18],
            &hex[18..30]
        )
    }
}
