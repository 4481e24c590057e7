//! The place of a run file: locked while the run goes on, and as it was before if the run never begins.

use std::fs::{File, OpenOptions, TryLockError, canonicalize, create_dir_all, remove_file, rename};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::error::RunFileError;
use crate::schema::{Head, head};

/// Files that SQLite puts beside a database.
pub(crate) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The name of a file beside another.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A new and empty file, with a lock (`flock`) that the system takes off when the process dies, however it dies.
///
/// An older run file of that name lies beside it, as `FILE.before`, until [`settle`](Self::settle). A place that is dropped
/// before is left as it was found.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// The older file.
    before: Option<PathBuf>,
    is_settled: bool,
    file: File,
    /// Locked as well: its lock refuses another run that opened it before it was moved.
    _older: Option<File>,
}

impl Place {
    /// Takes the place.
    ///
    /// # Errors
    /// Another run writes there, something else is there, or the system refuses.
    pub(crate) fn take(path: &Path) -> Result<Self, RunFileError> {
        let io = RunFileError::io(path, "created");
        // SQLite follows links, too.
        let place = canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let older = match std::fs::metadata(&place) {
            Ok(metadata) if !metadata.is_file() => {
                return Err(RunFileError::NoFile(path.to_owned()));
            }
            Ok(metadata) => Some((older(path, &place)?, metadata.len() > 0)),
            Err(_) => {
                if let Some(folder) = place.parent().filter(|folder| !folder.as_os_str().is_empty())
                {
                    create_dir_all(folder).map_err(&io)?;
                }
                None
            }
        };
        let before = match &older {
            Some((_, true)) => {
                let before = beside(&place, ".before");
                move_all(&place, &before).map_err(&io)?;
                Some(before)
            }
            Some((_, false)) => {
                remove_file(&place).map_err(&io)?;
                None
            }
            None => None,
        };
        let made = OpenOptions::new().read(true).write(true).create_new(true).open(&place).map_err(
            |error| match error.kind() {
                ErrorKind::AlreadyExists => RunFileError::Busy(path.to_owned()),
                _ => io(error),
            },
        );
        let older = older.map(|(file, _)| file);
        let put_back = || {
            if let Some(before) = &before {
                drop(move_all(before, &place));
            }
        };
        let file = made.inspect_err(|_| put_back())?;
        lock(&file, path)?;
        Ok(Self { path: place, before, is_settled: false, file, _older: older })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The run began: its file stays, an older one goes.
    pub(crate) fn settle(&mut self) {
        if !std::mem::replace(&mut self.is_settled, true)
            && let Some(before) = self.before.take()
        {
            remove_all(&before);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        remove_all(&self.path);
        if let Some(before) = &self.before {
            drop(move_all(before, &self.path));
        }
    }
}

/// The file that lies there: a run file or an empty one, which no other run writes.
fn older(path: &Path, place: &Path) -> Result<File, RunFileError> {
    let io = RunFileError::io(path, "created");
    let mut file = OpenOptions::new().read(true).write(true).open(place).map_err(&io)?;
    lock(&file, path)?;
    let mut first = Vec::new();
    (&mut file).take(100).read_to_end(&mut first).map_err(&io)?;
    if !first.is_empty() && head(&first) == Head::Other {
        return Err(RunFileError::Occupied(path.to_owned()));
    }
    Ok(file)
}

fn lock(file: &File, path: &Path) -> Result<(), RunFileError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(RunFileError::Busy(path.to_owned())),
        // Some file systems have no locks: then no reader can tell that this writer lives.
        Err(TryLockError::Error(error)) => {
            log::debug!(error = error.to_string().as_str(); "the run file can't be locked");
            Ok(())
        }
    }
}

/// Moves a database, with the log of a run that died.
fn move_all(from: &Path, to: &Path) -> std::io::Result<()> {
    remove_all(to);
    for ending in BESIDE {
        let name = beside(from, ending);
        if name.exists() {
            rename(name, beside(to, ending))?;
        }
    }
    rename(from, to)
}

fn remove_all(path: &Path) {
    for ending in BESIDE {
        drop(remove_file(beside(path, ending)));
    }
    drop(remove_file(path));
}

#[cfg(test)]
mod tests {
    use std::fs::{read, write};

    use super::*;
    use crate::schema::{APPLICATION_ID, SCHEMA_VERSION};

    fn names(folder: &Path) -> Vec<String> {
        let all = std::fs::read_dir(folder).unwrap();
        let mut all: Vec<String> =
            all.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    fn older(path: &Path) -> Vec<u8> {
        let sql = rusqlite::Connection::open(path).unwrap();
        sql.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        sql.pragma_update(None, "user_version", SCHEMA_VERSION).unwrap();
        sql.execute_batch("CREATE TABLE run (id)").unwrap();
        drop(sql);
        read(path).unwrap()
    }

    #[test]
    fn a_run_that_never_begins_leaves_all_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.brunt");
        drop(Place::take(&path).unwrap());
        assert!(names(folder.path()).is_empty());
        let bytes = older(&path);
        write(beside(&path, "-wal"), "log").unwrap();
        let place = Place::take(&path).unwrap();
        assert_eq!(names(folder.path()), ["a.brunt", "a.brunt.before", "a.brunt.before-wal"]);
        assert!(matches!(Place::take(&path), Err(RunFileError::Busy(_))));
        drop(place);
        assert_eq!(names(folder.path()), ["a.brunt", "a.brunt-wal"]);
        assert_eq!(read(&path).unwrap(), bytes);
    }

    #[test]
    fn a_run_that_began_takes_the_place_of_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("a.brunt");
        let mut place = Place::take(&path).unwrap();
        place.settle();
        drop(place);
        older(&path);
        let mut place = Place::take(&path).unwrap();
        place.settle();
        drop(place);
        assert_eq!(names(path.parent().unwrap()), ["a.brunt"]);
        assert!(read(&path).unwrap().is_empty());
        // Nothing of value was in it.
        drop(Place::take(&path).unwrap());
        assert!(names(path.parent().unwrap()).is_empty());
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, "text").unwrap();
        assert!(matches!(Place::take(&path), Err(RunFileError::Occupied(_))));
        assert!(matches!(Place::take(folder.path()), Err(RunFileError::NoFile(_))));
        assert_eq!(read(&path).unwrap(), b"text");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }
}
