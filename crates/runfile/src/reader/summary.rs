//! The summary of a run, or of a stretch of it: computed from slices by the ledger that computes it while a test runs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{
    Breach, CheckDelta, ExceptionDelta, ExceptionDeltas, Frame, Ledger, LedgerConfig, Registry,
    Series, SeriesDelta, Sink, Summary, TagSet, ThresholdResult, Timing,
};

use super::RunFile;
use crate::error::RunFileError;
use crate::slicer::OTHERS;

impl RunFile {
    /// The summary of a range of slices; [`slices`](Self::slices) has the whole run for nothing. `breakdown`: groups and scenarios
    /// apart, too.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn summary(&self, slices: &Range<u64>, breakdown: bool) -> Result<Summary, RunFileError> {
        let registry = Arc::new(Registry::new());
        let settings = &self.about().summary;
        if settings.hides_own {
            let judged = settings.thresholds.iter().map(|set| &set.metric);
            let named: Vec<&str> =
                judged.chain(&settings.unjudged).map(|name| metric_of(name)).collect();
            registry.hide_own_unless(|own| named.contains(&own));
        }
        let mut ids = BTreeMap::new();
        for metric in self.metrics() {
            let (kind, contains) = (metric.kind, metric.contains);
            let ours = registry.find_giving_way(&metric.name, kind, contains);
            let made = if let Some(id) = ours {
                id
            } else {
                let made = registry.register_lenient(&metric.name, kind, contains);
                made.map_err(|error| RunFileError::damaged(self.path(), &error.to_string()))?.id
            };
            ids.insert(metric.id, made);
        }
        let config = LedgerConfig {
            thresholds: settings.thresholds.clone(),
            trend_stats: settings.trend_stats.clone(),
            expected_response_submetric: settings.expected_response_submetric,
            breakdown,
            unjudged: settings.unjudged.clone(),
            no_check_tag: settings.no_check_tag,
            no_group_tag: settings.no_group_tag,
            warmup: settings.warmup,
        };
        let mut ledger = Ledger::new(Arc::clone(&registry), config)
            .map_err(|error| RunFileError::damaged(self.path(), &error.to_string()))?;
        let mut frame = self.frame(slices, &ids)?;
        if ledger.has_looks() {
            frame.series.clear();
            self.replay(&mut ledger, slices, &ids)?;
        }
        ledger.absorb(&frame);
        let length = self.length(slices);
        ledger.evaluate(length, true);
        let mut summary = ledger.summary(length);
        let is_attack = self.about().kind == "attack";
        if (ledger.has_looks() || is_attack) && *slices == (0..self.about().slices) {
            self.correct(&mut summary, is_attack)?;
        }
        // It is one of the whole run, whichever part of it is asked for.
        if let Some(verdict) = &self.about().verdict {
            summary.conclude(brunt_verdict::METRIC, verdict.level().number());
        }
        Ok(summary)
    }

    /// Hands the slices over one by one, and has the thresholds in time looked at after each.
    fn replay(
        &self,
        ledger: &mut Ledger,
        slices: &Range<u64>,
        ids: &BTreeMap<u32, brunt_metrics::MetricId>,
    ) -> Result<(), RunFileError> {
        let all: BTreeMap<u32, Arc<Series>> = self.all_series(ids)?.into_iter().collect();
        let width = self.about().width;
        let mut frame = Frame::default();
        let mut current = slices.start;
        let mut over = |n: u64, frame: &mut Frame| {
            ledger.absorb(&std::mem::take(frame));
            let count = u32::try_from(n + 1 - slices.start).unwrap_or(u32::MAX);
            ledger.look(width.saturating_mul(count));
        };
        self.each(slices, |n, series, sink| {
            while current < n {
                over(current, &mut frame);
                current += 1;
            }
            if let Some(series) = all.get(&series) {
                frame.series.push(SeriesDelta { series: Arc::clone(series), sink });
            }
        })?;
        while current < slices.end {
            over(current, &mut frame);
            current += 1;
        }
        Ok(())
    }

    /// Of the whole run the thresholds in time are known as they were found while it ran. Of an attack all are: its
    /// conditions have definitions of their own, and some are on numbers that no metric tells.
    fn correct(&self, summary: &mut Summary, is_attack: bool) -> Result<(), RunFileError> {
        if !self.has_table("threshold_breach")? {
            return Ok(());
        }
        let rows = self.rows(
            "SELECT metric, text, passed, t.last, at, lasted, b.value FROM threshold t
             LEFT JOIN threshold_breach b ON threshold = t.id WHERE passed IS NOT NULL",
            [],
            |row| {
                let nanos =
                    |time: i64| Duration::from_nanos(u64::try_from(time).unwrap_or_default());
                let at: Option<i64> = row.get(4)?;
                let breach = match at {
                    Some(at) => Some(Breach {
                        at: nanos(at),
                        lasted: nanos(row.get(5)?),
                        value: row.get(6)?,
                    }),
                    None => None,
                };
                let key: (String, String) = (row.get(0)?, row.get(1)?);
                Ok((key, (row.get::<_, bool>(2)?, row.get::<_, Option<f64>>(3)?, breach)))
            },
        )?;
        let mut found: BTreeMap<_, _> = rows.into_iter().collect();
        for metric in summary.metrics.iter_mut().chain(&mut summary.own) {
            for result in &mut metric.thresholds {
                let key = (metric.name.clone(), result.label());
                if let Some((ok, value, breach)) = found.remove(&key)
                    && (is_attack || result.timing.is_in_time())
                {
                    (result.ok, result.value, result.breach) = (ok, value, breach);
                }
            }
        }
        for ((metric, text), (ok, value, breach)) in found.into_iter().filter(|_| is_attack) {
            let mut all = summary.metrics.iter_mut().chain(&mut summary.own);
            if let Some(metric) = all.find(|known| known.name == metric)
                && let Ok((source, timing)) = Timing::split(&text)
            {
                metric.thresholds.push(ThresholdResult {
                    source: source.to_owned(),
                    ok,
                    value,
                    // Its number is none of the metric's statistics.
                    aggregation: source
                        .split(['<', '>', '=', '!'])
                        .next()
                        .unwrap_or_default()
                        .trim()
                        .to_owned(),
                    abort_on_fail: false,
                    timing,
                    breach,
                });
            }
        }
        Ok(())
    }

    /// The series of metrics that are known, by number.
    fn all_series(
        &self,
        ids: &BTreeMap<u32, brunt_metrics::MetricId>,
    ) -> Result<Vec<(u32, Arc<Series>)>, RunFileError> {
        let known = self.series()?.into_iter().filter_map(|row| {
            let metric = *ids.get(&row.metric)?;
            let pairs = row.tags.iter().map(|(key, value)| (key_of(key), value.as_str()));
            let tags = TagSet::from_pairs(pairs);
            Some((row.id, Arc::new(Series { metric, tags })))
        });
        Ok(known.collect())
    }

    /// All that was measured in a range of slices, as one frame.
    fn frame(
        &self,
        slices: &Range<u64>,
        ids: &BTreeMap<u32, brunt_metrics::MetricId>,
    ) -> Result<Frame, RunFileError> {
        let mut sinks: BTreeMap<u32, Sink> = BTreeMap::new();
        self.each(slices, |_, series, sink| match sinks.get_mut(&series) {
            Some(all) => all.merge(&sink),
            None => drop(sinks.insert(series, sink)),
        })?;
        let mut series = Vec::new();
        for (id, of) in self.all_series(ids)? {
            series.extend(sinks.remove(&id).map(|sink| SeriesDelta { series: of, sink }));
        }
        let range = [slices.start as i64, slices.end as i64];
        let count = |number: i64| u64::try_from(number).unwrap_or_default();
        let checks = self.rows(
            "SELECT \"group\", name, place, sum(s.passes), sum(s.fails) FROM checks_slice s JOIN checks c
             ON c.id = s.\"check\" WHERE n >= ?1 AND n < ?2 GROUP BY c.id ORDER BY place",
            range,
            |row| {
                Ok(CheckDelta {
                    group: row.get::<_, String>(0)?.into(),
                    name: row.get::<_, String>(1)?.into(),
                    first_at_order: count(row.get(2)?),
                    passes: count(row.get(3)?),
                    fails: count(row.get(4)?),
                })
            },
        )?;
        let groups = self.rows(
            "SELECT min(place), path FROM groups WHERE n < ?1 GROUP BY path ORDER BY 1",
            [range[1]],
            |row| Ok((count(row.get(0)?), row.get::<_, String>(1)?.into())),
        )?;
        let told = self.rows(
            "SELECT message, place, sum(s.count) FROM failure_slice s JOIN failure f ON f.id = s.failure
             WHERE kind = 'exception' AND n >= ?1 AND n < ?2 GROUP BY f.id ORDER BY place",
            range,
            |row| {
                Ok(ExceptionDelta {
                    text: row.get::<_, String>(0)?.into(),
                    order: count(row.get(1)?),
                    count: count(row.get(2)?),
                })
            },
        )?;
        let (others, told): (Vec<_>, Vec<_>) =
            told.into_iter().partition(|one| &*one.text == OTHERS);
        let others = others.iter().map(|one| one.count).sum();
        let exceptions = ExceptionDeltas { told, others };
        Ok(Frame { series, checks, groups, exceptions, ..Frame::default() })
    }
}

/// The metric of a selector.
fn metric_of(selector: &str) -> &str {
    selector.split('{').next().unwrap_or_default().trim()
}

/// The key of a tag while a run runs: a route is none there.
fn key_of(key: &str) -> &str {
    if key == "route" { TagSet::ROUTE } else { key }
}
