//! Any bytes as header blocks of one HTTP/2 connection.
//!
//! No header may be longer than its bytes can pay for, and what was read is the same after it was written and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| brunt_http::fuzz::hpack(input));
