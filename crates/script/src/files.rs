//! Where the bytes of scripts come from.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// A file may have this many bytes.
pub const MAX_FILE: u64 = 64 << 20;

/// A place to read files from: the disk, a test's memory, an archive.
pub trait Files: Send + Sync {
    /// All bytes of a file.
    ///
    /// # Errors
    /// Errors of the file system: not found, a directory, not permitted.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether there is a file to be read. Only asked in order to give a hint.
    fn is_file(&self, path: &Path) -> bool {
        self.read(path).is_ok()
    }

    /// A file beside this one, which is not there, that was perhaps meant. Only asked in order to give a hint.
    fn look_alike(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// The bytes at an `https://` address.
    ///
    /// # Errors
    /// A sentence that says why they can't be had; by default, that nothing is fetched from here.
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        Err(format!("\"{url}\" is remote, and can't be fetched here"))
    }

    /// The directory from which relative paths of the command line, and imports of a script from standard input,
    /// start.
    ///
    /// # Errors
    /// The directory was removed, or may not be looked at.
    fn current_dir(&self) -> io::Result<PathBuf>;
}

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        // Opening a pipe would wait for somebody who writes to it, and a device may be endless.
        let about = fs::metadata(path)?;
        if !about.is_file() && !about.is_dir() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file"));
        }
        File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut content)?;
        if content.len() as u64 > MAX_FILE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(content)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }
}

/// Files that exist in memory only, for tests.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl InMemory {
    /// No files at all; the current directory is `/`.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same files and one more. `path` is absolute.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), content.into());
        self
    }
}

impl Files for InMemory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Some(content) = self.files.get(path) {
            return Ok(content.clone());
        }
        let is_directory = self.files.keys().any(|file| file.starts_with(path));
        Err(if is_directory { io::ErrorKind::IsADirectory } else { io::ErrorKind::NotFound }.into())
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok("/".into())
    }
}
