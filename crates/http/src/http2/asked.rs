//! What a stream of a [`Line`](super::Line) begins with.

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
    /// Headers that are different each time, behind the others.
    pub passing: &'a [(&'a str, &'a [u8])],
}
