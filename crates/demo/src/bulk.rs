//! The rows of `bulktest`, the table of ten million rows: each a function of a seed and its number, so that who reads them can
//! check them.

use crate::dice::mix;

/// Characters of a text.
pub const BULK_TEXT_LENGTH: usize = 45;

/// 64 characters: each takes six bits of a number.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Characters that one number is good for.
const OF_A_NUMBER: usize = 10;

/// The text of the row with this id, from 1 on: 45 characters of ASCII.
pub fn bulk_text(seed: u64, id: u64) -> [u8; BULK_TEXT_LENGTH] {
    let mut text = [0; BULK_TEXT_LENGTH];
    let mut number = mix(seed ^ mix(id));
    for ten in text.chunks_mut(OF_A_NUMBER) {
        let mut bits = number;
        for character in ten {
            *character = ALPHABET[(bits & 63) as usize];
            bits >>= 6;
        }
        number = mix(number);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_function_of_seed_and_id() {
        assert_eq!(bulk_text(1, 7), bulk_text(1, 7));
        assert_ne!(bulk_text(1, 7), bulk_text(2, 7));
        let texts: std::collections::HashSet<_> = (1..=10_000).map(|id| bulk_text(1, id)).collect();
        assert_eq!(texts.len(), 10_000);
        let letters: std::collections::HashSet<u8> = texts.into_iter().flatten().collect();
        assert_eq!(letters.len(), 64, "each character of the alphabet is used");
    }
}
