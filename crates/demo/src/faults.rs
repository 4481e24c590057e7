//! Trouble on demand: what `POST /_demo/fault` sets, and (in `raw`) the port of broken HTTP.

pub(crate) mod raw;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The faults that are on. All off by default; each field is a member of the JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Faults {
    /// The whole server pauses this long …
    pub(crate) stall_ms: u64,
    /// … at the end of each period of this many seconds. 0: just once, from now.
    pub(crate) every_s: f64,
    /// Share of requests, 0 to 1, answered with `status`.
    pub(crate) error_rate: f64,
    /// Status of the artificial errors; 0 means 500.
    pub(crate) status: u16,
    /// Redis is unreachable.
    pub(crate) redis_down: bool,
    /// Time of an origin read in place of the configured one.
    pub(crate) origin_ms: Option<u64>,
    /// Mean of its exponential part.
    pub(crate) jitter_ms: Option<u64>,
    /// Share of requests, 0 to 1, whose connection is closed without an answer. `true` means all.
    #[serde(deserialize_with = "share")]
    pub(crate) drop_connections: f64,
    /// Bodies leave at this many bytes per second; 0: as fast as they can.
    pub(crate) slow_body_bps: u64,
}

fn share<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Share {
        All(bool),
        Part(f64),
    }
    Ok(match Share::deserialize(deserializer)? {
        Share::All(all) => f64::from(u8::from(all)),
        Share::Part(part) => part,
    })
}

impl Faults {
    fn complaint(&self) -> Option<String> {
        for (name, share) in
            [("error_rate", self.error_rate), ("drop_connections", self.drop_connections)]
        {
            if !(0.0..=1.0).contains(&share) {
                return Some(format!("{name} {share} is not from 0 to 1"));
            }
        }
        if self.status != 0 && !(200..=599).contains(&self.status) {
            return Some(format!("status {} is not from 200 to 599", self.status));
        }
        if !(0.0..=1e6).contains(&self.every_s) || self.stall_ms > 600_000 {
            return Some("stall_ms is at most 600000, every_s at most 1000000".to_owned());
        }
        None
    }
}

/// Holds the faults; asking whether there are any costs one load.
#[derive(Debug, Default)]
pub(crate) struct Switch {
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    faults: Faults,
    since: Option<Instant>,
}

impl Switch {
    /// Whether any fault is on.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// The faults that are on.
    pub(crate) fn current(&self) -> Faults {
        self.lock().faults.clone()
    }

    /// Merges a JSON object into the faults: members that it names change, `null` turns one off.
    ///
    /// # Errors
    /// A sentence about the member that makes no sense; nothing has changed then.
    pub(crate) fn merge(&self, json: &[u8], now: Instant) -> Result<Faults, String> {
        let change: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(json).map_err(|e| e.to_string())?;
        let mut state = self.lock();
        let mut merged = serde_json::to_value(&state.faults).map_err(|e| e.to_string())?;
        if let Some(members) = merged.as_object_mut() {
            for (name, value) in change {
                if value.is_null() {
                    members.remove(&name);
                } else {
                    members.insert(name, value);
                }
            }
        }
        let faults: Faults = serde_json::from_value(merged).map_err(|e| e.to_string())?;
        if let Some(complaint) = faults.complaint() {
            return Err(complaint);
        }
        self.any.store(faults != Faults::default(), Ordering::Relaxed);
        *state = State { faults: faults.clone(), since: Some(now) };
        Ok(faults)
    }

    /// Turns all off.
    pub(crate) fn clear(&self) {
        *self.lock() = State::default();
        self.any.store(false, Ordering::Relaxed);
    }

    /// Until when the server pauses, if it pauses now.
    pub(crate) fn stalled_until(&self, now: Instant) -> Option<Instant> {
        let state = self.lock();
        let stall = Duration::from_millis(state.faults.stall_ms);
        let since = state.since?;
        if stall.is_zero() {
            return None;
        }
        let elapsed = now.duration_since(since);
        let period = Duration::from_secs_f64(state.faults.every_s);
        let end = if period <= stall {
            since + stall
        } else {
            let rounds = (elapsed.as_secs_f64() / period.as_secs_f64()).floor() as u32;
            let begin = since + period * rounds + period.saturating_sub(stall);
            if now < begin {
                return None;
            }
            begin + stall
        };
        (now < end).then_some(end)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stall_ends_each_period() {
        let switch = Switch::default();
        let begin = Instant::now();
        switch.merge(br#"{"stall_ms":1000,"every_s":10}"#, begin).unwrap();
        let at = |seconds: f64| begin + Duration::from_secs_f64(seconds);
        assert_eq!(switch.stalled_until(at(8.9)), None);
        assert_eq!(switch.stalled_until(at(9.5)), Some(at(10.0)));
        assert_eq!(switch.stalled_until(at(10.5)), None);
        assert_eq!(switch.stalled_until(at(19.0)), Some(at(20.0)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stall_without_a_period_comes_once() {
        let switch = Switch::default();
        let begin = Instant::now();
        switch.merge(br#"{"stall_ms":100}"#, begin).unwrap();
        assert_eq!(switch.stalled_until(begin), Some(begin + Duration::from_millis(100)));
        assert_eq!(switch.stalled_until(begin + Duration::from_millis(100)), None);
    }

    #[test]
    fn merging_keeps_what_is_not_named_and_refuses_nonsense() {
        let switch = Switch::default();
        let now = Instant::now();
        switch.merge(br#"{"redis_down":true,"origin_ms":5}"#, now).unwrap();
        let faults = switch.merge(br#"{"drop_connections":true,"origin_ms":null}"#, now).unwrap();
        assert!(faults.redis_down && faults.origin_ms.is_none() && faults.drop_connections > 0.999);
        assert!(switch.merge(br#"{"error_rate":2}"#, now).unwrap_err().contains("error_rate"));
        assert!(switch.merge(br#"{"eror_rate":1}"#, now).unwrap_err().contains("eror_rate"));
        assert_eq!(switch.current(), faults);
        switch.clear();
        assert!(!switch.any());
    }
}
