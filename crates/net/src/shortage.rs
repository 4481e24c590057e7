//! Errors that mean that something of this machine ran out, counted for the whole process. Only what fails is looked at.

use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static FILES: AtomicU64 = AtomicU64::new(0);
static PORTS: AtomicU64 = AtomicU64::new(0);
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// The errors since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortage {
    /// `EMFILE` and `ENFILE`: no more open files.
    pub files: u64,
    /// `EADDRNOTAVAIL`, and `EADDRINUSE` where any port would do: no more local ports.
    pub ports: u64,
    /// `ENOBUFS` and `ENOMEM`: no more memory.
    pub memory: u64,
}

/// The errors so far, of all threads.
pub fn shortages() -> Shortage {
    Shortage {
        files: FILES.load(Relaxed),
        ports: PORTS.load(Relaxed),
        memory: MEMORY.load(Relaxed),
    }
}

/// Counts an error of a socket, if it is one of them.
pub(crate) fn count(error: &Error) {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    const ENOBUFS: i32 = if cfg!(target_os = "linux") { 105 } else { 55 };
    let counter = match (error.kind(), error.raw_os_error()) {
        (_, Some(EMFILE | ENFILE)) => &FILES,
        (ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse, _) => &PORTS,
        (ErrorKind::OutOfMemory, _) | (_, Some(ENOBUFS)) => &MEMORY,
        _ => return,
    };
    counter.fetch_add(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn each_error_counts_where_it_belongs() {
        let before = shortages();
        for errno in [23, 24, 99, 98, 105, 12, 111, 104] {
            count(&Error::from_raw_os_error(errno));
        }
        let after = shortages();
        // Other tests of this process may fail likewise.
        assert!(after.files >= before.files + 2 && after.ports >= before.ports + 2);
        assert!(after.memory >= before.memory + 2);
    }
}
