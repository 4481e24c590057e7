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
                Some(place) => *place,
                None if self.rows.len() >= SERIES_MAX || self.bytes >= BYTES_MAX => {
                    if self.left_out == 0 {
                        log::warn!(
                            "an output tells {SERIES_MAX} series at most; more are left out for it"
                        );
                    }
                    self.left_out += 1;
                    continue;
                }
                None => {
                    self.bytes += series.tags.size();
                    let (series, metric) = (Arc::clone(series), self.registry.get(series.metric));
                    let total = (self.empty)(&metric);
                    let place = self.rows.len();
                    self.places.insert(Arc::clone(&series), place);
                    self.rows.push(Row { series, metric, total, is_fresh: false });
                    place
                }
            };
            let row = &mut self.rows[place];
            row.total.add(sink);
            row.is_fresh = true;
        }
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
}
