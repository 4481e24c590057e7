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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, SeriesDelta};
    use crate::ledger::{Ledger, LedgerConfig};
    use crate::metric::MetricId;
    use crate::registry::Registry;
    use crate::tags::TagSet;
    use crate::threshold::{Threshold, ThresholdSet};

    fn trend(values: &[f64]) -> Sink {
        let mut trend = TrendSink::default();
        for value in values {
            trend.add(*value);
        }
        Sink::Trend(trend)
    }

    fn count(sum: f64) -> Sink {
        Sink::Counter { sum, rest: 0.0, first_at: Some(1) }
    }

    /// Requests of a route under some tags: all samples of them.
    fn requests(route: &str, tags: &[(&str, &str)], durations: &[f64]) -> Vec<SeriesDelta> {
        let tags = TagSet::from_pairs(tags.to_vec()).with(TagSet::ROUTE, route);
        let failed = tags.get("expected_response") == Some("false");
        let total = durations.len() as u64;
        let hits = if failed { total } else { 0 };
        let delta = |metric: MetricId, sink| SeriesDelta {
            series: Arc::new(Series { metric, tags: tags.clone() }),
            sink,
        };
        vec![
            delta(builtin::HTTP_REQS, count(total as f64)),
            delta(builtin::HTTP_REQ_DURATION, trend(durations)),
            delta(builtin::HTTP_REQ_FAILED, Sink::Rate { hits, total }),
        ]
    }

    fn ledger(thresholds: &[&str]) -> Ledger {
        let set = |metric: &&str| ThresholdSet {
            metric: (*metric).to_owned(),
            thresholds: vec![Threshold::parse("count>0", false, None).unwrap()],
        };
        let thresholds = thresholds.iter().map(set).collect();
        let config = LedgerConfig { thresholds, warmup: true, ..LedgerConfig::default() };
        Ledger::new(Arc::new(Registry::new()), config).unwrap()
    }

    #[test]
    fn each_route_has_its_numbers_and_the_slowest_in_all_comes_first() {
        let good = [("method", "GET"), ("status", "200"), ("expected_response", "true")];
        let bad = [("method", "GET"), ("status", "503"), ("expected_response", "false")];
        let mut series = requests("http://a/quick", &good, &[1.0; 10]);
        series.extend(requests("http://a/slow", &good, &[50.0, 70.0]));
        series.extend(requests("http://a/slow", &bad, &[10.0, 10.0]));
        let warm = [("method", "GET"), ("warmup", "true")];
        series.extend(requests("http://a/slow", &warm, &[1e6]));
        for (metric, bytes) in
            [(builtin::HTTP_REQ_BYTES_SENT, 300.0), (builtin::HTTP_REQ_BYTES_RECEIVED, 900.0)]
        {
            let tags = TagSet::from_pairs([("method", "GET"), (TagSet::ROUTE, "http://a/slow")]);
            series.push(SeriesDelta {
                series: Arc::new(Series { metric, tags }),
                sink: count(bytes),
            });
        }
        let mut ledger = ledger(&[]);
        ledger.absorb(&Frame { series, ..Frame::default() });
        let summary = ledger.summary(Duration::from_secs(2));
        let [slow, quick] = &summary.routes[..] else { panic!("{:?}", summary.routes) };
        assert_eq!((slow.path(), quick.path()), ("/slow", "/quick"));
        assert_eq!((slow.requests, slow.failed, slow.rate, slow.goodput), (4, 2, 2.0, 1.0));
        assert_eq!((slow.sent, slow.received, quick.sent), (Some(300.0), Some(900.0), None));
        assert_eq!((slow.duration.max(), slow.duration.count()), (70.0, 4));
        let outcomes: Vec<_> = slow.outcomes.iter().map(|(kind, all)| (*kind, all.max())).collect();
        assert_eq!(outcomes, [(Outcome::Ok, 70.0), (Outcome::Broken, 10.0)]);
        assert!(
            (slow.share - 140.0 / 150.0).abs() < 1e-12
                && (quick.share - 10.0 / 150.0).abs() < 1e-12
        );
        let [kind] = &summary.failures[..] else { panic!("{:?}", summary.failures) };
        assert_eq!(
            (kind.count, &*kind.message, &*kind.route),
            (2, "HTTP status 503", "http://a/slow")
        );
        // Bytes of routes are no metric that anybody knows.
        assert!(summary.metric("http_req_bytes_sent").is_none());
    }

    #[test]
    fn thresholds_look_at_a_route_or_at_the_scripts_own_tag_of_that_name() {
        let mut ledger = ledger(&[
            "http_reqs{route:/users/{id}}",
            "http_reqs{route:GET /users/{id},status:200}",
            "http_reqs{route:mine}",
            "http_reqs{route:/none}",
        ]);
        let mut series =
            requests("http://a/users/{id}", &[("method", "GET"), ("status", "200")], &[1.0; 3]);
        series.extend(requests(
            "http://a/users/{id}",
            &[("method", "PUT"), ("status", "200")],
            &[1.0; 2],
        ));
        // The script tells the route of these by itself.
        series.extend(requests("mine", &[("route", "mine"), ("method", "GET")], &[1.0]));
        ledger.absorb(&Frame { series, ..Frame::default() });
        let summary = ledger.summary(Duration::from_secs(1));
        let count = |name: &str| summary.metric(name).unwrap().values.get("count").unwrap();
        assert_eq!(count("http_reqs{route:/users/{id}}"), 5.0);
        assert_eq!(count("http_reqs{route:GET /users/{id},status:200}"), 3.0);
        assert_eq!(count("http_reqs{route:mine}"), 1.0);
        assert_eq!(count("http_reqs{route:/none}"), 0.0);
    }

    /// The system tag of outputs.
    #[test]
    fn a_learned_route_that_is_a_tag_is_found_as_one_that_is_none() {
        let mut ledger =
            ledger(&["http_reqs{route:/users/{id}}", "http_reqs{route:GET /users/{id}}"]);
        let route = "http://a/users/{id}";
        ledger.absorb(&Frame {
            series: requests(route, &[("method", "GET"), ("route", route)], &[1.0; 3]),
            ..Frame::default()
        });
        let summary = ledger.summary(Duration::from_secs(1));
        for name in ["http_reqs{route:/users/{id}}", "http_reqs{route:GET /users/{id}}"] {
            assert_eq!(summary.metric(name).unwrap().values.get("count"), Some(3.0), "{name}");
        }
    }

    #[test]
    fn a_tag_of_the_script_is_no_warm_up() {
        let tags = [("method", "GET"), ("expected_response", "false"), ("warmup", "true")];
        let series = requests("http://a/x", &tags, &[1.0]);
        let mut ledger = Ledger::new(Arc::new(Registry::new()), LedgerConfig::default()).unwrap();
        ledger.absorb(&Frame { series, ..Frame::default() });
        let summary = ledger.summary(Duration::from_secs(1));
        assert_eq!((summary.routes[0].requests, summary.failures[0].count), (1, 1));
    }

    #[test]
    fn beyond_the_bound_rows_are_one() {
        let mut ledger = ledger(&[]);
        for n in 0..1000 {
            let method = format!("M{n}");
            let series = requests("x", &[("method", method.as_str())], &[1.0]);
            ledger.absorb(&Frame { series, ..Frame::default() });
        }
        let routes = ledger.summary(Duration::from_secs(1)).routes;
        assert_eq!(routes.len(), ROWS_MAX + 1);
        assert_eq!(routes.iter().map(|route| route.requests).sum::<u64>(), 1000);
    }
}
