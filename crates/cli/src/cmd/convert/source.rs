//! The file that is converted, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::piped::Awaited;
use crate::{Context, bounded};

/// The largest file, in bytes: it is held in memory.
const SIZE_MAX: u64 = 2 << 30;

/// The part of the beginning that tells the format, in bytes.
const HEAD_SIZE: u64 = 256 << 10;

/// Reading a smaller file takes no time worth a word.
const SHOWN: u64 = 8 << 20;

pub(super) struct Source {
    name: String,
    /// `None`: standard input.
    path: Option<PathBuf>,
    head: Vec<u8>,
    rest: Option<Box<dyn Read>>,
    /// In bytes, if it is a file.
    size: u64,
}

impl Source {
    /// Opens it, and reads its beginning. `-` is standard input.
    pub(super) fn open(name: &str) -> Outcome<Self> {
        let mut source = if name == "-" {
            let stdin = Awaited::new("what is to be converted", "brunt convert FILE");
            Self {
                name: "stdin".to_owned(),
                path: None,
                head: Vec::new(),
                rest: Some(Box::new(stdin)),
                size: 0,
            }
        } else {
            let path = PathBuf::from(name);
            let file = File::open(&path).map_err(|error| unreadable(name, &error))?;
            let about = file.metadata().map_err(|error| unreadable(name, &error))?;
            if about.is_dir() {
                return Err(Failure::usage(format!("{name} is a folder")).hint("name a file in it"));
            }
            Self {
                name: name.to_owned(),
                path: Some(path),
                head: Vec::new(),
                rest: Some(Box::new(file)),
                size: about.len(),
            }
        };
        let mut rest = source.rest.take();
        if let Some(rest) = &mut rest {
            let read = rest.take(HEAD_SIZE).read_to_end(&mut source.head);
            read.map_err(|error| unreadable(name, &error))?;
        }
        source.rest = rest;
        Ok(source)
    }

    /// For messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its beginning.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The folder in which names of other files are looked for.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = self.path.as_deref().and_then(Path::parent);
        folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
    }

    /// All bytes; a second call gives none.
    pub(super) fn all(&mut self) -> Outcome<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.head);
        let size = usize::try_from(self.size.min(SIZE_MAX)).unwrap_or_default();
        bytes.reserve_exact(size.saturating_sub(bytes.len()) + 1);
        if let Some(rest) = self.rest.take() {
            let most = SIZE_MAX - bytes.len() as u64;
            rest.take(most + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| unreadable(&self.name, &error))?;
        }
        if bytes.len() as u64 > SIZE_MAX {
            let message = format!("{} is longer than 2 GiB", self.name);
            return Err(Failure::usage(message).hint("record a shorter session"));
        }
        Ok(bytes)
    }

    /// A reader of all bytes, for formats that are read line by line.
    pub(super) fn stream(&mut self) -> impl Read + use<> {
        let head = io::Cursor::new(std::mem::take(&mut self.head));
        let rest = self.rest.take().unwrap_or_else(|| Box::new(io::empty()));
        head.chain(rest)
    }

    /// On a terminal: tells what is done with a large file.
    pub(super) fn show(&self, context: &Context, doing: &str) {
        if self.size > SHOWN && context.screen.stderr_is_terminal() && !context.global.quiet {
            let size = self.size >> 20;
            context.screen.draw(format!("{doing} {} ({size} MB) …\n", self.name));
        }
    }
}

/// A small file beside it.
pub(super) fn read(path: &Path) -> Outcome<Vec<u8>> {
    bounded::read(path, bounded::SETTINGS_MAX)
        .map_err(|error| unreadable(&path.display().to_string(), &error))
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("{name} can't be read: {error}"))
}
