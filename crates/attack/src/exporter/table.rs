//! The series of an attack, counted.

use brunt_records::Record;
use rustc_hash::FxHashMap;

/// The most series, and as many of failures.
const SERIES_MAX: usize = 10_000;

/// The URL of what found no room.
const OTHER: &str = "other";

/// Upper bounds of the buckets of a histogram, in seconds.
pub(super) const BUCKETS: [f64; 11] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The counts, by URL.
#[derive(Debug, Default)]
pub(super) struct Table {
    by_url: FxHashMap<Box<str>, Vec<Series>>,
    series: usize,
    failures: usize,
}

/// Hits with the same method, URL and status.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) method: Box<str>,
    pub(super) status: u16,
    /// By the lowest bucket that holds them; the last holds what is beyond all.
    pub(super) buckets: [u64; BUCKETS.len() + 1],
    pub(super) sum_ns: u128,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// How many failed with which text.
    pub(super) failures: Vec<(Box<str>, u64)>,
}

impl Table {
    pub(super) fn count(&mut self, record: &Record) {
        let is_known = self.by_url.get(record.url.as_str()).is_some_and(|series| {
            series.iter().any(|it| it.status == record.code && *it.method == record.method)
        });
        let url = if is_known || self.series < SERIES_MAX { &record.url } else { OTHER };
        if !self.by_url.contains_key(url) {
            self.by_url.insert(url.into(), Vec::new());
        }
        let of_url = self.by_url.get_mut(url).expect("it was put there if it wasn't");
        let at = of_url
            .iter()
            .position(|it| it.status == record.code && *it.method == record.method)
            .unwrap_or_else(|| {
                let method = record.method.as_str().into();
                of_url.push(Series { method, status: record.code, ..Series::default() });
                self.series += 1;
                of_url.len() - 1
            });
        let series = &mut of_url[at];
        let seconds = record.latency as f64 / 1e9;
        series.buckets[BUCKETS.partition_point(|&bound| bound < seconds)] += 1;
        series.sum_ns += u128::from(record.latency);
        series.bytes_in += record.bytes_in;
        series.bytes_out += record.bytes_out;
        if record.error.is_empty() {
            return;
        }
        if let Some((_, count)) = series.failures.iter_mut().find(|it| *it.0 == *record.error) {
            *count += 1;
        } else if self.failures < SERIES_MAX {
            self.failures += 1;
            series.failures.push((record.error.as_str().into(), 1));
        } else if let Some((_, count)) = series.failures.iter_mut().find(|it| &*it.0 == OTHER) {
            *count += 1;
        } else {
            series.failures.push((OTHER.into(), 1));
        }
    }

    /// All series with their URLs.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Series)> {
        self.by_url.iter().flat_map(|(url, series)| series.iter().map(|it| (&**url, it)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_urls_do_not_fill_memory() {
        let mut table = Table::default();
        for n in 0..SERIES_MAX + 500 {
            let error = format!("no {n}");
            table.count(&Record { url: n.to_string(), error, ..Record::default() });
        }
        assert_eq!(table.iter().count(), SERIES_MAX + 1);
        let (_, other) = table.iter().find(|(url, _)| *url == OTHER).unwrap();
        assert_eq!(other.buckets[0], 500);
        assert_eq!(other.failures, [(OTHER.into(), 500)]);
    }
}
