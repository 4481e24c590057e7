//! A system that serves requests first come, first served, and what a generator would measure of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Goal, Measured};

/// A system of known capacity.
#[derive(Clone)]
pub(super) struct System {
    servers: usize,
    /// Milliseconds.
    service_ms: f64,
    is_exponential: bool,
    /// Requests come evenly, as the driver sends them.
    is_even: bool,
    /// Requests that may wait; more are refused.
    queue_max: usize,
    /// With more than this many waiting it falls over, for good.
    falls_at: usize,
    /// When each server is free again, in microseconds.
    free: BinaryHeap<Reverse<u64>>,
    has_fallen: bool,
    now_ms: f64,
    random: fastrand::Rng,
}

/// The goals of a simulated search: a percentile of latency, and less than 1 % refused.
#[derive(Clone, Copy)]
pub(super) struct Goals {
    pub(super) percent: f64,
    pub(super) limit_ms: f64,
}

/// The answers of a stretch of time.
#[derive(Clone, Default)]
pub(super) struct Answers {
    /// Seconds.
    time: f64,
    latencies: Vec<f64>,
    refused: f64,
    came: f64,
}

/// Microseconds, which order as whole numbers.
fn ticks(ms: f64) -> u64 {
    (ms * 1000.0) as u64
}

impl System {
    pub(super) fn new(servers: usize, service_ms: f64, is_exponential: bool, seed: u64) -> System {
        System {
            servers,
            service_ms,
            is_exponential,
            is_even: false,
            queue_max: usize::MAX,
            falls_at: usize::MAX,
            free: (0..servers).map(|_| Reverse(0)).collect(),
            has_fallen: false,
            now_ms: 0.0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// The same, with requests that come evenly.
    pub(super) fn even(self) -> System {
        System { is_even: true, ..self }
    }

    /// The same, with a queue of this length; more are refused.
    pub(super) fn refusing(self, queue_max: usize) -> System {
        System { queue_max, ..self }
    }

    /// The same, but it falls over when more than this many wait.
    pub(super) fn falling(self, falls_at: usize) -> System {
        System { falls_at, ..self }
    }

    /// The answers that end in a stretch of time.
    pub(super) fn bear(&mut self, rate: f64, seconds: f64, late: &mut Vec<(f64, f64)>) -> Answers {
        let end = self.now_ms + seconds * 1000.0;
        let mut answers = Answers { time: seconds, ..Answers::default() };
        while self.now_ms < end {
            let gaps = if self.is_even { 1.0 } else { -self.random.f64().max(1e-12).ln() };
            self.now_ms += gaps * 1000.0 / rate;
            answers.came += 1.0;
            let Reverse(free) = *self.free.peek().expect("there are servers");
            let waiting_ms = (free as f64 / 1000.0 - self.now_ms).max(0.0);
            let waiting = (waiting_ms * self.servers as f64 / self.service_ms) as usize;
            self.has_fallen |= waiting > self.falls_at;
            if self.has_fallen || waiting > self.queue_max {
                answers.refused += 1.0;
                continue;
            }
            self.free.pop();
            let service = if self.is_exponential {
                -self.random.f64().max(1e-12).ln() * self.service_ms
            } else {
                self.service_ms
            };
            let done = self.now_ms + waiting_ms + service;
            self.free.push(Reverse(ticks(done)));
            late.push((done, done - self.now_ms));
        }
        late.retain(|(done, latency)| {
            if *done < end {
                answers.latencies.push(*latency);
            }
            *done >= end
        });
        answers
    }

    /// Lets the load settle, then measures it in slices as the driver does: as long again if chance may have decided.
    pub(super) fn measure(&mut self, rate: f64, hold: f64, goals: Goals) -> Measured {
        let slices = crate::SLICES;
        let mut under_way = Vec::new();
        self.bear(rate, (hold / 4.0).min(10.0), &mut under_way);
        let mut all: Vec<Answers> = Vec::new();
        loop {
            all.push(self.bear(rate, hold / slices as f64, &mut under_way));
            let has_ended = all.len().is_multiple_of(slices);
            if !has_ended && all.len() * 2 < slices {
                continue;
            }
            let measured = measured(&all, goals);
            let is_hopeless = measured.strain() >= 3.0;
            if has_ended && (all.len() >= crate::HOLDS_MAX * slices || !measured.is_undecided())
                || !has_ended && is_hopeless
            {
                return measured;
            }
        }
    }
}

/// The value at this part of all.
fn at(latencies: &mut [f64], percent: f64) -> Option<f64> {
    latencies.sort_by(f64::total_cmp);
    let index = (latencies.len() as f64 * percent / 100.0) as usize;
    latencies.get(index.min(latencies.len().saturating_sub(1))).copied()
}

fn measured(slices: &[Answers], goals: Goals) -> Measured {
    let seconds: f64 = slices.iter().map(|slice| slice.time).sum();
    let mut latencies: Vec<f64> =
        slices.iter().flat_map(|slice| slice.latencies.iter().copied()).collect();
    let refused: f64 = slices.iter().map(|slice| slice.refused).sum();
    let came: f64 = slices.iter().map(|slice| slice.came).sum();
    let share = |good: usize, refused: f64| refused / (good as f64 + refused).max(1.0);
    let shares = slices.iter().map(|slice| Some(share(slice.latencies.len(), slice.refused)));
    let slow = slices.iter().map(|slice| at(&mut slice.latencies.clone(), goals.percent));
    let (slow, shares) = (crate::spread(slow), crate::spread(shares));
    let (good, failed) = (latencies.len() as f64 / seconds, refused / seconds);
    let refused = share(latencies.len(), refused);
    let slowest = at(&mut latencies, goals.percent);
    let median = at(&mut latencies, 50.0);
    let goal = |name: &str, value: f64, limit: f64, spread: Option<f64>| Goal {
        name: name.to_owned(),
        value: Some(value),
        holds: value < limit,
        limit: Some(limit),
        share_min: None,
        spread,
        is_time: name == "slow",
        needs_values: true,
    };
    Measured {
        seconds,
        due: Some(came / seconds),
        finished: good + failed,
        good,
        failed,
        latency_ms: slowest,
        median_ms: median,
        iteration_ms: median,
        goals: vec![
            goal("slow", slowest.unwrap_or(0.0), goals.limit_ms, slow),
            goal("failed", refused, 0.01, shares),
        ],
        ..Measured::default()
    }
}
