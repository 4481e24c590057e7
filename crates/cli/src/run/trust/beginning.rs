//! Response times by stretches of the run: does the beginning of the steady load differ from the rest?

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brunt_engine::Listener;
use brunt_metrics::{Frame, MetricId, Sink, TrendSink, builtin};
use brunt_verdict::WarmUp;

/// The metrics that tell response times; the first one that has values counts.
const METRICS: [(MetricId, &str); 2] = [
    (builtin::HTTP_REQ_DURATION, "http_req_duration"),
    (builtin::GRPC_REQ_DURATION, "grpc_req_duration"),
];

/// The first width of a bin, in nanoseconds. It doubles when there are too many.
const WIDTH_NS: u64 = 250_000_000;

/// Bins of a metric: two for each hundredth of a run, so that its tenths are as sharp.
const BINS_MAX: usize = 200;

/// A steady part that is shorter tells nothing, in nanoseconds.
const STEADY_MIN_NS: u64 = 10_000_000_000;

/// Samples of a tenth: of fewer, the median is a matter of luck.
const SAMPLES_MIN: u64 = 100;

/// Response times in bins of time. The gatherer's thread writes; read once, at the end.
#[derive(Default)]
pub(crate) struct Beginning(Mutex<[Bins; METRICS.len()]>);

/// The bins of a metric, by their place on the clock.
struct Bins {
    width: u64,
    bins: BTreeMap<u64, TrendSink>,
}

impl Default for Bins {
    fn default() -> Self {
        Self { width: WIDTH_NS, bins: BTreeMap::new() }
    }
}

impl Bins {
    fn add(&mut self, at: u64, durations: &TrendSink) {
        self.bins.entry(at / self.width).or_default().merge(durations);
        while self.bins.len() > BINS_MAX {
            self.width *= 2;
            let halved: Vec<_> = std::mem::take(&mut self.bins).into_iter().collect();
            for (place, bin) in halved {
                self.bins.entry(place / 2).or_default().merge(&bin);
            }
        }
    }

    /// The values of all bins whose middle lies between two moments.
    fn between(&self, from: u64, to: u64) -> TrendSink {
        let mut all = TrendSink::default();
        let inside = |place: u64| (from..to).contains(&(place * self.width + self.width / 2));
        for (_, bin) in self.bins.iter().filter(|(place, _)| inside(**place)) {
            all.merge(bin);
        }
        all
    }
}

impl Beginning {
    /// The listener that shows it the frames.
    pub(crate) fn listener(self: &Arc<Self>) -> Box<dyn Listener> {
        Box::new(Feed(Arc::clone(self)))
    }

    /// The first tenth of a stretch (nanoseconds) against the rest; nothing if there is too little of it.
    pub(super) fn warm_up(&self, start: u64, (from, to): (u64, u64)) -> Option<WarmUp> {
        if to.saturating_sub(from) < STEADY_MIN_NS {
            return None;
        }
        let all = self.bins();
        let used = all.iter().zip(METRICS).find(|(bins, _)| !bins.bins.is_empty());
        let (bins, (_, metric)) = used?;
        let border = |tenth: u64| from + (to - from) / 10 * tenth;
        let tenths: Vec<TrendSink> =
            (0..10).map(|tenth| bins.between(border(tenth), border(tenth + 1))).collect();
        if tenths.iter().any(|tenth| tenth.count() < SAMPLES_MIN) {
            return None;
        }
        let mut rest = TrendSink::default();
        tenths[1..].iter().for_each(|tenth| rest.merge(tenth));
        let moment = |at: u64| Duration::from_nanos(at.saturating_sub(start));
        Some(WarmUp {
            metric: metric.to_owned(),
            stretch: (moment(border(0)), moment(border(1))),
            first: tenths[0].percentile(50.0),
            rest: rest.percentile(50.0),
            others: tenths[1..].iter().map(|tenth| tenth.percentile(50.0)).collect(),
        })
    }

    fn bins(&self) -> MutexGuard<'_, [Bins; METRICS.len()]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Feed(Arc<Beginning>);

impl Listener for Feed {
    fn frame(&mut self, frame: &Arc<Frame>) {
        let mut all = self.0.bins();
        for delta in &frame.series {
            let place = METRICS.iter().position(|(id, _)| *id == delta.series.metric);
            if let (Some(place), Sink::Trend(durations)) = (place, &delta.sink) {
                all[place].add(frame.at, durations);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A run of 60 s from second 1000 on, with a value for each tenth of a second.
    fn beginning(value: impl Fn(u64) -> f64) -> Beginning {
        let beginning = Beginning::default();
        for tenth in 0..600_u64 {
            let values = TrendSink::from_values([value(tenth / 10); 5]);
            beginning.bins()[0].add(1000 * SECOND + tenth * SECOND / 10, &values);
        }
        beginning
    }

    #[test]
    fn the_first_tenth_is_told_apart() {
        let slow = beginning(|second| if second < 16 { 20.0 } else { 10.0 });
        let start = 1000 * SECOND;
        let warm_up = slow.warm_up(start, (start + 10 * SECOND, start + 60 * SECOND)).unwrap();
        assert_eq!((warm_up.first, warm_up.rest, warm_up.others.len()), (20.0, 10.0, 9));
        assert_eq!(warm_up.stretch, (Duration::from_secs(10), Duration::from_secs(15)));
        assert_eq!(slow.bins()[0].width, 2 * WIDTH_NS);
    }

    #[test]
    fn too_little_tells_nothing() {
        let all = beginning(|_| 1.0);
        let start = 1000 * SECOND;
        assert_eq!(all.warm_up(start, (start, start + 9 * SECOND)), None);
        // Ten samples a second make less than a hundred a tenth.
        assert_eq!(all.warm_up(start, (start, start + 10 * SECOND)), None);
        assert_eq!(Beginning::default().warm_up(start, (start, start + 60 * SECOND)), None);
    }
}
