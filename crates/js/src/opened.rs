//! The files that a script opened: each is in memory once, for all VUs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use brunt_quickjs::CommonBytes;

/// A file that is opened by a script: at most this many bytes, what an `ArrayBuffer` can hold.
pub const FILE_MAX: u64 = i32::MAX as u64;

/// The files that `open()` and `k6/experimental/fs` read, by path. It lives as long as the test and holds as many
/// files as the
/// script names in its init code, each of at most [`FILE_MAX`] bytes.
#[derive(Debug, Default)]
pub struct OpenedFiles {
    memory: Mutex<BTreeMap<PathBuf, Arc<CommonBytes>>>,
    large: Mutex<BTreeMap<PathBuf, Arc<LargeFile>>>,
    /// The only files there are: those of an archive.
    sealed: Option<Sealed>,
}

/// Files by path; they do not change any more.
pub type FileMap = BTreeMap<PathBuf, Arc<CommonBytes>>;

/// The files of an archive.
#[derive(Debug)]
struct Sealed {
    files: Arc<FileMap>,
    /// The path under which a path is looked for.
    known_as: fn(&Path) -> PathBuf,
}

/// A file of more than [`FILE_MAX`] bytes: it stays on the disk, open once for all VUs.
#[derive(Debug)]
pub struct LargeFile {
    file: File,
    size: u64,
}

impl LargeFile {
    /// How large it was when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads from a place on, as much as there is and fits. Returns how much; 0 at the end.
    ///
    /// # Errors
    /// The error of the system.
    pub fn read_at(&self, into: &mut [u8], at: u64) -> std::io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], at + done as u64) {
                Ok(0) => break,
                Ok(size) => done += size,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

/// Why a file cannot be opened. The sentences are those of `open()`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is none.
    #[error("stat {0}: no such file or directory")]
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
    #[error(
        "open {0}: the file is larger than {FILE_MAX} bytes, the most that a buffer or a string can hold; FileStream of k6/x/fasthttp \
         sends larger ones, open() of k6/experimental/fs reads them piece by piece"
    )]
    TooLarge(String),
    /// Any other error of the system.
    #[error("open {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
}

impl OpenedFiles {
    /// These files and no others: the disk is never looked at. `known_as` leads from a path to its key in `files`.
    pub fn sealed(files: Arc<FileMap>, known_as: fn(&Path) -> PathBuf) -> Self {
        Self { sealed: Some(Sealed { files, known_as }), ..Self::default() }
    }

    /// Whether the disk is out of reach.
    pub fn is_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// All that were opened so far, but those too large for memory.
    pub fn all(&self) -> FileMap {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether this file was opened before.
    pub fn has(&self, path: &Path) -> bool {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    /// A file that is too large for [`OpenedFiles::open`].
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_large(&self, path: &Path) -> Result<Arc<LargeFile>, OpenError> {
        let mut files = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(path) {
            return Ok(Arc::clone(file));
        }
        let refused = |error: std::io::Error| OpenError::Unreadable {
            path: path.display().to_string(),
            reason: reason(&error),
        };
        if self.is_sealed() {
            return Err(OpenError::NotFound(path.display().to_string()));
        }
        let file = File::open(path).map_err(refused)?;
        let size = file.metadata().map_err(refused)?.len();
        let large = Arc::new(LargeFile { file, size });
        files.insert(path.to_path_buf(), Arc::clone(&large));
        Ok(large)
    }

    /// The bytes of a file: read from the disk by the first who asks, the same for all others. Later changes of the file
    /// are not seen. Unless `may_read`, only those that were opened before are given.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&self, path: &Path, may_read: bool) -> Result<Arc<CommonBytes>, OpenError> {
        let mut files = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = files.get(path) {
            return Ok(Arc::clone(bytes));
        }
        let shown = || path.display().to_string();
        if let Some(sealed) = &self.sealed {
            let bytes = sealed.find(path)?;
            if !may_read {
                return Err(OpenError::NotOpenedFirst(shown()));
            }
            files.insert(path.to_path_buf(), Arc::clone(&bytes));
            return Ok(bytes);
        }
        let refused = |error: &std::io::Error| match error.kind() {
            ErrorKind::NotFound => OpenError::NotFound(shown()),
            ErrorKind::FileTooLarge => OpenError::TooLarge(shown()),
            _ => OpenError::Unreadable { path: shown(), reason: reason(error) },
        };
        let about = std::fs::metadata(path).map_err(|error| refused(&error))?;
        if about.is_dir() {
            return Err(OpenError::Directory(shown()));
        }
        if !about.is_file() {
            // Opening a pipe would wait for somebody who writes to it.
            return Err(OpenError::Unreadable {
                path: shown(),
                reason: "is not a regular file".into(),
            });
        }
        if about.len() > FILE_MAX {
            return Err(OpenError::TooLarge(shown()));
        }
        // A file that the first init run could not open, another can't either, and is told the same.
        let file = File::open(path).map_err(|error| refused(&error))?;
        if !may_read {
            return Err(OpenError::NotOpenedFirst(shown()));
        }
        let bytes = CommonBytes::read(&file, FILE_MAX);
        let bytes = Arc::new(bytes.map_err(|error| refused(&error))?);
        files.insert(path.to_path_buf(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

impl Sealed {
    fn find(&self, path: &Path) -> Result<Arc<CommonBytes>, OpenError> {
        let key = (self.known_as)(path);
        if let Some(bytes) = self.files.get(&key) {
            return Ok(Arc::clone(bytes));
        }
        let shown = path.display().to_string();
        let is_directory = self.files.keys().any(|file| file.starts_with(&key));
        Err(if is_directory { OpenError::Directory(shown) } else { OpenError::NotFound(shown) })
    }
}

/// The system's words without Rust's number.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase(),
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
    fn sealed_files_are_all_there_are() {
        let bytes = Arc::new(CommonBytes::from(b"kept".to_vec()));
        let map = FileMap::from([(PathBuf::from("/a/b.txt"), bytes)]);
        let files = OpenedFiles::sealed(Arc::new(map), Path::to_path_buf);
        assert_eq!(files.open(Path::new("/a/b.txt"), true).unwrap().text(), "kept");
        let error = |path: &str| files.open(Path::new(path), true).unwrap_err();
        assert_eq!(error("/a"), OpenError::Directory("/a".into()));
        assert_eq!(error("/proc/self/stat"), OpenError::NotFound("/proc/self/stat".into()));
        assert_eq!(files.all().len(), 1);
    }

    #[test]
    fn a_file_that_is_too_large_for_memory_is_read_where_it_lies() {
        let path = std::env::temp_dir().join(format!("brunt-large-{}", std::process::id()));
        File::create(&path).unwrap().set_len(FILE_MAX + 1).unwrap();
        let files = OpenedFiles::default();
        for may_read in [true, false] {
            let told = files.open(&path, may_read).unwrap_err();
            assert!(matches!(told, OpenError::TooLarge(_)), "{told}");
        }
        let large = files.open_large(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(Arc::ptr_eq(&large, &files.open_large(&path).unwrap()));
        let mut bytes = [1; 8];
        assert_eq!(
            (large.size(), large.read_at(&mut bytes, FILE_MAX - 4).unwrap()),
            (FILE_MAX + 1, 5)
        );
        assert_eq!(bytes, [0, 0, 0, 0, 0, 1, 1, 1]);
        assert_eq!(large.read_at(&mut bytes, FILE_MAX + 1).unwrap(), 0);
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
