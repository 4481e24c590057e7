//! The k6 API: one file or folder per import name
#![forbid(unsafe_code)]
