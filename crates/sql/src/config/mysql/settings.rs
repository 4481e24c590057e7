//! The settings themselves.

use std::fmt;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::config::Tls;

/// How a MySQL server is reached and spoken with.
#[derive(Clone)]
pub struct Settings {
    pub(crate) address: Address,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    pub(crate) tls: Tls,
    /// Boxed: there are many.
    pub(crate) options: Box<Options>,
}

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp {
        /// A name or an address without brackets.
        host: String,
        port: u16,
    },
    /// A socket in the file system.
    Unix(String),
    /// It cannot be dialed; why, in the words of Go's dialer, is said when it would be.
    Nowhere(String),
}

/// The parameters that stand behind the question mark, as the Go driver names them.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Dates are moments, not texts.
    pub(crate) parse_time: bool,
    /// The zone in which the server's dates are.
    pub(crate) zone: TimeZone,
    /// The first that the server knows is used.
    pub(crate) charsets: Vec<String>,
    pub(crate) collation: Option<String>,
    /// How long connecting and logging in may take; zero: as the options of the test say.
    pub(crate) timeout: Duration,
    /// How long one reading may wait; zero: no limit.
    pub(crate) read_timeout: Duration,
    /// How long one writing may wait; zero: no limit.
    pub(crate) write_timeout: Duration,
    pub(crate) multi_statements: bool,
    pub(crate) allow_native_passwords: bool,
    pub(crate) allow_cleartext_passwords: bool,
    pub(crate) allow_old_passwords: bool,
    pub(crate) allow_fallback_to_plaintext: bool,
    pub(crate) interpolate_params: bool,
    pub(crate) client_found_rows: bool,
    pub(crate) columns_with_alias: bool,
    pub(crate) reject_read_only: bool,
    pub(crate) check_liveness: bool,
    pub(crate) compress: bool,
    /// The longest statement; zero: as the server says.
    pub(crate) max_allowed_packet: usize,
    /// The key that passwords are encrypted with, in PEM; without it the server is asked for its own.
    pub(crate) server_key: Option<String>,
    /// Told to the server about this client.
    pub(crate) attributes: Vec<(String, String)>,
    /// Set at connecting, as SQL.
    pub(crate) variables: Vec<(String, String)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: Address::Tcp { host: "127.0.0.1".to_owned(), port: 3306 },
            user: String::new(),
            password: String::new(),
            database: String::new(),
            tls: Tls::default(),
            options: Box::default(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            parse_time: false,
            zone: TimeZone::UTC,
            charsets: Vec::new(),
            collation: None,
            timeout: Duration::ZERO,
            read_timeout: Duration::ZERO,
            write_timeout: Duration::ZERO,
            multi_statements: false,
            allow_native_passwords: true,
            allow_cleartext_passwords: false,
            allow_old_passwords: false,
            allow_fallback_to_plaintext: false,
            interpolate_params: false,
            client_found_rows: false,
            columns_with_alias: false,
            reject_read_only: false,
            check_liveness: true,
            compress: false,
            max_allowed_packet: 64 << 20,
            server_key: None,
            attributes: Vec::new(),
            variables: Vec::new(),
        }
    }
}

/// The Go driver's own list of collations in which a backslash can be the second byte of a character.
const UNSAFE: [&str; 5] = ["big5", "sjis", "gbk", "cp932", "gb18030"];

impl Options {
    /// Whether a backslash can be a part of a character on such a connection, so that literals cannot be escaped with it.
    pub(crate) fn is_unsafe(&self) -> bool {
        let names = self.charsets.iter().chain(&self.collation);
        names.into_iter().any(|name| UNSAFE.iter().any(|charset| name.starts_with(charset)))
    }
}

impl fmt::Debug for Settings {
    /// Leaves the password out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("address", &self.address)
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}
