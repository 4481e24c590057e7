//! Mappings of memory that belongs to no file.

use std::io::{self, Read};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

/// Pages that are a mapping of anonymous memory, unmapped when dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    /// The mapped memory. Sealed: it can no longer be written to or made smaller.
    memory: Arc<Memory>,
}

// SAFETY: it owns its pages, no thread is special to them, and through a shared reference they are only read.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

#[cfg(target_os = "linux")]
type Memory = std::os::fd::OwnedFd;
#[cfg(not(target_os = "linux"))]
type Memory = std::convert::Infallible;

impl Mapping {
    /// A read-only mapping of a copy of what `source` holds. `None` if the system has no such memory or `source` is
    /// empty; then nothing was read from it.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn copy_of(_: &mut impl Read) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// See above.
    #[cfg(target_os = "linux")]
    pub(super) fn copy_of(source: &mut impl Read) -> io::Result<Option<Self>> {
        use std::fs::File;
        use std::os::fd::{AsRawFd as _, FromRawFd as _};

        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string; a descriptor that comes back is new and ours.
        let mut copy = unsafe {
            let fd = libc::memfd_create(c"brunt-open".as_ptr(), flags);
            if fd < 0 {
                return Ok(None);
            }
            File::from_raw_fd(fd)
        };
        let len = usize::try_from(io::copy(source, &mut copy)?).unwrap_or(usize::MAX);
        let seals =
            libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE | libc::F_SEAL_SEAL;
        // SAFETY: the descriptor is ours, the command takes an integer.
        if unsafe { libc::fcntl(copy.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let memory = Arc::new(copy.into());
        let mapping = Self::map(&memory, len, libc::PROT_READ, libc::MAP_SHARED);
        mapping.map(Some).ok_or_else(io::Error::last_os_error)
    }

    #[cfg(target_os = "linux")]
    fn map(memory: &Arc<Memory>, len: usize, protection: i32, flags: i32) -> Option<Self> {
        use std::os::fd::AsRawFd as _;

        // SAFETY: a new mapping at a place of the system's choice; no other memory is touched.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, flags, memory.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = NonNull::new(start.cast::<u8>())?;
        Some(Self { start, len, memory: Arc::clone(memory) })
    }

    /// Another mapping of the same memory, to which may be written: a page becomes this mapping's own at its first
    /// write. `None` if the system refuses.
    pub(super) fn private(&self) -> Option<Self> {
        #[cfg(target_os = "linux")]
        return Self::map(
            &self.memory,
            self.len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_NORESERVE,
        );
        #[cfg(not(target_os = "linux"))]
        match *self.memory {}
    }

    /// Where the pages lie, and how many bytes.
    pub(super) fn range(&self) -> (NonNull<u8>, usize) {
        (self.start, self.len)
    }

    /// The bytes of a read-only mapping.
    pub(super) fn as_slice(&self) -> &[u8] {
        // SAFETY: the pages stay mapped until `drop`. Memory that is sealed neither shrinks, so that every page can be
        // read, nor changes; of mappings that are written to, no slice is made here (`lent.rs` sees to it).
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's alone, and nothing borrowed from it is left.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.len);
        }
    }
}
