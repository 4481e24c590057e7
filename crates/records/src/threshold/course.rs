//! Thresholds in time on hits that end one after the other.

use std::collections::VecDeque;
use std::time::Duration;

use brunt_metrics::{Timing, Watch};

use super::{Threshold, Verdict};
use crate::{Record, Summary};

/// At most this many parts make up a window; one of up to a minute has parts of a second.
const PARTS_MAX: u64 = 60;

/// A threshold, and how it did second by second. A hit counts when it ended.
#[derive(Debug)]
pub struct Course {
    threshold: Threshold,
    watch: Watch,
    /// The hits of each part of the last window, the oldest first.
    parts: VecDeque<(u64, Summary)>,
    /// Seconds of a part.
    width: u64,
    /// When the first hit was begun, in nanoseconds since the Unix epoch.
    start: Option<u64>,
    /// Seconds from there to the last look.
    looked: u64,
    /// Whether a look counted.
    has_looked: bool,
    last: Option<f64>,
}

impl Course {
    /// The course of a threshold in time; none for one that judges the whole.
    pub fn of(threshold: &Threshold) -> Option<Self> {
        let timing = threshold.timing();
        let window = timing.window.unwrap_or_default().as_secs();
        timing.is_in_time().then(|| Self {
            threshold: threshold.clone(),
            watch: Watch::new(timing),
            parts: VecDeque::new(),
            width: window.div_ceil(PARTS_MAX).max(1),
            start: None,
            looked: 0,
            has_looked: false,
            last: None,
        })
    }

    /// Takes in a hit. `whole` has all hits so far. A hit that ended seconds ago counts with those of now.
    pub fn add(&mut self, record: &Record, whole: &Summary) {
        let start = *self.start.get_or_insert(record.timestamp.unix_ns());
        let second = record.end().saturating_sub(start) / 1_000_000_000;
        self.look_until(second, whole);
        if self.threshold.timing().window.is_none() {
            return;
        }
        let part = second / self.width;
        match self.parts.back_mut() {
            Some((last, hits)) if *last >= part => hits.add(record),
            _ => {
                let mut hits = Summary::default();
                hits.add(record);
                self.parts.push_back((part, hits));
            }
        }
    }

    /// Looks at the end of each second that has passed.
    fn look_until(&mut self, second: u64, whole: &Summary) {
        while self.looked < second {
            self.looked += 1;
            self.look(whole);
        }
    }

    fn look(&mut self, whole: &Summary) {
        let timing: &Timing = self.threshold.timing();
        let now = Duration::from_secs(self.looked);
        let window = timing.window.unwrap_or_default();
        if now >= timing.after.unwrap_or_default().max(window) {
            self.judge(whole, now, window);
        }
    }

    /// One look. `took`: the time of its hits, if it has a window.
    fn judge(&mut self, whole: &Summary, now: Duration, took: Duration) {
        let timing: &Timing = self.threshold.timing();
        let window = timing.window.unwrap_or_default();
        let is_window = timing.window.is_some();
        self.has_looked = true;
        let of_window;
        let hits = if is_window {
            let parts = window.as_secs().div_ceil(self.width);
            let first = (self.looked.div_ceil(self.width)).saturating_sub(parts);
            self.parts.retain(|(part, _)| *part >= first);
            let mut all = Summary::default();
            self.parts.iter().for_each(|(_, hits)| all.absorb(hits));
            of_window = all;
            &of_window
        } else {
            whole
        };
        let is_empty = hits.requests() == 0;
        let counts = self.threshold.counts();
        let value = match (is_empty && !counts, is_window) {
            (true, _) => None,
            (_, true) => self.threshold.value_in(hits, took),
            (_, false) => self.threshold.value(hits),
        };
        let holds = value.is_none_or(|value| self.threshold.holds(value));
        if let Some(holds) = self.threshold.timing().meaning(is_empty, counts, holds) {
            self.watch.look(now, holds, value);
            self.last = value;
        }
    }

    /// The verdict, and when it broke. `whole` has all hits. An attack that was shorter than the window is looked at once.
    pub fn end(&mut self, whole: &Summary) -> (Verdict, Option<brunt_metrics::Breach>) {
        let start = self.start.unwrap_or_default();
        let last = whole.end().unix_ns().saturating_sub(start) / 1_000_000_000;
        self.look_until(last, whole);
        let took = Duration::from_nanos(whole.end().unix_ns().saturating_sub(start));
        if !self.has_looked && took >= self.threshold.timing().after.unwrap_or_default() {
            self.judge(whole, took, took.max(Duration::from_nanos(1)));
        }
        let breach = self.watch.breach();
        let value = breach.map_or(self.last, |breach| breach.value);
        let found = value.map(|value| self.threshold.shown(value));
        (Verdict { is_ok: breach.is_none(), found, value }, breach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    /// Ten hits a second for a minute, those of some seconds slow.
    fn judged(text: &str, slow: std::ops::Range<u64>) -> (bool, Option<u64>) {
        let mut course = Course::of(&text.parse().unwrap()).unwrap();
        let mut whole = Summary::default();
        for n in 0..600_u64 {
            let latency = if slow.contains(&(n / 10)) { 90_000_000 } else { 1_000_000 };
            let timestamp = Timestamp::from_unix_ns(1_000_000_000_000 + n * 100_000_000);
            let record = Record { code: 200, timestamp, latency, ..Record::default() };
            course.add(&record, &whole);
            whole.add(&record);
        }
        let (verdict, breach) = course.end(&whole);
        (verdict.is_ok, breach.map(|breach| breach.at.as_secs()))
    }

    #[test]
    fn a_window_finds_a_bad_stretch_and_its_moment() {
        assert_eq!(judged("p50<50ms window=5s", 20..30), (false, Some(23)));
        assert_eq!(judged("p50<50ms window=5s", 20..22), (true, None));
        assert_eq!(judged("p50<50ms window=5s after=40s", 20..30), (true, None));
        assert_eq!(judged("max<50ms window=5s for=5s", 20..21), (true, None));
        assert_eq!(judged("max<50ms window=5s for=5s", 20..23), (false, Some(21)));
        assert_eq!(judged("rate>5 window=10s", 0..0), (true, None));
    }

    /// Ten hits, and then none for half a minute but one.
    #[test]
    fn rates_of_a_window_are_of_its_whole_time() {
        let end = |text: &str| {
            let mut course = Course::of(&text.parse().unwrap()).unwrap();
            let mut whole = Summary::default();
            for ms in (0..10_u64).map(|n| n * 900).chain([40_000]) {
                let timestamp = Timestamp::from_unix_ns(1_000_000_000_000 + ms * 1_000_000);
                let record = Record { code: 200, timestamp, latency: 1, ..Record::default() };
                course.add(&record, &whole);
                whole.add(&record);
            }
            let (verdict, breach) = course.end(&whole);
            (verdict.found, breach.map(|breach| breach.at.as_secs()))
        };
        assert_eq!(end("rate>0.5 window=10s"), (Some("0.50".to_owned()), Some(14)));
        assert_eq!(end("throughput>=0.1 window=10s"), (Some("0.00".to_owned()), Some(19)));
    }

    #[test]
    fn an_attack_that_was_cut_short_is_looked_at_once() {
        let end = |text: &str| {
            let mut course = Course::of(&text.parse().unwrap()).unwrap();
            let mut whole = Summary::default();
            for ms in [0, 100, 200] {
                let timestamp = Timestamp::from_unix_ns(1_000_000_000_000 + ms * 1_000_000);
                let latency = 300_000_000;
                let record = Record { code: 200, timestamp, latency, ..Record::default() };
                course.add(&record, &whole);
                whole.add(&record);
            }
            let (verdict, breach) = course.end(&whole);
            (verdict.is_ok, verdict.found, breach.is_some())
        };
        assert_eq!(end("max<50ms window=30s"), (false, Some("300ms".to_owned()), true));
        assert_eq!(end("rate>5 window=30s"), (true, Some("6.00".to_owned()), false));
        assert_eq!(end("max<50ms window=30s after=1m"), (true, None, false));
    }

    #[test]
    fn one_without_words_has_no_course() {
        assert!(Course::of(&"p99<50ms".parse().unwrap()).is_none());
        let wrong = |text: &str| text.parse::<Threshold>().unwrap_err().to_string();
        assert!(wrong("p99<50ms window=5ms").contains("window must be at least 1s"));
        assert!(wrong("p99<50ms window=5s for=6s").contains("for is 6s, but its window is 5s"));
        assert!(wrong("p99<50ms windw=5s").contains("there is no such key"));
    }
}
