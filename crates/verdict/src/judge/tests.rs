use std::time::Duration;

use super::*;
use crate::{Core, Load, Shortages, Signals, Starts, Tail, WarmUp};

const SECOND: u64 = 1_000_000_000;

/// A run of `seconds`, which began at second 100 of the clock.
fn run(seconds: u64, change: impl Fn(u64, &mut Signals)) -> History {
    let mut history = History::default();
    history.start(100 * SECOND);
    for second in 0..seconds {
        let mut signals = Signals {
            from: (100 + second) * SECOND,
            to: (101 + second) * SECOND,
            cores: [(0, Core::default()), (1, Core { busy: 0.5, waiting: 0.02, late_ns: 900_000 })]
                .into(),
            resident: Some(100 << 20),
            memory_max: Some(1 << 30),
            files: Some(100),
            files_max: Some(1000),
            sockets: [Some(50), Some(0), Some(20_000)],
            ports: Some(28_000),
            steal: Some(0.01),
            throttled: Some(0.0),
            segments: Some((1000, 1)),
            interface_drops: Some(0),
            packets: Some(1000),
            ..Signals::default()
        };
        change(second, &mut signals);
        history.add(&signals);
    }
    history
}

fn found(history: &History, figures: &Figures) -> String {
    let verdict = judge(history, figures);
    let names = verdict.findings.iter().map(|it| format!("{} {}", it.name, it.level.text()));
    names.collect::<Vec<_>>().join(", ")
}

fn of(seconds: u64, change: impl Fn(u64, &mut Signals)) -> String {
    found(&run(seconds, change), &Figures::default())
}

fn core(busy: f64, waiting: f64, late_ms: u64) -> Core {
    Core { busy, waiting, late_ns: late_ms * 1_000_000 }
}

#[test]
fn a_calm_run_has_no_findings() {
    assert_eq!(of(60, |_, _| ()), "");
}

#[test]
fn a_full_core_in_time_is_no_fault() {
    assert_eq!(
        of(60, |_, it| {
            it.cores.insert(0, core(1.0, 0.0, 2));
        }),
        ""
    );
}

#[test]
fn a_full_and_late_core_is_out_of_cpu_by_its_part_of_the_time() {
    let for_seconds = |count| {
        of(100, move |second, it| {
            if second < count {
                it.cores.insert(0, core(0.99, 0.0, 30));
            }
        })
    };
    assert_eq!(for_seconds(1), "");
    assert_eq!(for_seconds(3), "generator-out-of-cpu doubtful");
    assert_eq!(for_seconds(11), "generator-out-of-cpu invalid");
}

#[test]
fn a_core_that_never_rests_is_full_though_others_take_a_little() {
    let shared = |busy: f64, waiting: f64| {
        of(100, move |_, it| {
            it.cores.insert(0, core(busy, waiting, 30));
        })
    };
    assert_eq!(shared(0.9, 0.08), "generator-out-of-cpu invalid");
    assert_eq!(shared(0.87, 0.12), "generator-out-of-cpu invalid, cpu-taken-by-others invalid");
    assert_eq!(shared(0.6, 0.4), "cpu-taken-by-others invalid");
    assert_eq!(shared(0.86, 0.05), "");
}

#[test]
fn a_finding_tells_when_and_how_much() {
    let history = run(60, |second, it| {
        if (20..40).contains(&second) {
            it.cores.insert(1, core(0.5, 0.4, 80));
        }
    });
    let verdict = judge(&history, &Figures::default());
    let [finding] = &verdict.findings[..] else { panic!("{verdict:?}") };
    assert_eq!((finding.name.as_str(), verdict.level()), ("cpu-taken-by-others", Level::Invalid));
    assert_eq!(finding.stretch, Some((Duration::from_secs(20), Duration::from_secs(40))));
    assert_eq!(
        finding.evidence,
        "for 20 s (33 % of the time) core 1 waited for a CPU 40 % and timers were up to 80 ms late"
    );
}

#[test]
fn throttling_explains_waiting() {
    let throttled = |share: f64| {
        of(60, move |_, it| {
            it.throttled = Some(share);
            it.cores.insert(0, core(0.3, 0.5, 60));
        })
    };
    assert_eq!(throttled(0.5), "cpu-throttled invalid");
    assert_eq!(throttled(0.01), "cpu-taken-by-others invalid, cpu-throttled doubtful");
}

#[test]
fn a_process_that_was_stopped_was_held_up() {
    let stopped = |second: u64, it: &mut Signals| {
        if second == 30 {
            it.cores.insert(0, core(0.1, 0.0, 2000));
        }
    };
    assert_eq!(of(60, stopped), "generator-held-up doubtful");
}

#[test]
fn short_runs_tell_only_errors() {
    let worst = |_: u64, it: &mut Signals| {
        it.cores.insert(0, core(1.0, 0.0, 500));
        it.segments = Some((1000, 500));
        it.shortages = Shortages { files: 1, ..Shortages::default() };
    };
    assert_eq!(of(4, worst), "out-of-files invalid");
}

#[test]
fn shortages_are_named_and_limits_are_told_before() {
    let short = |shortages| of(10, move |_, it| it.shortages = shortages);
    let absent = |it: &mut Signals| {
        it.shortages = Shortages { ports: 7, ..Shortages::default() };
        it.sockets[2] = Some(0);
    };
    assert_eq!(of(10, move |_, it| absent(it)), "");
    assert_eq!(short(Shortages { ports: 7, ..Shortages::default() }), "out-of-ports invalid");
    assert_eq!(short(Shortages { memory: 7, ..Shortages::default() }), "out-of-memory invalid");
    assert_eq!(of(10, |_, it| it.files = Some(801)), "out-of-files doubtful");
    assert_eq!(of(10, |_, it| it.resident = Some(900 << 20)), "out-of-memory doubtful");
    assert_eq!(of(10, |_, it| it.sockets[0] = Some(23_000)), "out-of-ports doubtful");
}

#[test]
fn the_network_and_the_clock_are_looked_at() {
    assert_eq!(of(10, |_, it| it.segments = Some((1000, 11))), "network-retransmits doubtful");
    assert_eq!(of(10, |_, it| it.interface_drops = Some(5)), "network-drops invalid");
    // Packets that nothing wanted.
    assert_eq!(of(60, |second, it| it.interface_drops = Some(u64::from(second % 10 == 0))), "");
    let stepped =
        |second: u64, it: &mut Signals| it.clock_step = if second == 5 { -11_000_000 } else { 0 };
    assert_eq!(of(10, stepped), "clock-stepped invalid");
}

#[test]
fn the_load_is_judged_by_its_plan() {
    let calm = run(60, |_, _| ());
    let load = |started| Figures {
        loads: vec![Load { name: "a".into(), planned: 1000, started }],
        ..Figures::default()
    };
    assert_eq!(found(&calm, &load(991)), "");
    assert_eq!(found(&calm, &load(980)), "planned-load-not-reached doubtful");
    assert_eq!(found(&calm, &load(940)), "planned-load-not-reached invalid");
    let starts = |late_p99, median| Figures {
        starts: Some(Starts { count: 1000, late_p99, median }),
        ..Figures::default()
    };
    assert_eq!(found(&calm, &starts(1.9, 0.2)), "");
    assert_eq!(found(&calm, &starts(19.0, 100.0)), "");
    assert_eq!(found(&calm, &starts(21.0, 100.0)), "late-starts doubtful");
    assert_eq!(found(&calm, &starts(51.0, 100.0)), "late-starts invalid");
    assert_eq!(found(&calm, &starts(3.0, 1.0)), "late-starts doubtful");
}

#[test]
fn numbers_on_too_few_samples_are_told() {
    let calm = run(60, |_, _| ());
    let tail = |percent, count| Figures {
        tails: vec![Tail { threshold: "a: p".into(), percent, count }],
        ..Figures::default()
    };
    assert_eq!(found(&calm, &tail(99.0, 1000)), "");
    assert_eq!(found(&calm, &tail(99.0, 500)), "too-few-samples doubtful");
    assert_eq!(found(&calm, &tail(99.0, 0)), "");
    let warm_up = WarmUp { first: 20.0, rest: 10.0, others: vec![10.0], ..WarmUp::default() };
    let figures = Figures { warm_up: Some(warm_up), ..Figures::default() };
    assert_eq!(found(&calm, &figures), "warm-up-in-the-figures doubtful");
}
