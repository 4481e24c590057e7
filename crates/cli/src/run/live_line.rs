//! The numbers of the live line: what the last seconds saw, made of the frames that are gathered anyway.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use brunt_engine::Listener;
use brunt_metrics::{Frame, Sink, TrendSink, builtin};

use crate::progress::Rates;

/// The numbers cover this many seconds, the current one included.
const SECONDS: u64 = 5;

/// About so much time is in a frame.
const FRAME: Duration = Duration::from_millis(100);

/// The last seconds. The gatherer's thread writes, the display's thread reads; no load core takes its lock.
pub(super) struct LiveLine {
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// At most [`SECONDS`], by rising number.
    seconds: VecDeque<Second>,
    /// When the first request was seen: `setup()` or making VUs may have taken long before it.
    began: Option<Duration>,
    /// The last result, and its tenth of a second: the display asks often, and sorting costs.
    last: Option<(u64, Rates)>,
}

/// The requests of one second.
#[derive(Default)]
struct Second {
    /// Seconds since the start.
    number: u64,
    requests: f64,
    failed: (u64, u64),
    durations: TrendSink,
}

impl LiveLine {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), state: Mutex::default() })
    }

    /// The listener that shows it the frames.
    pub(super) fn listener(self: &Arc<Self>) -> Box<dyn Listener> {
        Box::new(Feed(Arc::clone(self)))
    }

    /// The numbers now; nothing before the first request.
    pub(super) fn rates(&self) -> Option<Rates> {
        self.rates_at(self.start.elapsed())
    }

    fn rates_at(&self, now: Duration) -> Option<Rates> {
        /// A result is kept for this many tenths of a second.
        const KEPT: u64 = 5;
        let tenth = now.as_millis() as u64 / 100;
        let mut state = self.lock();
        if let Some((at, rates)) = state.last
            && tenth < at + KEPT
        {
            return Some(rates);
        }
        state.seconds.front()?;
        forget_old(&mut state.seconds, now.as_secs());
        // When nothing came for so long, that is what is to be told.
        let oldest = state.seconds.front().map_or(now.as_secs(), |second| second.number);
        let began = state.began.map_or(0.0, |began| began.saturating_sub(FRAME).as_secs_f64());
        let span = (now.as_secs_f64() - began.max(oldest as f64)).max(FRAME.as_secs_f64());
        let mut sum = Second::default();
        for second in &state.seconds {
            sum.requests += second.requests;
            sum.failed.0 += second.failed.0;
            sum.failed.1 += second.failed.1;
            sum.durations.merge(&second.durations);
        }
        let rates = Rates {
            requests: sum.requests / span,
            p95_ms: (!sum.durations.is_empty()).then(|| sum.durations.percentile(95.0)),
            failed: (sum.failed.1 > 0).then(|| sum.failed.0 as f64 / sum.failed.1 as f64),
        };
        state.last = Some((tenth, rates));
        Some(rates)
    }

    fn add(&self, frame: &Frame, now: Duration) {
        let is_ours = |id| {
            [
                builtin::HTTP_REQS,
                builtin::HTTP_REQ_DURATION,
                builtin::HTTP_REQ_FAILED,
                builtin::GRPC_REQ_DURATION,
            ]
            .contains(&id)
        };
        if !frame.series.iter().any(|delta| is_ours(delta.series.metric)) {
            return;
        }
        let mut state = self.lock();
        state.began.get_or_insert(now);
        forget_old(&mut state.seconds, now.as_secs());
        if state.seconds.back().is_none_or(|second| second.number != now.as_secs()) {
            state.seconds.push_back(Second { number: now.as_secs(), ..Second::default() });
        }
        let Some(second) = state.seconds.back_mut() else { return };
        for delta in &frame.series {
            match (delta.series.metric, &delta.sink) {
                (builtin::HTTP_REQS, Sink::Counter { sum, .. }) => second.requests += sum,
                (builtin::HTTP_REQ_FAILED, Sink::Rate { hits, total }) => {
                    second.failed.0 += hits;
                    second.failed.1 += total;
                }
                (builtin::HTTP_REQ_DURATION, Sink::Trend(trend)) => second.durations.merge(trend),
                // gRPC counts its calls nowhere else.
                (builtin::GRPC_REQ_DURATION, Sink::Trend(trend)) => {
                    second.requests += trend.count() as f64;
                    second.durations.merge(trend);
                }
                _ => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_old(seconds: &mut VecDeque<Second>, now: u64) {
    while seconds.len() > 1 && seconds.front().is_some_and(|second| second.number + SECONDS <= now)
    {
        seconds.pop_front();
    }
    // The last one stays, empty: there were requests, and there are none now.
    if let Some(second) = seconds.front_mut().filter(|second| second.number + SECONDS <= now) {
        *second = Second { number: now.saturating_sub(SECONDS - 1), ..Second::default() };
    }
}

struct Feed(Arc<LiveLine>);

impl Listener for Feed {
    fn frame(&mut self, frame: &Arc<Frame>) {
        self.0.add(frame, self.0.start.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use brunt_metrics::{Recorder, Registry, TagSet};

    use super::*;

    /// A frame with `count` requests of `ms` milliseconds each, of which one failed.
    fn frame(count: u32, ms: f64) -> Frame {
        let mut recorder = Recorder::new(Arc::new(Registry::new()), 0, false);
        let tags = recorder.tags(&TagSet::default());
        for n in 0..count {
            for (metric, value) in [
                (builtin::HTTP_REQS, 1.0),
                (builtin::HTTP_REQ_DURATION, ms),
                (builtin::HTTP_REQ_FAILED, f64::from(u8::from(n == 0))),
            ] {
                let series = recorder.series(metric, tags);
                recorder.add(series, value, 1, None);
            }
        }
        recorder.take_frame()
    }

    #[test]
    fn the_last_seconds_count_and_older_ones_do_not() {
        let line = LiveLine::new();
        let ms = Duration::from_millis;
        assert_eq!(line.rates_at(ms(500)), None);
        line.add(&frame(50, 900.0), ms(500));
        line.add(&frame(100, 10.0), ms(7_000));
        line.add(&frame(100, 10.0), ms(8_000));
        let rates = line.rates_at(ms(9_000)).unwrap();
        assert_eq!(rates, Rates { requests: 100.0, p95_ms: Some(10.0), failed: Some(0.01) });
        // As it was, for a while; then nothing comes any more.
        assert_eq!(line.rates_at(ms(9_100)), Some(rates));
        let rates = line.rates_at(ms(60_000)).unwrap();
        assert_eq!(rates, Rates { requests: 0.0, p95_ms: None, failed: None });
    }

    #[test]
    fn time_before_the_first_request_does_not_count() {
        let line = LiveLine::new();
        let ms = Duration::from_millis;
        line.add(&frame(10, 10.0), ms(3_900));
        line.add(&frame(10, 10.0), ms(4_000));
        let rates = line.rates_at(ms(4_000)).unwrap();
        assert!((rates.requests - 100.0).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn memory_does_not_grow() {
        let line = LiveLine::new();
        for second in 0..1000 {
            line.add(&frame(1, 1.0), Duration::from_secs(second));
        }
        assert!(line.lock().seconds.len() as u64 <= SECONDS);
    }
}
