//! Messages from and to JSON, by the rules of Go's `protojson`.

mod base64;
mod decode;
mod encode;
mod known;
mod parse;
mod time;

pub use decode::DecodeError;
pub(crate) use decode::{any, decode};
pub use encode::EncodeError;
pub(crate) use encode::encode;

/// Nesting of messages that is followed, either way.
const DEPTH_MAX: u32 = 200;
