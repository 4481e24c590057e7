//! An exact alarm for one core: absolute deadlines, some 10 to 40 µs late instead of tokio's millisecond.
//!
//! tokio's own timers stand on a wheel of 1 ms; at 10 000 starts a second that is 567 µs late at the
//! median. On Linux a [`CoreTimer`] is a timerfd in the same reactor (about 20 µs); elsewhere it falls
//! back to tokio's sleep.
//!
//! A core that has slept for long takes longer to wake up, on a virtual machine some 50 µs. So a long sleep ends by as
//! much earlier as half of the last ones were late, and the rest is waited for awake: a few µs on average.

pub use system::CoreTimer;

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use tokio::io::unix::AsyncFd;

    use crate::clock;

    /// One timer of the kernel, waited for in tokio's reactor. Each owner has its own.
    #[derive(Debug)]
    pub struct CoreTimer {
        descriptor: AsyncFd<OwnedFd>,
        /// How late half of the long sleeps end, in ns.
        lead: u64,
    }

    /// Sleeps from this length on end early. Shorter ones are as good without.
    const LONG_NS: u64 = 400_000;

    /// The most that a core waits awake.
    const LEAD_MAX_NS: u64 = 60_000;

    /// By how much each sleep moves the lead.
    const LEAD_STEP_NS: u64 = 1_000;

    impl CoreTimer {
        /// A timer in the reactor of the tokio runtime that the caller runs on.
        ///
        /// # Errors
        /// The system's, when no file descriptor is left.
        ///
        /// # Panics
        /// Outside a tokio runtime with IO enabled.
        pub fn new() -> io::Result<CoreTimer> {
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
            // SAFETY: `AsyncFd` owns the descriptor, which stays open while it is registered.
            let descriptor = unsafe { AsyncFd::register(owned) }?;
            Ok(CoreTimer { descriptor, lead: 0 })
        }

        /// Returns once [`clock::now_ns`] has reached `unix_ns`; at once (without yielding) if it has.
        ///
        /// May be dropped halfway: the next call arms the timer anew.
        pub async fn sleep_until(&mut self, unix_ns: u64) {
            let from = clock::now_ns();
            if from < unix_ns && unix_ns - from >= LONG_NS {
                let alarm = unix_ns - self.lead;
                self.sleep_roughly_until(alarm).await;
                self.learn(clock::now_ns().saturating_sub(alarm));
                // The time that is left is shorter than a system call and its way back.
                while clock::now_ns() < unix_ns {
                    std::hint::spin_loop();
                }
            } else {
                self.sleep_roughly_until(unix_ns).await;
            }
        }

        /// A long sleep ended so late: the lead goes to where half of them lie.
        fn learn(&mut self, late: u64) {
            self.lead = if late > self.lead {
                (self.lead + LEAD_STEP_NS).min(LEAD_MAX_NS)
            } else {
                self.lead.saturating_sub(LEAD_STEP_NS)
            };
        }

        async fn sleep_roughly_until(&mut self, unix_ns: u64) {
            while clock::now_ns() < unix_ns {
                self.arm(unix_ns);
                match self.descriptor.readable().await {
                    // The expiry needs no read(2): the reactor is edge-triggered and arming anew
                    // resets the timer's count. A stale edge only costs one turn of this loop.
                    Ok(mut ready) => ready.clear_ready(),
                    // The reactor is shutting down with the runtime; no fiber waits for the timer any more.
                    Err(_) => return,
                }
            }
        }

        fn arm(&self, unix_ns: u64) {
            let at = clock::monotonic_of(unix_ns);
            let setting = libc::itimerspec {
                it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: libc::timespec {
                    tv_sec: (at / 1_000_000_000) as libc::time_t,
                    tv_nsec: (at % 1_000_000_000) as libc::c_long,
                },
            };
            let fd = self.descriptor.get_ref().as_raw_fd();
            // SAFETY: `fd` is our open timerfd, `setting` lives through the call, and a null pointer is
            // allowed where the old setting would be written.
            let answer = unsafe {
                libc::timerfd_settime(
                    fd,
                    libc::TFD_TIMER_ABSTIME,
                    &raw const setting,
                    std::ptr::null_mut(),
                )
            };
            assert_eq!(answer, 0, "a timerfd takes any deadline below the year 292 billion");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::Duration;

    use crate::clock;

    /// tokio's sleep, exact to about a millisecond: the best that is wired up on this system.
    #[derive(Debug)]
    pub struct CoreTimer(());

    impl CoreTimer {
        /// A timer. Never fails here.
        #[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
        pub fn new() -> io::Result<CoreTimer> {
            Ok(CoreTimer(()))
        }

        /// Returns once [`clock::now_ns`] has reached `unix_ns`; at once (without yielding) if it has.
        pub async fn sleep_until(&mut self, unix_ns: u64) {
            loop {
                let now = clock::now_ns();
                if now >= unix_ns {
                    return;
                }
                tokio::time::sleep(Duration::from_nanos(unix_ns - now)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ns;

    fn on_a_core<F: Future>(work: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work)
    }

    #[test]
    fn a_timer_never_fires_early() {
        on_a_core(async {
            let mut timer = CoreTimer::new().unwrap();
            for step in 1..20 {
                let due = now_ns() + step * 100_000;
                timer.sleep_until(due).await;
                assert!(now_ns() >= due);
            }
        });
    }

    /// The lead goes after what the machine does, and is never longer than it may be.
    #[test]
    fn long_sleeps_end_on_time_and_not_before() {
        on_a_core(async {
            let mut timer = CoreTimer::new().unwrap();
            for _ in 0..50 {
                let due = now_ns() + 1_000_000;
                timer.sleep_until(due).await;
                assert!(now_ns() >= due);
            }
        });
    }

    #[test]
    fn a_deadline_that_has_passed_returns_at_once() {
        on_a_core(async {
            let mut timer = CoreTimer::new().unwrap();
            timer.sleep_until(now_ns() - 1).await;
            timer.sleep_until(0).await;
        });
    }

    #[test]
    fn a_wait_that_was_given_up_does_not_disturb_the_next() {
        on_a_core(async {
            let mut timer = CoreTimer::new().unwrap();
            {
                let mut first = std::pin::pin!(timer.sleep_until(now_ns() + 1_000_000));
                std::future::poll_fn(|cx| {
                    assert!(first.as_mut().poll(cx).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
            }
            let due = now_ns() + 3_000_000;
            timer.sleep_until(due).await;
            assert!(now_ns() >= due);
        });
    }
}
