//! A summary, told to a reader: text, JSON
#![forbid(unsafe_code)]
