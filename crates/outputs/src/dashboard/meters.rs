//! The figures of the page: of each metric this period and the whole test.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{Contains, Kind, Metric, Registry, Series, SeriesDelta, Sink};
use rustc_hash::FxHashMap;
use serde_json::{Map, Number, Value, json};

/// Metrics and submetrics that are shown; more are left out, and counted.
const METERS_MAX: usize = 512;

/// Series whose way is remembered; beyond it, it is found anew each time.
const ROUTES_MAX: usize = 100_000;

/// The bytes of their tags, likewise.
const BYTES_MAX: usize = 64 << 20;

/// The time of a point, in the place of a metric.
const TIME: &str = "time";

/// All metrics, and their parts by the values of some tags.
pub(super) struct Meters {
    registry: Arc<Registry>,
    /// Metrics that no script made.
    builtin: Registry,
    tags: Vec<String>,
    routes: FxHashMap<Arc<Series>, Vec<u32>>,
    /// Of the tags of those series.
    bytes: usize,
    all: Vec<Meter>,
    /// Sorted, as the events are; the synthetic `time` has no meter.
    by_name: BTreeMap<String, Option<u32>>,
    unannounced: Vec<String>,
    left_out: u64,
}

struct Meter {
    metric: Metric,
    period: Sink,
    total: Sink,
}

/// Which numbers of each kind are told, in this order.
const fn numbers(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Counter => &["count", "rate"],
        Kind::Gauge => &["value"],
        Kind::Rate => &["rate"],
        Kind::Trend => &["avg", "max", "med", "min", "p(90)", "p(95)", "p(99)"],
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Rate => "rate",
        Kind::Trend => "trend",
    }
}

/// The same for readers of the events.
pub(super) fn aggregates() -> Value {
    let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
    kinds.into_iter().map(|kind| (name_of(kind).to_owned(), json!(numbers(kind)))).collect()
}

impl Meters {
    pub(super) fn new(registry: &Arc<Registry>, tags: &[String]) -> Self {
        Self {
            registry: Arc::clone(registry),
            builtin: Registry::new(),
            tags: tags.to_vec(),
            routes: FxHashMap::default(),
            bytes: 0,
            all: Vec::new(),
            by_name: [(TIME.to_owned(), None)].into(),
            unannounced: vec![TIME.to_owned()],
            left_out: 0,
        }
    }

    pub(super) fn absorb(&mut self, deltas: &[SeriesDelta]) {
        for SeriesDelta { series, sink } in deltas {
            if let Some(route) = self.routes.get(series) {
                for place in route {
                    self.all[*place as usize].period.merge(sink);
                }
                continue;
            }
            let route = self.route(series);
            for place in &route {
                self.all[*place as usize].period.merge(sink);
            }
            if self.routes.len() < ROUTES_MAX && self.bytes < BYTES_MAX {
                self.bytes += series.tags.size();
                self.routes.insert(Arc::clone(series), route);
            }
        }
    }

    /// Where a series belongs: its metric, and a part of it for each tag that has a value.
    fn route(&mut self, series: &Series) -> Vec<u32> {
        let metric = self.registry.get(series.metric);
        if &*metric.name == TIME || self.registry.is_own(series.metric) {
            return Vec::new();
        }
        let mut names = vec![metric.name.to_string()];
        for tag in &self.tags {
            if let Some(value) = series.tags.get(tag).filter(|value| !value.is_empty()) {
                names.push(format!("{}{{{tag}:{value}}}", metric.name));
            }
        }
        names.into_iter().filter_map(|name| self.place(name, &metric)).collect()
    }

    fn place(&mut self, name: String, metric: &Metric) -> Option<u32> {
        if let Some(place) = self.by_name.get(&name) {
            return *place;
        }
        if self.all.len() >= METERS_MAX {
            if self.left_out == 0 {
                log::warn!(
                    "the web dashboard shows {METERS_MAX} metrics and parts of metrics; more are left out"
                );
            }
            self.left_out += 1;
            return None;
        }
        let place = self.all.len() as u32;
        let empty = || Sink::empty(metric.kind);
        self.all.push(Meter { metric: metric.clone(), period: empty(), total: empty() });
        self.by_name.insert(name.clone(), Some(place));
        self.unannounced.push(name);
        Some(place)
    }

    pub(super) fn has_unannounced(&self) -> bool {
        !self.unannounced.is_empty()
    }

    /// The metrics that are new.
    pub(super) fn announce(&mut self) -> Value {
        let new = mem::take(&mut self.unannounced);
        let mut told = Map::new();
        for name in new {
            let about = match self.by_name.get(&name) {
                Some(Some(place)) => self.about(*place),
                _ => json!({ "type": "gauge", "contains": "time" }),
            };
            told.insert(name, about);
        }
        Value::Object(told)
    }

    fn about(&self, place: u32) -> Value {
        let metric = &self.all[place as usize].metric;
        let mut about = json!({ "type": name_of(metric.kind) });
        match metric.contains {
            Contains::Default => {}
            Contains::Time => about["contains"] = json!("time"),
            Contains::Data => about["contains"] = json!("data"),
        }
        if self.builtin.find(&metric.name).is_none() {
            about["custom"] = json!(true);
        }
        about
    }

    /// Whether anything was measured in this period.
    pub(super) fn has_news(&self) -> bool {
        self.all.iter().any(|meter| !meter.period.is_empty())
    }

    /// This period in numbers, at this moment (milliseconds since the Unix epoch). A gauge without a new value keeps its last one.
    pub(super) fn snapshot(&self, at: u64, period: Duration) -> Value {
        self.rows(at, |meter| {
            let is_still = meter.period.is_empty() && meter.metric.kind == Kind::Gauge;
            row(if is_still { &meter.total } else { &meter.period }, period)
        })
    }

    /// Ends the period.
    pub(super) fn turn(&mut self) {
        for meter in &mut self.all {
            if !meter.period.is_empty() {
                let period = mem::replace(&mut meter.period, Sink::empty(meter.metric.kind));
                meter.total.merge(&period);
            }
        }
    }

    /// The whole test in numbers, up to the last [`turn`](Self::turn).
    pub(super) fn cumulative(&self, at: u64, run: Duration) -> Value {
        self.rows(at, |meter| row(&meter.total, run))
    }

    fn rows(&self, at: u64, of: impl Fn(&Meter) -> Value) -> Value {
        let rows = self.by_name.values().map(|place| match place {
            Some(place) => of(&self.all[*place as usize]),
            None => json!([at]),
        });
        rows.collect()
    }

    /// How often values had no place.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

fn row(sink: &Sink, elapsed: Duration) -> Value {
    let values = sink.values(elapsed);
    let number = |name: &&str| short(values.get(name).unwrap_or(0.0));
    numbers(sink.kind()).iter().map(number).collect()
}

/// Five digits say enough on a page.
fn short(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return json!(0);
    }
    if value.fract() == 0.0 && value.abs() < 1e5 {
        return Number::from(value as i64).into();
    }
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 {
        return Number::from(rounded as i64).into();
    }
    Number::from_f64(rounded).map_or(json!(0), Value::Number)
}

#[cfg(test)]
mod tests {
    use brunt_metrics::builtin;

    use super::*;
    use crate::testing::frame;

    fn meters(registry: &Arc<Registry>) -> Meters {
        Meters::new(registry, &["group".to_owned()])
    }

    #[test]
    fn a_point_holds_all_metrics_by_name_and_the_time_among_them() {
        let registry = Arc::new(Registry::new());
        let mut meters = meters(&registry);
        assert_eq!(meters.announce(), json!({ "time": { "type": "gauge", "contains": "time" } }));
        let frame = frame(
            &registry,
            &[
                (builtin::VUS, &[], 3.0),
                (builtin::HTTP_REQS, &[("group", "::a")], 2.0),
                (builtin::HTTP_REQS, &[("group", "")], 4.0),
                (builtin::CHECKS, &[], 1.0),
                (builtin::HTTP_REQ_DURATION, &[], 1.234_567),
            ],
        );
        meters.absorb(&frame.series);
        let told = meters.announce();
        assert_eq!(told["http_reqs{group:::a}"], json!({ "type": "counter" }));
        assert_eq!(told["http_req_duration"], json!({ "type": "trend", "contains": "time" }));
        let two = Duration::from_secs(2);
        let point = |time: u64, reqs: Value, part: Value, vus: u64| {
            let trend = 1.2346;
            json!([
                [1],
                [trend, trend, trend, trend, trend, trend, trend],
                reqs,
                part,
                [time],
                [vus]
            ])
        };
        assert_eq!(meters.snapshot(7, two), point(7, json!([6, 3]), json!([2, 1]), 3));
        meters.turn();
        assert_eq!(meters.cumulative(9, two * 2), point(9, json!([6, 1.5]), json!([2, 0.5]), 3));
        assert!(!meters.has_news());
        let quiet = meters.snapshot(11, two);
        assert_eq!(quiet[2], json!([0, 0]));
        assert_eq!(quiet[5], json!([3]), "a gauge stays");
    }

    #[test]
    fn metrics_of_the_script_are_known_as_such() {
        let registry = Arc::new(Registry::new());
        let mine = registry.register("mine", Kind::Trend, Contains::Data).unwrap();
        let mut meters = meters(&registry);
        meters.absorb(&frame(&registry, &[(mine, &[], 1.0)]).series);
        let told = meters.announce();
        assert_eq!(told["mine"], json!({ "type": "trend", "contains": "data", "custom": true }));
    }

    #[test]
    fn the_values_of_a_tag_have_a_bound() {
        let registry = Arc::new(Registry::new());
        let mut meters = meters(&registry);
        for index in 0..METERS_MAX + 10 {
            let group = format!("::{index}");
            let tags: &[(&str, &str)] = &[("group", &group)];
            meters.absorb(&frame(&registry, &[(builtin::HTTP_REQS, tags, 1.0)]).series);
        }
        assert_eq!(meters.all.len(), METERS_MAX);
        assert_eq!(meters.left_out(), 11);
        assert_eq!(meters.snapshot(1, Duration::from_secs(1))[0], json!([522, 522]));
    }

    #[test]
    fn five_digits_are_kept() {
        let shown = |value: f64| short(value).to_string();
        assert_eq!(shown(0.366_381_9), "0.36638");
        assert_eq!(shown(2.0), "2");
        assert_eq!(shown(123_456.7), "123460");
        assert_eq!(shown(f64::NAN), "0");
        assert_eq!(shown(6.666_66), "6.6667");
    }
}
