//! Gathers what the cores saw: into the ledger, to the thresholds, to whoever listens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_metrics::{Frame, Ledger, MetricId, Recorder, Registry, Summary, TagSet, builtin};
use brunt_metrics::{SeriesId, Timing, Verdict};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::control::{AbortReason, Control, Phase};

/// From one judgement of the thresholds to the next, as in k6.
const JUDGE_EVERY: Duration = Duration::from_secs(2);

/// From one look at the thresholds in time to the next.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// From one sample of `vus` and `vus_max` to the next, as in k6.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// More distinct series than this are worth a word, and so is each doubling.
const SERIES_MANY: u64 = 100_000;

/// The frames that may wait, for each core. When all places are taken the cores keep what they see.
pub(crate) const WAITING_PER_CORE: usize = 4;

/// Takes part in a run by seeing its frames: outputs, the live page, the cluster's uplink.
///
/// Called on the gatherer's thread, which everybody waits for: hand work that takes long to a thread of
/// your own.
pub trait Listener: Send {
    /// The measurements of one core in one tick; or of the engine itself (`vus`), as core `u32::MAX`. Samples are in
    /// it if the run's `want_samples` is on. Shared, so that it is handed on without a copy.
    fn frame(&mut self, frame: &Arc<Frame>);

    /// The run is over, the last frame has been shown. `verdict` is the thresholds' last word.
    fn end(&mut self, verdict: &Verdict) {
        let _ = verdict;
    }
}

/// To the gatherer.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all messages are frames")]
pub(crate) enum Message {
    Frame(Frame),
    /// A single value that no core has seen.
    Value {
        metric: MetricId,
        tags: TagSet,
        value: f64,
    },
    /// The scenarios begin, at this time of the run.
    Launched(Duration),
    /// Somebody waits until all before it has been gathered.
    Mark(oneshot::Sender<()>),
    /// Somebody wants to know how things stand.
    Ask(oneshot::Sender<Summary>),
    /// All frames are in; the run took this long.
    End {
        run: Duration,
    },
}

/// The knowledge of the gatherer at the end.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) summary: Summary,
    pub(crate) verdict: Verdict,
    pub(crate) series: u64,
}

/// The gatherer, on a thread of its own.
pub(crate) struct Gatherer {
    pub(crate) control: Arc<Control>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) ledger: Ledger,
    pub(crate) listeners: Vec<Box<dyn Listener>>,
    pub(crate) run_tags: TagSet,
    pub(crate) want_samples: bool,
    /// From the start of the scenarios until their iterations are no longer begun: thresholds in time are not looked at
    /// afterwards.
    pub(crate) regular: Duration,
    /// A leader judges the thresholds and counts the VUs, over all parts of the test.
    pub(crate) is_led: bool,
}

impl Gatherer {
    /// Gathers until [`Message::End`] comes or all senders are gone.
    pub(crate) async fn run(mut self, mut messages: mpsc::Receiver<Message>) -> Gathered {
        let core = u32::MAX;
        let mut own = Recorder::new(Arc::clone(&self.registry), core, self.want_samples);
        let mut series = BTreeMap::new();
        let start = Instant::now();
        let mut count = interval_at(start + COUNT_EVERY, COUNT_EVERY);
        let mut judge = interval_at(start + JUDGE_EVERY, JUDGE_EVERY);
        let mut look = interval_at(start + LOOK_EVERY, LOOK_EVERY);
        let has_looks = !self.is_led && self.ledger.has_looks();
        let mut began: Option<Duration> = None;
        count.set_missed_tick_behavior(MissedTickBehavior::Skip);
        look.set_missed_tick_behavior(MissedTickBehavior::Skip);
        judge.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut many = SERIES_MANY;
        let run = loop {
            tokio::select! {
                biased;
                _ = count.tick() => {
                    // A run that is cut short is over, but for its teardown: k6 2.2 counts no VUs then. Asked
                    // when the tick has come: the run may have been cut short since the tick before.
                    if self.is_led || self.control.is_aborting() {
                        continue;
                    }
                    let now = clock::now_ns();
                    for (metric, vus) in [
                        (builtin::VUS, self.control.vus_active()),
                        (builtin::VUS_MAX, self.control.vus_initialized()),
                    ] {
                        let id = self.own_series(&mut own, &mut series, metric);
                        own.add(id, vus as f64, now, None);
                    }
                    self.take_in(own.take_frame());
                    self.warn_of_many(&mut many);
                }
                _ = look.tick(), if has_looks => if let Some(began) = began {
                    self.look(began);
                    look.reset_after(self.until_look(began));
                },
                _ = judge.tick(), if !self.is_led => self.judge(),
                message = messages.recv() => match message {
                    Some(Message::Frame(frame)) => self.take_in(frame),
                    Some(Message::Value { metric, tags, value }) => {
                        let tags = own.tags(&tags);
                        let id = own.series(metric, tags);
                        own.add(id, value, clock::now_ns(), None);
                        self.take_in(own.take_frame());
                    }
                    Some(Message::Launched(after)) => {
                        self.ledger.begin(after);
                        began = Some(after);
                        look.reset_after(self.until_look(after));
                    }
                    Some(Message::Mark(answer)) => drop(answer.send(())),
                    Some(Message::Ask(answer)) => {
                        // A run that lingers is not judged by the clock any more.
                        if self.control.phase() == Phase::Ended {
                            self.ledger.evaluate(self.control.run_duration(), false);
                        }
                        let summary = self.ledger.summary(self.control.run_duration());
                        // The asker may have left.
                        drop(answer.send(summary));
                    }
                    Some(Message::End { run }) => break run,
                    None => break self.control.run_duration(),
                },
            }
        };
        let verdict = self.ledger.evaluate(run, true);
        for listener in &mut self.listeners {
            listener.end(&verdict);
        }
        let series = self.ledger.series_count();
        Gathered { summary: self.ledger.summary(run), verdict, series }
    }

    fn own_series(
        &self,
        own: &mut Recorder,
        known: &mut BTreeMap<MetricId, SeriesId>,
        metric: MetricId,
    ) -> SeriesId {
        *known.entry(metric).or_insert_with(|| {
            let tags = own.tags(&self.run_tags);
            own.series(metric, tags)
        })
    }

    fn take_in(&mut self, mut frame: Frame) {
        if frame.at == 0 {
            frame.at = clock::now_ns();
        }
        self.ledger.absorb(&frame);
        let frame = Arc::new(frame);
        for listener in &mut self.listeners {
            listener.frame(&frame);
        }
    }

    /// Says once, and again at each doubling, that tags have too many values.
    fn warn_of_many(&self, limit: &mut u64) {
        let series = self.ledger.series_count();
        if series <= *limit {
            return;
        }
        while *limit < series {
            *limit = limit.saturating_mul(2);
        }
        log::warn!(
            "The test has generated metrics with {series} unique time series, more than the suggested limit of \
             {SERIES_MANY}. Outputs and memory may suffer: use fewer tag values, for example by giving requests \
             with changing URLs a common `name` tag."
        );
    }

    fn judge(&mut self) {
        // A run that lingers is over: nothing is left to abort.
        if self.control.started_at().is_none() || self.control.phase() == Phase::Ended {
            return;
        }
        let verdict = self.ledger.evaluate(self.control.run_duration(), false);
        self.obey(verdict);
    }

    /// Looks at the thresholds in time, while iterations are begun; the scenarios `began` at this time of the run.
    fn look(&mut self, began: Duration) {
        if self.control.phase() != Phase::Running || self.control.is_aborting() {
            return;
        }
        let now = self.control.run_duration();
        // The look at the end of the last whole second comes a little late.
        if now.saturating_sub(began) <= self.regular + Timing::SLACK {
            let verdict = self.ledger.look(now);
            self.obey(verdict);
        }
    }

    /// The wait until the next look: looks come at whole seconds of the scenarios, so that none sees more than this of the time in
    /// which iterations only end.
    fn until_look(&self, began: Duration) -> Duration {
        let running = self.control.run_duration().saturating_sub(began);
        let left = LOOK_EVERY.saturating_sub(Duration::from_nanos(running.subsec_nanos().into()));
        // This look came a trifle early.
        if left < LOOK_EVERY / 20 { left + LOOK_EVERY } else { left }
    }

    fn obey(&self, verdict: Verdict) {
        if verdict.abort {
            self.control.abort(AbortReason::Thresholds { crossed: verdict.crossed });
        }
    }
}
