//! Why a source can't be read.

use std::io;

/// Why a source can't be read. The text names the place and the remedy; it never has the value of a header, a variable or a body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A curl command.
    #[error("curl command, line {line}: {what}")]
    Curl {
        /// In the text, from 1.
        line: usize,
        /// And what to do.
        what: String,
    },
    /// A Postman collection or environment.
    #[error("Postman: {place}: {what}")]
    Postman {
        /// Names of folders and of the request, or a place in the JSON.
        place: String,
        /// And what to do.
        what: String,
    },
    /// An OpenAPI document.
    #[error("OpenAPI document: {place}: {what}")]
    OpenApi {
        /// A JSON pointer, or line and column.
        place: String,
        /// And what to do.
        what: String,
    },
    /// A line of an access log, or all of it.
    #[error("access log, line {line}: {what}")]
    Log {
        /// From 1.
        line: u64,
        /// And what to do.
        what: String,
    },
    /// The source could not be read to its end.
    #[error("the source can't be read: {0}")]
    Read(#[source] io::Error),
    /// Something could not be written.
    #[error("the targets can't be written: {0}")]
    Write(#[source] io::Error),
}
