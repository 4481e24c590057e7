//! From slices to rows of tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brunt_metrics::{Breach, Metric, MetricId, Registry, Selector, Sink, TrendSink};
use brunt_verdict::Shortages;
use rusqlite::{Connection, Transaction, params};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use super::{Extras, Standing};
use crate::exchange::{Phases, address};
use crate::histogram::Packer;
use crate::info::{Load, RunInfo};
use crate::slicer::{Seen, Slice, Slicer};

/// Up to this number of values a series is kept exactly: summaries are exact up to the same.
const EXACT_MAX: u64 = 4096;

/// The connection, and what is in the file already.
pub(super) struct Rows {
    connection: Connection,
    registry: Arc<Registry>,
    packer: Packer,
    /// Metrics that are in the file.
    metrics: FxHashSet<MetricId>,
    /// How the scenarios stood at the end of the slice before.
    load: Vec<Load>,
    /// The start is in the file.
    is_started: bool,
    /// Groups of slices that could not be written.
    groups: Vec<(u64, Arc<str>)>,
}

impl Rows {
    pub(super) fn new(connection: Connection, registry: &Arc<Registry>) -> std::io::Result<Self> {
        Ok(Self {
            connection,
            registry: Arc::clone(registry),
            packer: Packer::new()?,
            metrics: registry.all().iter().map(|metric| metric.id).collect(),
            load: Vec::new(),
            is_started: false,
            groups: Vec::new(),
        })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Writes slices in one transaction, all or nothing. `home`: the one of them to which load and health belong.
    pub(super) fn write(
        &mut self,
        (closed, home): (&[(u64, Slice)], u64),
        slicer: &mut Slicer,
        extras: &Extras,
        judged: Option<&[Standing]>,
    ) -> rusqlite::Result<()> {
        for (_, slice) in closed {
            self.groups.extend(slice.groups.iter().cloned());
        }
        let new = slicer.catalogue.take_new();
        let mut metrics = self.metrics.clone();
        let transaction = self.connection.transaction()?;
        let written = (|| -> rusqlite::Result<()> {
            if !self.is_started
                && let Some(at) = slicer.started()
            {
                transaction.execute("UPDATE run SET started = ?1", [(at / 1000) as i64])?;
            }
            for series in &new {
                if metrics.insert(series.metric) {
                    metric(&transaction, &self.registry.get(series.metric))?;
                }
                let mut tags: Map<String, Value> = series
                    .tags
                    .iter()
                    .map(|(key, value)| (key.to_owned(), shown(key, value)))
                    .collect();
                if let Some(route) = series.tags.route() {
                    // A tag `route` of the script's own is the same.
                    tags.entry("route").or_insert_with(|| shown("name", route));
                }
                transaction.prepare_cached("INSERT INTO series VALUES (?1, ?2, ?3)")?.execute(
                    params![series.id, series.metric.0, Value::Object(tags).to_string()],
                )?;
            }
            let last = closed.last().map_or(0, |(n, _)| *n);
            for path in &self.groups {
                transaction
                    .prepare_cached("INSERT INTO groups VALUES (?1, ?2, ?3)")?
                    .execute(params![&*path.1, path.0 as i64, last as i64])?;
            }
            for (n, slice) in closed {
                series(&transaction, *n as i64, slice, slicer, &mut self.packer)?;
                checks(&transaction, *n as i64, slice, slicer)?;
                failures(&transaction, *n as i64, slice, slicer)?;
            }
            load(&transaction, home, closed, &extras.load, &self.load, &mut self.packer)?;
            health(&transaction, home, closed, extras)?;
            events(&transaction, slicer, extras)?;
            evidence(&transaction, slicer, extras)?;
            for standing in judged.unwrap_or_default() {
                threshold(&transaction, standing, Some(last))?;
            }
            transaction
                .prepare_cached("UPDATE run SET slices = ?1")?
                .execute([(last + 1) as i64])?;
            Ok(())
        })();
        match written.and_then(|()| transaction.commit()) {
            Ok(()) => {
                self.metrics = metrics;
                self.groups.clear();
                self.is_started = slicer.started().is_some();
                if !extras.load.is_empty() {
                    self.load.clone_from(&extras.load);
                }
                Ok(())
            }
            Err(error) => {
                slicer.catalogue.put_back(new);
                Err(error)
            }
        }
    }

    /// Writes how the thresholds stand at the end.
    pub(super) fn judge(&mut self, judged: &[Standing]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for standing in judged {
            threshold(&transaction, standing, None)?;
        }
        transaction.commit()
    }
}

/// The value of a tag; URLs without what is secret in them.
fn shown(key: &str, value: &str) -> Value {
    if matches!(key, "url" | "name") && value.contains(['?', '#', ';', '@']) {
        return json!(address(value));
    }
    json!(value)
}

fn metric(transaction: &Transaction<'_>, metric: &Metric) -> rusqlite::Result<()> {
    let contains = metric.contains.to_string();
    let unit = match &*contains {
        "time" => Some("ms"),
        "data" => Some("B"),
        _ => None,
    };
    transaction.execute(
        "INSERT INTO metric VALUES (?1, ?2, ?3, ?4, ?5)",
        params![metric.id.0, &*metric.name, metric.kind.to_string(), contains, unit],
    )?;
    Ok(())
}

fn series(
    transaction: &Transaction<'_>,
    n: i64,
    slice: &Slice,
    slicer: &mut Slicer,
    packer: &mut Packer,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO slice (n, series, count, sum, min, max, first, last, hits, histogram, sum_rest, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    let mut all: Vec<(&u32, &Seen)> = slice.series.iter().collect();
    // As the table is sorted: pages fill one after the other.
    all.sort_unstable_by_key(|(series, _)| **series);
    let none = None::<f64>;
    for (series, Seen { sink, first }) in all {
        match sink {
            Sink::Counter { sum, rest, .. } => statement.execute(params![
                n,
                series,
                none,
                sum,
                none,
                none,
                none,
                none,
                none,
                none,
                some(*rest),
                none
            ])?,
            Sink::Gauge { last, min, max, at } => statement.execute(params![
                n,
                series,
                none,
                none,
                min,
                max,
                first,
                last,
                none,
                none,
                none,
                at.map(|at| slicer.since(at) as i64)
            ])?,
            Sink::Rate { hits, total } => statement.execute(params![
                n,
                series,
                *total as i64,
                none,
                none,
                none,
                none,
                none,
                *hits as i64,
                none,
                none,
                none
            ])?,
            Sink::Trend(trend) => {
                let total = slicer.catalogue.count(*series, trend.count());
                let histogram = packer.pack(trend.distribution(), total > EXACT_MAX);
                let sum = trend.whole_sum();
                statement.execute(params![
                    n,
                    series,
                    trend.count() as i64,
                    sum.high,
                    trend.min(),
                    trend.max(),
                    none,
                    none,
                    none,
                    histogram,
                    some(sum.low),
                    none
                ])?
            }
        };
    }
    Ok(())
}

/// Nothing for 0: it takes no room.
fn some(rest: f64) -> Option<f64> {
    Some(rest).filter(|rest| *rest != 0.0)
}

fn checks(
    transaction: &Transaction<'_>,
    n: i64,
    slice: &Slice,
    slicer: &Slicer,
) -> rusqlite::Result<()> {
    for (id, (passes, fails)) in &slice.checks {
        let check = &slicer.checks[*id as usize];
        transaction
            .prepare_cached(
                "INSERT INTO checks VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE
                 SET place = ?4, passes = ?5, fails = ?6",
            )?
            .execute(params![
                id,
                &*check.group,
                &*check.name,
                check.place as i64,
                check.passes as i64,
                check.fails as i64
            ])?;
        transaction
            .prepare_cached("INSERT INTO checks_slice VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![n, id, *passes as i64, *fails as i64])?;
    }
    Ok(())
}

fn failures(
    transaction: &Transaction<'_>,
    n: i64,
    slice: &Slice,
    slicer: &Slicer,
) -> rusqlite::Result<()> {
    for (id, count) in &slice.failures {
        let kind = slicer.failures.get(*id);
        transaction
            .prepare_cached(
                "INSERT INTO failure VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE
                 SET place = ?6, count = ?7, last = ?9",
            )?
            .execute(params![
                id,
                kind.source,
                kind.code,
                kind.message,
                kind.route,
                i64::try_from(kind.place).unwrap_or(i64::MAX),
                kind.count as i64,
                (kind.first / 1000) as i64,
                (kind.last / 1000) as i64
            ])?;
        transaction
            .prepare_cached("INSERT INTO failure_slice VALUES (?1, ?2, ?3)")?
            .execute(params![n, id, *count as i64])?;
    }
    Ok(())
}

fn load(
    transaction: &Transaction<'_>,
    home: u64,
    closed: &[(u64, Slice)],
    now: &[Load],
    before: &[Load],
    packer: &mut Packer,
) -> rusqlite::Result<()> {
    for load in now {
        let before = before.iter().find(|other| other.scenario == load.scenario);
        let before = before.copied().unwrap_or_default();
        let since = |now: u64, before: u64| now.saturating_sub(before) as i64;
        let parts = || closed.iter().map(|(_, slice)| slice);
        let lateness = parts().filter_map(|slice| slice.lateness.get(&load.scenario));
        let lateness = lateness.cloned().reduce(|mut all, more| {
            all.merge(&more);
            all
        });
        let lateness = lateness.map(|trend| packer.pack(trend.distribution(), false));
        let dropped: u64 = parts().filter_map(|slice| slice.dropped.get(&load.scenario)).sum();
        transaction
            .prepare_cached(
                "INSERT INTO load VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                home as i64,
                load.scenario as i64,
                load.vus_planned.map(|vus| vus as i64),
                load.vus_started as i64,
                load.vus_active as i64,
                load.iterations_planned
                    .map(|planned| since(planned, before.iterations_planned.unwrap_or_default())),
                since(load.iterations_started, before.iterations_started),
                since(load.iterations_done, before.iterations_done),
                since(load.iterations_interrupted, before.iterations_interrupted),
                dropped as i64,
                lateness
            ])?;
    }
    Ok(())
}

fn health(
    transaction: &Transaction<'_>,
    home: u64,
    closed: &[(u64, Slice)],
    extras: &Extras,
) -> rusqlite::Result<()> {
    let Some(health) = &extras.health else { return Ok(()) };
    let whole = |number: Option<u64>| number.map(|number| number as i64);
    let [open, orphaned, waiting] = health.sockets.map(whole);
    transaction
        .prepare_cached(
            "INSERT INTO health VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            home as i64,
            whole(health.resident),
            whole(health.files),
            whole(health.files_max),
            open,
            orphaned,
            waiting,
            health.steal,
            health.throttled,
            whole(health.segments.map(|(sent, _)| sent)),
            whole(health.segments.map(|(_, again)| again)),
            whole(health.interface_drops),
            whole(health.memory_free),
        ])?;
    let Shortages { files, ports, memory } = health.shortages;
    for (what, count) in [("files", files), ("ports", ports), ("memory", memory)] {
        if count > 0 {
            transaction
                .prepare_cached("INSERT INTO health_error VALUES (?1, ?2, ?3)")?
                .execute(params![home as i64, what, count as i64])?;
        }
    }
    let mut late: BTreeMap<u32, TrendSink> = BTreeMap::new();
    for (core, ticks) in closed.iter().flat_map(|(_, slice)| &slice.late) {
        late.entry(*core).or_default().merge(ticks);
    }
    let cores: BTreeSet<u32> = health.cores.keys().chain(late.keys()).copied().collect();
    for core in cores {
        let times = health.cores.get(&core);
        transaction
            .prepare_cached("INSERT INTO health_core VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                home as i64,
                core,
                times.map(|times| times.busy),
                times.map(|times| times.waiting),
                late.get(&core).map(|late| late.percentile(99.0)),
                late.get(&core).map(TrendSink::max),
            ])?;
    }
    Ok(())
}

fn events(transaction: &Transaction<'_>, slicer: &Slicer, extras: &Extras) -> rusqlite::Result<()> {
    for event in &extras.events {
        transaction.prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3, ?4)")?.execute(
            params![(slicer.since(event.at) / 1000) as i64, event.kind, event.text, event.scenario],
        )?;
    }
    Ok(())
}

fn evidence(
    transaction: &Transaction<'_>,
    slicer: &Slicer,
    extras: &Extras,
) -> rusqlite::Result<()> {
    for number in &extras.evidence.removed {
        transaction
            .prepare_cached("DELETE FROM exchange WHERE id = ?1")?
            .execute([*number as i64])?;
    }
    let headers = |headers: &[(String, String)]| json!(headers).to_string();
    for (number, why, exchange) in &extras.evidence.added {
        let (route, code) = (exchange.route(), exchange.code);
        let code = if code == 0 { exchange.status.to_string() } else { code.to_string() };
        let message = match &exchange.error {
            Some(error) => error.clone(),
            None if exchange.status == 0 => "no response".to_owned(),
            None => format!("HTTP status {}", exchange.status),
        };
        let failure = slicer.failures.find(&code, &message, &route);
        let part = |of: fn(&Phases) -> f64| exchange.phases.as_ref().map(of);
        transaction
            .prepare_cached(
                "INSERT INTO exchange VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)",
            )?
            .execute(params![
                *number as i64,
                why.text(),
                failure,
                (slicer.since(exchange.at) / 1000) as i64,
                exchange.scenario,
                exchange.method,
                exchange.url,
                route,
                exchange.status,
                code,
                exchange.error,
                exchange.duration,
                part(|phases| phases.blocked),
                part(|phases| phases.lookup),
                part(|phases| phases.connecting),
                part(|phases| phases.tls),
                part(|phases| phases.sending),
                part(|phases| phases.waiting),
                part(|phases| phases.receiving),
                headers(&exchange.request_headers),
                exchange.request_body,
                exchange.request_size as i64,
                exchange.proto,
                headers(&exchange.response_headers),
                exchange.response_body,
                exchange.response_size as i64,
                exchange.curl(),
            ])?;
    }
    Ok(())
}

fn threshold(
    transaction: &Transaction<'_>,
    standing: &Standing,
    slice: Option<u64>,
) -> rusqlite::Result<()> {
    let Standing { metric, text, ok, value, breach } = standing;
    let find = "SELECT id, breached FROM threshold WHERE metric = ?1 AND text = ?2";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?));
    let found = transaction.prepare_cached(find)?.query_row(params![metric, text], row);
    let (id, breached) = match found {
        Ok(found) => found,
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(()),
        Err(error) => return Err(error),
    };
    let width = "SELECT slice_width FROM run";
    let breached = match (ok, breached, slice) {
        (false, None, Some(slice)) => {
            let width: i64 = transaction.prepare_cached(width)?.query_row([], |row| row.get(0))?;
            Some((slice as i64 + 1) * width * 1000)
        }
        // The run looked more closely than at the ends of slices.
        (false, _, None) if breach.is_some() => breach.map(|breach| breach.at.as_micros() as i64),
        (_, breached, _) => breached,
    };
    if let (None, Some(Breach { at, lasted, value })) = (slice, breach) {
        transaction
            .prepare_cached("INSERT OR REPLACE INTO threshold_breach VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![id, at.as_nanos() as i64, lasted.as_nanos() as i64, value])?;
    }
    transaction
        .prepare_cached("UPDATE threshold SET passed = ?2, last = ?3, breached = ?4 WHERE id = ?1")?
        .execute(params![id, ok, value, breached])?;
    if let Some(slice) = slice {
        transaction
            .prepare_cached("INSERT INTO threshold_slice VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![slice as i64, id, value, ok])?;
    }
    Ok(())
}

/// All that is known before the run.
pub(super) fn info(
    transaction: &Transaction<'_>,
    info: &RunInfo,
    registry: &Registry,
    (width, now): (u64, u64),
) -> rusqlite::Result<()> {
    // All metrics, with values or without: a threshold may name them.
    for known in registry.all() {
        metric(transaction, &known)?;
    }
    let kind = if info.kind.is_empty() { "run" } else { &info.kind };
    let micros = |duration: std::time::Duration| duration.as_micros() as i64;
    transaction.execute(
        "INSERT INTO run VALUES (?1, ?2, ?3, 'running', ?4, NULL, NULL, ?5, ?6, 0, NULL, NULL, NULL, ?7, ?8, ?9, ?10,
         ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, '{}', ?23)",
        params![
            uuid(now),
            kind,
            info.name,
            (now / 1000) as i64,
            micros(info.planned),
            width as i64,
            info.brunt,
            info.script,
            info.sha256,
            json!(info.arguments).to_string(),
            info.options.to_string(),
            json!(info.environment).to_string(),
            info.machine.host,
            info.machine.kernel,
            info.machine.cpu,
            info.cores as i64,
            info.machine.memory.map(|bytes| bytes as i64),
            info.seed,
            info.commit.commit,
            info.commit.branch,
            info.commit.build,
            json!(info.labels).to_string(),
            crate::settings::write(&info.summary).to_string(),
        ],
    )?;
    for source in &info.sources {
        transaction
            .execute("INSERT INTO source VALUES (?1, ?2)", params![source.path, source.text])?;
    }
    for (id, scenario) in info.scenarios.iter().enumerate() {
        transaction.execute(
            "INSERT INTO scenario VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                id as i64,
                scenario.name,
                scenario.executor,
                scenario.text,
                micros(scenario.start),
                micros(scenario.end)
            ],
        )?;
        for (n, stage) in scenario.stages.iter().enumerate() {
            transaction.execute(
                "INSERT INTO stage VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    id as i64,
                    n as i64,
                    micros(stage.start),
                    micros(stage.end),
                    stage.from,
                    stage.to
                ],
            )?;
        }
    }
    for set in &info.summary.thresholds {
        // As summaries name it: with its tags, without spaces around them.
        let name = Selector::parse(&set.metric).map_or_else(|_| set.metric.clone(), |s| s.name());
        for threshold in &set.thresholds {
            transaction.execute(
                "INSERT INTO threshold (metric, text, abort) VALUES (?1, ?2, ?3)",
                params![name, threshold.label(), threshold.abort_on_fail],
            )?;
        }
    }
    for (metric, text) in &info.summary.conditions {
        transaction.execute(
            "INSERT INTO threshold (metric, text, abort) VALUES (?1, ?2, 0)",
            params![metric, text],
        )?;
    }
    Ok(())
}

/// A number that no other run has and that grows with time: a UUID of version 7.
fn uuid(now: u64) -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = |salt: u64| RandomState::new().hash_one((now, salt));
    let millis = now / 1_000_000;
    let bits =
        u128::from(millis) << 80 | u128::from(random(1) & 0xfff) << 64 | u128::from(random(2));
    let bits = bits | 0x7 << 76;
    let bits = bits & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_id_tells_its_version_and_its_time() {
        let [one, other] = [1_700_000_000_123_000_000, 1_700_000_000_124_000_000].map(super::uuid);
        assert_eq!((one.len(), &one[14..15]), (36, "7"));
        assert!("89ab".contains(&one[19..20]), "{one}");
        assert!(one < other);
    }
}
