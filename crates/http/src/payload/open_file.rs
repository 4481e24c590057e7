//! A file that is read while it is sent, and watched meanwhile.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;

use brunt_net::Tail;

use super::FileRange;
use crate::failure::{Failure, FileTrouble};

/// A file, and what it was when its sending began.
pub(crate) type OpenFile = (File, Stamp);

/// The error number of reading a directory.
const IS_A_DIRECTORY: u16 = 21;

/// The stamp that tells whether a file has changed since its sending began.
#[derive(PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    modified: (i64, i64),
    is_linked: bool,
}

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let told = file.metadata()?;
        let modified = (told.mtime(), told.mtime_nsec());
        Ok(Self { size: told.size(), modified, is_linked: told.nlink() > 0 })
    }
}

/// The file, opened when it is first needed, and still the same.
pub(crate) fn opened<'f>(
    file: &'f mut Option<OpenFile>,
    range: &FileRange,
) -> Result<&'f File, Failure> {
    let unopened = |error: io::Error| trouble(FileTrouble::Open(errno(&error)), range);
    if file.is_none() {
        // Opening a named pipe would wait for its writer.
        let kind = std::fs::metadata(&range.path).map_err(unopened)?;
        if kind.is_dir() {
            return Err(trouble(FileTrouble::Read(IS_A_DIRECTORY), range));
        }
        if !kind.is_file() {
            return Err(trouble(FileTrouble::Changed, range));
        }
        let opened = File::open(&range.path).map_err(unopened)?;
        let stamp = Stamp::of(&opened).map_err(unopened)?;
        *file = Some((opened, stamp));
    }
    let (file, before) = file.as_ref().expect("it was opened a moment ago");
    let now = Stamp::of(file).map_err(unopened)?;
    if now == *before {
        return Ok(file);
    }
    let what = match () {
        () if !now.is_linked => FileTrouble::Deleted,
        () if now.size < before.size => FileTrouble::Shorter,
        () => FileTrouble::Changed,
    };
    Err(trouble(what, range))
}

/// Looks once more when the last byte was taken.
pub(crate) fn unchanged_at_its_end(
    file: &mut Option<OpenFile>,
    range: &FileRange,
    done: u64,
) -> Result<(), Failure> {
    if done == range.len { opened(file, range).map(drop) } else { Ok(()) }
}

pub(crate) fn trouble(what: FileTrouble, range: &FileRange) -> Failure {
    Failure::BodyFile(what, Tail::new(range.path.as_os_str().as_encoded_bytes()))
}

pub(crate) fn errno(error: &io::Error) -> u16 {
    error.raw_os_error().and_then(|errno| u16::try_from(errno).ok()).unwrap_or(0)
}
