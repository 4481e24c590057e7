//! The names of TLS alerts (RFC 8446 §6), in the words Go prints.

use std::fmt;

/// Shows an alert by name, or by number if it has none.
pub(super) struct Name(pub(super) u8);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            0 => "close notify",
            10 => "unexpected message",
            20 => "bad record MAC",
            21 => "decryption failed",
            22 => "record overflow",
            30 => "decompression failure",
            40 => "handshake failure",
            42 => "bad certificate",
            43 => "unsupported certificate",
            44 => "revoked certificate",
            45 => "expired certificate",
            46 => "unknown certificate",
            47 => "illegal parameter",
            48 => "unknown certificate authority",
            49 => "access denied",
            50 => "error decoding message",
            51 => "error decrypting message",
            60 => "export restriction",
            70 => "protocol version not supported",
            71 => "insufficient security level",
            80 => "internal error",
            86 => "inappropriate fallback",
            90 => "user canceled",
            100 => "no renegotiation",
            109 => "missing extension",
            110 => "unsupported extension",
            111 => "certificate unobtainable",
            112 => "unrecognized name",
            113 => "bad certificate status response",
            114 => "bad certificate hash value",
            115 => "unknown PSK identity",
            116 => "certificate required",
            120 => "no application protocol",
            121 => "encrypted client hello required",
            other => return write!(f, "alert({other})"),
        };
        f.write_str(name)
    }
}
