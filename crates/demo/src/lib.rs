//! The demo target: the server that tests, examples and README aim at
#![forbid(unsafe_code)]
