//! Where a script is: a file, standard input, an archive in either of them.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use brunt_script::{Entry, Files, MAX_FILE};

use super::remote::Remote;
use crate::{
    archive::{self, Archive},
    exit::Exit,
    failure::{Failure, Outcome},
    piped::Awaited,
    settings::FileType,
};

/// The most that is read from standard input if it is an archive.
const ARCHIVE_MOST: u64 = 1 << 30;

/// The source of a script.
pub(super) struct Origin {
    pub(super) entry: Entry,
    pub(super) files: Arc<dyn Files>,
    /// It is all in here.
    pub(super) archive: Option<Arc<Archive>>,
}

impl Origin {
    /// Finds out what `name` is. `remote`: modules may come over the network.
    ///
    /// # Errors
    /// An archive that can't be read (255).
    pub(super) fn find(name: &str, kind: FileType, remote: bool) -> Outcome<Self> {
        if name == "-" {
            let bytes = standard_input(kind)?;
            return match kind {
                FileType::Auto if archive::is_archive(&bytes) => Self::unpack("-", &bytes[..]),
                FileType::Archive => Self::unpack("-", &bytes[..]),
                _ => Ok(Self::disk(Entry::Stdin(bytes), remote)),
            };
        }
        if is_pipe(name) {
            return Self::piped(name, kind, remote);
        }
        if name.starts_with("https://") {
            return Ok(Self::disk(Entry::Remote(name.to_owned()), remote));
        }
        if name.starts_with("http://") {
            return Err(Failure::usage(format!("the script {name} is remote: that needs https"))
                .hint("download it and run the file"));
        }
        let is_archive = match kind {
            FileType::Script => false,
            FileType::Archive => true,
            FileType::Auto => has_archives_mark(name),
        };
        if !is_archive {
            return Ok(Self::disk(Entry::Path(name.into()), remote));
        }
        let file = File::open(name).map_err(|error| unread(name, &error))?;
        Self::unpack(name, BufReader::new(file))
    }

    /// A pipe (`run <(make-script)`) can be read only once.
    fn piped(name: &str, kind: FileType, remote: bool) -> Outcome<Self> {
        let most = if kind == FileType::Script { MAX_FILE } else { ARCHIVE_MOST };
        let mut bytes = Vec::new();
        let read = File::open(name).and_then(|pipe| pipe.take(most + 1).read_to_end(&mut bytes));
        read.map_err(|error| Failure::usage(format!("{name} could not be read: {error}")))?;
        if kind == FileType::Archive || kind == FileType::Auto && archive::is_archive(&bytes) {
            return Self::unpack(name, &bytes[..]);
        }
        if bytes.len() as u64 > MAX_FILE {
            return Err(Failure::usage(format!("{name} is longer than {MAX_FILE} bytes")));
        }
        let mut origin = Self::disk(Entry::Path(name.into()), remote);
        let path = origin.files.current_dir()?.join(name);
        origin.files = Arc::new(Piped { path, bytes, files: origin.files });
        Ok(origin)
    }

    fn disk(entry: Entry, remote: bool) -> Self {
        Self { entry, files: Arc::new(Remote::new(remote)), archive: None }
    }

    fn unpack(name: &str, bytes: impl io::Read) -> Outcome<Self> {
        archive::read(bytes).map(Self::archived).map_err(|error| unread(name, &error))
    }

    /// The script of an archive, all of whose files are in it.
    pub(super) fn archived(archive: Archive) -> Self {
        let archive = Arc::new(archive);
        Self {
            entry: archive.entry(),
            files: Arc::clone(&archive) as Arc<dyn Files>,
            archive: Some(archive),
        }
    }
}

fn unread(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Other, anyhow::anyhow!("could not load the test archive {name}: {error}"))
}

/// A file that cannot be read is reported by the code that loads it.
fn has_archives_mark(path: &str) -> bool {
    let mut head = [0; 262];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && archive::is_archive(&head)
}

/// A script that comes through a pipe.
fn standard_input(kind: FileType) -> Outcome<Vec<u8>> {
    let mut stdin = Awaited::new("the script", "a file is given by its name: brunt run script.js");
    let mut bytes = Vec::new();
    let limit = if kind == FileType::Archive { ARCHIVE_MOST } else { MAX_FILE };
    stdin.by_ref().take(limit + 1).read_to_end(&mut bytes)?;
    if kind == FileType::Auto && archive::is_archive(&bytes) {
        stdin.take(ARCHIVE_MOST).read_to_end(&mut bytes)?;
    } else if bytes.len() as u64 > limit {
        return Err(Failure::usage(format!(
            "the script on standard input is longer than {limit} bytes"
        )));
    }
    Ok(bytes)
}

/// Whether it is there, and neither a file nor a folder.
fn is_pipe(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// A script that was read from a pipe, and all else where it is.
struct Piped {
    path: PathBuf,
    bytes: Vec<u8>,
    files: Arc<dyn Files>,
}

impl Files for Piped {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.path { Ok(self.bytes.clone()) } else { self.files.read(path) }
    }

    fn is_file(&self, path: &Path) -> bool {
        path == self.path || self.files.is_file(path)
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        self.files.fetch(url)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.files.current_dir()
    }
}

/// Passes files on and remembers them: what an archive is made of.
pub(crate) struct Recorder {
    files: Arc<dyn Files>,
    read: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    fetched: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Recorder {
    pub(super) fn new(files: Arc<dyn Files>) -> Arc<Self> {
        Arc::new(Self { files, read: Mutex::default(), fetched: Mutex::default() })
    }

    /// All that were fetched so far, by URL.
    pub(crate) fn take_fetched(&self) -> BTreeMap<String, Vec<u8>> {
        std::mem::take(&mut *self.fetched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All that were read so far.
    pub(crate) fn take(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Files for Recorder {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.files.read(path)?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(path.to_path_buf(), bytes.clone());
        Ok(bytes)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }

    fn look_alike(&self, path: &Path) -> Option<PathBuf> {
        self.files.look_alike(path)
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let bytes = self.files.fetch(url)?;
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.insert(url.to_owned(), bytes.clone());
        Ok(bytes)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.files.current_dir()
    }
}
