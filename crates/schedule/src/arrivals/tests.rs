use proptest::prelude::*;

use super::*;
use crate::Stage;
use crate::testing::{scenario, secs};

fn constant(rate: u64, time_unit: Duration, duration: Duration, max_vus: u64) -> Scenario {
    scenario(Executor::ConstantArrivalRate {
        rate,
        time_unit,
        duration,
        pre_allocated_vus: max_vus,
        max_vus,
    })
}

fn ramping(start_rate: u64, time_unit: Duration, list: &[(u64, u64)], max_vus: u64) -> Scenario {
    let stages = list
        .iter()
        .map(|(ms, target)| Stage { duration: Duration::from_millis(*ms), target: *target })
        .collect();
    scenario(Executor::RampingArrivalRate {
        start_rate,
        time_unit,
        stages,
        pre_allocated_vus: max_vus,
        max_vus,
    })
}

fn of(scenario: &Scenario) -> Arrivals {
    scenario.arrivals(&Segment::full()).expect("an open executor")
}

/// All due times, in nanoseconds.
fn dues(arrivals: &Arrivals) -> Vec<u128> {
    (0..).map_while(|n| arrivals.due(n)).map(|due| due.as_nanos()).collect()
}

#[test]
fn a_constant_rate_starts_at_zero_and_once_more_at_its_end() {
    let arrivals = of(&constant(10, secs(1), secs(1), 1));
    let expected: Vec<u128> = (0..=10).map(|n| n * 100_000_000).collect();
    assert_eq!(dues(&arrivals), expected);
    assert_eq!(arrivals.count(), 11);
    // No period ends right there.
    let arrivals = of(&constant(10, secs(1), Duration::from_millis(1050), 1));
    assert_eq!(dues(&arrivals), expected);
    assert_eq!(arrivals.count(), 11);
}

#[test]
fn a_period_that_is_no_whole_number_of_nanoseconds_does_not_drift() {
    let arrivals = of(&constant(3, secs(1), secs(10), 1));
    assert_eq!(arrivals.due(1), Some(Duration::from_nanos(333_333_333)));
    assert_eq!(arrivals.due(3), Some(secs(1)));
    assert_eq!(arrivals.due(29), Some(Duration::from_nanos(9_666_666_666)));
    let fast = of(&constant(7_000_000, secs(1), secs(1000), 1));
    assert_eq!(fast.due(7_000_000 * 999), Some(secs(999)));
}

#[test]
fn a_ramp_from_zero_starts_nothing_at_zero() {
    // k6 2.2: 0 → 10 over 2 s starts iteration i at √(2i/5) s, the last one right at the end.
    let arrivals = of(&ramping(0, secs(1), &[(2000, 10)], 1));
    let expected = [632, 894, 1095, 1264, 1414, 1549, 1673, 1788, 1897, 2000];
    let got: Vec<u128> = dues(&arrivals).iter().map(|ns| ns / 1_000_000).collect();
    assert_eq!(got, expected);
    assert_eq!(arrivals.due(9), Some(secs(2)));
    assert_eq!(arrivals.due(10), None);
}

#[test]
fn a_flat_ramp_starts_a_period_after_zero() {
    let arrivals = of(&ramping(10, secs(1), &[(1000, 10)], 1));
    let expected: Vec<u128> = (1..=10).map(|n| n * 100_000_000).collect();
    assert_eq!(dues(&arrivals), expected);
}

#[test]
fn a_ramp_down_to_zero_ends_on_its_last_nanosecond() {
    // 5 iterations; the mirror image of the ramp up: i before the end is √(i·2/5) s.
    let arrivals = of(&ramping(10, secs(1), &[(1000, 0)], 1));
    let expected = [105_572_809, 225_403_330, 367_544_467, 552_786_404, 1_000_000_000];
    assert_eq!(dues(&arrivals), expected);
    let long = of(&ramping(1000, secs(1), &[(3_600_000, 0)], 1));
    assert_eq!(long.count(), 1_800_000);
    assert_eq!(long.due(1_799_999), Some(secs(3600)));
    // One before: √(2 · 1 / (1000/3600)) = 2.683281572999747 s before the end.
    assert_eq!(long.due(1_799_998).map(|d| d.as_nanos()), Some(3_597_316_718_427));
}

#[test]
fn fractions_carry_over_stages() {
    // A third of an iteration a second, one second at a time: every third stage ends with one.
    let arrivals = of(&ramping(20, secs(60), &[(1000, 20); 9], 1));
    assert_eq!(dues(&arrivals), [3_000_000_000, 6_000_000_000, 9_000_000_000]);
}

#[test]
fn a_stage_of_no_duration_jumps() {
    let arrivals = of(&ramping(0, secs(1), &[(1000, 0), (0, 2), (1000, 2)], 1));
    assert_eq!(dues(&arrivals), [1_500_000_000, 2_000_000_000]);
    assert!((arrivals.rate_at(Duration::from_millis(500)) - 0.0).abs() < 1e-9);
    assert!((arrivals.rate_at(Duration::from_millis(1500)) - 2.0).abs() < 1e-9);
    assert!((arrivals.rate_at(secs(9)) - 2.0).abs() < 1e-9);
}

#[test]
fn a_rate_of_zero_starts_nothing() {
    assert_eq!(dues(&of(&ramping(0, secs(1), &[(1000, 0), (0, 0)], 1))), []);
    assert_eq!(of(&ramping(0, secs(1), &[(1000, 0)], 1)).count(), 0);
}

#[test]
fn segments_take_their_own_numbers_only() {
    // k6 2.2: halves with rate 7 and maxVUs 7.
    let whole = constant(7, secs(1), Duration::from_millis(1100), 7);
    let own = |own: &str| {
        let arrivals = whole.arrivals(&Segment::parse(Some(own), None).unwrap()).unwrap();
        (0..arrivals.count()).map(|n| arrivals.index(n)).collect::<Vec<_>>()
    };
    assert_eq!(own("0:1/2"), [0, 2, 4, 6, 7]);
    assert_eq!(own("1/2:1"), [1, 3, 5]);
}

#[test]
fn a_segment_without_vus_has_no_arrivals() {
    let segment = Segment::parse(Some("1/2:1"), None).unwrap();
    let arrivals = constant(7, secs(1), secs(10), 1).arrivals(&segment).unwrap();
    assert_eq!((arrivals.due(0), arrivals.count(), arrivals.max_vus()), (None, 0, 0));
    assert!(arrivals.rate_at(secs(1)).abs() < 1e-9);
}

#[test]
fn extreme_numbers_do_not_overflow() {
    let ages = Duration::from_nanos(i64::MAX as u64);
    let arrivals = of(&constant(i64::MAX as u64, ages, ages, 1));
    assert_eq!(arrivals.due(u64::MAX), None);
    assert_eq!(arrivals.due(5), Some(Duration::from_nanos(5)));
    let stages = vec![Stage { duration: ages, target: i64::MAX as u64 }; 3];
    let arrivals = of(&scenario(Executor::RampingArrivalRate {
        start_rate: 0,
        time_unit: Duration::from_nanos(1),
        stages,
        pre_allocated_vus: 1,
        max_vus: 1,
    }));
    for n in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        let _ = arrivals.due(n);
    }
    assert_eq!(arrivals.count(), u64::MAX);
}

fn workloads() -> impl Strategy<Value = Scenario> {
    let unit = prop_oneof![Just(secs(1)), Just(secs(60)), Just(Duration::from_nanos(999_983))];
    let unit_again = unit.clone();
    let list = proptest::collection::vec((0_u64..3000, 0_u64..200), 1..6);
    prop_oneof![
        (1_u64..200, unit, 1_u64..5000, 1_u64..30).prop_map(|(rate, unit, ms, vus)| {
            constant(rate, unit, Duration::from_millis(ms), vus)
        }),
        (0_u64..200, unit_again, list, 1_u64..30)
            .prop_map(|(rate, unit, list, vus)| ramping(rate, unit, &list, vus)),
    ]
}

proptest! {
    #[test]
    fn due_never_falls_and_ends_where_counted(workload in workloads(), at in 0.0..1.0) {
        let arrivals = of(&workload);
        let count = arrivals.count();
        let first = (count as f64 * at) as u64;
        let mut before = Duration::ZERO;
        for n in first..count.min(first + 500) {
            let due = arrivals.due(n).unwrap();
            prop_assert!(before <= due && due <= arrivals.regular_end());
            before = due;
        }
        prop_assert!(count == 0 || arrivals.due(count - 1).is_some());
        prop_assert_eq!(arrivals.due(count), None);
    }

    #[test]
    fn due_is_where_the_area_reaches_n(workload in workloads(), at in 0.0..1.0) {
        let Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } = &workload.executor
            else { return Ok(()) };
        let arrivals = of(&workload);
        let n = (arrivals.count() as f64 * at) as u64;
        let Some(due) = arrivals.due(n) else { return Ok(()) };
        let (mut area, mut from, mut start) = (0.0, *start_rate as f64, 0.0);
        for stage in stages {
            let (to, length) = (stage.target as f64, stage.duration.as_secs_f64());
            let passed = (due.as_secs_f64() - start).clamp(0.0, length);
            if length > 0.0 {
                let rate = from + (to - from) * passed / length;
                area += f64::midpoint(from, rate) * passed;
            }
            (from, start) = (to, start + length);
        }
        let reached = area / time_unit.as_secs_f64();
        let slack = 1e-6 * (n as f64 + 1.0) + 200.0 / time_unit.as_nanos() as f64;
        prop_assert!((reached - (n as f64 + 1.0)).abs() <= slack, "{reached} at {n}");
    }

    #[test]
    fn segments_add_up_to_the_whole(workload in workloads(), parts in 2_u64..6, n in 0_u64..500) {
        let points: Vec<String> = (0..=parts).map(|part| format!("{part}/{parts}")).collect();
        let whole = of(&workload);
        let mut count = 0;
        for pair in points.windows(2) {
            let own = format!("{}:{}", pair[0], pair[1]);
            let segment = Segment::parse(Some(&own), Some(&points.join(","))).unwrap();
            let share = workload.arrivals(&segment).unwrap();
            count += share.count();
            if let Some(due) = share.due(n) {
                prop_assert_eq!(whole.due(share.index(n)), Some(due));
            }
        }
        prop_assert_eq!(count, whole.count());
    }
}

#[test]
fn random_gaps_follow_the_rate_and_their_number_is_that_of_even_ones() {
    let with = |scenario: Scenario, gaps| {
        let rhythm = crate::Rhythm { gaps, ..crate::Rhythm::default() };
        of(&Scenario { rhythm, ..scenario })
    };
    let poisson = crate::Gaps::Poisson { seed: 11 };
    let even = dues(&with(constant(1000, secs(1), secs(20), 1), crate::Gaps::Uniform));
    let random = with(constant(1000, secs(1), secs(20), 1), poisson);
    assert_eq!(random.count(), dues(&random).len() as u64);
    assert!((random.count() as f64 / even.len() as f64 - 1.0).abs() < 0.02, "{}", random.count());
    // A ramp from 0 to 2000 a second: a quarter of them come in the first half.
    let ramp = dues(&with(ramping(0, secs(1), &[(20_000, 2000)], 1), poisson));
    assert!(ramp.is_sorted());
    let early = ramp.iter().filter(|due| **due < 10_000_000_000).count() as f64;
    assert!((early / ramp.len() as f64 - 0.25).abs() < 0.01, "{early} of {}", ramp.len());
}

#[test]
fn segments_share_random_gaps_without_talking() {
    let rhythm =
        crate::Rhythm { gaps: crate::Gaps::Poisson { seed: 5 }, ..crate::Rhythm::default() };
    let scenario = Scenario { rhythm, ..constant(100, secs(1), secs(60), 7) };
    let part = |text: &str| {
        let segment = Segment::parse(Some(text), Some("0,1/4,1")).unwrap();
        scenario.arrivals(&segment).unwrap()
    };
    let (one, other) = (part("0:1/4"), part("1/4:1"));
    let mut all: Vec<u128> = dues(&one).into_iter().chain(dues(&other)).collect();
    all.sort_unstable();
    assert_eq!(all, dues(&of(&scenario)));
    assert_eq!(one.count() + other.count(), of(&scenario).count());
}

#[test]
fn a_rate_may_swing_about_itself() {
    let sine = crate::Sine { amplitude: 90, period: secs(10), start: crate::SineStart::MeanUp };
    let rhythm = crate::Rhythm { sine: Some(sine), ..crate::Rhythm::default() };
    let arrivals = of(&Scenario { rhythm, ..constant(100, secs(1), secs(20), 1) });
    let dues = dues(&arrivals);
    assert!(dues.is_sorted() && dues[0] == 0);
    assert!(
        arrivals.count().abs_diff(2000) <= 1 && arrivals.count().abs_diff(dues.len() as u64) <= 1
    );
    // M·t + A·P/π in the upper half of a period.
    let upper = dues.iter().filter(|due| **due < 5_000_000_000).count();
    assert!(upper.abs_diff(786) <= 1, "{upper}");
    assert!((arrivals.rate_at(Duration::from_millis(2500)) - 190.0).abs() < 1e-6);
}
