//! Hosts QuickJS: knows no k6 API
#![forbid(unsafe_code)]
