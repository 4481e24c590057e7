//! The kind of a hit's end, so that fast failures don't flatter the percentiles.

use crate::Record;

/// The kind of a hit's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A status from 200 to 399.
    Success,
    /// 429 or 503: the server had too much to do and said so.
    Shed,
    /// Another status below 500.
    ClientError,
    /// Another status from 500 on.
    ServerError,
    /// No response came in time.
    TimedOut,
    /// No response came, for another reason.
    NoResponse,
}

impl Class {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Success,
        Self::Shed,
        Self::ClientError,
        Self::ServerError,
        Self::TimedOut,
        Self::NoResponse,
    ];

    /// Of this record.
    pub fn of(record: &Record) -> Self {
        match record.code {
            0 if is_timeout(&record.error) => Self::TimedOut,
            0 => Self::NoResponse,
            200..=399 => Self::Success,
            429 | 503 => Self::Shed,
            400..=499 | 1..=199 => Self::ClientError,
            _ => Self::ServerError,
        }
    }

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Shed => "shed (429, 503)",
            Self::ClientError => "client error",
            Self::ServerError => "server error",
            Self::TimedOut => "timed out",
            Self::NoResponse => "no response",
        }
    }
}

/// Whether an error's text tells of a deadline: Go's words, and ours.
fn is_timeout(error: &str) -> bool {
    ["deadline exceeded", "timeout", "timed out"].iter().any(|word| error.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_class() {
        for (code, error, class) in [
            (200, "", Class::Success),
            (302, "", Class::Success),
            (429, "429 Too Many Requests", Class::Shed),
            (404, "404 Not Found", Class::ClientError),
            (500, "500 Internal Server Error", Class::ServerError),
            (503, "", Class::Shed),
            (0, "Get \"/\": context deadline exceeded (Client.Timeout)", Class::TimedOut),
            (0, "dial tcp: connect: connection refused", Class::NoResponse),
        ] {
            let record = Record { code, error: error.to_owned(), ..Record::default() };
            assert_eq!(Class::of(&record), class);
        }
    }
}
