//! Bytes into text, piece by piece.

/// The encodings that can be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    /// The encoding that a label of the WHATWG's list means.
    pub(super) fn labelled(label: &str) -> Option<Self> {
        Some(match label.trim_ascii().to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" | "unicode11utf8" | "unicode20utf8"
            | "x-unicode20utf8" => Self::Utf8,
            "utf-16le" | "utf-16" | "ucs-2" | "unicode" | "unicodefeff" | "iso-10646-ucs-2"
            | "csunicode" => Self::Utf16Le,
            "utf-16be" | "unicodefffe" => Self::Utf16Be,
            _ => return None,
        })
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
        }
    }
}

/// A stream of bytes that is being decoded.
#[derive(Debug, Default)]
pub(super) struct Decoding {
    /// The bytes of a character that is not complete: three at most.
    pending: Vec<u8>,
    /// Something came out already: a byte order mark now is a character.
    is_begun: bool,
}

impl Decoding {
    /// Decodes a piece. With `is_last` the stream ends here and the next piece begins another. `None` if the bytes are
    /// wrong and that is `fatal`; otherwise wrong ones become U+FFFD.
    pub(super) fn decode(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        fatal: bool,
        keep_mark: bool,
        is_last: bool,
    ) -> Option<String> {
        let mut whole = std::mem::take(&mut self.pending);
        whole.extend_from_slice(bytes);
        let (text, used) = match encoding {
            Encoding::Utf8 => utf8(&whole, is_last),
            Encoding::Utf16Le => utf16(&whole, u16::from_le_bytes, is_last),
            Encoding::Utf16Be => utf16(&whole, u16::from_be_bytes, is_last),
        };
        let is_begun = self.is_begun;
        if is_last {
            self.is_begun = false;
        } else {
            self.is_begun |= !text.text.is_empty();
            whole.drain(..used);
            self.pending = whole;
        }
        if fatal && text.is_wrong {
            *self = Self::default();
            return None;
        }
        let mut text = text.text;
        if !is_begun && !keep_mark && text.starts_with('\u{FEFF}') {
            text.drain(..'\u{FEFF}'.len_utf8());
        }
        Some(text)
    }
}

struct Decoded {
    text: String,
    is_wrong: bool,
}

/// Decodes, and says how many bytes were used: unless it is the last piece, an incomplete character stays.
fn utf8(bytes: &[u8], is_last: bool) -> (Decoded, usize) {
    let mut decoded = Decoded { text: String::with_capacity(bytes.len()), is_wrong: false };
    let mut used = 0;
    for chunk in bytes.utf8_chunks() {
        decoded.text.push_str(chunk.valid());
        used += chunk.valid().len();
        let invalid = chunk.invalid();
        if invalid.is_empty() {
            continue;
        }
        let at_end = used + invalid.len() == bytes.len();
        let incomplete =
            std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if at_end && incomplete && !is_last {
            break;
        }
        used += invalid.len();
        decoded.text.push('\u{FFFD}');
        decoded.is_wrong = true;
    }
    (decoded, used)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, is_last: bool) -> (Decoded, usize) {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|&pair| unit(pair)).collect();
    let waits = !is_last && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit));
    let ready = &units[..units.len() - usize::from(waits)];
    let mut decoded = Decoded { text: String::with_capacity(ready.len()), is_wrong: false };
    for character in char::decode_utf16(ready.iter().copied()) {
        decoded.is_wrong |= character.is_err();
        decoded.text.push(character.unwrap_or('\u{FFFD}'));
    }
    if is_last && !odd.is_empty() {
        decoded.text.push('\u{FFFD}');
        decoded.is_wrong = true;
    }
    (decoded, ready.len() * 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(bytes: Vec<u8>, cut in 0_usize..64, wide: bool) {
            let cut = cut.min(bytes.len());
            let encoding = if wide { Encoding::Utf16Be } else { Encoding::Utf8 };
            let mut decoding = Decoding::default();
            let whole = decoding.decode(encoding, &bytes, false, false, true).unwrap();
            let mut pieces = decoding.decode(encoding, &bytes[..cut], false, false, false).unwrap();
            pieces += &decoding.decode(encoding, &bytes[cut..], false, false, true).unwrap();
            prop_assert_eq!(&pieces, &whole);
            if !wide {
                let known = String::from_utf8_lossy(&bytes);
                prop_assert_eq!(whole, known.strip_prefix('\u{FEFF}').unwrap_or(&known));
            }
        }
    }
}
