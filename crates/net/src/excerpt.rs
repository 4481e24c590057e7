//! A few bytes of what a server said, small enough to travel inside a `Copy` error.

use std::fmt::{self, Write as _};

/// How many bytes an [`Excerpt`] keeps.
const MAX: usize = 46;

/// The first bytes of something malformed, for messages. Shown quoted, as Go's `%q` does.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Excerpt {
    len: u8,
    cut: bool,
    bytes: [u8; MAX],
}

impl Excerpt {
    /// Keeps at most 46 bytes of `text`; a cut is shown as `…`.
    pub fn new(text: &[u8]) -> Self {
        let len = text.len().min(MAX);
        let mut bytes = [0; MAX];
        bytes[..len].copy_from_slice(&text[..len]);
        Self { len: len as u8, cut: text.len() > MAX, bytes }
    }

    /// The text that it keeps, without quotes; a cut is shown as `…`.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes[..self.len as usize]);
        let mut text = text.into_owned();
        if self.cut {
            text.push('…');
        }
        text
    }
}

/// The last bytes of a path, for messages: its end tells more than its beginning. Shown without quotes.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Tail(Excerpt);

impl Tail {
    /// Keeps at most 46 bytes of `text`; a cut is shown as `…`.
    pub fn new(text: &[u8]) -> Self {
        let mut from = text.len().saturating_sub(MAX);
        // Not in the middle of a character.
        while text.get(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
            from += 1;
        }
        let mut kept = Excerpt::new(&text[from..]);
        kept.cut = from > 0;
        Self(kept)
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.cut {
            f.write_str("…")?;
        }
        f.write_str(&String::from_utf8_lossy(&self.0.bytes[..self.0.len as usize]))
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.bytes[..self.len as usize].utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '"' | '\\' => write!(f, "\\{character}")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    '\0'..='\x1f' | '\x7f' => write!(f, "\\x{:02x}", character as u32)?,
                    _ => f.write_char(character)?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        if self.cut {
            f.write_char('…')?;
        }
        f.write_char('"')
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_quoted_and_cut() {
        assert_eq!(Excerpt::new(b"a\"b\n").to_string(), r#""a\"b\n""#);
        // As k6 1.8.1 writes it.
        assert_eq!(Excerpt::new(b"\x00\x01\xffg\xc3\xa9").to_string(), r#""\x00\x01\xffgé""#);
        assert!(Excerpt::new(&[b'x'; 100]).to_string().ends_with("x…\""));
    }

    #[test]
    fn of_a_path_the_end_is_kept() {
        assert_eq!(Tail::new(b"/a/b").to_string(), "/a/b");
        let long = format!("/{}/ö/{}", "x".repeat(60), "y".repeat(44));
        assert_eq!(Tail::new(long.as_bytes()).to_string(), format!("…/{}", "y".repeat(44)));
    }
}
