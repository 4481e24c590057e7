//! macOS: a timer of a kqueue of its own, which tokio's reactor (itself a kqueue) watches as a descriptor.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use tokio::io::unix::AsyncFd;

use crate::clock;

#[derive(Debug)]
pub(super) struct Alarm(AsyncFd<OwnedFd>);

/// The one timer of the queue.
const TIMER: libc::uintptr_t = 1;

impl Alarm {
    pub(super) fn new() -> io::Result<Alarm> {
        // SAFETY: a plain system call without pointers; its answer is checked below.
        let fd = unsafe { libc::kqueue() };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just handed us `fd`, it is open and has no other owner.
        let owned = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: `AsyncFd` owns the descriptor, which stays open while it is registered.
        Ok(Alarm(unsafe { AsyncFd::register(owned) }?))
    }

    /// Waits until this moment; may come back earlier, after the event of an alarm that was given up.
    ///
    /// # Errors
    /// When the reactor is shutting down.
    pub(super) async fn ring_at(&mut self, unix_ns: u64) -> io::Result<()> {
        let ns = unix_ns.saturating_sub(clock::now_ns());
        self.event(libc::EV_ADD | libc::EV_ONESHOT, i64::try_from(ns).unwrap_or(i64::MAX))?;
        let mut ready = self.0.readable().await?;
        ready.clear_ready();
        drop(ready);
        // Takes the event out of the queue, which would stay readable; adding a timer anew replaces the old one.
        self.event(0, 0)
    }

    /// Adds the timer (`flags`), or with no flags takes what is due; never waits.
    fn event(&self, flags: u16, ns: i64) -> io::Result<()> {
        let change = libc::kevent {
            ident: TIMER,
            filter: libc::EVFILT_TIMER,
            flags,
            fflags: libc::NOTE_NSECONDS | libc::NOTE_CRITICAL,
            data: ns as isize,
            udata: std::ptr::null_mut(),
        };
        let mut due = change;
        let (changes, events) = if flags == 0 { (0, 1) } else { (1, 0) };
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the descriptor is our open kqueue; `change`, `due` and `at_once` live through the call, and the
        // two counts are at most the one element that each pointer leads to.
        let answer = unsafe {
            libc::kevent(
                self.0.get_ref().as_raw_fd(),
                &raw const change,
                changes,
                &raw mut due,
                events,
                &raw const at_once,
            )
        };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
