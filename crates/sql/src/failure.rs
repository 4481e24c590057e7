//! Why a statement failed.

use std::fmt;

/// The kind of a failure: what the caller may do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// The DSN or an option cannot be used.
    Config,
    /// No connection came about: network, TLS, login.
    Connect,
    /// The connection broke in the middle of a statement, or before it.
    Broken,
    /// The server refused the statement.
    Server,
    /// The server refused it now and may take it the next time: deadlock, serialization failure.
    Retry,
    /// The server speaks something else.
    Protocol,
    /// It took longer than it may.
    Timeout,
    /// The caller is at fault: arguments, a closed database, a row in the wrong place.
    Usage,
    /// A bound of ours was reached.
    TooLarge,
}

/// Why a statement failed. The text is the Go driver's, where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    trouble: Trouble,
    text: String,
    code: String,
    number: i64,
}

impl Failure {
    /// One of this kind. Its code is that of its kind.
    pub fn new(trouble: Trouble, text: impl Into<String>) -> Self {
        let code = match trouble {
            Trouble::Config => "config",
            Trouble::Connect => "08001",
            Trouble::Broken => "08006",
            Trouble::Protocol => "08P01",
            Trouble::Timeout => "timeout",
            Trouble::Server | Trouble::Retry => "HY000",
            Trouble::Usage => "usage",
            Trouble::TooLarge => "too_large",
        };
        Self { trouble, text: text.into(), code: code.to_owned(), number: 0 }
    }

    /// With the server's code (SQLSTATE, or the name of SQLite's result code) and number (MySQL's, SQLite's; else 0).
    #[must_use]
    pub fn with_code(self, code: impl Into<String>, number: i64) -> Self {
        Self { code: code.into(), number, ..self }
    }

    /// The kind.
    pub fn trouble(&self) -> Trouble {
        self.trouble
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SQLSTATE, the name of SQLite's result code, or the word for a failure that never reached a server.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The server's number for it, 0 if there is none.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// Whether the connection is of no more use.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self.trouble,
            Trouble::Connect | Trouble::Broken | Trouble::Protocol | Trouble::Timeout
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}
