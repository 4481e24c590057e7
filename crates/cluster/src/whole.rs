//! Frames put together, whatever their number.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use brunt_metrics::{
    CheckDelta, Dropped, ExceptionDelta, ExceptionDeltas, Frame, NumbersDone, Series, SeriesDelta,
    Sink, TagSet, WARMUP_TAG,
};
use rustc_hash::FxHashMap;

use crate::ranges::Ranges;

/// Exceptions that are told apart, as in a ledger; others are counted together.
const EXCEPTIONS_MAX: usize = 100;
/// Checks, and groups, that are told apart, as in a ledger; others are counted as dropped.
const NAMES_MAX: usize = 20_000;
/// Series of the whole run that keep all their tags.
const SERIES_MAX: usize = 20_000;
/// Series that keep the tags that a ledger asks for; later ones keep none.
const FEWER_MAX: usize = 60_000;
/// The tags that a ledger asks for.
const ASKED: [&str; 10] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "scenario",
    "status",
    WARMUP_TAG,
];

/// Frames put together, as [`Frame::merge`] does, at the cost of what is new alone.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    series: FxHashMap<Arc<Series>, Sink>,
    checks: FxHashMap<(Arc<str>, Arc<str>), CheckDelta>,
    groups: FxHashMap<Arc<str>, u64>,
    exceptions: FxHashMap<Arc<str>, (u64, u64)>,
    exceptions_others: u64,
    /// By scenario.
    done: BTreeMap<u32, Ranges>,
    dropped: Dropped,
    at: u64,
    late: u64,
    /// Tags that stay beside [`ASKED`]; none: all series keep all tags.
    kept: Option<Arc<[String]>>,
}

impl Whole {
    /// For a whole run: its memory is bounded. Beyond 20 000 series, new ones lose all tags but those that a ledger asks for and
    /// these; beyond 60 000 they lose all. The numbers stay whole.
    pub fn bounded(kept: impl IntoIterator<Item = String>) -> Self {
        Self { kept: Some(kept.into_iter().collect()), ..Self::default() }
    }

    /// Whether nothing was taken in.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
            && self.checks.is_empty()
            && self.groups.is_empty()
            && self.exceptions.is_empty()
            && self.exceptions_others == 0
            && self.done.is_empty()
            && self.dropped.is_nothing()
    }

    /// Takes in a frame; its samples are left out.
    pub fn absorb(&mut self, frame: &Frame) {
        self.at = self.at.max(frame.at);
        self.late = self.late.max(frame.late);
        for delta in &frame.series {
            self.add(&delta.series, &delta.sink);
        }
        for delta in &frame.checks {
            let room = self.checks.len() < NAMES_MAX;
            match self.checks.entry((Arc::clone(&delta.group), Arc::clone(&delta.name))) {
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.passes += delta.passes;
                    known.fails += delta.fails;
                    known.first_at_order = known.first_at_order.min(delta.first_at_order);
                }
                Entry::Vacant(place) if room => drop(place.insert(delta.clone())),
                Entry::Vacant(_) => self.dropped.checks += delta.passes + delta.fails,
            }
        }
        for (order, path) in &frame.groups {
            if let Some(first) = self.groups.get_mut(path) {
                *first = (*first).min(*order);
            } else if self.groups.len() < NAMES_MAX {
                self.groups.insert(Arc::clone(path), *order);
            } else {
                self.dropped.groups += 1;
            }
        }
        for delta in &frame.exceptions.told {
            if let Some((count, order)) = self.exceptions.get_mut(&delta.text) {
                *count += delta.count;
                *order = delta.order.min(*order);
            } else if self.exceptions.len() < EXCEPTIONS_MAX {
                self.exceptions.insert(Arc::clone(&delta.text), (delta.count, delta.order));
            } else {
                self.exceptions_others += delta.count;
            }
        }
        self.exceptions_others += frame.exceptions.others;
        for done in &frame.done {
            self.done.entry(done.scenario).or_default().insert_all(done.first, done.last);
        }
        self.dropped.merge(frame.dropped);
    }

    fn add(&mut self, series: &Arc<Series>, sink: &Sink) {
        if let Some(known) = self.series.get_mut(series) {
            merge(known, sink);
            return;
        }
        let place = match &self.kept {
            Some(kept) if self.series.len() >= SERIES_MAX => {
                let tags = if self.series.len() >= FEWER_MAX {
                    TagSet::default()
                } else {
                    fewer(&series.tags, kept)
                };
                Arc::new(Series { metric: series.metric, tags })
            }
            _ => Arc::clone(series),
        };
        match self.series.entry(place) {
            Entry::Occupied(mut known) => merge(known.get_mut(), sink),
            Entry::Vacant(place) => drop(place.insert(sink.clone())),
        }
    }

    /// All of it as one frame.
    pub fn frame(&self) -> Frame {
        self.clone().take()
    }

    /// All of it as one frame; nothing is left.
    pub fn take(&mut self) -> Frame {
        let all = std::mem::replace(self, Self { kept: self.kept.clone(), ..Self::default() });
        let told = all.exceptions.into_iter();
        let mut groups: Vec<_> =
            all.groups.into_iter().map(|(path, order)| (order, path)).collect();
        groups.sort_unstable();
        Frame {
            at: all.at,
            late: all.late,
            series: all
                .series
                .into_iter()
                .map(|(series, sink)| SeriesDelta { series, sink })
                .collect(),
            checks: all.checks.into_values().collect(),
            groups,
            exceptions: ExceptionDeltas {
                told: told
                    .map(|(text, (count, order))| ExceptionDelta { text, count, order })
                    .collect(),
                others: all.exceptions_others,
            },
            done: all
                .done
                .iter()
                .flat_map(|(scenario, numbers)| {
                    numbers.iter().map(|(first, last)| NumbersDone {
                        scenario: *scenario,
                        first,
                        last,
                    })
                })
                .collect(),
            dropped: all.dropped,
            ..Frame::default()
        }
    }
}

fn merge(known: &mut Sink, sink: &Sink) {
    // A metric of the registry keeps its kind: another one cannot come.
    if known.kind() == sink.kind() {
        known.merge(sink);
    }
}

/// The tags that are asked for.
fn fewer(tags: &TagSet, kept: &[String]) -> TagSet {
    let is_asked = |key: &str| ASKED.contains(&key) || kept.iter().any(|kept| kept == key);
    let route = tags.route().map(|route| (TagSet::ROUTE, route));
    TagSet::from_pairs(tags.iter().filter(|(key, _)| is_asked(key)).chain(route))
}

/// About how many bytes of memory a frame takes.
pub(crate) fn size_of(frame: &Frame) -> usize {
    let of_series = |delta: &SeriesDelta| {
        let values = match &delta.sink {
            Sink::Trend(trend) => trend.distribution().size(),
            _ => 0,
        };
        160 + delta.series.tags.size() + values
    };
    let checks: usize = frame.checks.iter().map(|c| c.group.len() + c.name.len() + 96).sum();
    let groups: usize = frame.groups.iter().map(|(_, path)| path.len() + 48).sum();
    let told: usize = frame.exceptions.told.iter().map(|delta| delta.text.len() + 64).sum();
    frame.series.iter().map(of_series).sum::<usize>() + checks + groups + told + 256
}

#[cfg(test)]
mod tests {
    use brunt_metrics::builtin;

    use super::*;

    #[test]
    fn beyond_the_bounds_tags_go_and_numbers_stay() {
        let mut whole = Whole::bounded(["mine".to_owned()]);
        for n in 0..100_000 {
            let tags = TagSet::from_pairs([
                ("url", n.to_string()),
                ("method", "GET".to_owned()),
                ("mine", (n % 50_000).to_string()),
            ]);
            let series = Arc::new(Series { metric: builtin::HTTP_REQS, tags });
            let sink = Sink::Counter { sum: 1.0, rest: 0.0, first_at: Some(1) };
            let delta = SeriesDelta { series, sink };
            whole.absorb(&Frame { series: vec![delta], ..Frame::default() });
        }
        let frame = whole.frame();
        assert!((60_000..=60_001).contains(&frame.series.len()), "{}", frame.series.len());
        assert_eq!(crate::totals::Totals::of(&frame).requests, 100_000);
        let of_mine = |delta: &&SeriesDelta| {
            delta.series.tags.get("url").is_none() && delta.series.tags.get("mine").is_some()
        };
        assert!(frame.series.iter().filter(of_mine).count() > 30_000);
    }
}
