//! Series added up since the start, for outputs that tell totals.

use std::sync::Arc;

use brunt_metrics::{Metric, Registry, Series, SeriesDelta, Sink};
use rustc_hash::FxHashMap;

/// Series that are told; k6 warns of too many at the same number. Values of more are left out, and
/// counted.
const SERIES_MAX: usize = 100_000;

/// The bytes of their tags; when there are more, likewise.
const BYTES_MAX: usize = 128 << 20;

/// A total of a series' values.
pub(crate) trait Total {
    /// Takes in what is new.
    fn add(&mut self, sink: &Sink);
}

/// The totals of all series, in the order they first turned up.
pub(crate) struct Tally<T> {
    registry: Arc<Registry>,
    /// Makes a total without values.
    empty: fn(&Metric) -> T,
    places: FxHashMap<Arc<Series>, usize>,
    rows: Vec<Row<T>>,
    bytes: usize,
    left_out: u64,
}

/// One series.
pub(crate) struct Row<T> {
    pub(crate) series: Arc<Series>,
    pub(crate) metric: Metric,
    pub(crate) total: T,
    /// Whether it got values since it was told last.
    pub(crate) is_fresh: bool,
}

impl<T: Total> Tally<T> {
    pub(crate) fn new(registry: &Arc<Registry>, empty: fn(&Metric) -> T) -> Self {
        let (registry, places) = (Arc::clone(registry), FxHashMap::default());
        Self { registry, empty, places, rows: Vec::new(), bytes: 0, left_out: 0 }
    }

    pub(crate) fn absorb(&mut self, deltas: &[SeriesDelta]) {
        for SeriesDelta { series, sink } in deltas {
            if self.registry.is_own(series.metric) {
                continue;
            }
            let place = match self.places.get(series) {
                Some(place) => Some(*place),
                None => self.place(series),
            };
            let Some(place) = place else {
                if self.left_out == 0 {
                    log::warn!(
                        "an output tells {SERIES_MAX} series at most; more are left out for it"
                    );
                }
                self.left_out += 1;
                continue;
            };
            let row = &mut self.rows[place];
            row.total.add(sink);
            row.is_fresh = true;
        }
    }

    /// The place of a series that is new. Routes are no tags: series that differ in them alone are one.
    fn place(&mut self, series: &Arc<Series>) -> Option<usize> {
        let is_full = self.places.len() >= 2 * SERIES_MAX || self.bytes >= BYTES_MAX;
        if series.tags.route().is_some() && !is_full {
            let (metric, tags) = (series.metric, series.tags.without_route());
            let plain = Arc::new(Series { metric, tags });
            let known = self.places.get(&plain).copied();
            let place = known.or_else(|| self.place(&plain))?;
            self.bytes += series.tags.size();
            self.places.insert(Arc::clone(series), place);
            return Some(place);
        }
        if is_full || self.rows.len() >= SERIES_MAX {
            return None;
        }
        self.bytes += series.tags.size();
        let (series, metric) = (Arc::clone(series), self.registry.get(series.metric));
        let total = (self.empty)(&metric);
        let place = self.rows.len();
        self.places.insert(Arc::clone(&series), place);
        self.rows.push(Row { series, metric, total, is_fresh: false });
        Some(place)
    }

    pub(crate) fn rows(&mut self) -> &mut [Row<T>] {
        &mut self.rows
    }

    /// How often values had no place.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Total for Sink {
    fn add(&mut self, sink: &Sink) {
        self.merge(sink);
    }
}

#[cfg(test)]
mod tests {
    use brunt_metrics::{TagSet, builtin};

    use super::*;

    fn delta(tag: &str, sum: f64) -> SeriesDelta {
        let tags = TagSet::from_pairs([("t", tag)]);
        let series = Arc::new(Series { metric: builtin::HTTP_REQS, tags });
        SeriesDelta { series, sink: Sink::Counter { sum, rest: 0.0, first_at: Some(1) } }
    }

    #[test]
    fn the_same_series_of_two_cores_is_one() {
        let mut tally = Tally::new(&Arc::new(Registry::new()), |metric| Sink::empty(metric.kind));
        tally.absorb(&[delta("a", 1.0), delta("b", 2.0)]);
        tally.absorb(&[delta("a", 3.0)]);
        let sums: Vec<_> = tally
            .rows()
            .iter()
            .map(|row| match row.total {
                Sink::Counter { sum, .. } => sum,
                _ => panic!("a counter"),
            })
            .collect();
        assert_eq!(sums, [4.0, 2.0]);
        assert_eq!(tally.left_out(), 0);
    }

    #[test]
    fn series_that_differ_in_their_route_alone_are_one() {
        let mut tally = Tally::new(&Arc::new(Registry::new()), |metric| Sink::empty(metric.kind));
        let routed = |route: &str| {
            let tags = TagSet::from_pairs([("t", "a"), (TagSet::ROUTE, route)]);
            let series = Arc::new(Series { metric: builtin::HTTP_REQS, tags });
            SeriesDelta { series, sink: Sink::Counter { sum: 1.0, rest: 0.0, first_at: Some(1) } }
        };
        for _ in 0..2 {
            tally.absorb(&[routed("/x"), delta("a", 1.0), routed("/y")]);
        }
        let rows = tally.rows();
        assert_eq!((rows.len(), rows[0].series.tags.route()), (1, None));
        assert!(matches!(rows[0].total, Sink::Counter { sum: 6.0, .. }));
    }
}
