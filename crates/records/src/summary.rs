//! The arithmetic of an attack: what all its hits say together.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::{Record, Timestamp};

mod class;
mod errors;
mod histogram;
mod kind;

pub(crate) use self::kind::kind as kind_of;
pub use self::{class::Class, errors::Errors, histogram::Histogram, kind::Kinds};

/// Groups that are kept; hits of further ones are counted together.
const GROUPS_MAX: usize = 200;

/// The figures to keep beside the totals.
#[derive(Clone, Debug, Default)]
pub struct SummaryConfig {
    /// The lower bounds of buckets for latencies, ascending, from 0 on; empty = none are counted.
    pub buckets: Vec<u64>,
    /// By what hits are told apart.
    pub group_by: Option<GroupBy>,
}

/// By what hits are told apart in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The target's URL.
    Url,
    /// The target's method.
    Method,
    /// The attack's name.
    Name,
    /// The status of the response.
    Status,
}

impl GroupBy {
    /// Of this name: `url`, `method`, `name`, `status`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "url" => Some(Self::Url),
            "method" => Some(Self::Method),
            "name" => Some(Self::Name),
            "status" => Some(Self::Status),
            _ => None,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Method => "method",
            Self::Name => "name",
            Self::Status => "status",
        }
    }
}

/// Hits that have something in common.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Latencies of all of them.
    pub latencies: Histogram,
    /// How many had a status from 200 to 399.
    pub successes: u64,
}

/// All hits so far, in bounded memory: a histogram for each class of ends, 1000 texts of errors, 200 groups.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    config: SummaryConfig,
    requests: u64,
    classes: [Histogram; Class::ALL.len()],
    successes: u64,
    bytes_in: u64,
    bytes_out: u64,
    codes: BTreeMap<u16, u64>,
    errors: Errors,
    kinds: Kinds,
    buckets: Vec<u64>,
    earliest: Option<Timestamp>,
    latest: Option<Timestamp>,
    end: u64,
    end_zone: Timestamp,
    schedule: Option<Schedule>,
    groups: Vec<(String, Group)>,
    group_index: FxHashMap<String, usize>,
    rest: Group,
}

/// The figures of the schedule, when hits carry the moment at which they were due.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// From the due moment to the last byte: what a user would have waited.
    pub response_times: Histogram,
    /// From the due moment to the start.
    pub lags: Histogram,
    first_due: u64,
    last_due: u64,
    first_sent: u64,
    last_sent: u64,
}

impl Schedule {
    fn add(&mut self, record: &Record, due: u64) {
        let sent = record.timestamp.unix_ns();
        if self.lags.count() == 0 {
            (self.first_due, self.last_due) = (due, due);
            (self.first_sent, self.last_sent) = (sent, sent);
        }
        self.first_due = self.first_due.min(due);
        self.last_due = self.last_due.max(due);
        self.first_sent = self.first_sent.min(sent);
        self.last_sent = self.last_sent.max(sent);
        self.lags.add(record.lag());
        self.response_times.add(record.response_time());
    }

    fn absorb(&mut self, other: &Self) {
        if other.lags.count() == 0 {
            return;
        }
        if self.lags.count() == 0 {
            self.clone_from(other);
            return;
        }
        self.first_due = self.first_due.min(other.first_due);
        self.last_due = self.last_due.max(other.last_due);
        self.first_sent = self.first_sent.min(other.first_sent);
        self.last_sent = self.last_sent.max(other.last_sent);
        self.lags.merge(&other.lags);
        self.response_times.merge(&other.response_times);
    }

    /// Hits per second, as they were due. 0 if all were due at once.
    pub fn offered_rate(&self) -> f64 {
        self.rate(self.first_due, self.last_due)
    }

    /// Hits per second, as they were begun. 0 if all were begun at once.
    pub fn achieved_rate(&self) -> f64 {
        self.rate(self.first_sent, self.last_sent)
    }

    /// n hits have n − 1 gaps between them.
    fn rate(&self, first: u64, last: u64) -> f64 {
        match last - first {
            0 => 0.0,
            span => (self.lags.count() - 1) as f64 / seconds(span),
        }
    }
}

impl Summary {
    /// Nothing so far.
    pub fn new(config: SummaryConfig) -> Self {
        Self { buckets: vec![0; config.buckets.len()], config, ..Self::default() }
    }

    /// Counts a hit.
    pub fn add(&mut self, record: &Record) {
        let begun = record.timestamp;
        self.requests += 1;
        self.classes[Class::of(record) as usize].add(record.latency);
        let is_success = record.is_success();
        self.successes += u64::from(is_success);
        self.bytes_in = self.bytes_in.saturating_add(record.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(record.bytes_out);
        *self.codes.entry(record.code).or_default() += 1;
        if !record.error.is_empty() {
            self.errors.add(&record.error);
            self.kinds.add(record);
        }
        if self.earliest.is_none_or(|earliest| begun.unix_ns() < earliest.unix_ns()) {
            self.earliest = Some(begun);
        }
        if self.latest.is_none_or(|latest| begun.unix_ns() > latest.unix_ns()) {
            self.latest = Some(begun);
        }
        if record.end() > self.end {
            self.end = record.end();
            self.end_zone = begun;
        }
        if !self.buckets.is_empty() {
            let above = self.config.buckets.partition_point(|bound| *bound <= record.latency);
            self.buckets[above.saturating_sub(1)] += 1;
        }
        if let Some(due) = record.planned {
            self.schedule.get_or_insert_default().add(record, due);
        }
        if let Some(group_by) = self.config.group_by {
            let group = self.group(group_by, record);
            group.latencies.add(record.latency);
            group.successes += u64::from(is_success);
        }
    }

    /// Adds the figures of another summary that thresholds look at: counts, latencies, bytes, moments, the schedule.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.requests += other.requests;
        self.successes += other.successes;
        for (class, more) in self.classes.iter_mut().zip(&other.classes) {
            class.merge(more);
        }
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        let earliest = self.earliest.into_iter().chain(other.earliest);
        self.earliest = earliest.min_by_key(|moment| moment.unix_ns());
        let latest = self.latest.into_iter().chain(other.latest);
        self.latest = latest.max_by_key(|moment| moment.unix_ns());
        if other.end > self.end {
            (self.end, self.end_zone) = (other.end, other.end_zone);
        }
        if let Some(more) = &other.schedule {
            self.schedule.get_or_insert_default().absorb(more);
        }
    }

    fn group(&mut self, group_by: GroupBy, record: &Record) -> &mut Group {
        let status;
        let key = match group_by {
            GroupBy::Url => record.url.as_str(),
            GroupBy::Method => &record.method,
            GroupBy::Name => &record.attack,
            GroupBy::Status => {
                status = record.code.to_string();
                &status
            }
        };
        let key = &key[..key.floor_char_boundary(2048)];
        if let Some(&index) = self.group_index.get(key) {
            return &mut self.groups[index].1;
        }
        if self.groups.len() == GROUPS_MAX {
            return &mut self.rest;
        }
        self.group_index.insert(key.to_owned(), self.groups.len());
        self.groups.push((key.to_owned(), Group::default()));
        &mut self.groups.last_mut().expect("one was pushed").1
    }

    /// How many hits there are.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// How many had a status from 200 to 399.
    pub fn successes(&self) -> u64 {
        self.successes
    }

    /// Latencies of all hits, failed ones too, in nanoseconds: those of all classes, put together now.
    pub fn latencies(&self) -> Histogram {
        let mut all = Histogram::default();
        self.classes.iter().for_each(|class| all.merge(class));
        all
    }

    /// Latencies of the hits that ended so.
    pub fn class(&self, class: Class) -> &Histogram {
        &self.classes[class as usize]
    }

    /// When the first hit was begun.
    pub fn earliest(&self) -> Timestamp {
        self.earliest.unwrap_or_default()
    }

    /// When the last hit was begun.
    pub fn latest(&self) -> Timestamp {
        self.latest.unwrap_or_default()
    }

    /// When the last response was there.
    pub fn end(&self) -> Timestamp {
        let end = Timestamp::from_unix_ns(self.end);
        self.end_zone.zone_minutes().map_or(end, |zone| end.in_zone(zone))
    }

    /// From the first hit to the last, in nanoseconds.
    pub fn duration(&self) -> u64 {
        self.latest().unix_ns() - self.earliest().unix_ns()
    }

    /// From the last hit to the last response, in nanoseconds.
    pub fn wait(&self) -> u64 {
        self.end.saturating_sub(self.latest().unix_ns())
    }

    /// Hits per second, as vegeta counts them: n hits over n − 1 gaps.
    pub fn rate(&self) -> f64 {
        match self.duration() {
            0 => self.requests() as f64,
            ns => self.requests() as f64 / seconds(ns),
        }
    }

    /// Successes per second, until the last response.
    pub fn throughput(&self) -> f64 {
        match self.duration() {
            0 => self.successes as f64,
            ns => self.successes as f64 / seconds(ns.saturating_add(self.wait())),
        }
    }

    /// The share of successes, 0 to 1.
    pub fn success(&self) -> f64 {
        self.per_request(self.successes)
    }

    /// Bytes of responses' bodies.
    pub fn bytes_in(&self) -> u64 {
        self.bytes_in
    }

    /// Bytes of requests' bodies.
    pub fn bytes_out(&self) -> u64 {
        self.bytes_out
    }

    /// So much per hit; 0 if there are none.
    pub fn per_request(&self, total: u64) -> f64 {
        if self.requests() == 0 { 0.0 } else { total as f64 / self.requests() as f64 }
    }

    /// Each status with its count; 0 = no response.
    pub fn codes(&self) -> &BTreeMap<u16, u64> {
        &self.codes
    }

    /// The texts of errors.
    pub fn errors(&self) -> &Errors {
        &self.errors
    }

    /// The kinds of errors.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The buckets: lower bound and count. Empty if none were asked for.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        let counts = self.buckets.iter().copied();
        self.config.buckets.iter().copied().zip(counts)
    }

    /// The figures of the schedule; nothing if no hit carried the moment at which it was due.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.schedule.as_ref()
    }

    /// By what hits are grouped.
    pub fn group_by(&self) -> Option<GroupBy> {
        self.config.group_by
    }

    /// The groups in the order of their first appearance, and the hits for whose groups there was no room.
    pub fn groups(&self) -> (&[(String, Group)], &Group) {
        (&self.groups, &self.rest)
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(at_ms: u64, latency_ms: u64, code: u16) -> Record {
        Record {
            timestamp: Timestamp::from_unix_ns(1_000_000_000_000 + at_ms * 1_000_000),
            latency: latency_ms * 1_000_000,
            code,
            bytes_in: 10,
            ..Record::default()
        }
    }

    #[test]
    fn the_numbers_are_vegetas() {
        let mut summary = Summary::new(SummaryConfig {
            buckets: vec![0, 5_000_000, 10_000_000],
            ..SummaryConfig::default()
        });
        // Five hits "at 5/s", in another order than they were begun.
        for at in [200, 600, 400, 1000, 800] {
            summary.add(&hit(
                at,
                if at == 1000 { 20 } else { 5 },
                if at == 400 { 500 } else { 200 },
            ));
        }
        assert_eq!(summary.requests(), 5);
        assert_eq!((summary.duration(), summary.wait()), (800_000_000, 20_000_000));
        assert!((summary.rate() - 6.25).abs() < 1e-9);
        assert!((summary.throughput() - 4.0 / 0.82).abs() < 1e-9);
        assert!((summary.success() - 0.8).abs() < 1e-9);
        assert_eq!(summary.latencies().mean(), 8_000_000);
        assert_eq!(summary.end().unix_ns(), 1_001_020_000_000);
        assert_eq!(
            summary.buckets().collect::<Vec<_>>(),
            [(0, 0), (5_000_000, 4), (10_000_000, 1)]
        );
        assert!(summary.schedule().is_none());
    }

    #[test]
    fn a_single_hit_has_no_duration_and_still_a_rate() {
        let mut summary = Summary::default();
        summary.add(&hit(0, 5, 200));
        assert!((summary.rate() - 1.0).abs() < 1e-9 && (summary.throughput() - 1.0).abs() < 1e-9);
        assert_eq!(summary.wait(), 5_000_000);
    }

    #[test]
    fn a_stall_shows_from_the_schedule_alone() {
        let mut summary = Summary::default();
        for n in 0..11 {
            // Due every 100 ms; from the fifth on, each is begun 300 ms late.
            let late = if n >= 5 { 300 } else { 0 };
            let mut record = hit(n * 100 + late, 10, 200);
            record.planned = Some(record.timestamp.unix_ns() - late * 1_000_000);
            summary.add(&record);
        }
        let schedule = summary.schedule().unwrap();
        assert!((schedule.offered_rate() - 10.0).abs() < 1e-9);
        assert!((schedule.achieved_rate() - 10.0 / 1.3).abs() < 1e-9);
        assert_eq!(schedule.lags.max(), 300_000_000);
        assert_eq!(schedule.response_times.max(), 310_000_000);
        assert_eq!(summary.latencies().max(), 10_000_000);
    }

    #[test]
    fn groups_have_an_end() {
        let config = SummaryConfig { group_by: Some(GroupBy::Url), ..SummaryConfig::default() };
        let mut summary = Summary::new(config);
        for n in 0..500 {
            summary.add(&Record { url: format!("/{n}"), ..hit(n, 1, 200) });
        }
        let (groups, rest) = summary.groups();
        assert_eq!((groups.len(), rest.latencies.count()), (GROUPS_MAX, 300));
        assert_eq!(groups[7].0, "/7");
    }
}
