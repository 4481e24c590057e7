//! The body of a request or of a response.

use std::io;
use std::path::PathBuf;

use bytes::Bytes;

/// A body, without content and transfer codings.
#[derive(Debug, Clone, Default)]
pub enum Body {
    /// There is none.
    #[default]
    Empty,
    /// In memory.
    Bytes(Bytes),
    /// In a file, which lives as long as the recording's owner keeps its folder.
    File {
        /// Where.
        path: PathBuf,
        /// In bytes.
        size: u64,
    },
    /// There was one, but the source does not have it.
    Absent {
        /// For the user: `the HAR file has no bodies`.
        why: String,
        /// In bytes, if the source tells.
        size: Option<u64>,
    },
}

impl Body {
    /// The bytes, if they lie in memory; empty for [`Body::Empty`].
    pub fn in_memory(&self) -> Option<&[u8]> {
        match self {
            Self::Empty => Some(&[]),
            Self::Bytes(bytes) => Some(bytes),
            Self::File { .. } | Self::Absent { .. } => None,
        }
    }

    /// All bytes. A file is read whole.
    ///
    /// # Errors
    /// The file can't be read; the body is absent ([`io::ErrorKind::NotFound`]).
    pub fn read(&self) -> io::Result<Bytes> {
        match self {
            Self::Empty => Ok(Bytes::new()),
            Self::Bytes(bytes) => Ok(bytes.clone()),
            Self::File { path, .. } => std::fs::read(path).map(Bytes::from),
            Self::Absent { why, .. } => Err(io::Error::new(io::ErrorKind::NotFound, why.clone())),
        }
    }

    /// In bytes; `None` if the source does not tell.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Empty => Some(0),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::File { size, .. } => Some(*size),
            Self::Absent { size, .. } => *size,
        }
    }
}
