//! A few bytes of what a server said, small enough to travel inside a `Copy` error.

use std::fmt;

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
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.bytes[..self.len as usize]);
        let mut text = text.into_owned();
        if self.cut {
            text.push('…');
        }
        write!(f, "{text:?}")
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
        assert!(Excerpt::new(&[b'x'; 100]).to_string().ends_with("x…\""));
    }
}
