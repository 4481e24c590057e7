//! The requests so far, route by route.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::metric::builtin;
use crate::series::Series;
use crate::sink::Sink;
use crate::summary::{Outcome, RouteSummary};
use crate::trend::TrendSink;

/// Rows of the table: pairs of a method and a route. More are one row.
const ROWS_MAX: usize = 256;
/// The route of that row, and of requests that the cores had no room for.
const OTHER: &str = "other";

/// The table.
#[derive(Debug, Default)]
pub(super) struct Requests {
    rows: Vec<Row>,
    by_name: FxHashMap<(Box<str>, Box<str>), u32>,
}

#[derive(Debug, Default)]
struct Row {
    method: Box<str>,
    route: Box<str>,
    requests: f64,
    /// By the tags of what counts requests.
    good: f64,
    failed: u64,
    judged: u64,
    /// By outcome.
    durations: [Option<Box<TrendSink>>; Outcome::ALL.len()],
    sent: Option<f64>,
    received: Option<f64>,
}

/// Where the values of a series belong in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    row: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Count(Outcome),
    Judged,
    Duration(Outcome),
    Sent,
    Received,
}

impl Requests {
    /// The place of a series; none if its values are no numbers of a route.
    pub(super) fn place(&mut self, series: &Arc<Series>) -> Option<Place> {
        let tags = &series.tags;
        let what = match series.metric {
            builtin::HTTP_REQS => What::Count(Outcome::of(tags)),
            builtin::HTTP_REQ_FAILED => What::Judged,
            builtin::HTTP_REQ_DURATION => What::Duration(Outcome::of(tags)),
            builtin::HTTP_REQ_BYTES_SENT => What::Sent,
            builtin::HTTP_REQ_BYTES_RECEIVED => What::Received,
            _ => return None,
        };
        let route = tags.route()?;
        // What is measured while all gets warm is in no summary.
        if tags.get("warmup").is_some() {
            return None;
        }
        let row = self.row(tags.get("method").unwrap_or_default(), route);
        Some(Place { row, what })
    }

    fn row(&mut self, method: &str, route: &str) -> u32 {
        let name = (Box::from(method), Box::from(route));
        if let Some(row) = self.by_name.get(&name) {
            return *row;
        }
        if self.rows.len() >= ROWS_MAX && !(method.is_empty() && route == OTHER) {
            return self.row("", OTHER);
        }
        let row = self.rows.len() as u32;
        let (method, route) = name.clone();
        self.rows.push(Row { method, route, ..Row::default() });
        self.by_name.insert(name, row);
        row
    }

    pub(super) fn absorb(&mut self, place: Place, sink: &Sink) {
        let row = &mut self.rows[place.row as usize];
        match (place.what, sink) {
            (What::Count(outcome), Sink::Counter { sum, .. }) => {
                row.requests += sum;
                if outcome == Outcome::Ok {
                    row.good += sum;
                }
            }
            (What::Judged, Sink::Rate { hits, total }) => {
                row.failed += hits;
                row.judged += total;
            }
            (What::Duration(outcome), Sink::Trend(trend)) => {
                row.durations[outcome.index()].get_or_insert_default().merge(trend);
            }
            (What::Sent, Sink::Counter { sum, .. }) => *row.sent.get_or_insert(0.0) += sum,
            (What::Received, Sink::Counter { sum, .. }) => *row.received.get_or_insert(0.0) += sum,
            _ => {}
        }
    }

    /// The rows, those that took the most time first. `run`: the time that rates are of.
    pub(super) fn summary(&self, run: Duration) -> Vec<RouteSummary> {
        let seconds = run.as_secs_f64();
        let per_second = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
        let mut all: Vec<(f64, RouteSummary)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.requests > 0.0) {
            let mut whole = TrendSink::default();
            let mut outcomes = Vec::new();
            for (outcome, trend) in Outcome::ALL.into_iter().zip(&row.durations) {
                let Some(trend) = trend else { continue };
                whole.merge(trend);
                let mut trend = (**trend).clone();
                trend.sort();
                outcomes.push((outcome, Arc::new(trend)));
            }
            whole.sort();
            let requests = row.requests.max(0.0).round() as u64;
            // Requests without a callback are judged by none but their tags.
            let unjudged = row.requests - row.good - row.failed as f64;
            let is_judged = row.judged as f64 >= row.requests;
            let failed = if is_judged { row.failed } else { row.failed + unjudged.max(0.0) as u64 };
            let good = requests.saturating_sub(failed);
            let time = whole.avg() * whole.count() as f64;
            all.push((
                if time.is_finite() { time } else { 0.0 },
                RouteSummary {
                    method: row.method.to_string(),
                    route: row.route.to_string(),
                    requests,
                    rate: per_second(row.requests),
                    failed,
                    goodput: per_second(good as f64),
                    duration: Arc::new(whole),
                    outcomes,
                    sent: row.sent,
                    received: row.received,
                    share: 0.0,
                },
            ));
        }
        let total: f64 = all.iter().map(|(time, _)| time).sum();
        all.sort_by(|(one, a), (other, b)| {
            other.total_cmp(one).then_with(|| (&a.route, &a.method).cmp(&(&b.route, &b.method)))
        });
        let shared = |(time, row): (f64, RouteSummary)| {
            let share = if total > 0.0 { time / total } else { 0.0 };
            RouteSummary { share, ..row }
        };
        all.into_iter().map(shared).collect()
    }
}
