//! The answers to a server that wants to know who asks: digest (RFC 7616) and NTLM (MS-NLMP).
//!
//! Arithmetic only: who sends what when is the caller's business.

pub mod digest;
pub mod ntlm;

/// The challenges of a kind, `Digest` say: what follows its name in each `WWW-Authenticate` that begins with it.
fn of_kind<'h>(values: impl Iterator<Item = &'h str>, kind: &str) -> Option<&'h str> {
    let mut values = values;
    values.find_map(|value| {
        let (name, rest) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
        name.eq_ignore_ascii_case(kind).then_some(rest.trim())
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
