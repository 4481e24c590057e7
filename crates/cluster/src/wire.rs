//! Frames as bytes: protobuf, packed by zstd.
//!
//! A message is at most 512 KiB before it is packed; a larger frame becomes several, each with a number of its own, as frames
//! merge in any grouping. Metrics go by their names, kinds and contents, since their numbers are local to a process; texts
//! stand once in a message's table. A reader takes no more memory than a small multiple of 512 KiB, whatever the bytes say.
//!
//! Not in it: single samples, and the core that a frame came from.

mod decode;
mod encode;
mod order;
mod proto;

pub use self::decode::{Decoder, Message, WireError};
pub use self::encode::{Cut, Encoder};
pub use self::order::retime;

use crate::time::Nanos;

/// The most bytes of a message before it is packed.
pub const MESSAGE_MAX: usize = 512 * 1024;

/// The most texts of a message.
pub const TEXTS_MAX: usize = 100_000;

/// The most bytes of a packed message: zstd makes nothing longer than this.
pub const PACKED_MAX: usize = MESSAGE_MAX + MESSAGE_MAX / 128 + 128;

/// The head of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// Of which seat.
    pub seat: u32,
    /// Of which incarnation.
    pub incarnation: u64,
    /// Its number, from 1 on.
    pub seq: u64,
    /// When its frame began, in nanoseconds since the start of the scenarios; 0 for what came before.
    pub from_ns: Nanos,
    /// When its frame ended, by the same clock.
    pub to_ns: Nanos,
    /// No message with a higher number follows.
    pub is_last: bool,
}

#[cfg(test)]
mod tests;
