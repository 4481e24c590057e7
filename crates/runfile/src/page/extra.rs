//! Load, health, checks, failures and thresholds as series of the page.

use std::ops::Range;

use brunt_metrics::{Distribution, Sink, Sum, TrendSink};
use serde_json::{Map, Value, json};

use super::{Origin, PageMetric};
use crate::error::RunFileError;
use crate::histogram::Unpacker;
use crate::reader::RunFile;

/// The value of such a series in a slice of the file.
pub(super) struct Extra {
    pub(super) n: u64,
    pub(super) origin: Origin,
    pub(super) metric: PageMetric,
    pub(super) tags: Map<String, Value>,
    pub(super) sink: Sink,
}

/// Makes them, for slices that are so wide.
struct Maker {
    width: u64,
    all: Vec<Extra>,
}

impl Maker {
    /// A value at the end of a slice.
    fn gauge(
        &mut self,
        n: i64,
        origin: Origin,
        metric: PageMetric,
        tags: &[(&str, &str)],
        value: f64,
    ) {
        let n = n as u64;
        let at = Some((n + 1) * self.width - 1);
        let sink = Sink::Gauge { last: value, min: value, max: value, at };
        self.push(n, origin, metric, tags, sink);
    }

    fn counter(
        &mut self,
        n: i64,
        origin: Origin,
        metric: PageMetric,
        tags: &[(&str, &str)],
        sum: f64,
    ) {
        let sink = Sink::Counter { sum, rest: 0.0, first_at: Some(0) };
        self.push(n as u64, origin, metric, tags, sink);
    }

    fn push(
        &mut self,
        n: u64,
        origin: Origin,
        metric: PageMetric,
        tags: &[(&str, &str)],
        sink: Sink,
    ) {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        self.all.push(Extra { n, origin, metric, tags, sink });
    }
}

fn metric(
    name: &str,
    kind: &'static str,
    contains: &'static str,
    family: &'static str,
) -> PageMetric {
    PageMetric { name: name.to_owned(), kind, contains, family }
}

/// All of them, by rising slice within each table.
pub(super) fn all(file: &RunFile, slices: &Range<u64>) -> Result<Vec<Extra>, RunFileError> {
    let width = file.about().width.as_nanos() as u64;
    let mut maker = Maker { width, all: Vec::new() };
    let range = [slices.start as i64, slices.end as i64];
    load(file, range, &mut maker)?;
    health(file, range, &mut maker)?;
    checks(file, range, &mut maker)?;
    failures(file, range, &mut maker)?;
    thresholds(file, range, &mut maker)?;
    Ok(maker.all)
}

fn load(file: &RunFile, range: [i64; 2], maker: &mut Maker) -> Result<(), RunFileError> {
    const GAUGES: [&str; 3] = ["load.vus_planned", "load.vus_started", "load.vus_active"];
    const COUNTERS: [&str; 5] = [
        "load.iterations_planned",
        "load.iterations_started",
        "load.iterations_done",
        "load.iterations_interrupted",
        "load.iterations_dropped",
    ];
    let mut unpacker = Unpacker::new().map_err(RunFileError::io(file.path(), "read"))?;
    file.rows(
        "SELECT n, scenario, name, vus_planned, vus_started, vus_active, iterations_planned, iterations_started,
         iterations_done, iterations_interrupted, iterations_dropped, lateness, executor FROM load JOIN scenario s
         ON s.id = scenario WHERE n >= ?1 AND n < ?2 ORDER BY n",
        range,
        |row| {
            let (n, scenario): (i64, i64) = (row.get(0)?, row.get(1)?);
            let name: String = row.get(2)?;
            let tags = [("scenario", &*name)];
            for (place, column) in GAUGES.into_iter().enumerate() {
                if let Some(value) = row.get::<_, Option<f64>>(3 + place)? {
                    let metric = metric(column, "gauge", "default", "load");
                    maker.gauge(n, Origin::Load(column, scenario), metric, &tags, value);
                }
            }
            for (place, column) in COUNTERS.into_iter().enumerate() {
                if let Some(value) = row.get::<_, Option<f64>>(6 + place)? {
                    let metric = metric(column, "counter", "default", "load");
                    maker.counter(n, Origin::Load(column, scenario), metric, &tags, value);
                }
            }
            let executor: String = row.get(12)?;
            if executor.contains("arrival") {
                let users = "load.users_started";
                let begun = row.get::<_, f64>(7)?;
                let metric = metric(users, "counter", "default", "load");
                maker.counter(n, Origin::Load(users, scenario), metric, &tags, begun);
            }
            let packed: Option<Vec<u8>> = row.get(11)?;
            if let Some(lateness) = packed.and_then(|packed| unpacker.unpack(&packed)) {
                let column = "load.lateness";
                let metric = metric(column, "trend", "time", "load");
                let origin = Origin::Load(column, scenario);
                maker.push(n as u64, origin, metric, &tags, Sink::Trend(trend(lateness)));
            }
            Ok(())
        },
    )?;
    Ok(())
}

/// A distribution with sum and extremes of its bins: more is not asked of lateness. A bin is one step, however much is in it.
fn trend(values: Distribution) -> TrendSink {
    let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    values.for_each(|value, count| {
        sum += value * count as f64;
        (least, most) = (least.min(value), most.max(value));
    });
    TrendSink::from_parts(Sum { high: sum, low: 0.0 }, (least, most), values)
}

fn health(file: &RunFile, range: [i64; 2], maker: &mut Maker) -> Result<(), RunFileError> {
    const OF_ALL: [(&str, &str, &str, &str); 8] = [
        ("health.memory", "data", "", "resident"),
        ("health.free_memory", "data", "", "memory_free"),
        ("health.files", "default", "", "files"),
        ("health.sockets", "default", "open", "sockets_open"),
        ("health.sockets", "default", "orphaned", "sockets_orphaned"),
        ("health.sockets", "default", "waiting", "sockets_waiting"),
        ("health.steal", "share", "", "steal"),
        ("health.throttled", "share", "", "throttled"),
    ];
    const DROPS: &str = "health.interface_drops";
    let columns: Vec<&str> = OF_ALL.iter().map(|(.., column)| *column).collect();
    let query = format!(
        "SELECT n, {}, 1.0 * retransmitted / nullif(segments, 0), interface_drops FROM health WHERE n >= ?1 AND n < ?2 ORDER BY n",
        columns.join(", ")
    );
    file.rows(&query, range, |row| {
        let n = row.get(0)?;
        let retransmits = ("health.retransmits", "share", "", "");
        for (place, &(name, contains, state, _)) in OF_ALL.iter().chain([&retransmits]).enumerate()
        {
            let tags = [("state", state)];
            let tags = if state.is_empty() { &[][..] } else { &tags[..] };
            if let Some(value) = row.get::<_, Option<f64>>(1 + place)? {
                let metric = metric(name, "gauge", contains, "health");
                maker.gauge(n, Origin::Health(name, state.to_owned()), metric, tags, value);
            }
        }
        if let Some(value) = row.get::<_, Option<f64>>(2 + OF_ALL.len())? {
            let metric = metric(DROPS, "counter", "default", "health");
            maker.counter(n, Origin::Health(DROPS, String::new()), metric, &[], value);
        }
        Ok(())
    })?;
    if file.has_table("health_error")? {
        errors(file, range, maker)?;
    }
    let query =
        "SELECT n, core, busy, waiting, late FROM health_core WHERE n >= ?1 AND n < ?2 ORDER BY n";
    file.rows(query, range, |row| {
        let core = row.get::<_, i64>(1)?.to_string();
        for (place, (name, contains)) in
            [("health.busy", "share"), ("health.waiting", "share"), ("health.late", "time")]
                .into_iter()
                .enumerate()
        {
            if let Some(value) = row.get::<_, Option<f64>>(2 + place)? {
                let metric = metric(name, "gauge", contains, "health");
                let origin = Origin::Health(name, core.clone());
                maker.gauge(row.get(0)?, origin, metric, &[("core", &core)], value);
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Errors of the system that requests met because files, ports or memory of this machine ran out.
fn errors(file: &RunFile, range: [i64; 2], maker: &mut Maker) -> Result<(), RunFileError> {
    const NAME: &str = "health.errors";
    file.rows(
        "SELECT n, what, count FROM health_error WHERE n >= ?1 AND n < ?2 ORDER BY n",
        range,
        |row| {
            let what: String = row.get(1)?;
            let tags = [("what", &*what)];
            let metric = metric(NAME, "counter", "default", "health");
            maker.counter(
                row.get(0)?,
                Origin::Health(NAME, what.clone()),
                metric,
                &tags,
                row.get(2)?,
            );
            Ok(())
        },
    )?;
    Ok(())
}

fn checks(file: &RunFile, range: [i64; 2], maker: &mut Maker) -> Result<(), RunFileError> {
    file.rows(
        "SELECT n, c.id, \"group\", name, s.passes, s.fails FROM checks_slice s JOIN checks c ON c.id = s.\"check\"
         WHERE n >= ?1 AND n < ?2 ORDER BY n",
        range,
        |row| {
            let (group, name): (String, String) = (row.get(2)?, row.get(3)?);
            let (passes, fails): (i64, i64) = (row.get(4)?, row.get(5)?);
            let sink = Sink::Rate { hits: passes as u64, total: (passes + fails) as u64 };
            let tags = [("group", &*group), ("check", &*name)];
            let metric = metric("checks by name", "rate", "default", "check");
            maker.push(row.get::<_, i64>(0)? as u64, Origin::Check(row.get(1)?), metric, &tags, sink);
            Ok(())
        },
    )?;
    Ok(())
}

fn failures(file: &RunFile, range: [i64; 2], maker: &mut Maker) -> Result<(), RunFileError> {
    file.rows(
        "SELECT n, failure, s.count, code, route FROM failure_slice s JOIN failure f ON f.id = failure
         WHERE kind != 'exception' AND n >= ?1 AND n < ?2 ORDER BY n",
        range,
        |row| {
            let (code, route): (String, String) = (row.get(3)?, row.get(4)?);
            let tags = [("error_code", &*code), ("route", &*route)];
            let metric = metric("failures by kind", "counter", "default", "failure");
            maker.counter(row.get(0)?, Origin::Failure(row.get(1)?), metric, &tags, row.get(2)?);
            Ok(())
        },
    )?;
    Ok(())
}

fn thresholds(file: &RunFile, range: [i64; 2], maker: &mut Maker) -> Result<(), RunFileError> {
    file.rows(
        "SELECT n, threshold, value, metric, text FROM threshold_slice JOIN threshold t ON t.id = threshold
         WHERE value IS NOT NULL AND n >= ?1 AND n < ?2 ORDER BY n",
        range,
        |row| {
            let (of, text): (String, String) = (row.get(3)?, row.get(4)?);
            let tags = [("metric", &*of), ("threshold", &*text)];
            let metric = metric("thresholds", "gauge", "default", "threshold");
            maker.gauge(row.get(0)?, Origin::Threshold(row.get(1)?), metric, &tags, row.get(2)?);
            Ok(())
        },
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_is_one_step_however_much_is_in_it() {
        let few = Distribution::from_values(vec![1.0, 4.0, 1.0]);
        let few = trend(few);
        assert_eq!((few.count(), few.sum(), few.min(), few.max()), (3, 6.0, 1.0, 4.0));
        // Value by value this would take some hundred years.
        let many = Distribution::from_buckets(vec![(3_144_704, 1 << 60), (3_200_000, 1)]);
        let many = trend(many);
        assert_eq!(many.count(), (1 << 60) + 1);
        assert!(many.min() < many.max() && many.sum() > 0.0);
        assert!(trend(Distribution::default()).is_empty());
    }
}
