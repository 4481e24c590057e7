//! The faults of run files.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// The system refuses.
    #[error("\"{}\" can't be {doing}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `read`, `created`, `written`.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// It is something else.
    #[error("\"{}\" is no run file; `brunt run --out run=FILE` writes one", .0.display())]
    NoRunFile(PathBuf),
    /// It was made by a newer Brunt.
    #[error(
        "\"{}\" was written by a newer version of Brunt (its schema is {version}, this one reads up to {known}): use that version",
        path.display(), known = crate::SCHEMA_VERSION
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        version: u32,
    },
    /// A part of it is missing or broken.
    #[error("\"{}\" is damaged ({what}): it was cut off, or not copied whole", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault in words.
        what: String,
    },
    /// Another run writes to it.
    #[error("\"{}\" is being written by another run: give this one another file", .0.display())]
    Busy(PathBuf),
    /// It is a folder, a pipe, a device.
    #[error("\"{}\" is no plain file, which a run file must be", .0.display())]
    NoFile(PathBuf),
    /// There is something else already, which is not to be lost.
    #[error("\"{}\" exists and is no run file: it is not overwritten", .0.display())]
    Occupied(PathBuf),
    /// The database refuses.
    #[error("\"{}\" can't be {doing}: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// `read`, `created`, `written`.
        doing: &'static str,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
}

impl RunFileError {
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path: path.clone(), doing, source }
    }

    pub(crate) fn database(
        path: &Path,
        doing: &'static str,
    ) -> impl Fn(rusqlite::Error) -> Self + use<> {
        use rusqlite::Error::{IntegralValueOutOfRange, InvalidColumnType, QueryReturnedNoRows};
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.to_owned();
        move |source| match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => {
                Self::Damaged { path: path.clone(), what: source.to_string() }
            }
            // A table, a column or a row is not there, or holds something else.
            _ if doing == "read" && source.to_string().starts_with("no such ") => {
                Self::Damaged { path: path.clone(), what: source.to_string() }
            }
            _ if matches!(
                source,
                QueryReturnedNoRows | InvalidColumnType(..) | IntegralValueOutOfRange(..)
            ) =>
            {
                Self::Damaged { path: path.clone(), what: source.to_string() }
            }
            _ => Self::Database { path: path.clone(), doing, source },
        }
    }

    pub(crate) fn damaged(path: &Path, what: &str) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.to_owned() }
    }
}
