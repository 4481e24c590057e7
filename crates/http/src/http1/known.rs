//! Heads that came before: servers send the same one again and again.
//!
//! A server's answers to one request differ in their date at most, once a second. The heads that a core parsed last are
//! kept with what they mean; one that comes again, byte for byte, isn't parsed but compared.

use std::borrow::Cow;
use std::ops::Range;

use super::head::{Head, Length};

/// Heads that are kept; the oldest goes. Servers that send other ones each time cost a few comparisons, which end soon.
const HEADS: usize = 4;

/// Longer heads are not kept.
const SIZE_MAX: usize = 1024;

/// The last heads, whichever connection they came on.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads {
    heads: [KnownHead; HEADS],
    /// Where the next one goes.
    next: usize,
}

#[derive(Debug)]
struct KnownHead {
    /// All of it, the empty line too. Empty: none is kept here.
    bytes: Vec<u8>,
    to_head_request: bool,
    status: u16,
    minor: u8,
    keep_alive: bool,
    length: Length,
    has_cookies: bool,
    has_encoding: bool,
    reason: Range<usize>,
    lines: Range<usize>,
}

impl KnownHeads {
    /// The head at the front of `input`, and its size, if it is a known one.
    #[inline]
    pub(crate) fn find<'i>(
        &self,
        input: &'i [u8],
        to_head_request: bool,
    ) -> Option<(Head<'i>, usize)> {
        let known = self.heads.iter().find(|known| {
            !known.bytes.is_empty()
                && input.starts_with(&known.bytes)
                && known.to_head_request == to_head_request
        })?;
        let head = Head {
            status: known.status,
            minor: known.minor,
            keep_alive: known.keep_alive,
            length: known.length,
            has_cookies: known.has_cookies,
            has_encoding: known.has_encoding,
            reason: &input[known.reason.clone()],
            lines: Cow::Borrowed(&input[known.lines.clone()]),
        };
        Some((head, known.bytes.len()))
    }

    /// Keeps what `bytes`, which are a whole head, were found to mean.
    pub(crate) fn keep(&mut self, bytes: &[u8], to_head_request: bool, head: &Head<'_>) {
        let (Cow::Borrowed(lines), true) = (&head.lines, bytes.len() <= SIZE_MAX) else { return };
        let (Some(reason), Some(lines)) = (place(bytes, head.reason), place(bytes, lines)) else {
            return;
        };
        let known = &mut self.heads[self.next];
        known.bytes.clear();
        known.bytes.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut known.bytes);
        *known = KnownHead {
            bytes,
            to_head_request,
            status: head.status,
            minor: head.minor,
            keep_alive: head.keep_alive,
            length: head.length,
            has_cookies: head.has_cookies,
            has_encoding: head.has_encoding,
            reason,
            lines,
        };
        self.next = (self.next + 1) % HEADS;
    }
}

impl Default for KnownHead {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            to_head_request: false,
            status: 0,
            minor: 0,
            keep_alive: false,
            length: Length::None,
            has_cookies: false,
            has_encoding: false,
            reason: 0..0,
            lines: 0..0,
        }
    }
}

/// Where in `whole` its part lies.
fn place(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let range = start..start + part.len();
    (range.end <= whole.len()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::head::parse;

    fn taught(text: &str, to_head_request: bool) -> KnownHeads {
        let mut heads = KnownHeads::default();
        let (head, size) = parse(text.as_bytes(), to_head_request).unwrap().unwrap();
        heads.keep(&text.as_bytes()[..size], to_head_request, &head);
        heads
    }

    #[test]
    fn a_known_head_means_what_it_meant() {
        let text =
            "HTTP/1.1 203 Quite OK\r\nA: b\r\nSet-Cookie: c=d\r\nContent-Length: 5\r\n\r\nhello";
        let heads = taught(text, false);
        assert_eq!(heads.find(text.as_bytes(), false), parse(text.as_bytes(), false).unwrap());
        assert_eq!(heads.find(text.as_bytes(), true), None);
        for bare in ["HTTP/1.0 404\n\n", "HTTP/1.1 200 OK\r\n\r\n"] {
            let found = taught(bare, true).find(bare.as_bytes(), true);
            assert_eq!(found, parse(bare.as_bytes(), true).unwrap());
        }
    }

    #[test]
    fn other_heads_and_cut_ones_are_not_known() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        let heads = taught(text, false);
        for other in [&text[..text.len() - 1], "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", ""] {
            assert_eq!(heads.find(other.as_bytes(), false), None);
        }
        assert_eq!(KnownHeads::default().find(b"", false), None);
    }

    #[test]
    fn the_oldest_head_goes_and_odd_ones_are_not_kept() {
        let head = |number: usize| format!("HTTP/1.1 200 OK\r\nNumber: {number}\r\n\r\n");
        let mut heads = KnownHeads::default();
        for number in 0..=HEADS {
            let text = head(number);
            let (parsed, _) = parse(text.as_bytes(), false).unwrap().unwrap();
            heads.keep(text.as_bytes(), false, &parsed);
        }
        assert_eq!(heads.find(head(0).as_bytes(), false), None);
        assert!((1..=HEADS).all(|number| heads.find(head(number).as_bytes(), false).is_some()));
        let folded = "HTTP/1.1 200 x\r\nA: b \r\n\t c\r\n\r\n";
        assert_eq!(taught(folded, false).find(folded.as_bytes(), false), None);
        let long = format!("HTTP/1.1 200 x\r\nA: {}\r\n\r\n", "b".repeat(SIZE_MAX));
        assert_eq!(taught(&long, false).find(long.as_bytes(), false), None);
    }
}
