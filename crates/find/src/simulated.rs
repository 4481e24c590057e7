//! Systems of known capacity, simulated, and searches on them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{
    Bounds, End, Goal, Look, Measured, Next, Purpose, Recovering, Recovery, Search, Step, judge,
};

/// A system that serves requests first come, first served.
struct System {
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
    /// When each server is free again, in milliseconds.
    free: BinaryHeap<Reverse<u64>>,
    has_fallen: bool,
    now_ms: f64,
    random: fastrand::Rng,
}

/// Microseconds, which order as whole numbers.
fn ticks(ms: f64) -> u64 {
    (ms * 1000.0) as u64
}

impl System {
    fn new(servers: usize, service_ms: f64, is_exponential: bool, seed: u64) -> System {
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

    /// The latencies (ms) of the answers in a stretch of time, without its first fifth, the refusals and the arrivals there.
    fn bear(&mut self, rate: f64, seconds: f64) -> (Vec<f64>, f64, f64) {
        let start = self.now_ms;
        let end = start + seconds * 1000.0;
        let from = start + seconds * 200.0;
        let (mut latencies, mut refused, mut came) = (Vec::new(), 0.0, 0.0);
        while self.now_ms < end {
            let gaps = if self.is_even { 1.0 } else { -self.random.f64().max(1e-12).ln() };
            self.now_ms += gaps * 1000.0 / rate;
            came += f64::from(u8::from(self.now_ms >= from));
            let Reverse(free) = *self.free.peek().expect("there are servers");
            let waiting_ms = (free as f64 / 1000.0 - self.now_ms).max(0.0);
            let waiting = (waiting_ms * self.servers as f64 / self.service_ms) as usize;
            self.has_fallen |= waiting > self.falls_at;
            if self.has_fallen || waiting > self.queue_max {
                refused += f64::from(u8::from(self.now_ms >= from));
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
            if done >= from && done < end {
                latencies.push(done - self.now_ms);
            }
        }
        (latencies, refused, came)
    }

    fn measure(&mut self, rate: f64, seconds: f64, limit_ms: f64) -> Measured {
        let (mut latencies, refused, came) = self.bear(rate, seconds);
        let counted = seconds * 0.8;
        latencies.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let index = (latencies.len() as f64 * part) as usize;
            latencies.get(index.min(latencies.len().saturating_sub(1))).copied()
        };
        let (good, failed) = (latencies.len() as f64 / counted, refused / counted);
        let share = if good + failed > 0.0 { failed / (good + failed) } else { 0.0 };
        let slow = Goal {
            name: "http_req_duration p(95)".to_owned(),
            value: at(0.95).or(Some(0.0)),
            holds: at(0.95).is_none_or(|value| value < limit_ms),
            limit: Some(limit_ms),
            is_time: true,
            needs_values: true,
        };
        let failing = Goal {
            name: "http_req_failed rate".to_owned(),
            value: Some(share),
            holds: share < 0.01,
            limit: Some(0.01),
            is_time: false,
            needs_values: true,
        };
        Measured {
            seconds: counted,
            due: Some(came / counted),
            finished: good + failed,
            good,
            failed,
            latency_ms: at(0.95),
            median_ms: at(0.5),
            iteration_ms: at(0.5),
            goals: vec![slow, failing],
            ..Measured::default()
        }
    }
}

fn look(measured: &Measured) -> Look {
    Look { good: measured.good, failed: measured.failed, median_ms: measured.median_ms }
}

/// Searches as the driver does, in no time.
fn search(system: &mut System, limit_ms: f64) -> (Search, End) {
    let hold = 20.0;
    let bounds = Bounds {
        from: 10.0,
        least: 1.0,
        max: 100_000.0,
        precision: 0.05,
        is_whole: false,
        steps_max: 20,
    };
    let mut search = Search::new(bounds);
    loop {
        let trial = match search.next() {
            Next::Hold(trial) => trial,
            Next::End(end) => return (search, end),
        };
        search.begin(trial);
        if let (Some(lowest), Some(last)) = (search.lowest(), search.steps().last())
            && last.broke()
        {
            let mut recovery = Recovery::new(look(&lowest.measured), 60.0);
            let mut elapsed = 0.0;
            let state = loop {
                let seen = system.measure(5.0, 2.0, limit_ms);
                elapsed += 2.0;
                match recovery.look(elapsed, look(&seen)) {
                    Recovering::Wait => {}
                    state => break state,
                }
            };
            if state == Recovering::Down {
                search.stop(End::Fallen);
                continue;
            }
        }
        let seconds = if trial.purpose == Purpose::Confirm { hold * 2.0 } else { hold };
        let measured = system.measure(trial.load, seconds, limit_ms);
        let lowest = search.lowest().map(|step| step.measured.clone());
        let outcome = judge(&measured, lowest.as_ref());
        search.take(Step { trial, measured, outcome });
    }
}

/// Searches on systems that differ only by chance; how far each result is from the truth, and how many steps each took; both
/// ascend.
fn errors(make: impl Fn(u64) -> System, limit_ms: f64, truth: f64) -> (Vec<f64>, Vec<usize>) {
    let (mut errors, mut counts) = (Vec::new(), Vec::new());
    for seed in 0..40 {
        let (search, end) = search(&mut make(seed), limit_ms);
        let held = search.held().unwrap_or(0.0);
        assert_eq!(end, End::Found, "seed {seed}: {held} {:?}", loads(&search));
        counts.push(search.steps().len());
        errors.push((held / truth - 1.0).abs());
    }
    errors.sort_by(f64::total_cmp);
    counts.sort_unstable();
    (errors, counts)
}

fn loads(search: &Search) -> Vec<(f64, bool)> {
    search.steps().iter().map(|step| (step.trial.load, step.held())).collect()
}

#[test]
fn a_queue_with_exponential_service_is_found_where_theory_says() {
    // One server of 2 ms: p95 = ln 20 / (µ − λ) = 20 ms at λ = 500 − 149.8.
    let truth = 500.0 - 20_f64.ln() / 0.020;
    let (errors, counts) = errors(|seed| System::new(1, 2.0, true, seed), 20.0, truth);
    // The p95 of a queue that is nearly full is itself a matter of chance.
    assert!(errors[19] <= 0.05 && errors[37] <= 0.10, "{errors:?}");
    // A confirmation that breaks by chance costs a few steps more.
    assert!(counts[19] <= 12 && counts[39] <= 18, "{counts:?}");
}

#[test]
fn many_servers_of_constant_time_bear_nearly_all_that_they_can() {
    let make = |seed| System::new(20, 50.0, false, seed);
    let (errors, counts) = errors(make, 200.0, 400.0);
    // Requests that come by chance wait now and then at 97 % already.
    assert!(errors[35] <= 0.05 && errors[39] <= 0.06, "{errors:?}");
    // A narrow miss of the climb is tried once more.
    assert!(counts[37] <= 12 && counts[39] <= 14, "{counts:?}");
}

#[test]
fn a_cliff_of_refusals_is_found() {
    let make = |seed| System { queue_max: 10, is_even: true, ..System::new(4, 10.0, false, seed) };
    let (errors, counts) = errors(make, 500.0, 400.0);
    assert!(errors[39] <= 0.05, "{errors:?}");
    assert!(counts[39] <= 12, "{counts:?}");
}

#[test]
fn a_system_that_falls_over_and_stays_down_is_found_out() {
    for seed in 0..20 {
        let mut system =
            System { falls_at: 50, is_even: true, ..System::new(4, 10.0, false, seed) };
        let (search, end) = search(&mut system, 500.0);
        assert_eq!(end, End::Fallen, "{:?}", loads(&search));
        assert!(search.held().is_some_and(|held| held < 400.0), "{:?}", loads(&search));
        assert_eq!(search.steps().iter().filter(|step| step.broke()).count(), 1);
    }
}
