//! The facts that an agent tells of itself once a second: metrics about its generator, and its VUs.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use brunt_engine::{Live, Phase};
use brunt_fiber::clock;
use brunt_metrics::{Frame, Recorder, Registry, TagSet, builtin};
use brunt_verdict::Signals;

use crate::generator::Meters;

/// Where the metrics about the generator go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To the leader with all else; the agent's own outputs see them on the way.
    ByLeader,
    /// To the agent's own outputs alone.
    ByOutputs,
    Nowhere,
}

/// All that is told in a second. The VUs go to the agent's own outputs alone: the leader makes sums of all agents itself.
pub(super) struct Own {
    pub(super) registry: Arc<Registry>,
    pub(super) run_tags: TagSet,
    /// The agent's outputs take single samples.
    pub(super) wants_samples: bool,
    pub(super) wanted: Wanted,
    /// The number of its seat, by which the leader tells generators apart.
    pub(super) seat: u32,
}

impl Own {
    /// Made on the thread that looks at the generator, and called with each look.
    pub(super) fn teller(
        self,
        live: Live,
        outputs: SyncSender<Arc<Frame>>,
    ) -> impl FnMut(&Signals) {
        let tags = self.run_tags.with("agent", &self.seat.to_string());
        let has_meters = self.wanted != Wanted::Nowhere;
        let mut meters = has_meters.then(|| Meters::new(&self.registry, tags, self.wants_samples));
        let mut heads = Recorder::new(Arc::clone(&self.registry), u32::MAX, self.wants_samples);
        let is_for_leader = self.wanted == Wanted::ByLeader;
        move |signals| {
            let control = live.control();
            // Later values are none of the scenarios' load.
            let is_over = control.is_aborting() || control.phase() >= Phase::Teardown;
            if control.started_at().is_none() || is_over {
                return;
            }
            if self.wants_samples {
                let now = clock::now_ns();
                for (metric, count) in [
                    (builtin::VUS, control.vus_active()),
                    (builtin::VUS_MAX, control.vus_initialized()),
                ] {
                    let tags = heads.tags(&self.run_tags);
                    let series = heads.series(metric, tags);
                    heads.add(series, count as f64, now, None);
                }
                let mut frame = heads.take_frame();
                frame.at = now;
                // Outputs that are too slow lose more than that.
                let _ = outputs.try_send(Arc::new(frame));
            }
            let Some(meters) = &mut meters else { return };
            let frame = meters.frame(signals);
            if is_for_leader {
                live.show(frame);
            } else {
                let _ = outputs.try_send(Arc::new(frame));
            }
        }
    }
}
