//! Linux: a timerfd, which takes absolute moments of the monotonic clock.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use tokio::io::unix::AsyncFd;

use crate::clock;

#[derive(Debug)]
pub(super) struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    pub(super) fn new() -> io::Result<Alarm> {
        // SAFETY: a plain system call without pointers; its answer is checked below.
        let fd = unsafe {
            let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
            libc::timerfd_create(libc::CLOCK_MONOTONIC, flags)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just handed us `fd`, it is open and has no other owner.
        let owned = unsafe { OwnedFd::from_raw_fd(fd) };
        arm(&owned, u64::MAX)?;
        // SAFETY: `AsyncFd` owns the descriptor, which stays open while it is registered.
        Ok(Alarm(unsafe { AsyncFd::register(owned) }?))
    }

    /// Waits until this moment; may come back earlier, after the edge of an alarm that was given up.
    ///
    /// # Errors
    /// When the reactor is shutting down.
    pub(super) async fn ring_at(&mut self, unix_ns: u64) -> io::Result<()> {
        arm(self.0.get_ref(), clock::monotonic_of(unix_ns))?;
        // The expiry needs no read(2): the reactor is edge-triggered and arming anew resets the timer's count.
        self.0.readable().await?.clear_ready();
        Ok(())
    }
}

/// Sets the timer to this time of the monotonic clock. Fails only where the system forbids the call.
fn arm(timer: &OwnedFd, at: u64) -> io::Result<()> {
    let setting = libc::itimerspec {
        it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
        it_value: libc::timespec {
            tv_sec: (at / 1_000_000_000) as _,
            tv_nsec: (at % 1_000_000_000) as libc::c_long,
        },
    };
    // SAFETY: the descriptor is our open timerfd, `setting` lives through the call, and a null pointer is
    // allowed where the old setting would be written.
    let answer = unsafe {
        libc::timerfd_settime(
            timer.as_raw_fd(),
            libc::TFD_TIMER_ABSTIME,
            &raw const setting,
            std::ptr::null_mut(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
