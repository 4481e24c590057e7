//! Requests counted in windows of time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Keys that are counted apart; when full, the windows begin anew.
const KEYS_MAX: usize = 1024;

/// A request's turn in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// How many more there are in this window.
    Granted(u64),
    /// How long until the next window.
    Refused(Duration),
}

/// A fixed window per key.
#[derive(Debug, Default)]
pub(super) struct Windows {
    by_key: Mutex<HashMap<String, (Instant, u64)>>,
}

impl Windows {
    pub(super) fn enter(&self, key: &str, limit: u64, per: Duration, now: Instant) -> Turn {
        let mut windows = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= KEYS_MAX && !windows.contains_key(key) {
            windows.clear();
        }
        let (begin, count) = windows.entry(key.to_owned()).or_insert((now, 0));
        if now.duration_since(*begin) >= per {
            (*begin, *count) = (now, 0);
        }
        if *count < limit {
            *count += 1;
            Turn::Granted(limit - *count)
        } else {
            Turn::Refused(per.saturating_sub(now.duration_since(*begin)))
        }
    }

    pub(super) fn clear(&self) {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grants_its_limit_and_then_tells_when_to_come_back() {
        let (windows, now) = (Windows::default(), Instant::now());
        let second = Duration::from_secs(1);
        assert_eq!(windows.enter("a", 2, second, now), Turn::Granted(1));
        assert_eq!(windows.enter("a", 2, second, now), Turn::Granted(0));
        let later = now + Duration::from_millis(300);
        assert_eq!(windows.enter("a", 2, second, later), Turn::Refused(Duration::from_millis(700)));
        assert_eq!(windows.enter("b", 2, second, later), Turn::Granted(1));
        assert_eq!(windows.enter("a", 2, second, now + second), Turn::Granted(1));
    }

    #[test]
    fn keys_are_limited_in_number() {
        let (windows, now) = (Windows::default(), Instant::now());
        for key in 0..5000 {
            windows.enter(&key.to_string(), 1, Duration::from_secs(1), now);
        }
        assert!(windows.by_key.lock().unwrap().len() <= KEYS_MAX);
    }
}
