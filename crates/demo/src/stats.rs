//! The server's side of the truth: what `/_demo/stats` reports. Counters without locks, fixed in size.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::routes::Route;

/// Slots for statuses 100 to 599.
const STATUSES: usize = 500;

/// Runs that are told apart; requests of further ones count for [`OTHER_RUNS`].
const RUNS_MAX: usize = 1000;

/// See [`RUNS_MAX`].
const OTHER_RUNS: &str = "(others)";

/// All counters of requests.
pub(crate) struct Stats {
    statuses: Vec<AtomicU64>,
    latencies: Vec<Histogram>,
    all: Histogram,
    in_flight: Gauge,
    /// Open connections.
    pub(crate) connections: Gauge,
    /// Body bytes received.
    pub(crate) bytes_in: AtomicU64,
    /// Body bytes answered; chunked bodies, whose size is not known beforehand, are not counted.
    pub(crate) bytes_out: AtomicU64,
    /// Requests whose connection a fault closed without an answer.
    pub(crate) dropped: AtomicU64,
    /// Requests by the value of their header `Run-Id`.
    runs: RwLock<BTreeMap<String, AtomicU64>>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            statuses: counters(Route::ALL.len() * STATUSES),
            latencies: Route::ALL.iter().map(|_| Histogram::default()).collect(),
            all: Histogram::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            runs: RwLock::default(),
        }
    }
}

fn counters(count: usize) -> Vec<AtomicU64> {
    std::iter::repeat_with(|| AtomicU64::new(0)).take(count).collect()
}

impl Stats {
    /// One more request is in hand until the guard is dropped, answered or not.
    pub(crate) fn enter(&self) -> InHand<'_> {
        self.in_flight.up();
        InHand(&self.in_flight)
    }

    /// A request came that names its run. Counted when it comes: a client that dies before the answer has sent it all the same.
    pub(crate) fn of_run(&self, run: &str) {
        let runs = self.runs.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = runs.get(run) {
            count.fetch_add(1, Relaxed);
            return;
        }
        drop(runs);
        let mut runs = self.runs.write().unwrap_or_else(PoisonError::into_inner);
        let run = if runs.len() < RUNS_MAX { run } else { OTHER_RUNS };
        runs.entry(run.to_owned()).or_default().fetch_add(1, Relaxed);
    }

    /// A request was answered.
    pub(crate) fn answered(&self, route: Route, status: u16, took: Duration, bytes: u64) {
        let slot = usize::from(status.clamp(100, 599)) - 100;
        self.statuses[route as usize * STATUSES + slot].fetch_add(1, Relaxed);
        self.latencies[route as usize].record(took);
        self.all.record(took);
        self.bytes_out.fetch_add(bytes, Relaxed);
    }

    /// Everything back to zero, but what is open or in hand now.
    pub(crate) fn reset(&self) {
        self.statuses.iter().for_each(|counter| counter.store(0, Relaxed));
        self.latencies.iter().for_each(Histogram::reset);
        self.all.reset();
        self.runs.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.in_flight.forget();
        self.connections.forget();
        for counter in [&self.bytes_in, &self.bytes_out, &self.dropped] {
            counter.store(0, Relaxed);
        }
    }

    /// The report's members on requests, in-flight, connections, bytes and latency.
    pub(crate) fn report(&self, since: Instant) -> Map<String, Value> {
        let mut by_route = Map::new();
        let mut by_status = Map::new();
        let mut latency = Map::new();
        let mut total = 0;
        for route in Route::ALL {
            let slots = &self.statuses[*route as usize * STATUSES..][..STATUSES];
            let mut seen = Map::new();
            for (slot, counter) in slots.iter().enumerate() {
                let count = counter.load(Relaxed);
                if count == 0 {
                    continue;
                }
                total += count;
                let status = (slot + 100).to_string();
                let sum = by_status.get(&status).and_then(Value::as_u64).unwrap_or(0);
                by_status.insert(status.clone(), (sum + count).into());
                seen.insert(status, count.into());
            }
            if !seen.is_empty() {
                by_route.insert(route.name().to_owned(), seen.into());
                latency.insert(route.name().to_owned(), self.latencies[*route as usize].report());
            }
        }
        let runs = self.runs.read().unwrap_or_else(PoisonError::into_inner);
        let runs: Map<String, Value> =
            runs.iter().map(|(run, count)| (run.clone(), count.load(Relaxed).into())).collect();
        let report = json!({
            "uptime_s": since.elapsed().as_secs_f64(),
            "requests": { "total": total, "by_route": by_route, "by_status": by_status, "by_run": runs },
            "in_flight": self.in_flight.report(),
            "connections": self.connections.report(),
            "dropped": self.dropped.load(Relaxed),
            "bytes": { "in": self.bytes_in.load(Relaxed), "out": self.bytes_out.load(Relaxed) },
            "latency_ms": self.all.report(),
            "latency_ms_by_route": latency,
        });
        match report {
            Value::Object(members) => members,
            _ => unreachable!("an object literal is an object"),
        }
    }
}

/// A request in hand; counts down when dropped.
pub(crate) struct InHand<'a>(&'a Gauge);

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.0.down();
    }
}

/// How many there are now, were at most, and were in all.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    now: AtomicU64,
    max: AtomicU64,
    total: AtomicU64,
}

impl Gauge {
    /// One more.
    pub(crate) fn up(&self) {
        let now = self.now.fetch_add(1, Relaxed) + 1;
        self.total.fetch_add(1, Relaxed);
        if now > self.max.load(Relaxed) {
            self.max.fetch_max(now, Relaxed);
        }
    }

    /// One less.
    pub(crate) fn down(&self) {
        self.now.fetch_sub(1, Relaxed);
    }

    /// Forgets the past: the maximum is what is there now.
    pub(crate) fn forget(&self) {
        let now = self.now.load(Relaxed);
        self.max.store(now, Relaxed);
        self.total.store(now, Relaxed);
    }

    /// `{"now", "max", "total"}`.
    pub(crate) fn report(&self) -> Value {
        json!({
            "now": self.now.load(Relaxed),
            "max": self.max.load(Relaxed),
            "total": self.total.load(Relaxed),
        })
    }
}

/// Buckets per doubling: a value is known to 1/32, about 3 %.
const STEPS: u64 = 32;
/// Covers 0 to 2^32 µs, above an hour; what is longer counts as that.
const BUCKETS: usize = (32 * STEPS) as usize;

/// A log-linear histogram of durations in µs, 8 kB.
struct Histogram {
    buckets: Vec<AtomicU64>,
    sum_us: AtomicU64,
    max_us: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: counters(BUCKETS), sum_us: AtomicU64::new(0), max_us: AtomicU64::new(0) }
    }
}

impl Histogram {
    fn record(&self, took: Duration) {
        let micros = took.as_micros().min(u128::from(u32::MAX)) as u64;
        self.buckets[bucket_of(micros)].fetch_add(1, Relaxed);
        self.sum_us.fetch_add(micros, Relaxed);
        if micros > self.max_us.load(Relaxed) {
            self.max_us.fetch_max(micros, Relaxed);
        }
    }

    fn reset(&self) {
        self.buckets.iter().for_each(|bucket| bucket.store(0, Relaxed));
        self.sum_us.store(0, Relaxed);
        self.max_us.store(0, Relaxed);
    }

    fn report(&self) -> Value {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        let count: u64 = counts.iter().sum();
        let max_us = self.max_us.load(Relaxed);
        let quantile = |q: f64| {
            let rank = (q * count as f64).ceil().max(1.0) as u64;
            let mut seen = 0;
            let found = counts.iter().position(|n| {
                seen += n;
                seen >= rank
            });
            found.map_or(0.0, |bucket| top_of(bucket).min(max_us) as f64 / 1000.0)
        };
        let mean = self.sum_us.load(Relaxed) as f64 / count.max(1) as f64 / 1000.0;
        json!({
            "count": count, "mean": mean, "p50": quantile(0.5), "p90": quantile(0.9),
            "p95": quantile(0.95), "p99": quantile(0.99), "p99.9": quantile(0.999),
            "max": max_us as f64 / 1000.0,
        })
    }
}

/// Below 32 µs a bucket is 1 µs wide; above, each doubling has 32.
fn bucket_of(micros: u64) -> usize {
    if micros < STEPS {
        return micros as usize;
    }
    let doublings = u64::from(micros.ilog2()) - 5;
    ((doublings * STEPS) + (micros >> doublings)) as usize
}

/// The highest value in a bucket, in µs.
fn top_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let doublings = bucket / STEPS - 1;
    let step = bucket - doublings * STEPS;
    ((step + 1) << doublings) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_a_bucket_that_is_at_most_a_thirtysecond_too_high() {
        for micros in (0..100_000).chain([1 << 20, (1 << 31) + 12345, u64::from(u32::MAX)]) {
            let top = top_of(bucket_of(micros));
            assert!(bucket_of(micros) < BUCKETS);
            assert!(top >= micros && top - micros <= micros / 32, "{micros} in {top}");
        }
    }

    #[tokio::test]
    async fn a_report_tells_requests_by_route_and_status() {
        let stats = Stats::default();
        let guard = stats.enter();
        stats.answered(Route::Ping, 200, Duration::from_millis(3), 2);
        stats.answered(Route::Ping, 503, Duration::from_millis(7), 0);
        stats.of_run("a");
        stats.of_run("a");
        let report = Value::from(stats.report(Instant::now()));
        assert_eq!(report["requests"]["by_route"]["/ping"], json!({"200": 1, "503": 1}));
        assert_eq!(report["requests"]["by_run"], json!({"a": 2}));
        assert_eq!(report["in_flight"]["now"], 1);
        assert_eq!(report["latency_ms"]["max"], 7.0);
        assert_eq!(report["bytes"]["out"], 2);
        drop(guard);
        stats.reset();
        let report = Value::from(stats.report(Instant::now()));
        assert_eq!(report["requests"]["total"], 0);
        assert_eq!(report["in_flight"]["max"], 0);
    }
}
