//! Runs whose truth is known: for the proof that comparisons keep what they promise.
//!
//! A run is made as runs come out on real machines, only that its faults are known to the number:
//!
//! - **From run to run** the level of all durations differs by `run_spread` (the standard deviation of its logarithm); one run
//!   in ten differs two and a half times as much as the others. The slow tenth of requests has a level of its own beside that.
//! - **From slice to slice** the level goes up and down by `slice_spread`; each slice remembers `slice_memory` of the
//!   one before (a chain of first order).
//! - **From request to request**: 85 of 100 are lognormal around the median, 12 three times as slow (a cache missed), 3 have
//!   a Pareto tail of index 2.5, whose variance is just finite.
//! - **At the begin** everything is slower by half and gets warm within seconds; the load ramps up meanwhile.
//! - **While the runs follow each other**, the machine drifts: a random walk, `drift` a run, in the order A B B A.
//! - **Failures** are a share of requests that differs from run to run as well.

use std::collections::BTreeSet;
use std::sync::Arc;

use brunt_metrics::TrendSink;
use fastrand::Rng;

use crate::order::{Side, interleaved};
use crate::run::{Identity, Run, Share, Slice, Stage};

/// Seconds in which the load ramps up.
const RAMP_S: u32 = 5;
/// The mean duration over the median, of the mixture below.
const MEAN_OVER_MEDIAN: f64 = 1.40;

/// The machine, the target and the load.
#[derive(Clone, Debug)]
pub struct World {
    /// Seconds of a run behind the ramp.
    pub seconds: u32,
    /// How requests come.
    pub load: Load,
    /// The median duration in milliseconds.
    pub median_ms: f64,
    /// The standard deviation of the logarithm of a run's level.
    pub run_spread: f64,
    /// The same of a slice's level.
    pub slice_spread: f64,
    /// The part of a slice's level that is the one before's.
    pub slice_memory: f64,
    /// The standard deviation of what one run adds to the machine's level.
    pub drift: f64,
    /// The share of failed requests.
    pub failed: f64,
    /// The number of routes; each is half a median slower than the one before.
    pub routes: usize,
}

/// How requests come.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// Requests a second, whatever the target does.
    Open(f64),
    /// Users, each with a pause in milliseconds behind each answer.
    Closed {
        /// Users.
        vus: f64,
        /// The pause.
        pause_ms: f64,
    },
}

impl Default for World {
    fn default() -> Self {
        Self {
            seconds: 20,
            load: Load::Closed { vus: 8.0, pause_ms: 20.0 },
            median_ms: 20.0,
            run_spread: 0.01,
            slice_spread: 0.02,
            slice_memory: 0.6,
            drift: 0.0,
            failed: 0.0,
            routes: 1,
        }
    }
}

impl World {
    /// Runs of each side, B's target `slower` times as slow as A's, made in the order A B B A.
    pub fn sides(&self, runs: usize, slower: f64, seed: u64) -> [Vec<Run>; 2] {
        let random = &mut Rng::with_seed(seed);
        let mut sides = [Vec::new(), Vec::new()];
        let mut level = 0.0;
        for (place, side) in interleaved(runs).enumerate() {
            let factor = if side == Side::B { slower } else { 1.0 };
            let mut run = self.run(random, factor * f64::exp(level));
            run.identity.name = format!("run {place}");
            run.identity.started_us = 1 + place as i64;
            sides[usize::from(side == Side::B)].push(run);
            level += self.drift * normal(random);
        }
        sides
    }

    /// One run, `slower` times as slow as the world's.
    pub fn run(&self, random: &mut Rng, slower: f64) -> Run {
        let own = self.run_spread * jolted(random);
        let of_tail = self.run_spread * jolted(random);
        let failed = (self.failed * f64::exp(0.2 * normal(random))).min(1.0);
        let names: Vec<Arc<str>> =
            (0..self.routes).map(|route| format!("GET /{route}").into()).collect();
        let mut memory = normal(random);
        let fresh = (1.0 - self.slice_memory * self.slice_memory).sqrt();
        let slices = (0..self.seconds + RAMP_S)
            .map(|second| {
                let ramp = f64::from(second + 1) / f64::from(RAMP_S);
                let cold = 1.0 + 0.5 * f64::exp(-f64::from(second) / 1.5);
                memory = self.slice_memory * memory + fresh * normal(random);
                let level = slower * cold * f64::exp(own + self.slice_spread * memory);
                self.slice(
                    random,
                    second,
                    ramp.min(1.0),
                    level,
                    level * of_tail.exp(),
                    failed,
                    &names,
                )
            })
            .collect();
        Run { identity: identity(), stages: self.stages(), slices, thresholds: Vec::new() }
    }

    fn stages(&self) -> Vec<Stage> {
        let stage = |start: u32, end: u32, from| Stage {
            scenario: "default".into(),
            start_s: f64::from(start),
            end_s: f64::from(end),
            from,
            to: 1.0,
        };
        vec![stage(0, RAMP_S, 0.0), stage(RAMP_S, RAMP_S + self.seconds, 1.0)]
    }

    #[expect(clippy::too_many_arguments, reason = "the whole state of a second")]
    fn slice(
        &self,
        random: &mut Rng,
        second: u32,
        ramp: f64,
        level: f64,
        tail: f64,
        failed: f64,
        names: &[Arc<str>],
    ) -> Slice {
        let expected = ramp
            * match self.load {
                Load::Open(rate) => rate,
                Load::Closed { vus, pause_ms } => {
                    vus * 1000.0 / (self.median_ms * MEAN_OVER_MEDIAN * level + pause_ms)
                }
            };
        // Arrivals of an open load keep to a plan; answers of a closed one scatter.
        let count = match self.load {
            Load::Open(_) => expected.round(),
            Load::Closed { .. } => (expected + 0.3 * expected.sqrt() * normal(random)).round(),
        }
        .max(0.0) as u64;
        let mut slice = Slice { start_s: f64::from(second), width_s: 1.0, ..Slice::default() };
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        let mut failures = vec![0; names.len()];
        for n in 0..count {
            let route = n as usize % names.len();
            let of_route = 1.0 + 0.5 * route as f64;
            values[route].push(self.median_ms * of_route * duration(random, level, tail));
            failures[route] += u64::from(random.f64() < failed);
        }
        for ((name, values), failures) in names.iter().zip(values).zip(failures) {
            let part = slice.routes.entry(Arc::clone(name)).or_default();
            part.requests = values.len() as u64;
            part.failures = failures;
            part.durations.insert("http_req_duration".into(), TrendSink::from_values(values));
            slice.all.merge(part);
        }
        slice.iterations = count;
        let passed = Share { hits: count - slice.all.failures, total: count };
        slice.checks.insert("status is 200".into(), passed);
        slice
    }
}

/// How many medians a request takes.
fn duration(random: &mut Rng, level: f64, tail: f64) -> f64 {
    let kind = random.f64();
    if kind < 0.85 {
        level * f64::exp(0.25 * normal(random))
    } else if kind < 0.97 {
        3.0 * tail * f64::exp(0.3 * normal(random))
    } else {
        (3.0 * tail * (1.0 - random.f64()).powf(-1.0 / 2.5)).min(500.0)
    }
}

fn identity() -> Identity {
    Identity {
        script: "simulated.js".into(),
        script_hash: "51".into(),
        options: serde_json::json!({}),
        targets: BTreeSet::from(["simulated.test".to_owned()]),
        brunt_version: env!("CARGO_PKG_VERSION").into(),
        ..Identity::default()
    }
}

/// Of standard deviation one; a tenth of them comes from a law two and a half times as wide.
fn jolted(random: &mut Rng) -> f64 {
    const WIDE: f64 = 2.5;
    const SHARE: f64 = 0.1;
    let wide = if random.f64() < SHARE { WIDE } else { 1.0 };
    wide * normal(random) / (1.0 - SHARE + SHARE * WIDE * WIDE).sqrt()
}

/// Of the normal law (Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let (radius, angle) = (1.0 - random.f64(), random.f64());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::welch::{mean, variance};
    use crate::window::Window;

    #[test]
    fn runs_are_as_they_say() {
        let world = World { run_spread: 0.05, slice_spread: 0.0, ..World::default() };
        let [runs, slower] = world.sides(60, 1.2, 4);
        let medians = |runs: &[Run]| -> Vec<f64> {
            let total = |run: &Run| Slice::merged(Window::of(run, None, None).slices(run));
            let median =
                |run: &Run| total(run).all.durations["http_req_duration"].percentile(50.0).ln();
            runs.iter().map(median).collect()
        };
        let (a, b) = (medians(&runs), medians(&slower));
        assert!((mean(&b) - mean(&a) - 1.2_f64.ln()).abs() < 0.03);
        let spread = variance(&a).unwrap().sqrt();
        assert!((0.03..0.08).contains(&spread), "{spread}");
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let random = &mut Rng::with_seed(1);
        for law in [normal, jolted] {
            let values: Vec<f64> = (0..40_000).map(|_| law(random)).collect();
            assert!(mean(&values).abs() < 0.02);
            assert!((variance(&values).unwrap() - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn a_seed_gives_one_world() {
        let count = |seed| World::default().sides(1, 1.0, seed)[0][0].slices[9].all.requests;
        assert_eq!(count(5), count(5));
    }
}
