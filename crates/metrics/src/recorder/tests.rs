use super::*;
use crate::metric::{Contains, builtin};

fn recorder(want_samples: bool) -> Recorder {
    Recorder::new(Arc::new(Registry::new()), 0, want_samples)
}

#[test]
fn a_frame_has_what_was_added_since_the_last_and_nothing_else() {
    let mut recorder = recorder(false);
    let tags = recorder.tags_with(TagsId::EMPTY, &[("scenario", "default")]);
    let requests = recorder.series(builtin::HTTP_REQS, tags);
    let duration = recorder.series(builtin::HTTP_REQ_DURATION, tags);
    recorder.add(requests, 1.0, 10, None);
    recorder.add(duration, 2.5, 10, None);
    recorder.add(requests, 1.0, 20, None);
    let frame = recorder.take_frame();
    assert_eq!(frame.series.len(), 2);
    assert!(matches!(frame.series[0].sink, Sink::Counter { sum: 2.0, first_at: Some(10), .. }));
    assert!(frame.samples.is_empty());

    assert!(recorder.take_frame().is_empty());
    recorder.add(requests, 1.0, 30, None);
    let frame = recorder.take_frame();
    assert!(matches!(frame.series[0].sink, Sink::Counter { sum: 1.0, first_at: Some(30), .. }));
}

#[test]
fn tags_are_the_same_however_they_are_made() {
    let mut recorder = recorder(false);
    let base = recorder.tags(&TagSet::from_pairs([("a", "1"), ("b", "2")]));
    let one = recorder.tags_with(base, &[("c", "3"), ("a", "9")]);
    let two = recorder.tags(&TagSet::from_pairs([("a", "9"), ("b", "2"), ("c", "3")]));
    assert_eq!(one, two);
    assert_eq!(recorder.tags_with(base, &[("c", "3"), ("a", "9")]), one);
    assert_ne!(recorder.tags_with(base, &[("c", "3"), ("a", "8")]), one);
    assert_eq!(recorder.tags_with(base, &[]), base);
    assert_eq!(recorder.tag_set(one).get("a"), Some("9"));
    let id = recorder.series(builtin::CHECKS, one);
    assert_eq!(recorder.series(builtin::CHECKS, two), id);
}

#[test]
fn samples_travel_only_if_wanted_and_with_their_metadata() {
    let mut recorder = recorder(true);
    let series = recorder.series(builtin::HTTP_REQS, TagsId::EMPTY);
    let meta = TagSet::from_pairs([("vu", "1")]);
    recorder.add(series, 1.0, 7, Some(&meta));
    recorder.add(series, f64::NAN, 8, None);
    let frame = recorder.take_frame();
    assert_eq!(frame.samples.len(), 1);
    assert_eq!(frame.samples[0].metadata.as_ref(), Some(&meta));
    assert_eq!((frame.samples[0].at, frame.dropped.not_numbers), (7, 1));
}

#[test]
fn samples_beyond_the_bound_are_counted_and_their_series_are_right() {
    let mut recorder = recorder(true);
    let series = recorder.series(builtin::HTTP_REQS, TagsId::EMPTY);
    for at in 0..SAMPLES_MAX as u64 + 5 {
        recorder.add(series, 1.0, at, None);
    }
    let frame = recorder.take_frame();
    assert_eq!((frame.samples.len(), frame.dropped.samples), (SAMPLES_MAX, 5));
    let values = frame.series[0].sink.values(std::time::Duration::ZERO);
    assert_eq!(values.get("count"), Some(SAMPLES_MAX as f64 + 5.0));
}

/// Makes a series with a new tag, and adds a value.
fn add_new(recorder: &mut Recorder, number: usize) -> SeriesId {
    let pairs = [("method", "GET"), ("url", &*number.to_string())];
    let tags = recorder.tags_with(TagsId::EMPTY, &pairs);
    let series = recorder.series(builtin::HTTP_REQS, tags);
    recorder.add(series, 1.0, 1, None);
    series
}

#[test]
fn too_many_series_empty_the_tables_at_the_next_frame() {
    let mut recorder = recorder(false);
    let first = add_new(&mut recorder, 0);
    let (mut last, mut seen, mut number) = (first, 0, 1);
    while recorder.epoch() == 0 {
        for _ in 0..4000 {
            last = add_new(&mut recorder, number);
            number += 1;
        }
        let frame = recorder.take_frame();
        assert_eq!(frame.dropped.crowded, 0);
        seen += frame.series.len();
    }
    assert_eq!(seen, number);
    assert!(seen >= SERIES_MAX);
    // An id of before adds to no other series, and is counted.
    for number in 0..10 {
        add_new(&mut recorder, number);
    }
    recorder.add(last, 5.0, 1, None);
    recorder.add(first, 5.0, 1, None);
    let frame = recorder.take_frame();
    assert_eq!((frame.series.len(), frame.dropped.stale), (10, 2));
    assert!(frame.series.iter().all(|delta| matches!(delta.sink, Sink::Counter { sum: 1.0, .. })));
}

#[test]
fn tags_of_an_earlier_epoch_are_no_others_and_are_counted() {
    let mut recorder = recorder(false);
    let old = recorder.tags_with(TagsId::EMPTY, &[("a", "1")]);
    recorder.reset();
    let new = recorder.tags_with(TagsId::EMPTY, &[("b", "2")]);
    assert_ne!(old, new);
    assert!(recorder.tag_set(old).is_empty());
    let derived = recorder.tags_with(old, &[("c", "3")]);
    assert_eq!(recorder.tag_set(derived), TagSet::from_pairs([("c", "3")]));
    let check = recorder.check("", "x");
    recorder.reset();
    recorder.check("", "y");
    recorder.add_check(check, false);
    let frame = recorder.take_frame();
    assert!(frame.checks.is_empty());
    assert_eq!((frame.dropped.stale, frame.dropped.checks), (2, 1));
}

#[test]
fn values_without_room_are_told_together_and_count_in_their_metric() {
    let mut recorder = recorder(false);
    for number in 0..1_000_000 {
        add_new(&mut recorder, number);
    }
    let frame = recorder.take_frame();
    let sums = frame.series.iter().map(|delta| match delta.sink {
        Sink::Counter { sum, .. } => sum,
        _ => panic!("a counter"),
    });
    assert_eq!(sums.sum::<f64>(), 1_000_000.0);
    assert!(frame.series.len() <= 10_001, "{}", frame.series.len());
    let others = frame.series.iter().find(|delta| delta.series.tags.get("url") == Some(OTHERS));
    assert_eq!(others.unwrap().series.tags.get("method"), Some("GET"));
    assert!(frame.dropped.crowded >= 990_000, "{}", frame.dropped.crowded);
    // The next frame has room again.
    add_new(&mut recorder, 2_000_000);
    assert_eq!(recorder.take_frame().series[0].series.tags.get("url"), Some("2000000"));
}

/// A route that a core meets late in a frame full of new values keeps its name.
#[test]
fn a_route_is_told_where_values_have_no_room() {
    let mut recorder = recorder(false);
    for number in 0..20_000 {
        add_new(&mut recorder, number);
    }
    let tags = recorder.tags_with(TagsId::EMPTY, &[("url", "late"), (TagSet::ROUTE, "/late")]);
    let series = recorder.series(builtin::HTTP_REQS, tags);
    recorder.add(series, 1.0, 1, None);
    let frame = recorder.take_frame();
    let late = frame.series.iter().find(|delta| delta.series.tags.route() == Some("/late"));
    assert_eq!(late.unwrap().series.tags.get("url"), Some(OTHERS));
}

#[test]
fn long_values_do_not_fill_the_memory() {
    let mut recorder = recorder(false);
    let long = "x".repeat(1 << 20);
    let mut bytes = 0;
    for number in 0..5000 {
        let value = format!("{number}{long}");
        let tags = recorder.tags_with(TagsId::EMPTY, &[("v", &value)]);
        let series = recorder.series(builtin::HTTP_REQS, tags);
        recorder.add(series, 1.0, 1, None);
        let set = TagSet::from_pairs([("w", &*value)]);
        recorder.tags(&set);
        recorder.check("", &value);
        recorder.group(&format!("::{value}"));
    }
    let frame = recorder.take_frame();
    bytes += frame.series.iter().map(|delta| delta.series.tags.size()).sum::<usize>();
    bytes += frame.checks.iter().map(|check| check.name.len()).sum::<usize>();
    bytes += frame.groups.iter().map(|(_, path)| path.len()).sum::<usize>();
    assert!(bytes < 64 << 20, "{bytes}");
    assert!(frame.dropped.crowded > 0 && frame.dropped.groups > 0);
}

#[test]
fn sets_of_known_values_without_end_have_a_bound_too() {
    let mut recorder = recorder(false);
    let texts: Vec<_> = (0..2000).map(|number| number.to_string()).collect();
    for one in &texts {
        for other in &texts[..500] {
            let tags = recorder.tags_with(TagsId::EMPTY, &[("a", one), ("b", other)]);
            let series = recorder.series(builtin::HTTP_REQS, tags);
            recorder.add(series, 1.0, 1, None);
        }
    }
    assert!(recorder.take_frame().series.len() < 20_000);
}

#[test]
fn exceptions_are_counted_by_text_and_have_a_bound() {
    let mut recorder = recorder(false);
    for number in 0..300 {
        recorder.exception(&format!("Error: {}", number % 150));
    }
    recorder.exception(&"x".repeat(1 << 20));
    let exceptions = recorder.take_frame().exceptions;
    assert_eq!((exceptions.told.len(), exceptions.told[0].count), (100, 2));
    assert_eq!((&*exceptions.told[0].text, exceptions.others), ("Error: 0", 101));
    recorder.exception(&"x".repeat(1 << 20));
    assert_eq!(recorder.take_frame().exceptions.told[0].text.len(), 1024);
}

#[test]
fn a_hidden_metric_has_no_samples() {
    let registry = Arc::new(Registry::new());
    registry.hide_own();
    let mut recorder = Recorder::new(registry, 0, true);
    for metric in [builtin::ITERATION_LATENESS, builtin::ITERATIONS] {
        let series = recorder.series(metric, TagsId::EMPTY);
        recorder.add(series, 1.0, 1, None);
    }
    let frame = recorder.take_frame();
    assert_eq!((frame.series.len(), frame.samples.len()), (2, 1));
}

#[test]
fn checks_and_groups_are_counted_by_name_and_have_a_bound() {
    let mut recorder = recorder(false);
    recorder.group("::a");
    recorder.group("::a");
    let id = recorder.check("::a", "ok");
    assert_eq!(recorder.check("::a", "ok"), id);
    recorder.add_check(id, true);
    recorder.add_check(id, false);
    recorder.add_check(id, true);
    let frame = recorder.take_frame();
    assert_eq!(frame.groups.len(), 1);
    assert_eq!(&*frame.groups[0].1, "::a");
    assert_eq!((frame.checks[0].passes, frame.checks[0].fails), (2, 1));
    for number in 0..10_005 {
        let id = recorder.check("", &number.to_string());
        recorder.add_check(id, true);
        recorder.group(&format!("::{number}"));
    }
    let dropped = recorder.take_frame().dropped;
    assert_eq!((dropped.checks, dropped.groups), (6, 6));
}

#[test]
fn a_metric_made_later_has_series_too() {
    let registry = Arc::new(Registry::new());
    let mut recorder = Recorder::new(Arc::clone(&registry), 0, false);
    let gauge = registry.register("mine", Kind::Gauge, Contains::Default).unwrap();
    let series = recorder.series(gauge, TagsId::EMPTY);
    recorder.add(series, 5.0, 2, None);
    recorder.add(series, 3.0, 2, None);
    let frame = recorder.take_frame();
    assert!(matches!(frame.series[0].sink, Sink::Gauge { last: 3.0, min: 3.0, max: 5.0, .. }));
}

/// The same for all tests: a part of it belongs to the process.
fn veil(registry: &Registry) {
    registry.veil_tags(|value| value.contains("hush").then(|| value.replace("hush", "*")));
}

#[test]
fn what_is_hidden_does_not_show_its_beginning_where_a_text_is_cut() {
    use crate::tags::TAG_MAX;
    let registry = Registry::new();
    veil(&registry);
    let mut recorder = Recorder::new(Arc::new(registry), 0, true);
    for before in TAG_MAX - 8..=TAG_MAX {
        let value = format!("{}hush{}", "x".repeat(before), "y".repeat(10));
        let tags = recorder.tags_with(TagsId::EMPTY, &[("a", &value)]);
        let base = recorder.tags(&TagSet::from_pairs([("b", &*value)]).with("c", &value));
        let metadata = TagSet::default().with("d", &value);
        for tags in [tags, base] {
            let series = recorder.series(builtin::HTTP_REQS, tags);
            recorder.add(series, 1.0, 0, Some(&metadata));
        }
        let check = recorder.check(&value, &value);
        recorder.add_check(check, true);
        recorder.group(&value);
        let frame = recorder.take_frame();
        assert!(frame.series.len() == 2 && frame.checks.len() == 1);
        assert!(!format!("{frame:?}").contains("xh"), "{before}");
    }
}

#[test]
fn a_veil_hides_values_in_the_tags_of_new_series() {
    let registry = Registry::new();
    veil(&registry);
    let mut recorder = Recorder::new(Arc::new(registry), 0, false);
    let tags = recorder.tags_with(TagsId::EMPTY, &[("url", "/a?t=hush"), ("method", "GET")]);
    let series = recorder.series(builtin::HTTP_REQS, tags);
    recorder.add(series, 1.0, 0, None);
    let frame = recorder.take_frame();
    let shown: Vec<_> = frame.series[0].series.tags.iter().collect();
    assert_eq!(shown, [("method", "GET"), ("url", "/a?t=*")]);
    // It is found again under what it was made with.
    assert_eq!(recorder.series(builtin::HTTP_REQS, tags), series);
}

#[test]
fn a_veil_hides_names_of_checks_and_groups_and_exceptions() {
    let registry = Registry::new();
    veil(&registry);
    let mut recorder = Recorder::new(Arc::new(registry), 0, false);
    let check = recorder.check("::a hush", "is hush");
    recorder.add_check(check, true);
    recorder.group("::b hush");
    recorder.exception("Error: hush");
    let frame = recorder.take_frame();
    assert!(!format!("{frame:?}").contains("hush"), "{frame:?}");
}

#[test]
fn a_veil_hides_values_in_the_metadata_of_samples() {
    let registry = Registry::new();
    veil(&registry);
    let mut recorder = Recorder::new(Arc::new(registry), 0, true);
    let series = recorder.series(builtin::HTTP_REQS, TagsId::EMPTY);
    let metadata = TagSet::default().with("trace", "a-hush-b");
    recorder.add(series, 1.0, 0, Some(&metadata));
    let frame = recorder.take_frame();
    let shown = frame.samples[0].metadata.as_ref().unwrap();
    assert_eq!(shown.get("trace"), Some("a-*-b"));
}
