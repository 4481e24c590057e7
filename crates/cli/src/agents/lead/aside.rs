//! Metrics about the generators that no threshold names: outputs have them, summary and ledger don't, as on one machine.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use brunt_metrics::{Frame, MetricId};

/// Takes them out of the frames of agents.
pub(super) struct Aside {
    /// Which they are.
    pub(super) metrics: Vec<MetricId>,
    /// The way to the outputs.
    pub(super) outputs: SyncSender<Arc<Frame>>,
}

impl Aside {
    /// Moves those of a frame to the outputs.
    pub(super) fn take(&self, frame: &mut Frame) {
        let is_ours = |metric: MetricId| self.metrics.contains(&metric);
        if !frame.series.iter().any(|delta| is_ours(delta.series.metric)) {
            return;
        }
        let series = std::mem::take(&mut frame.series);
        let (ours, others) = series.into_iter().partition(|delta| is_ours(delta.series.metric));
        frame.series = others;
        let told = Frame { at: frame.at, core: u32::MAX, series: ours, ..Frame::default() };
        // Outputs that are too slow lose more than that.
        let _ = self.outputs.try_send(Arc::new(told));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use brunt_metrics::{Series, SeriesDelta, Sink, TagSet, builtin};

    use super::*;

    #[test]
    fn generators_are_told_aside_and_all_else_is_not() {
        let delta = |metric| {
            let series = Arc::new(Series { metric, tags: TagSet::default() });
            SeriesDelta { series, sink: Sink::Gauge { last: 1.0, min: 1.0, max: 1.0, at: Some(1) } }
        };
        let (outputs, told) = sync_channel(1);
        let aside = Aside { metrics: vec![MetricId(900)], outputs };
        let series = vec![delta(builtin::VUS), delta(MetricId(900))];
        let mut frame = Frame { at: 5, series, ..Frame::default() };
        aside.take(&mut frame);
        aside.take(&mut frame);
        let told: Vec<_> = told.try_iter().collect();
        assert_eq!((told.len(), told[0].at, told[0].series.len()), (1, 5, 1));
        assert_eq!(frame.series[0].series.metric, builtin::VUS);
    }
}
