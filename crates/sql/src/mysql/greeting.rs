//! The first words of a server, and our answer.

use super::packet::{Fields, malformed, push_number, push_text};
use crate::failure::{Failure, Trouble};

/// The server counts rows that were found, not rows that were changed.
pub(super) const FOUND_ROWS: u32 = 1 << 1;
/// The answer names a database.
pub(super) const WITH_DATABASE: u32 = 1 << 3;
/// Packets may travel compressed.
pub(super) const COMPRESS: u32 = 1 << 5;
/// TLS is spoken from here on.
pub(super) const TLS: u32 = 1 << 11;
/// One text may hold several statements.
pub(super) const MULTI_STATEMENTS: u32 = 1 << 16;
/// The end of rows is a packet `OK`.
pub(super) const NEW_END: u32 = 1 << 24;

/// Of MariaDB's own flags: one command may run a statement for many rows of arguments.
const BULK: u32 = 1 << 2;

/// MariaDB takes it for the sign of a client that knows none of its own flags.
const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const LOCAL_FILES: u32 = 1 << 7;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_RESULTS: u32 = 1 << 17;
const PREPARED_MULTI_RESULTS: u32 = 1 << 18;
const PLUGINS: u32 = 1 << 19;
const ATTRIBUTES: u32 = 1 << 20;
const LONG_ANSWERS: u32 = 1 << 21;

/// The flags that we send always, if the server has them.
const USUAL: u32 = LONG_PASSWORD
    | LONG_FLAG
    | LOCAL_FILES
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | MULTI_RESULTS
    | PREPARED_MULTI_RESULTS
    | PLUGINS
    | ATTRIBUTES
    | LONG_ANSWERS
    | NEW_END;

/// The longest packet that we announce, as other clients do.
const PACKET_MAX: u32 = 1 << 30;

/// The server's first packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) version: String,
    pub(super) connection_id: u32,
    /// A password is mixed with it.
    pub(super) nonce: Vec<u8>,
    pub(super) capabilities: u32,
    /// MariaDB's own flags.
    extended: u32,
    pub(super) status: u16,
    /// The way to log in that it prefers.
    pub(super) plugin: String,
}

impl Greeting {
    /// Reads it.
    pub(super) fn read(packet: &[u8]) -> Result<Self, Failure> {
        let protocol = *packet.first().ok_or_else(malformed)?;
        if protocol < 10 {
            let why = format!(
                "unsupported protocol version {protocol}. Version 10 or higher is required"
            );
            return Err(Failure::new(Trouble::Protocol, why));
        }
        let greeting = Self::fields(&packet[1..]).ok_or_else(malformed)?;
        if greeting.capabilities & PROTOCOL_41 == 0 {
            let why = "MySQL server does not support required protocol 41+";
            return Err(Failure::new(Trouble::Protocol, why));
        }
        Ok(greeting)
    }

    fn fields(rest: &[u8]) -> Option<Self> {
        memchr::memchr(0, rest)?;
        let mut fields = Fields(rest);
        let version = String::from_utf8_lossy(fields.until_zero()).into_owned();
        let connection_id = fields.long()?;
        let mut nonce = fields.take(8)?.to_vec();
        fields.byte()?;
        let mut capabilities = u32::from(fields.short()?);
        let (mut status, mut extended, mut plugin) = (0, 0, String::new());
        if !fields.0.is_empty() {
            fields.byte()?;
            status = fields.short()?;
            capabilities |= u32::from(fields.short()?) << 16;
            let size = usize::from(fields.byte()?);
            fields.take(6)?;
            // MySQL has zeros here, and a flag that MariaDB leaves out.
            extended = fields.long()? & if capabilities & LONG_PASSWORD == 0 { !0 } else { 0 };
            // Its last byte is a zero that belongs to no nonce.
            let rest = fields.take(size.saturating_sub(8).max(13).min(fields.0.len()))?;
            nonce.extend_from_slice(rest.strip_suffix(b"\0").unwrap_or(rest));
            plugin = String::from_utf8_lossy(fields.until_zero()).into_owned();
        }
        Some(Self { version, connection_id, nonce, capabilities, extended, status, plugin })
    }

    /// The flags of a connection: the usual ones and `wanted`, as far as the server has them.
    pub(super) fn agreed(&self, wanted: u32) -> u32 {
        let usual = if self.has_bulk() { USUAL & !LONG_PASSWORD } else { USUAL };
        (usual | wanted) & (self.capabilities | LONG_PASSWORD) | wanted & WITH_DATABASE
    }

    /// Whether it runs a prepared statement for many rows of arguments at once.
    pub(super) fn has_bulk(&self) -> bool {
        self.extended & BULK != 0
    }

    /// Whether it is MariaDB.
    pub(super) fn is_mariadb(&self) -> bool {
        self.version.contains("MariaDB")
    }
}

/// Our answer.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) capabilities: u32,
    pub(super) has_bulk: bool,
    pub(super) collation: u8,
    pub(super) user: &'a str,
    pub(super) proof: &'a [u8],
    pub(super) database: &'a str,
    pub(super) plugin: &'a str,
    pub(super) attributes: &'a [(&'a str, &'a str)],
}

impl Answer<'_> {
    /// The part that goes out before TLS and is repeated in it.
    pub(super) fn push_beginning(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.to_le_bytes());
        out.extend_from_slice(&PACKET_MAX.to_le_bytes());
        out.push(self.collation);
        out.extend_from_slice(&[0; 19]);
        let extended = if self.has_bulk { BULK } else { 0 };
        out.extend_from_slice(&extended.to_le_bytes());
    }

    /// All of it.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        let zero_ended = |out: &mut Vec<u8>, text: &str| {
            out.extend(text.bytes().filter(|&byte| byte != 0));
            out.push(0);
        };
        self.push_beginning(out);
        zero_ended(out, self.user);
        if self.capabilities & LONG_ANSWERS != 0 {
            push_text(out, self.proof);
        } else {
            let proof = &self.proof[..self.proof.len().min(255)];
            out.push(proof.len() as u8);
            out.extend_from_slice(proof);
        }
        if self.capabilities & WITH_DATABASE != 0 {
            zero_ended(out, self.database);
        }
        if self.capabilities & PLUGINS != 0 {
            zero_ended(out, self.plugin);
        }
        if self.capabilities & ATTRIBUTES != 0 {
            let mut all = Vec::new();
            for (name, value) in self.attributes {
                push_text(&mut all, name.as_bytes());
                push_text(&mut all, value.as_bytes());
            }
            push_number(out, all.len() as u64);
            out.extend_from_slice(&all);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As MySQL 8 greets.
    fn mysql_8() -> Vec<u8> {
        let mut packet = b"\x0a8.0.36\0\x2a\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xdf\x15".to_vec();
        packet.extend_from_slice(&[0; 10]);
        packet.extend_from_slice(b"ijklmnopqrst\0caching_sha2_password\0");
        packet
    }

    #[test]
    fn a_greeting_is_read() {
        let greeting = Greeting::read(&mysql_8()).unwrap();
        assert_eq!((greeting.version.as_str(), greeting.connection_id), ("8.0.36", 42));
        assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(greeting.capabilities, 0xdfff_ffff);
        assert_eq!((greeting.status, greeting.is_mariadb()), (2, false));
        assert_eq!(greeting.plugin, "caching_sha2_password");
    }

    #[test]
    fn another_protocol_is_refused() {
        let text = |packet: &[u8]| Greeting::read(packet).unwrap_err().text().to_owned();
        assert_eq!(
            text(b"\x09x"),
            "unsupported protocol version 9. Version 10 or higher is required"
        );
        assert_eq!(text(b"HTTP/1.1 400 Bad Request"), "malformed packet");
        assert_eq!(
            text(b"\x0a3\0\x01\0\0\0abcdefgh\0\0\0"),
            "MySQL server does not support required protocol 41+"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = Greeting::read(&bytes);
            let _ = Greeting::read(&[&b"\x0a"[..], &bytes].concat());
        }

        #[test]
        fn a_greeting_may_end_anywhere(end in 0..70usize) {
            let packet = mysql_8();
            let _ = Greeting::read(&packet[..end.min(packet.len())]);
        }
    }
}
