//! The one clock: nanoseconds since the Unix epoch that never go backwards.
//!
//! The wall clock is read once, when the process first asks for the time; from then on the monotonic
//! clock is added to it. So two readings can always be subtracted, an NTP step in the middle of a test
//! bends no latency, and every core agrees with every other one.

use std::ops::{Add, Sub};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Unix time minus monotonic time, in nanoseconds, fixed at the first reading.
static OFFSET: OnceLock<u64> = OnceLock::new();

/// Nanoseconds since the Unix epoch, from the monotonic clock anchored at the first call.
///
/// About 25 ns a call (no system call on Linux). Fits `u64` until the year 2554.
#[inline]
pub fn now_ns() -> u64 {
    monotonic_ns().wrapping_add(offset())
}

/// A moment on [`now_ns`]'s line, as a type of its own: nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// This moment.
    pub fn now() -> Moment {
        Moment(now_ns())
    }

    /// The moment `unix_ns` nanoseconds after the Unix epoch.
    pub const fn from_unix_ns(unix_ns: u64) -> Moment {
        Moment(unix_ns)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_ns(self) -> u64 {
        self.0
    }

    /// How long ago it was; zero if it is still to come.
    pub fn elapsed(self) -> Duration {
        Moment::now() - self
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;
    fn add(self, span: Duration) -> Moment {
        Moment(self.0.saturating_add(duration_ns(span)))
    }
}

impl Sub for Moment {
    type Output = Duration;
    /// From `earlier` to `self`; zero if it is not earlier.
    fn sub(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in nanoseconds, cut off at `u64::MAX` (584 years).
pub fn duration_ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time that the calling thread has burnt, in nanoseconds; `None` where the system does not tell.
pub fn thread_cpu_ns() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return Some(linux::read(libc::CLOCK_THREAD_CPUTIME_ID));
    #[cfg(not(target_os = "linux"))]
    None
}

fn offset() -> u64 {
    *OFFSET.get_or_init(|| {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        duration_ns(unix).wrapping_sub(monotonic_ns())
    })
}

/// The kernel's monotonic time at one of [`now_ns`]'s times.
#[cfg(target_os = "linux")]
pub(crate) fn monotonic_of(unix_ns: u64) -> u64 {
    unix_ns.wrapping_sub(offset())
}

#[cfg(target_os = "linux")]
#[inline]
fn monotonic_ns() -> u64 {
    linux::read(libc::CLOCK_MONOTONIC)
}

#[cfg(not(target_os = "linux"))]
fn monotonic_ns() -> u64 {
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    duration_ns(START.get_or_init(Instant::now).elapsed())
}

#[cfg(target_os = "linux")]
mod linux {
    /// Reads one of the kernel's clocks, in nanoseconds. Straight from `clock_gettime` because timerfd
    /// wants the very same number, which `std::time::Instant` keeps to itself.
    #[inline]
    pub(super) fn read(clock: libc::clockid_t) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec for the length of the call; the kernel keeps no
        // pointer to it. The clock ids used here exist on every Linux we support; should one be
        // refused, `time` stays zero, which is a wrong but defined value.
        let answer = unsafe { libc::clock_gettime(clock, &raw mut time) };
        debug_assert_eq!(answer, 0, "the kernel knows this clock");
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_near_the_wall_clock() {
        let wall = duration_ns(SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
        assert!(now_ns().abs_diff(wall) < 60_000_000_000, "within a minute of the wall clock");
    }

    #[test]
    fn readings_never_go_backwards() {
        let mut last = now_ns();
        for _ in 0..10_000 {
            let now = now_ns();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn moments_subtract_to_zero_when_the_other_is_later() {
        let early = Moment::from_unix_ns(5);
        let late = early + Duration::from_nanos(7);
        assert_eq!(late - early, Duration::from_nanos(7));
        assert_eq!(early - late, Duration::ZERO);
        assert_eq!(late.unix_ns(), 12);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_busy_thread_burns_cpu_time() {
        let before = thread_cpu_ns().unwrap();
        let mut sum = 0_u64;
        while thread_cpu_ns().unwrap() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(thread_cpu_ns().unwrap() > before);
    }
}
