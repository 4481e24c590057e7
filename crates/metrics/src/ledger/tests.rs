use super::*;
use crate::metric::{Contains, Kind};
use crate::recorder::Recorder;
use crate::summary::ThresholdResult;
use crate::tags::TagSet;
use crate::threshold::Threshold;

const SECOND: Duration = Duration::from_secs(1);

fn set(metric: &str, sources: &[&str]) -> ThresholdSet {
    let parse = |source: &&str| Threshold::parse(source, false, None).unwrap();
    ThresholdSet { metric: metric.into(), thresholds: sources.iter().map(parse).collect() }
}

fn aborting(metric: &str, source: &str, delay: Option<Duration>) -> ThresholdSet {
    let threshold = Threshold::parse(source, true, delay).unwrap();
    ThresholdSet { metric: metric.into(), thresholds: vec![threshold] }
}

struct Test {
    registry: Arc<Registry>,
    recorder: Recorder,
    ledger: Ledger,
}

impl Test {
    fn new(thresholds: Vec<ThresholdSet>) -> Self {
        Self::with(LedgerConfig { thresholds, ..LedgerConfig::default() }).unwrap()
    }

    fn with(config: LedgerConfig) -> Result<Self, ThresholdError> {
        let registry = Arc::new(Registry::new());
        for kind in [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend] {
            registry.register(&format!("my_{kind}"), kind, Contains::Default).unwrap();
        }
        let recorder = Recorder::new(Arc::clone(&registry), 0, false);
        let ledger = Ledger::new(Arc::clone(&registry), config)?;
        Ok(Self { registry, recorder, ledger })
    }

    fn add(&mut self, metric: &str, tags: &[(&str, &str)], value: f64) {
        let tags = self.recorder.tags(&TagSet::from_pairs(tags.iter().copied()));
        let series = self.recorder.series(self.registry.find(metric).unwrap().id, tags);
        self.recorder.add(series, value, 1, None);
        self.ledger.absorb(&self.recorder.take_frame());
    }

    fn verdict(&mut self, seconds: u64, last: bool) -> (Vec<String>, bool) {
        let verdict = self.ledger.evaluate(Duration::from_secs(seconds), last);
        (verdict.crossed, verdict.abort)
    }
}

#[test]
fn without_samples_only_the_last_judgement_counts_and_only_rates_have_no_value() {
    let mut test = Test::new(vec![
        set("my_counter", &["count>0"]),
        set("my_rate", &["rate>0.9"]),
        set("my_trend", &["p(95)<500"]),
        set("my_trend{a:b}", &["avg>0"]),
        set("my_gauge", &["value>0"]),
        set("http_reqs", &["rate<1"]),
    ]);
    assert_eq!(test.verdict(2, false), (vec![], false));
    let crossed = ["my_counter", "my_gauge", "my_trend{a:b}"].map(String::from).to_vec();
    assert_eq!(test.verdict(4, true), (crossed, false));
    // All of them are in the summary.
    let names: Vec<_> = test.ledger.summary(SECOND).metrics.into_iter().map(|m| m.name).collect();
    assert_eq!(
        names,
        ["http_reqs", "my_counter", "my_gauge", "my_rate", "my_trend", "my_trend{a:b}"]
    );
}

#[test]
fn a_counter_is_judged_by_the_time_so_far_and_may_recover() {
    let mut test = Test::new(vec![set("my_counter", &["rate<5"])]);
    test.add("my_counter", &[], 20.0);
    assert_eq!(test.verdict(2, false).0, ["my_counter"]);
    assert!(test.verdict(5, true).0.is_empty());
    let summary = test.ledger.summary(Duration::from_secs(10));
    let metric = summary.metric("my_counter").unwrap();
    assert_eq!(metric.values.get("rate"), Some(2.0));
    let result = &metric.thresholds[0];
    assert_eq!((result.ok, result.value, &*result.aggregation), (true, Some(4.0), "rate"));
}

#[test]
fn a_test_is_stopped_only_after_the_delay_and_not_by_the_last_judgement() {
    let mut test = Test::new(vec![aborting("my_trend", "max<10", Some(Duration::from_secs(4)))]);
    test.add("my_trend", &[], 11.0);
    let crossed = vec!["my_trend".to_owned()];
    assert_eq!(test.verdict(2, false), (crossed.clone(), false));
    assert_eq!(test.verdict(4, false), (crossed.clone(), false));
    assert_eq!(test.verdict(6, false), (crossed.clone(), true));
    assert_eq!(test.verdict(6, true), (crossed, false));
    let mut test = Test::new(vec![aborting("my_trend", "max<10", None)]);
    assert_eq!(test.verdict(2, false), (vec![], false));
    test.add("my_trend", &[], 11.0);
    assert_eq!(test.verdict(2, false), (vec!["my_trend".to_owned()], true));
}

#[test]
fn samples_join_a_submetric_whose_pairs_they_have() {
    let mut test = Test::with(LedgerConfig {
        thresholds: vec![
            set("http_req_duration{name:x,status:200}", &["max<10"]),
            set("http_req_duration{status:200,name:x}", &["min>0"]),
        ],
        expected_response_submetric: true,
        ..LedgerConfig::default()
    })
    .unwrap();
    test.add("http_req_duration", &[("name", "x"), ("status", "200"), ("more", "")], 5.0);
    test.add("http_req_duration", &[("name", "x"), ("status", "500")], 50.0);
    test.verdict(1, true);
    let summary = test.ledger.summary(SECOND);
    let names: Vec<_> = summary.metrics.iter().map(|metric| &*metric.name).collect();
    // The same pairs are the same submetric; the one without samples or thresholds is not shown.
    assert_eq!(names, ["http_req_duration", "http_req_duration{name:x,status:200}"]);
    assert_eq!(summary.metrics[0].values.get("count"), Some(2.0));
    assert_eq!(summary.metrics[1].values.get("max"), Some(5.0));
    assert_eq!(summary.metrics[1].thresholds.len(), 2);
    assert_eq!(summary.metrics[1].suffix(), Some("name:x,status:200"));
    assert_eq!(summary.metrics[1].parent.as_deref(), Some("http_req_duration"));

    test.add("http_req_duration", &[("expected_response", "true")], 7.0);
    let summary = test.ledger.summary(SECOND);
    let expected = summary.metric("http_req_duration{expected_response:true}").unwrap();
    assert_eq!(expected.values.get("med"), Some(7.0));
}

#[test]
fn bad_thresholds_are_refused_and_metadata_is_warned_of() {
    let refused = |metric, source| {
        let thresholds = vec![set(metric, &[source])];
        match Test::with(LedgerConfig { thresholds, ..LedgerConfig::default() }) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(
        refused("nothing{a:b}", "avg<1"),
        "threshold on \"nothing{a:b}\": there is no metric named \"nothing\"; custom metrics must be \
         made in the init code"
    );
    assert!(refused("my_trend", "count>1").contains("a trend has no count"));
    assert!(refused("my_trend{a}", "avg>1").contains("\"a\" is not a tag"));
    let test = Test::new(vec![set("my_trend{vu:1}", &["avg<1"])]);
    assert_eq!(test.ledger.warnings().len(), 1);
}

#[test]
fn an_empty_list_of_thresholds_has_its_metric_shown() {
    let test = Test::new(vec![set("my_trend{a:b}", &[])]);
    let summary = test.ledger.summary(SECOND);
    let part = summary.metric("my_trend{a:b}").unwrap();
    assert_eq!((part.named, part.observed, part.thresholds.len()), (true, false, 0));
    assert!(summary.metric("my_trend").is_some());
    assert!(summary.metric("http_reqs").is_none());
}

#[test]
fn checks_and_groups_stand_in_the_order_of_first_appearance() {
    let mut test = Test::new(Vec::new());
    for (group, name) in [("", "b"), ("::g::h", "a"), ("", "a"), ("::g", "c"), ("", "b")] {
        test.recorder.group(group);
        let id = test.recorder.check(group, name);
        test.recorder.add_check(id, name != "a");
    }
    test.recorder.group("::empty");
    test.ledger.absorb(&test.recorder.take_frame());
    let summary = test.ledger.summary(SECOND);
    let names: Vec<_> =
        summary.checks.iter().map(|check| format!("{}/{}", check.group, check.name)).collect();
    assert_eq!(names, ["/b", "::g::h/a", "/a", "::g/c"]);
    assert_eq!((summary.checks[0].passes, summary.checks[2].fails), (2, 1));
    let root = &summary.root;
    assert_eq!((root.groups.len(), root.checks.len()), (2, 2));
    assert_eq!((&*root.groups[0].name, &*root.groups[0].groups[0].path), ("g", "::g::h"));
    assert_eq!(root.groups[1].path, "::empty");
}

#[test]
fn the_order_of_first_appearance_is_that_of_all_cores() {
    let mut test = Test::new(Vec::new());
    let mut other = Recorder::new(Arc::new(Registry::new()), 1, false);
    for (is_other, group, name) in
        [(true, "::setup", "s"), (false, "::g", "b"), (true, "::h", "c"), (false, "::setup", "d")]
    {
        let recorder = if is_other { &mut other } else { &mut test.recorder };
        recorder.group(group);
        let id = recorder.check(group, name);
        recorder.add_check(id, true);
    }
    // The frame of the core that came first is put in last.
    test.ledger.absorb(&test.recorder.take_frame());
    test.ledger.absorb(&other.take_frame());
    let summary = test.ledger.summary(SECOND);
    let names: Vec<_> = summary.checks.iter().map(|check| &*check.name).collect();
    assert_eq!(names, ["s", "b", "c", "d"]);
    let groups: Vec<_> = summary.root.groups.iter().map(|group| &*group.path).collect();
    assert_eq!(groups, ["::setup", "::g", "::h"]);
}

#[test]
fn a_breakdown_has_scenarios_with_their_groups_and_the_groups_of_default() {
    let mut test = Test::with(LedgerConfig { breakdown: true, ..LedgerConfig::default() }).unwrap();
    let default = |group| [("scenario", "default"), ("group", group)];
    let other = |group| [("scenario", "other"), ("group", group)];
    test.add("my_counter", &default(""), 1.0);
    test.add("my_counter", &default("::a"), 2.0);
    test.add("my_counter", &default("::a::b"), 4.0);
    test.add("my_counter", &other(""), 8.0);
    test.add("my_counter", &other("::a::c"), 16.0);
    test.add("my_counter", &[("group", "::setup::x")], 32.0);
    test.add("checks", &[("scenario", "other"), ("group", "::a::c"), ("check", "ok")], 1.0);
    let summary = test.ledger.summary(SECOND);
    let count = |part: &crate::Breakdown| {
        let metric = part.metrics.iter().find(|metric| metric.name == "my_counter");
        metric.and_then(|metric| metric.values.get("count"))
    };
    assert_eq!(summary.metric("my_counter").unwrap().values.get("count"), Some(63.0));
    let [a, setup] = &*summary.groups else { panic!("{:?}", summary.groups) };
    assert_eq!((&*setup.name, count(setup), count(&setup.groups[0])), ("setup", None, Some(32.0)));
    assert_eq!((&*a.name, count(a), count(&a.groups[0])), ("a", Some(2.0), Some(4.0)));
    let [other] = &*summary.scenarios else { panic!("{:?}", summary.scenarios) };
    assert_eq!((&*other.name, count(other)), ("other", Some(24.0)));
    let inner = &other.groups[0].groups[0];
    assert_eq!((&*inner.name, count(inner), count(&other.groups[0])), ("c", Some(16.0), None));
    assert_eq!((other.checks[0].passes, &*inner.checks[0].name), (1, "ok"));
}

#[test]
fn series_are_counted_whatever_core_they_come_from() {
    let mut test = Test::new(Vec::new());
    for round in 0..2 {
        for number in 0..100 {
            test.add("my_counter", &[("n", &number.to_string())], f64::from(round));
        }
        test.recorder = Recorder::new(Arc::clone(&test.registry), 1, false);
    }
    assert!((98..=102).contains(&test.ledger.series_count()));
}

#[test]
fn submetrics_are_kept_when_nothing_is_judged() {
    let mut test = Test::with(LedgerConfig {
        unjudged: vec!["http_reqs{a:b}".into(), "http_reqs{c:d}".into(), "nope".into()],
        ..LedgerConfig::default()
    })
    .unwrap();
    assert_eq!(test.ledger.warnings().len(), 1);
    test.add("http_reqs", &[("a", "b")], 2.0);
    let summary = test.ledger.summary(Duration::from_secs(1));
    let names: Vec<&str> = summary.metrics.iter().map(|metric| &*metric.name).collect();
    assert_eq!(names, ["http_reqs", "http_reqs{a:b}"]);
}

fn in_time(metric: &str, label: &str) -> ThresholdSet {
    let threshold = Threshold::parse_label(label, false, None).unwrap();
    ThresholdSet { metric: metric.into(), thresholds: vec![threshold] }
}

/// Looks once a second, at values that are bad within a stretch of seconds.
fn looked(label: &str, seconds: u64, bad: std::ops::Range<u64>) -> ThresholdResult {
    let mut test = Test::new(vec![in_time("my_trend", label)]);
    for second in 0..seconds {
        for _ in 0..10 {
            test.add("my_trend", &[], if bad.contains(&second) { 100.0 } else { 1.0 });
        }
        test.ledger.look(SECOND * (second as u32 + 1));
    }
    test.ledger.evaluate(SECOND * seconds as u32, true);
    let summary = test.ledger.summary(SECOND);
    summary.metric("my_trend").unwrap().thresholds[0].clone()
}

#[test]
fn a_window_forgets_but_a_breach_is_kept_with_its_moment() {
    let found = looked("avg<50 window=5s", 60, 20..30);
    let breach = found.breach.unwrap();
    assert!(!found.ok);
    // Three of five seconds are bad from the 23rd on, until three of five are good again.
    assert_eq!((breach.at, breach.lasted), (SECOND * 23, SECOND * 10));
    assert_eq!(
        (found.value, found.shown_value(), breach.value),
        (Some(1.0), Some(60.4), Some(60.4))
    );
    assert!(looked("avg<50 window=5s", 60, 20..22).ok);
    assert!(looked("avg<50", 60, 20..30).ok);
}

#[test]
fn a_breach_that_must_last_counts_from_its_beginning() {
    assert!(looked("max<50 window=2s for=2s", 60, 20..21).ok);
    let breach = looked("max<50 window=2s for=2s", 60, 20..25).breach.unwrap();
    assert_eq!((breach.at, breach.lasted), (SECOND * 21, SECOND * 6));
    assert!(looked("max<50 window=2s after=40s", 60, 20..25).ok);
}

#[test]
fn values_before_the_scenarios_are_in_no_window() {
    let mut test = Test::new(vec![in_time("my_trend", "max<50 window=1s")]);
    test.add("my_trend", &[], 100.0);
    test.ledger.begin(SECOND / 2);
    for second in 1..=3 {
        test.add("my_trend", &[], 1.0);
        test.ledger.look(SECOND / 2 + SECOND * second);
    }
    assert!(test.ledger.evaluate(SECOND * 4, true).crossed.is_empty());
    let summary = test.ledger.summary(SECOND * 4);
    assert_eq!(summary.metric("my_trend").unwrap().thresholds[0].value, Some(1.0));
}

#[test]
fn a_look_without_values_means_what_is_asked_for() {
    let ok = |metric: &str, label: &str| {
        let mut test = Test::new(vec![in_time(metric, label)]);
        (1..=9).for_each(|second| drop(test.ledger.look(SECOND * second)));
        let verdict = test.ledger.evaluate(SECOND * 9, true);
        (verdict.crossed.is_empty(), verdict.exit_code)
    };
    assert_eq!(ok("my_trend", "avg<5 window=3s"), (true, None));
    assert_eq!(ok("my_trend", "avg<5 window=3s onNoData=fail exitCode=9"), (false, Some(9)));
    assert_eq!(ok("my_counter", "rate>5 window=3s"), (false, None));
    assert_eq!(ok("my_counter", "count<1 window=3s"), (true, None));
    assert_eq!(ok("my_counter", "rate>5 window=3s onNoData=ignore"), (true, None));
    assert_eq!(ok("my_rate", "rate>0.5 onNoData=fail"), (false, None));
    assert_eq!(ok("my_gauge", "value>0 onNoData=pass"), (true, None));
}

#[test]
fn the_exit_code_is_that_of_the_threshold_that_broke_first() {
    let sets = [
        ("my_trend", "max<50 window=2s exitCode=3"),
        ("my_gauge", "value<50 window=9s exitCode=4"),
    ];
    let mut test = Test::new(sets.iter().map(|(metric, label)| in_time(metric, label)).collect());
    for second in 1..=20 {
        test.add("my_gauge", &[], 100.0);
        test.add("my_trend", &[], if second < 15 { 1.0 } else { 100.0 });
        test.ledger.look(SECOND * second);
    }
    let verdict = test.ledger.evaluate(SECOND * 20, true);
    assert_eq!((verdict.crossed.len(), verdict.exit_code), (2, Some(4)));
}

#[test]
fn windows_of_one_metric_share_a_ring_and_its_memory_is_bounded() {
    let sets = ["avg<5 window=3s", "max<5 window=50s", "avg<5 window=1h"];
    let mut test = Test::new(sets.iter().map(|label| in_time("my_trend", label)).collect());
    for second in 1..=4000 {
        test.add("my_trend", &[], 1.0);
        test.ledger.look(SECOND * second);
    }
    let entry = test.ledger.entries.iter().find(|entry| entry.name == "my_trend").unwrap();
    assert_eq!(entry.rings.len(), 2);
    assert_eq!(entry.rings.iter().map(window::Ring::parts).collect::<Vec<_>>(), [50, 57]);
}

#[test]
fn values_of_a_warm_up_are_counted_and_left_out() {
    let config = LedgerConfig { warmup: true, breakdown: true, ..LedgerConfig::default() };
    let mut test = Test::with(config).unwrap();
    for tags in [&[("scenario", "a"), ("warmup", "true")][..], &[("scenario", "a")]] {
        test.add("iterations", tags, 1.0);
        test.add("http_reqs", tags, 2.0);
        test.add("checks", tags, 1.0);
    }
    let summary = test.ledger.summary(SECOND);
    for (name, count) in [("iterations", 1.0), ("http_reqs", 2.0)] {
        assert_eq!(summary.metric(name).unwrap().values.get("count"), Some(count));
        assert_eq!(summary.scenarios[0].metrics.len(), 3);
    }
    let left_out = LeftOut { iterations: 1, requests: 2, checks: 1, dropped_iterations: 0 };
    assert_eq!(summary.left_out, Some(left_out));
    // Where no scenario has a warm-up, the tag is the script's own.
    let mut test = Test::new(Vec::new());
    test.add("iterations", &[("warmup", "true")], 1.0);
    let summary = test.ledger.summary(SECOND);
    assert!(summary.metric("iterations").is_some() && summary.left_out.is_none());
}

/// Ten seconds of a warm-up, then ten of values; a value each second.
#[test]
fn a_window_begins_behind_the_warm_up() {
    let parse = |label: &str| Threshold::parse_label(label, false, None).unwrap();
    let labels = ["rate>0.5 window=3s", "count>0 for=2s"];
    let mut sets = vec![ThresholdSet {
        metric: "my_counter{scenario:a}".into(),
        thresholds: labels.map(parse).to_vec(),
    }];
    // Of this scenario there is no warm-up and no value.
    let thresholds = vec![parse("rate>0.5 window=3s")];
    sets.push(ThresholdSet { metric: "my_counter{scenario:b}".into(), thresholds });
    let config = LedgerConfig { thresholds: sets, warmup: true, ..LedgerConfig::default() };
    let mut test = Test::with(config).unwrap();
    let mut crossed = Vec::new();
    for second in 0..=20 {
        if second > 0 {
            let warm = [("scenario", "a"), ("warmup", "true")];
            test.add("my_counter", if second <= 10 { &warm[..] } else { &warm[..1] }, 1.0);
        }
        crossed = test.ledger.look(SECOND * second).crossed;
    }
    assert_eq!(crossed, ["my_counter{scenario:b}"]);
}
