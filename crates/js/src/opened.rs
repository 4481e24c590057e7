//! The files that a script opened: each is in memory once, for all VUs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use brunt_quickjs::CommonBytes;

/// A file that is opened by a script: at most this many bytes, what an `ArrayBuffer` can hold.
pub const FILE_MAX: u64 = i32::MAX as u64;

/// What `open()` and `k6/experimental/fs` read, by path. It lives as long as the test and holds as many files as the
/// script names in its init code, each of at most [`FILE_MAX`] bytes.
#[derive(Debug, Default)]
pub struct OpenedFiles(Mutex<BTreeMap<PathBuf, Arc<CommonBytes>>>);

/// Why a file cannot be opened. The sentences are those of `open()`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is none.
    #[error("The \"{0}\" file couldn't be opened: no such file or directory")]
    NotFound(String),
    /// A directory.
    #[error("open() can't be used with directories, path: \"{0}\"")]
    Directory(String),
    /// It exists, but the first init run did not open it.
    #[error(
        "open() can't be used with files that weren't previously opened during initialization (__VU==0), path: \"{0}\""
    )]
    NotOpenedFirst(String),
    /// More than [`FILE_MAX`] bytes.
    #[error("The \"{0}\" file is larger than {FILE_MAX} bytes")]
    TooLarge(String),
    /// What else the system says.
    #[error("The \"{path}\" file couldn't be opened: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
}

impl OpenedFiles {
    /// Whether this file was opened before.
    pub fn has(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    /// The bytes of a file: read from the disk by the first who asks, the same for all others. Later changes of the file
    /// are not seen. Unless `may_read`, only those that were opened before are given.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&self, path: &Path, may_read: bool) -> Result<Arc<CommonBytes>, OpenError> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = files.get(path) {
            return Ok(Arc::clone(bytes));
        }
        let shown = || path.display().to_string();
        let refused = |error: &std::io::Error| match error.kind() {
            ErrorKind::NotFound => OpenError::NotFound(shown()),
            ErrorKind::FileTooLarge => OpenError::TooLarge(shown()),
            _ => OpenError::Unreadable { path: shown(), reason: reason(error) },
        };
        let about = std::fs::metadata(path).map_err(|error| refused(&error))?;
        if about.is_dir() {
            return Err(OpenError::Directory(shown()));
        }
        if !may_read {
            return Err(OpenError::NotOpenedFirst(shown()));
        }
        let bytes = File::open(path).and_then(|file| CommonBytes::read(&file, FILE_MAX));
        let bytes = Arc::new(bytes.map_err(|error| refused(&error))?);
        files.insert(path.to_path_buf(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// The system's words without Rust's number.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once() {
        let path = std::env::temp_dir().join(format!("brunt-opened-{}", std::process::id()));
        std::fs::write(&path, "first").unwrap();
        let files = OpenedFiles::default();
        assert_eq!(
            files.open(&path, false).unwrap_err(),
            OpenError::NotOpenedFirst(path.display().to_string())
        );
        let first = files.open(&path, true).unwrap();
        std::fs::remove_file(&path).unwrap();
        let again = files.open(&path, false).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(again.text(), "first");
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let files = OpenedFiles::default();
        let folder = std::env::temp_dir();
        assert!(matches!(files.open(&folder, true), Err(OpenError::Directory(_))));
        let missing = folder.join("brunt-is-not-there");
        assert!(matches!(files.open(&missing, true), Err(OpenError::NotFound(_))));
    }
}
