//! The files that this process writes.
//!
//! Locks of POSIX, which SQLite uses, belong to a process: when it closes *any* handle of a file, all its locks on the file are gone.
//! So whoever reads a file that its own process writes must not open it beside SQLite, or another program could take the writer's
//! log away from it.

use std::fs::{File, Metadata};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Device and number of each of them.
static WRITTEN: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

fn written() -> MutexGuard<'static, Vec<(u64, u64)>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is being written, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim(Option<(u64, u64)>);

impl Claim {
    pub(crate) fn of(file: &File) -> Self {
        let place = file.metadata().ok().as_ref().and_then(place);
        written().extend(place);
        Self(place)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut all = written();
        if let Some(at) = all.iter().position(|one| Some(*one) == self.0) {
            all.swap_remove(at);
        }
    }
}

/// Whether this process writes it.
pub(crate) fn is_ours(metadata: &Metadata) -> bool {
    place(metadata).is_some_and(|place| written().contains(&place))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems tell nothing")]
fn place(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> Option<(u64, u64)> {
    None
}
