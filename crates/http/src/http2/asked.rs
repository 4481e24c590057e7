//! The head that a stream of a [`Line`](super::Line) begins with.

/// The head of a request. Nothing in it may break the rules of HTTP/2: names are in small letters, and values hold no
/// control characters.
#[derive(Copy, Clone, Debug)]
pub struct Asked<'a> {
    /// `POST`, as a rule.
    pub method: &'a str,
    /// `https` or `http`.
    pub scheme: &'a str,
    /// Host and port.
    pub authority: &'a str,
    /// It begins with a slash.
    pub path: &'a str,
    /// The headers in their order.
    pub headers: &'a [(&'a str, &'a [u8])],
}

impl<'a> Asked<'a> {
    /// All headers in the order in which they go out.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let first = [
            (":method", self.method),
            (":scheme", self.scheme),
            (":authority", self.authority),
            (":path", self.path),
        ];
        let first = first.into_iter().map(|(name, value)| (name, value.as_bytes()));
        first.chain(self.headers.iter().copied())
    }

    /// Its size as a server counts it that sets a limit (RFC 9113 §6.5.2).
    pub(super) fn size(&self) -> usize {
        self.lines().map(|(name, value)| name.len() + value.len() + 32).sum()
    }
}
