use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::metric::{Contains, Kind, MetricId};
use crate::recorder::Recorder;
use crate::registry::Registry;
use crate::tags::TagSet;

/// One thing that happens on a core.
#[derive(Clone, Debug)]
enum Event {
    Value { core: usize, metric: usize, tag: u8, value: f64, at: u64 },
    Check { core: usize, name: u8, pass: bool },
    Group { core: usize, name: u8 },
    Tick { core: usize },
}

fn event() -> impl Strategy<Value = Event> {
    let value = prop_oneof![Just(0.0), Just(1.0), -5.0..500.0];
    prop_oneof![
        20 => (0..3usize, 0..4usize, 0..3u8, value, 1..1000u64).prop_map(
            |(core, metric, tag, value, at)| Event::Value { core, metric, tag, value, at }
        ),
        4 => (0..3usize, 0..3u8, any::<bool>())
            .prop_map(|(core, name, pass)| Event::Check { core, name, pass }),
        1 => (0..3usize, 0..3u8).prop_map(|(core, name)| Event::Group { core, name }),
        2 => (0..3usize).prop_map(|core| Event::Tick { core }),
    ]
}

const KINDS: [Kind; 4] = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
const STATS: [&str; 9] =
    ["count", "rate", "value", "min", "max", "avg", "p(90)", "passes", "fails"];

type Said = (BTreeMap<String, Vec<Option<f64>>>, BTreeSet<(String, u64, u64)>, BTreeSet<String>);

/// All that a frame says, with its lists in one order.
fn said(frame: &Frame) -> Said {
    let numbers = |delta: &SeriesDelta| {
        let values = delta.sink.values(Duration::from_secs(1));
        // Sums may differ in their last bits.
        STATS.map(|stat| values.get(stat).map(|v| (v * 1e6).round() / 1e6 + 0.0)).to_vec()
    };
    (
        frame.series.iter().map(|delta| (format!("{:?}", delta.series), numbers(delta))).collect(),
        frame
            .checks
            .iter()
            .map(|check| (format!("{}/{}", check.group, check.name), check.passes, check.fails))
            .collect(),
        frame.groups.iter().map(|(_, path)| path.to_string()).collect(),
    )
}

fn frames_of(events: &[Event]) -> (Vec<Frame>, Vec<MetricId>) {
    let registry = Arc::new(Registry::new());
    let metrics: Vec<_> = KINDS
        .iter()
        .map(|kind| registry.register(&format!("a_{kind}"), *kind, Contains::Default).unwrap())
        .collect();
    let mut cores: Vec<_> =
        (0..3).map(|core| Recorder::new(Arc::clone(&registry), core, false)).collect();
    let mut frames = Vec::new();
    for event in events {
        match event {
            Event::Value { core, metric, tag, value, at } => {
                let core = &mut cores[*core];
                let tags = core.tags(&TagSet::from_pairs([("t", tag.to_string())]));
                let series = core.series(metrics[*metric], tags);
                core.add(series, *value, *at, None);
            }
            Event::Check { core, name, pass } => {
                let id = cores[*core].check("::g", &name.to_string());
                cores[*core].add_check(id, *pass);
            }
            Event::Group { core, name } => cores[*core].group(&format!("::{name}")),
            Event::Tick { core } => frames.push(cores[*core].take_frame()),
        }
    }
    frames.extend(cores.iter_mut().map(Recorder::take_frame));
    (frames, metrics)
}

/// The expected statistics of each series, from the plain list of its values.
fn naive(events: &[Event], metrics: &[MetricId]) -> BTreeMap<String, Vec<Option<f64>>> {
    let mut values: BTreeMap<(usize, u8), Vec<(u64, f64)>> = BTreeMap::new();
    for event in events {
        if let Event::Value { metric, tag, value, at, .. } = event {
            values.entry((*metric, *tag)).or_default().push((*at, *value));
        }
    }
    let numbers = |metric: usize, list: &[(u64, f64)]| {
        let mut sorted: Vec<f64> = list.iter().map(|(_, value)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let (n, sum) = (sorted.len() as f64, sorted.iter().sum::<f64>());
        let hits = sorted.iter().filter(|v| **v != 0.0).count() as f64;
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let index = 0.9 * (n - 1.0);
        let (low, high) = (sorted[index.floor() as usize], sorted[index.ceil() as usize]);
        let p90 = low + (high - low) * (index - index.floor());
        let by_stat: &[(&str, f64)] = match KINDS[metric] {
            Kind::Counter => &[("count", sum), ("rate", sum)],
            Kind::Gauge => &[("min", min), ("max", max)],
            Kind::Rate => &[("rate", hits / n), ("passes", hits), ("fails", n - hits)],
            Kind::Trend => {
                &[("count", n), ("min", min), ("max", max), ("avg", sum / n), ("p(90)", p90)]
            }
        };
        STATS
            .map(|stat| {
                let found = by_stat.iter().find(|(name, _)| *name == stat);
                found.map(|(_, v)| (v * 1e6).round() / 1e6 + 0.0)
            })
            .to_vec()
    };
    values
        .iter()
        .map(|((metric, tag), list)| {
            let tags = TagSet::from_pairs([("t", tag.to_string())]);
            let series = Series { metric: metrics[*metric], tags };
            (format!("{series:?}"), numbers(*metric, list))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn frames_merge_in_any_order_and_grouping(
        events in prop::collection::vec(event(), 0..300),
        order in prop::collection::vec(any::<prop::sample::Index>(), 40),
    ) {
        let (frames, metrics) = frames_of(&events);

        let mut forth = Frame::default();
        for frame in frames.clone() {
            forth.merge(frame);
        }
        // Any two become one, until one is left.
        let mut left = frames;
        for pick in order.iter().cycle() {
            if left.len() == 1 {
                break;
            }
            let one = left.swap_remove(pick.index(left.len()));
            let other = pick.index(left.len());
            left[other].merge(one);
        }
        prop_assert_eq!(said(&forth), said(&left[0]));

        let mut series = said(&forth).0;
        for (name, numbers) in &mut series {
            // The naive model does not know which of two values of one nanosecond is the last.
            if name.contains(&format!("{:?}", metrics[1])) {
                numbers[2] = None;
            }
        }
        prop_assert_eq!(series, naive(&events, &metrics));
    }
}
