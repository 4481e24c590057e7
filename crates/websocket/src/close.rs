//! How a connection is ended: codes and what they mean.

use std::fmt;

/// A close frame that came, or the stand-in for one that didn't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// 1000 to 4999; 1005 if the frame had none.
    pub code: u16,
    /// At most 123 bytes.
    pub reason: String,
}

impl Close {
    /// A frame without a code.
    pub const NO_STATUS: u16 = 1005;
    /// No frame: the connection just ended.
    pub const ABNORMAL: u16 = 1006;
    /// The most bytes that a reason may have.
    pub const REASON_MAX: usize = 123;

    /// The connection ended without a close frame.
    pub fn abnormal() -> Self {
        Self { code: Self::ABNORMAL, reason: "unexpected EOF".to_owned() }
    }

    /// Whether a frame may carry the code.
    pub(crate) fn may_be_received(code: u16) -> bool {
        matches!(code, 1000..=1003 | 1007..=1013 | 3000..=4999)
    }
}

/// As Go's most used library says it: `websocket: close 1011 (internal server error): why`.
impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "websocket: close {}", self.code)?;
        if let Some(meaning) = reason_of(self.code) {
            write!(f, " ({meaning})")?;
        }
        if !self.reason.is_empty() {
            write!(f, ": {}", self.reason)?;
        }
        Ok(())
    }
}

/// The meaning of a code of RFC 6455 §7.4.1.
pub fn reason_of(code: u16) -> Option<&'static str> {
    Some(match code {
        1000 => "normal",
        1001 => "going away",
        1002 => "protocol error",
        1003 => "unsupported data",
        1005 => "no status",
        1006 => "abnormal closure",
        1007 => "invalid payload data",
        1008 => "policy violation",
        1009 => "message too big",
        1010 => "mandatory extension missing",
        1011 => "internal server error",
        1015 => "TLS handshake error",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_in_k6() {
        let close = |code, reason: &str| Close { code, reason: reason.to_owned() }.to_string();
        assert_eq!(close(1005, ""), "websocket: close 1005 (no status)");
        assert_eq!(close(3000, "zz"), "websocket: close 3000: zz");
        assert_eq!(close(4000, ""), "websocket: close 4000");
        let abnormal = "websocket: close 1006 (abnormal closure): unexpected EOF";
        assert_eq!(Close::abnormal().to_string(), abnormal);
    }
}
