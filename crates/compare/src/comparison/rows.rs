//! Which figures are compared.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{MAIN, PRIMARY, Row, Side, names};
use crate::estimate::Estimate;
use crate::measure::{Measure, Scale, Statistic, Subject};
use crate::permutation;
use crate::run::{Part, Run};
use crate::verdict::{Verdict, Why};
use crate::welch::welch;

/// At most this many routes are compared: those with the most requests.
const ROUTES_MAX: usize = 500;
/// At most this many durations, checks and thresholds each.
const FIGURES_MAX: usize = 1000;

/// The figures, in the order of their rows.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) figures: Vec<(Subject, Measure)>,
    /// The duration that the verdict rests on.
    pub(super) main: Option<Arc<str>>,
    /// The rate that the verdict rests on.
    rate: Measure,
    pub(super) only_a: Vec<Arc<str>>,
    pub(super) only_b: Vec<Arc<str>>,
    pub(super) routes_left_out: usize,
    pub(super) figures_left_out: usize,
}

impl Planned {
    pub(super) fn of(sides: &[Side<'_>; 2]) -> Self {
        let totals = || sides.iter().flat_map(|side| &side.totals);
        let has_requests = totals().any(|total| total.all.requests > 0);
        let mut left_out = 0;
        let mut durations: Vec<Arc<str>> =
            names(totals().map(|total| &total.all.durations)).into_iter().collect();
        let has = |metric: &str, index: usize| {
            let mut all = sides[index].totals.iter();
            all.any(|total| total.all.durations.get(metric).is_some_and(|sink| !sink.is_empty()))
        };
        let main = MAIN
            .into_iter()
            .chain(durations.iter().map(|metric| &**metric))
            .find(|metric| has(metric, 0) && has(metric, 1))
            .map(Arc::<str>::from);
        durations.sort_by_key(|metric| Some(metric) != main.as_ref());
        left_out += shorten(&mut durations);

        let mut figures = Vec::new();
        let all = |measure| (Subject::All, measure);
        if has_requests {
            figures.extend([all(Measure::Requests), all(Measure::Failed)]);
        }
        if totals().any(|total| total.iterations > 0) || !has_requests {
            figures.push(all(Measure::Iterations));
        }
        if totals().any(|total| !total.checks.is_empty()) {
            figures.push(all(Measure::Checks));
        }
        figures.extend(statistics(&Subject::All, &durations));

        let Routes { both, only_a, only_b, left_out: routes_left_out } = routes(sides);
        for (requests, (route, durations)) in &both {
            let subject = Subject::Route(Arc::clone(route));
            // Calls of gRPC have durations alone.
            if *requests > 0 {
                figures.push((subject.clone(), Measure::Requests));
                figures.push((subject.clone(), Measure::Failed));
            }
            figures.extend(statistics(&subject, durations));
        }
        let mut checks: Vec<Arc<str>> =
            names(totals().map(|total| &total.checks)).into_iter().collect();
        left_out += shorten(&mut checks);
        let of_check = |check| (Subject::Check(check), Measure::Checks);
        figures.extend(checks.into_iter().map(of_check));
        Self {
            figures,
            main,
            rate: if has_requests { Measure::Requests } else { Measure::Iterations },
            only_a,
            only_b,
            routes_left_out,
            figures_left_out: left_out,
        }
    }

    /// Whether the verdict of the whole rests on a figure.
    pub(super) fn is_primary(&self, subject: &Subject, measure: &Measure) -> bool {
        *subject == Subject::All
            && match measure {
                Measure::Duration(metric, statistic) => {
                    Some(metric) == self.main.as_ref() && PRIMARY.contains(statistic)
                }
                Measure::Failed => true,
                other => *other == self.rate,
            }
    }
}

fn shorten<T>(names: &mut Vec<T>) -> usize {
    let more = names.len().saturating_sub(FIGURES_MAX);
    names.truncate(FIGURES_MAX);
    more
}

fn statistics<'a>(
    subject: &'a Subject,
    durations: &'a [Arc<str>],
) -> impl Iterator<Item = (Subject, Measure)> + 'a {
    durations.iter().flat_map(move |metric| {
        Statistic::ALL
            .map(|statistic| (subject.clone(), Measure::Duration(Arc::clone(metric), statistic)))
    })
}

/// A route with its durations.
type Route = (Arc<str>, Vec<Arc<str>>);

#[derive(Debug)]
struct Routes {
    /// Those with the most requests first, and how many they are.
    both: Vec<(u64, Route)>,
    only_a: Vec<Arc<str>>,
    only_b: Vec<Arc<str>>,
    /// How many are beyond the bound.
    left_out: usize,
}

fn routes(sides: &[Side<'_>; 2]) -> Routes {
    let [a, b] = sides.each_ref().map(|side| {
        let mut routes: BTreeMap<Arc<str>, Part> = BTreeMap::new();
        for (name, part) in side.totals.iter().flat_map(|total| &total.routes) {
            routes.entry(Arc::clone(name)).or_default().merge(part);
        }
        routes
    });
    let missing = |of: &BTreeMap<Arc<str>, Part>, other: &BTreeMap<Arc<str>, Part>| {
        let mut names: Vec<Arc<str>> =
            of.keys().filter(|name| !other.contains_key(*name)).cloned().collect();
        names.truncate(ROUTES_MAX);
        names
    };
    let (only_a, only_b) = (missing(&a, &b), missing(&b, &a));
    let mut both: Vec<(u64, Route)> = Vec::new();
    for (name, of_a) in &a {
        if let Some(of_b) = b.get(name) {
            let mut durations: Vec<Arc<str>> =
                names([&of_a.durations, &of_b.durations]).into_iter().collect();
            let place = |metric: &Arc<str>| {
                MAIN.iter().position(|main| **main == **metric).unwrap_or(MAIN.len())
            };
            durations.sort_by_key(place);
            durations.truncate(FIGURES_MAX);
            let requests = of_a.requests.saturating_add(of_b.requests);
            both.push((requests, (Arc::clone(name), durations)));
        }
    }
    both.sort_by_key(|(requests, _)| Reverse(*requests));
    let left_out = both.len().saturating_sub(ROUTES_MAX);
    both.truncate(ROUTES_MAX);
    Routes { both, only_a, only_b, left_out }
}

/// The rows of the thresholds that both sides have, in the order of A's runs.
pub(super) fn thresholds(a: &[Run], b: &[Run]) -> Vec<Row> {
    let mut texts: Vec<&str> = Vec::new();
    for threshold in a.iter().flat_map(|run| &run.thresholds) {
        if !texts.contains(&threshold.text.as_str()) && texts.len() < FIGURES_MAX {
            texts.push(&threshold.text);
        }
    }
    texts.into_iter().filter_map(|text| threshold(text, a, b)).collect()
}

fn threshold(text: &str, a: &[Run], b: &[Run]) -> Option<Row> {
    let of = |side: &[Run]| -> Vec<crate::run::Threshold> {
        let all = side.iter().filter_map(|run| run.thresholds.iter().find(|one| one.text == text));
        all.cloned().collect()
    };
    let sides = [of(a), of(b)];
    let first = sides[1].first()?;
    let (is_share, better) = (first.is_share, first.better);
    let values = sides.each_ref().map(|side| {
        side.iter().filter_map(|one| one.value).filter(|one| one.is_finite()).collect::<Vec<_>>()
    });
    let mut row = Row::empty(&Subject::Threshold(text.into()), &Measure::Threshold { is_share });
    row.better = better;
    row.held = Some(sides.each_ref().map(|side| side.iter().filter(|one| one.passed).count()));
    let has_ratio = values.iter().flatten().all(|value| *value > 0.0);
    if row.scale == Scale::Ratio && !has_ratio {
        // Values that may be zero have no ratio; they are shown, and told to be the same if they are.
        row.runs = values.each_ref().map(Vec::len);
        let mean = |values: &Vec<f64>| (!values.is_empty()).then(|| crate::welch::mean(values));
        (row.a, row.b) = (mean(&values[0]), mean(&values[1]));
        row.why = Some(Why::NoRatio);
        let mut all = values.iter().flatten();
        if let Some(first) = all.next()
            && !values[1].is_empty()
            && all.all(|value| value.total_cmp(first).is_eq())
        {
            (row.verdict, row.why) = (Verdict::Same, None);
        }
        return Some(row);
    }
    let scale = row.scale;
    let values = values.map(|side| {
        side.into_iter().map(|value| super::scaled(scale, value)).collect::<Vec<f64>>()
    });
    row.fill(&values);
    let single = |a: &[f64], b: &[f64]| match (a, b) {
        ([a], [b]) if a.total_cmp(b).is_eq() => {
            Ok(Estimate { difference: 0.0, error: 0.0, degrees: 1.0 })
        }
        ([_], [_]) => Err(Why::NoSpread),
        _ => Err(Why::OneSide),
    };
    row.estimate(welch(&values[0], &values[1]).map_or_else(|| single(&values[0], &values[1]), Ok));
    if values[0].len() + values[1].len() > 2 {
        row.permutation = permutation::exact(&values[0], &values[1]);
    }
    Some(row)
}
