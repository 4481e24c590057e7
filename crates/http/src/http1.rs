//! HTTP/1.1 (RFC 9112): heads out, responses in.
//!
//! `head`, `chunked`, `parser` take bytes and give bytes, and know no socket; `converse` puts them on a
//! connection.

pub(crate) mod chunked;
pub(crate) mod converse;
pub(crate) mod encode;
pub(crate) mod head;
pub(crate) mod known;
pub(crate) mod malformed;
pub(crate) mod outgoing;
pub(crate) mod parser;

pub use head::{Head, Length};
pub use malformed::Malformed;
pub use parser::{Event, Parser};

/// Writes the head of a request that goes directly to its server to the end of `out`.
pub fn encode_head(request: &crate::Request<'_>, out: &mut Vec<u8>) {
    encode::encode(request, encode::Way::default(), out);
}
