//! Any bytes as what an HTTP/2 server says to a client with open streams.
//!
//! The client must come to the same however the bytes were cut, its own frames must be whole, and its answers must not cost
//! much more than what they answer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| brunt_http::fuzz::frames(input));
