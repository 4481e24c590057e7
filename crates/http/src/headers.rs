//! The headers of a request: an ordered list, kept as it goes on the wire.

use brunt_net::Excerpt;

use crate::failure::Failure;

/// Header lines in their order, ready to be copied into a request's head.
///
/// One buffer and a list of offsets: reuse it ([`Headers::clear`]) and nothing is allocated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// `Name: value\r\n` of each line, in order.
    wire: Vec<u8>,
    lines: Vec<Line>,
    asks_to_close: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Line {
    start: u32,
    name: u16,
    value: u32,
}

impl Headers {
    /// No headers.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// How many bytes they are on the wire.
    pub fn bytes(&self) -> usize {
        self.wire.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Removes all; keeps the memory.
    pub fn clear(&mut self) {
        self.wire.clear();
        self.lines.clear();
        self.asks_to_close = false;
    }

    /// Becomes the same as `other`, in the memory that it has.
    pub fn copy_from(&mut self, other: &Self) {
        self.wire.clone_from(&other.wire);
        self.lines.clone_from(&other.lines);
        self.asks_to_close = other.asks_to_close;
    }

    /// Adds a line at the end. The name goes on the wire as it is given: see [`canonical_name`].
    ///
    /// `Host`, `Content-Length`, `Transfer-Encoding` and `Trailer` are left out in silence, as in Go:
    /// they are written from the rest of the request.
    ///
    /// # Errors
    /// [`Failure::HeaderName`] or [`Failure::HeaderValue`]: it can't be sent, and isn't added.
    pub fn append(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        if name.is_empty() || name.len() > usize::from(u16::MAX) || !name.bytes().all(is_token) {
            return Err(Failure::HeaderName(Excerpt::new(name.as_bytes())));
        }
        let too_long = u32::try_from(self.wire.len() + name.len() + value.len() + 4).is_err();
        if too_long || !is_value(value) {
            return Err(Failure::HeaderValue(Excerpt::new(name.as_bytes())));
        }
        let is_ours = |ours: &&str| name.eq_ignore_ascii_case(ours);
        if ["Host", "Content-Length", "Transfer-Encoding", "Trailer"].iter().any(is_ours) {
            return Ok(());
        }
        let value = value.trim_matches([' ', '\t']);
        self.lines.push(Line {
            start: self.wire.len() as u32,
            name: name.len() as u16,
            value: value.len() as u32,
        });
        self.wire.extend_from_slice(name.as_bytes());
        self.wire.extend_from_slice(b": ");
        self.wire.extend_from_slice(value.as_bytes());
        self.wire.extend_from_slice(b"\r\n");
        self.asks_to_close |= name.eq_ignore_ascii_case("connection")
            && value.split(',').any(|token| token.trim().eq_ignore_ascii_case("close"));
        Ok(())
    }

    /// Replaces all lines of this name (in any case) by one, in the place of the first.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        if self.get(name).is_none() {
            return self.append(name, value);
        }
        let old = std::mem::take(self);
        let mut is_set = false;
        for (other, kept) in &old {
            if !other.eq_ignore_ascii_case(name) {
                self.append(other, kept)?;
            } else if !is_set {
                is_set = true;
                if let Err(error) = self.append(name, value) {
                    *self = old;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Removes all lines of this name (in any case).
    pub fn remove(&mut self, name: &str) {
        if self.get(name).is_none() {
            return;
        }
        let old = std::mem::take(self);
        for (other, value) in old.iter().filter(|(other, _)| !other.eq_ignore_ascii_case(name)) {
            // It was valid before.
            let _ = self.append(other, value);
        }
    }

    /// The value of the first line of this name, in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Names and values in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { headers: self, at: 0 }
    }

    /// The lines as they go on the wire, each with its CRLF: the first one, if it is `User-Agent`,
    /// and the rest.
    pub(crate) fn agent_and_rest(&self) -> (&[u8], &[u8]) {
        let has_agent = self.wire.starts_with(b"User-Agent: ");
        let rest = self.lines.get(1).map_or(self.wire.len(), |line| line.start as usize);
        self.wire.split_at(if has_agent { rest } else { 0 })
    }

    /// All lines as they go on the wire, each with its CRLF.
    pub(crate) fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// There is a `Connection: close`.
    pub(crate) fn asks_to_close(&self) -> bool {
        self.asks_to_close
    }
}

impl<'a> IntoIterator for &'a Headers {
    type Item = (&'a str, &'a str);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Names and values of [`Headers`], in order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    headers: &'a Headers,
    at: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.headers.lines.get(self.at)?;
        self.at += 1;
        let name = line.start as usize..line.start as usize + usize::from(line.name);
        let value = name.end + 2..name.end + 2 + line.value as usize;
        let text = |range| std::str::from_utf8(&self.headers.wire[range]);
        Some((text(name).expect("it came as a str"), text(value).expect("it came as a str")))
    }
}

/// Whether a text may follow the colon: no control characters but the tab.
pub(crate) fn is_value(value: &str) -> bool {
    value.bytes().all(|byte| (byte >= b' ' || byte == b'\t') && byte != 127)
}

/// RFC 9110 §5.6.2: what names are made of.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A header's name as Go writes it: `x-my-id` is `X-My-Id`. Names that are no token are left as
/// they are.
pub fn canonical_name(name: &str) -> String {
    if !name.bytes().all(is_token) {
        return name.to_owned();
    }
    let mut upper = true;
    name.chars()
        .map(|char| {
            let is_upper = std::mem::replace(&mut upper, char == '-');
            if is_upper { char.to_ascii_uppercase() } else { char.to_ascii_lowercase() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_order_and_set_replaces_in_place() {
        let mut headers = Headers::new();
        headers.append("A", "1").unwrap();
        headers.append("B", " 2 ").unwrap();
        headers.append("a", "3").unwrap();
        headers.set("A", "4").unwrap();
        headers.set("C", "5").unwrap();
        assert_eq!(headers.agent_and_rest(), (&b""[..], &b"A: 4\r\nB: 2\r\nC: 5\r\n"[..]));
        headers.remove("b");
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("A", "4"), ("C", "5")]);
        assert_eq!((headers.len(), headers.get("c")), (2, Some("5")));
    }

    #[test]
    fn nothing_can_be_smuggled_into_the_head() {
        let mut headers = Headers::new();
        assert!(headers.append("A\r\nB", "1").is_err());
        assert!(headers.append("", "1").is_err());
        let error = headers.append("A", "1\r\nB: 2").unwrap_err();
        assert_eq!(error.to_string(), r#"net/http: invalid header field value for "A""#);
        assert!(headers.is_empty());
    }

    #[test]
    fn what_the_request_says_itself_is_left_out() {
        let mut headers = Headers::new();
        for name in ["host", "Content-length", "transfer-encoding", "Trailer"] {
            headers.append(name, "1").unwrap();
        }
        assert!(headers.is_empty());
    }

    #[test]
    fn a_refused_set_changes_nothing() {
        let mut headers = Headers::new();
        headers.append("A", "1").unwrap();
        assert!(headers.set("A", "\n").is_err());
        assert_eq!(headers.get("A"), Some("1"));
    }

    #[test]
    fn close_is_noticed() {
        let mut headers = Headers::new();
        headers.append("connection", "x, Close").unwrap();
        assert!(headers.asks_to_close());
        headers.remove("Connection");
        assert!(!headers.asks_to_close());
    }

    #[test]
    fn names_are_written_as_go_does() {
        assert_eq!(canonical_name("x-my-ID"), "X-My-Id");
        assert_eq!(canonical_name("eTag"), "Etag");
        assert_eq!(canonical_name("a b"), "a b");
        assert_eq!(canonical_name("é"), "é");
    }
}
