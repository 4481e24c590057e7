//! A run file as the comparison wants it: slices merged as far as that loses nothing, stages, thresholds.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use brunt_compare::{Better, Part, Run, Settings, Slice, Stage, Threshold, Window};
use brunt_metrics::{Contains, Kind, Operator, Sink, TrendSink};
use brunt_runfile::{RunFileError, ScenarioInfo};

use super::opened::{Names, Opened};
use crate::failure::{Failure, Outcome};

/// How much is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Each steady stretch is one slice: several runs a side are compared as runs.
    Whole,
    /// Slices stay apart, to be drawn again.
    Fine,
}

/// At most this many slices: more tell no more.
const SLICES_MAX: usize = 1000;
/// At most this many distributions, all slices together; a bound of memory. Longer slices make them fewer.
const DISTRIBUTIONS_MAX: usize = 60_000;
/// However many distributions there are, this many slices stay: blocks are made of them.
const SLICES_LEAST: usize = 60;

/// Reads the part of a run that counts.
pub(super) fn run(
    opened: &Opened,
    names: Names,
    settings: &Settings,
    grain: Grain,
) -> Outcome<Run> {
    read(opened, names, settings, grain).map_err(|error| Failure::usage(error.to_string()))
}

fn read(
    opened: &Opened,
    names: Names,
    settings: &Settings,
    grain: Grain,
) -> Result<Run, RunFileError> {
    let mut run = Run {
        identity: opened.identity(names),
        stages: stages(&opened.file.scenarios()?),
        slices: bare(opened),
        thresholds: Vec::new(),
    };
    let window = Window::of(&run, settings.from_s, settings.to_s);
    let kept: Vec<usize> =
        (0..run.slices.len()).filter(|n| window.holds(&run.slices[*n])).collect();
    let roles = Roles::of(opened, names);
    let most = match grain {
        Grain::Whole => 1,
        Grain::Fine => {
            let room = DISTRIBUTIONS_MAX / roles.distributions.max(1);
            room.clamp(SLICES_LEAST, SLICES_MAX)
        }
    };
    let size = if grain == Grain::Whole { usize::MAX } else { kept.len().div_ceil(most).max(1) };
    // The group of each slice; none if it does not count.
    let mut group_of: Vec<Option<usize>> = vec![None; run.slices.len()];
    let mut merged: Vec<Slice> = Vec::new();
    let (mut last, mut count) = (None, 0);
    for n in kept {
        let slice = &run.slices[n];
        let goes_on = last == n.checked_sub(1) && last.is_some() && count < size;
        if !goes_on {
            let (start_s, width_s) = (slice.start_s, 0.0);
            merged.push(Slice { start_s, width_s, ..Slice::default() });
            count = 0;
        }
        if let Some(group) = merged.last_mut() {
            group.width_s = slice.start_s + slice.width_s - group.start_s;
        }
        group_of[n] = Some(merged.len() - 1);
        (last, count) = (Some(n), count + 1);
    }
    let range = range(&group_of);
    opened.file.each(&range, |n, series, sink| {
        let group = usize::try_from(n).ok().and_then(|n| group_of.get(n).copied().flatten());
        if let (Some(group), Some(role)) = (group, roles.of_series.get(&series)) {
            role.put(&mut merged[group], sink);
        }
    })?;
    run.slices = merged;
    let is_part = settings.from_s.is_some() || settings.to_s.is_some();
    let whole = 0..opened.about().slices;
    run.thresholds = thresholds(opened, if is_part { &range } else { &whole })?;
    Ok(run)
}

/// From the first slice that counts to the last.
fn range(group_of: &[Option<usize>]) -> Range<u64> {
    let first = group_of.iter().position(Option::is_some).unwrap_or(0);
    let end = group_of.iter().rposition(Option::is_some).map_or(first, |last| last + 1);
    first as u64..end as u64
}

/// The slices of a run without their content.
fn bare(opened: &Opened) -> Vec<Slice> {
    let about = opened.about();
    let bare = |n: u64| Slice {
        start_s: seconds(about.width) * n as f64,
        width_s: seconds(opened.file.length(&(n..n + 1))),
        ..Slice::default()
    };
    (0..about.slices).map(bare).collect()
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// The planned load of all scenarios. If somebody else says how many VUs there are, nothing is known of it.
fn stages(scenarios: &[ScenarioInfo]) -> Vec<Stage> {
    if scenarios.iter().any(|scenario| scenario.executor == "externally-controlled") {
        return Vec::new();
    }
    let mut stages = Vec::new();
    for scenario in scenarios {
        let stage = |start: Duration, end: Duration, from: f64, to: f64| Stage {
            scenario: scenario.name.clone(),
            start_s: seconds(start),
            end_s: seconds(end),
            from,
            to,
        };
        if scenario.stages.is_empty() {
            stages.push(stage(scenario.start, scenario.end, 1.0, 1.0));
        }
        let of_ramp = scenario.stages.iter();
        stages.extend(of_ramp.map(|one| stage(one.start, one.end, one.from, one.to)));
    }
    stages
}

/// The thresholds over some slices.
fn thresholds(opened: &Opened, slices: &Range<u64>) -> Result<Vec<Threshold>, RunFileError> {
    let sets = &opened.about().summary.thresholds;
    if sets.iter().all(|set| set.thresholds.is_empty()) || slices.is_empty() {
        return Ok(Vec::new());
    }
    let summary = opened.file.summary(slices, false)?;
    let mut found = Vec::new();
    for metric in summary.metrics.iter().chain(&summary.own) {
        for result in &metric.thresholds {
            let source = result.source.trim();
            let set = sets.iter().find(|set| set.metric == metric.name);
            let parsed = set.and_then(|set| {
                set.thresholds.iter().find(|threshold| threshold.source.trim() == source)
            });
            found.push(Threshold {
                text: format!("{} {source}", metric.name),
                passed: result.ok,
                value: result.value,
                is_share: metric.kind == Kind::Rate,
                better: parsed.and_then(|threshold| match threshold.operator {
                    Operator::Less | Operator::AtMost => Some(Better::Less),
                    Operator::Greater | Operator::AtLeast => Some(Better::More),
                    Operator::Equal | Operator::Unequal => None,
                }),
            });
        }
    }
    Ok(found)
}

/// The meaning of the values of each series.
struct Roles {
    of_series: BTreeMap<u32, Role>,
    /// How many distributions a slice has at most.
    distributions: usize,
}

enum Role {
    Requests(Option<Arc<str>>),
    Failed(Option<Arc<str>>),
    Iterations,
    Check(Arc<str>),
    Duration(Arc<str>, Option<Arc<str>>),
}

impl Roles {
    fn of(opened: &Opened, names: Names) -> Self {
        let metrics: BTreeMap<u32, _> =
            opened.file.metrics().iter().map(|metric| (metric.id, metric)).collect();
        let hides_own = opened.about().summary.hides_own;
        let mut known: BTreeMap<String, Arc<str>> = BTreeMap::new();
        let mut shared = |text: String| -> Arc<str> {
            let known = known.entry(text).or_insert_with_key(|text| text.as_str().into());
            Arc::clone(known)
        };
        let mut roles = Self { of_series: BTreeMap::new(), distributions: 0 };
        let mut seen = std::collections::BTreeSet::new();
        for series in &opened.series {
            let Some(metric) = metrics.get(&series.metric) else { continue };
            let name = metric.name.as_str();
            let has_route = name.starts_with("http_req")
                || matches!(name, "grpc_req_duration" | "sql_duration");
            let route = has_route.then(|| opened.route(&series.tags, names)).flatten();
            let route = route.map(&mut shared);
            let role = match (name, metric.kind) {
                ("http_reqs", Kind::Counter) => Role::Requests(route),
                ("http_req_failed", Kind::Rate) => Role::Failed(route),
                ("iterations", Kind::Counter) => Role::Iterations,
                ("checks", Kind::Rate) => match series.tags.get("check") {
                    Some(check) => Role::Check(shared(check_name(check, series.tags.get("group")))),
                    None => continue,
                },
                ("iteration_lateness" | "iteration_duration_planned", _) if hides_own => continue,
                (_, Kind::Trend) if metric.contains == Contains::Time => {
                    let metric = shared(name.to_owned());
                    roles.distributions += usize::from(seen.insert((Arc::clone(&metric), None)));
                    let of_route = (Arc::clone(&metric), route.clone());
                    roles.distributions += usize::from(route.is_some() && seen.insert(of_route));
                    Role::Duration(metric, route)
                }
                _ => continue,
            };
            roles.of_series.insert(series.id, role);
        }
        roles
    }
}

/// `group / check`
fn check_name(check: &str, group: Option<&String>) -> String {
    let group = group.map(|group| group.trim_start_matches("::").replace("::", " / "));
    match group.filter(|group| !group.is_empty()) {
        Some(group) => format!("{group} / {check}"),
        None => check.to_owned(),
    }
}

impl Role {
    fn put(&self, slice: &mut Slice, sink: Sink) {
        match (self, sink) {
            (Self::Requests(route), Sink::Counter { sum, .. }) => {
                let count = sum.max(0.0).round() as u64;
                slice.all.requests = slice.all.requests.saturating_add(count);
                if let Some(part) = part(slice, route.as_ref()) {
                    part.requests = part.requests.saturating_add(count);
                }
            }
            (Self::Failed(route), Sink::Rate { hits, .. }) => {
                slice.all.failures = slice.all.failures.saturating_add(hits);
                if let Some(part) = part(slice, route.as_ref()) {
                    part.failures = part.failures.saturating_add(hits);
                }
            }
            (Self::Iterations, Sink::Counter { sum, .. }) => {
                let count = sum.max(0.0).round() as u64;
                slice.iterations = slice.iterations.saturating_add(count);
            }
            (Self::Check(name), Sink::Rate { hits, total }) => {
                let share = slice.checks.entry(Arc::clone(name)).or_default();
                share.hits = share.hits.saturating_add(hits);
                share.total = share.total.saturating_add(total);
            }
            (Self::Duration(metric, route), Sink::Trend(sink)) => {
                merge(&mut slice.all, metric, &sink);
                if let Some(part) = part(slice, route.as_ref()) {
                    merge(part, metric, &sink);
                }
            }
            // A metric whose kind is not the one of its name: a script's own.
            _ => {}
        }
    }
}

fn part<'a>(slice: &'a mut Slice, route: Option<&Arc<str>>) -> Option<&'a mut Part> {
    Some(slice.routes.entry(Arc::clone(route?)).or_default())
}

fn merge(part: &mut Part, metric: &Arc<str>, sink: &TrendSink) {
    part.durations.entry(Arc::clone(metric)).or_default().merge(sink);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_without_stages_are_one() {
        let second = Duration::from_secs(1);
        let plain = ScenarioInfo {
            name: "a".into(),
            executor: "constant-vus".into(),
            start: second * 2,
            end: second * 12,
            ..ScenarioInfo::default()
        };
        let found = stages(std::slice::from_ref(&plain));
        assert_eq!((found[0].start_s, found[0].end_s, found.len()), (2.0, 12.0, 1));
        let outside = ScenarioInfo { executor: "externally-controlled".into(), ..plain.clone() };
        assert!(stages(&[plain, outside]).is_empty());
    }

    #[test]
    fn a_check_is_called_by_its_group() {
        assert_eq!(check_name("ok", Some(&"::a::b".to_owned())), "a / b / ok");
        assert_eq!(check_name("ok", Some(&String::new())), "ok");
        assert_eq!(check_name("ok", None), "ok");
    }

    #[test]
    fn a_range_goes_from_the_first_that_counts_to_the_last() {
        assert_eq!(range(&[None, Some(0), None, Some(1), None]), 1..4);
        assert_eq!(range(&[None, None]), 0..0);
    }
}
