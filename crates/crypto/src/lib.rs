//! The arithmetic of the Web Cryptography API: keys in and out of their formats, ciphers, signatures, derived bits.
//!
//! One file for each family of algorithms: [`aes`], [`curve`] (ECDSA and ECDH), [`rsa`], [`mac`] (HMAC) and [`derive`]
//! (PBKDF2), all of them functions from bytes to bytes. Most of them are built on [`hash`]. An error is a
//! [`Failure`] with the name that the API gives it. Whatever needs random bytes is given its [`Random`].
//!
//! Absent: JavaScript, promises, usages of keys and whether they may be exported. Those are the caller's.
#![forbid(unsafe_code)]

pub mod aes;
pub mod curve;
pub mod derive;
mod failure;
pub mod hash;
pub mod jwk;
pub mod mac;
mod random;
pub mod rsa;

pub use failure::{Failure, Name};
pub use hash::Hash;
pub use random::Random;
