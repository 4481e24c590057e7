use std::collections::BTreeMap;
use std::sync::Arc;

use brunt_metrics::{
    CheckDelta, Contains, Distribution, Dropped, ExceptionDelta, ExceptionDeltas, Frame, Kind,
    Registry, Series, SeriesDelta, Sink, TagSet, TrendSink, builtin,
};
use proptest::prelude::*;

use super::*;
use crate::totals::Totals;
use crate::whole::Whole;

fn registry() -> Arc<Registry> {
    let registry = Arc::new(Registry::new());
    for kind in [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend] {
        registry.register(&format!("my_{kind}"), kind, Contains::Time).unwrap();
    }
    registry
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(f64::INFINITY),
        -5.0..1e12,
        0.001..60_000.0,
        (1..9u32).prop_map(f64::from)
    ]
}

fn tags() -> impl Strategy<Value = TagSet> {
    let text = prop_oneof!["[a-c]{0,2}", "é{1,3}"];
    (prop::collection::vec((text.clone(), text.clone()), 0..4), prop::option::of(text)).prop_map(
        |(pairs, route)| {
            let tags = TagSet::from_pairs(pairs);
            route.map_or(tags.clone(), |route| tags.with(TagSet::ROUTE, &route))
        },
    )
}

fn sink(kind: Kind) -> BoxedStrategy<Sink> {
    let at = prop::option::of(0..u64::MAX);
    match kind {
        Kind::Counter => (value(), -1e-9..1e-9, at)
            .prop_map(|(sum, rest, first_at)| Sink::Counter { sum, rest, first_at })
            .boxed(),
        Kind::Gauge => (value(), value(), at)
            .prop_map(|(one, other, at)| Sink::Gauge {
                last: one,
                min: one.min(other),
                max: one.max(other),
                at,
            })
            .boxed(),
        Kind::Rate => (0..1u64 << 40, 0..1u64 << 40)
            .prop_map(|(hits, fails)| Sink::Rate { hits, total: hits + fails })
            .boxed(),
        Kind::Trend => {
            let few = prop::collection::vec(value(), 0..100).prop_map(TrendSink::from_values);
            let many = (0.1..50.0, 1.0001..1.01).prop_map(|(first, step): (f64, f64)| {
                TrendSink::from_values((0..6000).map(|n| first * step.powi(n % 900)))
            });
            prop_oneof![4 => few, 1 => many].prop_map(Sink::Trend).boxed()
        }
    }
}

fn series() -> impl Strategy<Value = SeriesDelta> {
    let metric = prop_oneof![
        Just(("iterations", Kind::Counter)),
        Just(("http_reqs", Kind::Counter)),
        Just(("vus", Kind::Gauge)),
        Just(("checks", Kind::Rate)),
        Just(("http_req_duration", Kind::Trend)),
        Just(("my_counter", Kind::Counter)),
        Just(("my_gauge", Kind::Gauge)),
        Just(("my_rate", Kind::Rate)),
        Just(("my_trend", Kind::Trend)),
    ];
    metric.prop_flat_map(|(name, kind)| {
        (tags(), sink(kind)).prop_map(move |(tags, sink)| {
            let metric = registry().find(name).unwrap().id;
            SeriesDelta { series: Arc::new(Series { metric, tags }), sink }
        })
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let names = ("[a-c]{0,2}", "[a-c]{1,2}");
    let check = (names, 0..9u64, 0..9u64, any::<u64>()).prop_map(
        |((group, name), passes, fails, order)| CheckDelta {
            group: group.into(),
            name: name.into(),
            passes,
            fails,
            first_at_order: order,
        },
    );
    let group = (any::<u64>(), "::[a-c]{1,2}").prop_map(|(order, path)| (order, Arc::from(path)));
    let told = ("[a-c]{1,3}", 1..9u64, any::<u64>())
        .prop_map(|(text, count, order)| ExceptionDelta { text: text.into(), count, order });
    let dropped = (0..3u64, 0..3u64, 0..3u64).prop_map(|(samples, checks, stale)| Dropped {
        samples,
        checks,
        stale,
        ..Dropped::default()
    });
    (
        prop::collection::vec(series(), 0..20),
        prop::collection::vec(check, 0..5),
        prop::collection::vec(group, 0..5),
        prop::collection::vec(told, 0..5),
        0..5u64,
        dropped,
        any::<u64>(),
        any::<u64>(),
    )
        .prop_map(|(series, checks, groups, told, others, dropped, at, late)| {
            let frame = Frame {
                at,
                late,
                series,
                checks,
                groups,
                exceptions: ExceptionDeltas { told, others },
                dropped,
                ..Frame::default()
            };
            // Each series, check and group once, as frames have them.
            let mut whole = Whole::default();
            whole.absorb(&frame);
            whole.take()
        })
}

/// All that a frame says, with its lists in one order. `coarse`: values of trends as buckets.
fn said(frame: &Frame, registry: &Registry, coarse: bool) -> String {
    let mut series = BTreeMap::new();
    for delta in &frame.series {
        let name = registry.get(delta.series.metric).name;
        let tags = format!("{name} {:?} {:?}", delta.series.tags, delta.series.tags.route());
        let sink = match &delta.sink {
            Sink::Trend(trend) => {
                let values = trend.distribution();
                let mut exact = values.values().map(<[f64]>::to_vec).unwrap_or_default();
                exact.sort_by(f64::total_cmp);
                if coarse {
                    exact.clear();
                }
                format!(
                    "{} {:?} {} {} {exact:?} {:?}",
                    trend.count(),
                    trend.whole_sum(),
                    trend.min(),
                    trend.max(),
                    values.buckets()
                )
            }
            sink => format!("{sink:?}"),
        };
        assert!(series.insert(tags, sink).is_none(), "a series comes twice");
    }
    let mut checks: Vec<String> = frame.checks.iter().map(|check| format!("{check:?}")).collect();
    let mut groups: Vec<String> = frame.groups.iter().map(|group| format!("{group:?}")).collect();
    let mut told: Vec<String> =
        frame.exceptions.told.iter().map(|told| format!("{told:?}")).collect();
    checks.sort();
    groups.sort();
    told.sort();
    let (others, dropped) = (frame.exceptions.others, frame.dropped);
    format!(
        "{series:#?} {checks:?} {groups:?} {told:?} {others} {dropped:?} {} {}",
        frame.at, frame.late
    )
}

fn there_and_back(encoder: &mut Encoder, frame: &Frame, registry: Arc<Registry>) -> (Frame, usize) {
    let mut decoder = Decoder::new(registry);
    let mut whole = Whole::default();
    let mut cuts = encoder.cut(frame);
    for (cut, seq) in cuts.iter_mut().zip(1..) {
        let head =
            Head { nonce: 1, seat: 2, incarnation: 3, seq, from_ns: 4, to_ns: 5, is_last: true };
        let bytes = encoder.pack(cut, head);
        assert!(bytes.len() <= PACKED_MAX);
        let message = Message::read(&bytes).expect("our own messages are sound");
        assert_eq!(message.head, head);
        whole.absorb(&decoder.frame(message));
    }
    assert_eq!(decoder.unknown(), 0);
    (whole.take(), cuts.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_frame_comes_back_as_it_went(frame in frame()) {
        let ours = registry();
        // The metrics of the other side have other numbers.
        let other = Arc::new(Registry::new());
        other.register("elsewhere", Kind::Rate, Contains::Default).unwrap();
        for kind in [Kind::Trend, Kind::Counter, Kind::Rate, Kind::Gauge] {
            other.register(&format!("my_{kind}"), kind, Contains::Time).unwrap();
        }
        let (back, count) = there_and_back(&mut Encoder::new(Arc::clone(&ours)), &frame, Arc::clone(&other));
        prop_assert_eq!(count, 1);
        prop_assert_eq!(said(&frame, &ours, false), said(&back, &other, false));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(Message::read(&bytes));
        let packed = zstd::bulk::compress(&bytes, 1).unwrap();
        if let Ok(message) = Message::read(&packed) {
            Decoder::new(registry()).frame(message);
        }
    }

    #[test]
    fn damaged_messages_are_refused_or_read(frame in frame(), at: prop::sample::Index, byte: u8) {
        let mut encoder = Encoder::new(registry());
        let mut cut = encoder.cut(&frame).remove(0);
        let packed = encoder.pack(&mut cut, Head { seat: 1, seq: 1, ..Head::default() });
        let mut plain = zstd::bulk::decompress(&packed, MESSAGE_MAX).unwrap();
        let at = at.index(plain.len());
        plain[at] = byte;
        if let Ok(message) = Message::read(&zstd::bulk::compress(&plain, 1).unwrap()) {
            let frame = Decoder::new(registry()).frame(message);
            let mut whole = Whole::default();
            whole.absorb(&frame);
            whole.absorb(&frame);
            for delta in &whole.take().series {
                delta.sink.values(std::time::Duration::from_secs(1)).get("p(95)");
            }
        }
    }
}

fn requests(tags: TagSet, count: u64) -> SeriesDelta {
    let series = Arc::new(Series { metric: builtin::HTTP_REQS, tags });
    SeriesDelta { series, sink: Sink::Counter { sum: count as f64, rest: 0.0, first_at: Some(1) } }
}

#[test]
fn a_large_frame_is_cut_and_its_parts_make_the_whole() {
    let registry = registry();
    let mut frame = Frame::default();
    for n in 0..30_000_u64 {
        let url = format!("http://somewhere.example/with/a/long/path/{n}");
        frame.series.push(requests(TagSet::from_pairs([("url", url)]), n));
    }
    // A trend whose values lie everywhere.
    let buckets = (0..60_000).map(|n| (n * 69 + 1, 1 + u64::from(n % 3))).collect();
    let values = Distribution::from_buckets(buckets);
    let trend = TrendSink::from_parts(123.0.into(), (-1e300, 1e300), values);
    let series = Arc::new(Series { metric: builtin::HTTP_REQ_DURATION, tags: TagSet::default() });
    frame.series.push(SeriesDelta { series, sink: Sink::Trend(trend) });
    for n in 0..5000 {
        let name: Arc<str> = format!("check {n} {}", "x".repeat(300)).into();
        let (passes, order) = (n, n);
        frame.checks.push(CheckDelta {
            group: "".into(),
            name,
            passes,
            fails: 1,
            first_at_order: order,
        });
    }
    let mut encoder = Encoder::new(Arc::clone(&registry));
    let (back, count) = there_and_back(&mut encoder, &frame, Arc::clone(&registry));
    assert!(count > 5, "{count}");
    assert!(said(&frame, &registry, false) == said(&back, &registry, false));
    assert_eq!(Totals::of(&frame), Totals::of(&back));
}

#[test]
fn tags_that_fit_no_message_are_left_out_and_counted() {
    let registry = registry();
    let pairs = (0..100).map(|n| (format!("key{n}"), "x".repeat(16_000)));
    let frame = Frame { series: vec![requests(TagSet::from_pairs(pairs), 5)], ..Frame::default() };
    let mut encoder = Encoder::new(Arc::clone(&registry));
    let (back, _) = there_and_back(&mut encoder, &frame, registry);
    assert_eq!((Totals::of(&back).requests, back.dropped.crowded), (5, 1));
    assert!((5..20).contains(&back.series[0].series.tags.len()));
}

#[test]
fn values_are_exact_until_nobody_could_keep_them_so() {
    let registry = registry();
    let mut encoder = Encoder::new(Arc::clone(&registry));
    let series = Arc::new(Series { metric: builtin::HTTP_REQ_DURATION, tags: TagSet::default() });
    let mut exact = Vec::new();
    let (mut here, mut there) = (Whole::default(), Whole::default());
    for second in 0..4 {
        let values = (0..3000).map(|n| f64::from(n) * 1.001 + f64::from(second));
        let sink = Sink::Trend(TrendSink::from_values(values));
        let delta = SeriesDelta { series: Arc::clone(&series), sink };
        let frame = Frame { series: vec![delta], ..Frame::default() };
        let (back, _) = there_and_back(&mut encoder, &frame, Arc::clone(&registry));
        let Sink::Trend(trend) = &back.series[0].sink else { panic!("a trend") };
        exact.push(trend.is_exact());
        here.absorb(&frame);
        there.absorb(&back);
    }
    assert_eq!(exact, [true, true, false, false]);
    assert_eq!(said(&here.take(), &registry, true), said(&there.take(), &registry, true));
}

#[test]
fn a_metric_that_the_leader_has_otherwise_is_counted_and_one_it_lacks_is_made() {
    let registry = registry();
    let new = registry.register("only_here", Kind::Counter, Contains::Default).unwrap();
    let other = registry.register("otherwise", Kind::Counter, Contains::Default).unwrap();
    let of = |metric| {
        let series = Arc::new(Series { metric, tags: TagSet::default() });
        SeriesDelta { series, sink: Sink::Counter { sum: 1.0, rest: 0.0, first_at: Some(1) } }
    };
    let frame = Frame { series: vec![of(new), of(other)], ..Frame::default() };
    let leader = Arc::new(Registry::new());
    leader.register("otherwise", Kind::Rate, Contains::Default).unwrap();
    let mut encoder = Encoder::new(registry);
    let mut cut = encoder.cut(&frame).remove(0);
    let bytes = encoder.pack(&mut cut, Head::default());
    let mut decoder = Decoder::new(Arc::clone(&leader));
    let back = decoder.frame(Message::read(&bytes).unwrap());
    assert_eq!((back.series.len(), decoder.unknown()), (1, 1));
    assert_eq!(&*leader.get(back.series[0].series.metric).name, "only_here");
}

#[test]
fn a_bomb_is_refused() {
    let bomb = zstd::bulk::compress(&vec![0; 1 << 28], 3).unwrap();
    assert!(bomb.len() < PACKED_MAX);
    assert!(matches!(Message::read(&bomb), Err(WireError::Packed(_))));
    assert!(matches!(Message::read(&vec![0; PACKED_MAX + 1]), Err(WireError::Large(_))));
    assert!(Message::read(&[]).is_err());
    let other = zstd::bulk::compress(&[8, 2], 1).unwrap();
    assert_eq!(Message::read(&other).unwrap_err(), WireError::Format(2));
}

#[test]
fn zstd_makes_nothing_longer_than_the_limit() {
    let mut state = 1_u64;
    let random = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let bytes: Vec<u8> = (0..MESSAGE_MAX).map(random).collect();
    assert!(zstd::bulk::compress(&bytes, 1).unwrap().len() <= PACKED_MAX);
}
