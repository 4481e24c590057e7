//! An exact alarm for one core: absolute deadlines, some 10 to 40 µs late instead of tokio's millisecond.
//!
//! tokio's own timers stand on a wheel of 1 ms; at 10 000 starts a second that is 567 µs late at the
//! median. On Linux a [`CoreTimer`] is a timerfd in the same reactor (about 20 µs), on macOS a kqueue's timer;
//! elsewhere, and where the system forbids its own (a seccomp profile), it falls back to tokio's sleep.
//!
//! A core that has slept for long takes longer to wake up, on a virtual machine some 50 µs. So a long sleep ends by as
//! much earlier as half of the last ones were late, and the rest is waited for awake: a few µs on average.

use std::io;
use std::time::Duration;

use crate::clock;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod absent;
#[cfg(target_os = "macos")]
mod kqueue;
#[cfg(target_os = "linux")]
mod timerfd;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use absent as exact;
#[cfg(target_os = "macos")]
use kqueue as exact;
#[cfg(target_os = "linux")]
use timerfd as exact;

/// One timer, waited for in tokio's reactor. Each owner has its own.
#[derive(Debug)]
pub struct CoreTimer {
    alarm: Alarm,
    /// How late half of the long sleeps end, in ns.
    lead: u64,
}

#[derive(Debug)]
enum Alarm {
    Exact(exact::Alarm),
    Coarse,
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
    /// The system's, when no file descriptor is left. A system that has no exact timer, or forbids it, gives a
    /// coarse one instead: see [`CoreTimer::is_exact`].
    ///
    /// # Panics
    /// Outside a tokio runtime with IO and time enabled.
    pub fn new() -> io::Result<CoreTimer> {
        let alarm = match exact::Alarm::new() {
            Ok(alarm) => Alarm::Exact(alarm),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                return Err(error);
            }
            Err(_) => Alarm::Coarse,
        };
        Ok(CoreTimer { alarm, lead: 0 })
    }

    /// Whether it is the system's own timer; otherwise it is up to 2 ms late.
    pub fn is_exact(&self) -> bool {
        matches!(self.alarm, Alarm::Exact(_))
    }

    /// Returns once [`clock::now_ns`] has reached `unix_ns`; at once (without yielding) if it has.
    ///
    /// May be dropped halfway: the next call arms the timer anew.
    pub async fn sleep_until(&mut self, unix_ns: u64) {
        let from = clock::now_ns();
        if from < unix_ns && unix_ns - from >= LONG_NS && self.is_exact() {
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
        loop {
            let now = clock::now_ns();
            if now >= unix_ns {
                return;
            }
            match &mut self.alarm {
                Alarm::Exact(alarm) => {
                    // The reactor is shutting down with the runtime; no fiber waits for the timer any more.
                    if alarm.ring_at(unix_ns).await.is_err() {
                        return;
                    }
                }
                Alarm::Coarse => tokio::time::sleep(Duration::from_nanos(unix_ns - now)).await,
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

    /// Where the system has no exact alarm (a seccomp profile may forbid it), tokio's sleep serves.
    #[test]
    fn the_coarse_timer_is_late_but_never_early() {
        on_a_core(async {
            let mut timer = CoreTimer { alarm: Alarm::Coarse, lead: 0 };
            assert!(!timer.is_exact());
            for step in 1..5 {
                let due = now_ns() + step * 700_000;
                timer.sleep_until(due).await;
                assert!(now_ns() >= due);
            }
        });
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn the_system_gives_an_exact_timer() {
        on_a_core(async { assert!(CoreTimer::new().unwrap().is_exact()) });
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
