//! The cost of asking when the next iteration is due: `cargo bench -p brunt-schedule`. The open loop asks once for
//! every iteration, so this should stay well under 50 ns.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_schedule::{Arrivals, Executor, Scenario, Segment, Stage};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn arrivals(executor: Executor, segment: &Segment) -> Arrivals {
    let scenario = Scenario {
        name: "bench".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        exec: "default".into(),
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
        warmup: Duration::ZERO,
        rhythm: brunt_schedule::Rhythm::default(),
    };
    scenario.arrivals(segment).expect("an open executor")
}

fn constant() -> Executor {
    let (time_unit, duration) = (Duration::from_secs(1), Duration::from_hours(1));
    let (pre_allocated_vus, max_vus) = (1000, 1000);
    Executor::ConstantArrivalRate { rate: 9_973, time_unit, duration, pre_allocated_vus, max_vus }
}

fn ramping() -> Executor {
    let stage = |minutes, target| Stage { duration: Duration::from_mins(minutes), target };
    Executor::RampingArrivalRate {
        start_rate: 10,
        time_unit: Duration::from_secs(1),
        stages: vec![stage(1, 9_973), stage(20, 9_973), stage(5, 20_000), stage(10, 0)],
        pre_allocated_vus: 1000,
        max_vus: 1000,
    }
}

fn in_sequence(bencher: Bencher, executor: Executor, segment: &Segment) {
    let arrivals = arrivals(executor, segment);
    let mut n = 0;
    bencher.bench_local(|| {
        n = if n < 1_000_000 { n + 1 } else { 0 };
        black_box(arrivals.due(black_box(n)))
    });
}

#[divan::bench]
fn constant_rate(bencher: Bencher) {
    in_sequence(bencher, constant(), &Segment::full());
}

#[divan::bench]
fn constant_rate_in_a_third(bencher: Bencher) {
    in_sequence(bencher, constant(), &third());
}

#[divan::bench]
fn ramping_rate(bencher: Bencher) {
    in_sequence(bencher, ramping(), &Segment::full());
}

#[divan::bench]
fn ramping_rate_in_a_third(bencher: Bencher) {
    in_sequence(bencher, ramping(), &third());
}

fn third() -> Segment {
    Segment::parse(Some("1/3:2/3"), None).expect("a good segment")
}
