//! A response's head, read where it is kept.

/// The head of a response.
#[derive(Copy, Clone, Debug)]
pub struct Response<'a> {
    pub(super) status: u16,
    pub(super) minor: u8,
    pub(super) reason: &'a [u8],
    pub(super) lines: &'a [u8],
    pub(super) has_cookies: bool,
    pub(super) has_encoding: bool,
}

impl<'a> Response<'a> {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The text after it: `OK`. Bytes that aren't UTF-8 are replaced.
    pub fn reason(&self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.reason)
    }

    /// `HTTP/1.1`, `HTTP/1.0` or `HTTP/2.0`.
    pub fn version(&self) -> &'static str {
        match self.minor {
            0 => "HTTP/1.0",
            2 => "HTTP/2.0",
            _ => "HTTP/1.1",
        }
    }

    /// The header lines in order: name as sent, value as bytes.
    pub fn headers(&self) -> HeaderLines<'a> {
        HeaderLines { rest: self.lines }
    }

    /// The value of the first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// There is at least one `Set-Cookie`: known without a search.
    pub fn has_cookies(&self) -> bool {
        self.has_cookies
    }

    /// The values of `Content-Encoding` joined with commas, for [`decode`](crate::content::decode).
    /// `None`, known without a search, when there is none.
    pub fn content_encoding(&self) -> Option<String> {
        if !self.has_encoding {
            return None;
        }
        let values = self
            .headers()
            .filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"))
            .map(|(_, value)| String::from_utf8_lossy(value));
        Some(values.collect::<Vec<_>>().join(","))
    }
}

/// Iterates over header lines.
#[derive(Clone, Debug)]
pub struct HeaderLines<'a> {
    rest: &'a [u8],
}

impl<'a> HeaderLines<'a> {
    /// Lines that were checked, each with its end.
    pub(crate) fn of(rest: &'a [u8]) -> Self {
        Self { rest }
    }
}

impl<'a> Iterator for HeaderLines<'a> {
    type Item = (&'a str, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let end = memchr::memchr(b'\n', self.rest)?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        let colon = memchr::memchr(b':', line)?;
        // Names were checked when the head was parsed: they are tokens, so ASCII; spaces may follow.
        let name = std::str::from_utf8(line[..colon].trim_ascii_end()).unwrap_or_default();
        Some((name, line[colon + 1..].trim_ascii()))
    }
}
