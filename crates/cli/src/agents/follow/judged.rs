//! Whether the numbers of an agent can be trusted: told to its leader when the scenarios are over.

use std::sync::Arc;

use brunt_engine::Live;
use brunt_metrics::{Frame, MetricId, Sink, TrendSink, WARMUP_TAG, builtin};
use brunt_schedule::Segment;
use brunt_verdict::{Figures, Starts};

use crate::generator::Looks;
use crate::run::trust;

/// The metrics that tell response times; the first one that has values counts.
const DURATIONS: [MetricId; 3] =
    [builtin::HTTP_REQ_DURATION, builtin::GRPC_REQ_DURATION, builtin::ITERATION_DURATION];

/// The looks at the generator, and those of its measurements that the verdict is made from.
pub(super) struct Judged {
    looks: Arc<Looks>,
    segment: Segment,
    lateness: TrendSink,
    durations: [TrendSink; DURATIONS.len()],
}

impl Judged {
    pub(super) fn new(looks: Arc<Looks>, segment: Segment) -> Self {
        let (lateness, durations) = (TrendSink::default(), Default::default());
        Self { looks, segment, lateness, durations }
    }

    /// Takes in a frame. Durations only count beside planned starts, so a closed model costs nothing.
    pub(super) fn take(&mut self, frame: &Frame) {
        for delta in &frame.series {
            let Sink::Trend(trend) = &delta.sink else { continue };
            let metric = delta.series.metric;
            let sum = if metric == builtin::ITERATION_LATENESS {
                &mut self.lateness
            } else if !self.lateness.is_empty()
                && let Some(place) = DURATIONS.iter().position(|known| *known == metric)
            {
                &mut self.durations[place]
            } else {
                continue;
            };
            if delta.series.tags.get(WARMUP_TAG) != Some("true") {
                sum.merge(trend);
            }
        }
    }

    /// The 99th percentile of lateness so far, in milliseconds; none in closed models.
    pub(super) fn lateness_p99(&self) -> Option<f64> {
        (!self.lateness.is_empty()).then(|| self.lateness.percentile(99.0))
    }

    /// The verdict on what was made here. Nothing that comes later is part of it.
    pub(super) fn verdict(&self, live: &Live) -> serde_json::Value {
        self.looks.close();
        let figures = Figures {
            loads: trust::loads(live, &self.segment),
            starts: self.starts(),
            ..Figures::default()
        };
        self.looks.verdict(&figures).json()
    }

    fn starts(&self) -> Option<Starts> {
        let median = self.durations.iter().find(|durations| !durations.is_empty());
        self.lateness_p99().map(|late_p99| Starts {
            count: self.lateness.count(),
            late_p99,
            median: median.map_or(0.0, |durations| durations.percentile(50.0)),
        })
    }
}
