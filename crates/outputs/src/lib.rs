//! One file per --out
#![forbid(unsafe_code)]
