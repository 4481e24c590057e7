//! Two sides in, rows with verdicts out.

mod rows;
mod spreads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::rows::Planned;
use self::spreads::Spreads;
use crate::estimate::{Change, Estimate};
use crate::likeness::{Difference, differences};
use crate::measure::{Measure, Scale, Statistic, Subject};
use crate::multiple::{hochberg, holm};
use crate::permutation::{self, Permutation};
use crate::run::{Better, Identity, Run, Slice, Trust};
use crate::verdict::{Evidence, Verdict, Why};
use crate::warning::Warning;
use crate::welch::{mean, variance, welch};
use crate::window::{Reason, Window};

/// The runs of the history that it takes to show how runs differ.
const HISTORY_LEAST: usize = 5;
/// A tolerance of 5 % for durations and rates is one of 0.1 percentage points for shares.
const POINTS_OF_TOLERANCE: f64 = 1.0 / 50.0;

/// How to compare.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Changes up to this are none: 0.05 = 5 % of durations and rates. Of shares a fiftieth of it: 0.1 percentage points.
    pub tolerance: f64,
    /// Only what was measured from this second on; without it and `to_s` the steady part.
    pub from_s: Option<f64>,
    /// Only what was measured up to this second.
    pub to_s: Option<f64>,
    /// Whether unlike runs are compared all the same.
    pub force: bool,
    /// Whether the two sides have scripts of their own by intention, so that script and options may differ between them, and
    /// targets with a warning.
    pub two_scripts: bool,
    /// The seed of the draws, with one run a side.
    pub seed: u64,
    /// The number of draws.
    pub draws: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 0.05,
            from_s: None,
            to_s: None,
            force: false,
            two_scripts: false,
            seed: 1,
            draws: 2000,
        }
    }
}

/// Why two sides are not compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A side has no run.
    #[error("side {0} has no run: name at least one")]
    NoRun(&'static str),
    /// The runs are not of the same test.
    #[error("the runs are unlike:\n{}\n--force compares them all the same", lines(.0))]
    Unlike(Vec<Difference>),
    /// Nothing was measured in the part that is to be compared.
    #[error(
        "{0} has nothing in the part that is to be compared: its begin and end must have a whole slice between them"
    )]
    NothingThere(String),
    /// A setting makes no sense.
    #[error("{name} is {value}: it must be {wanted}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values that it may have.
        wanted: &'static str,
    },
}

fn lines(differences: &[Difference]) -> String {
    let lines: Vec<String> = differences.iter().map(|one| format!("  {one}")).collect();
    lines.join("\n")
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The worst of the primary rows.
    pub verdict: Verdict,
    /// The runs of A.
    pub a: Vec<Identity>,
    /// The runs of B.
    pub b: Vec<Identity>,
    /// The seconds of each side that were compared, its runs together.
    pub seconds: [f64; 2],
    /// The figures: the whole test, then routes (those with the most requests first), checks, thresholds.
    pub rows: Vec<Row>,
    /// The remarks.
    pub warnings: Vec<Warning>,
    /// Routes that only A has.
    pub only_a: Vec<Arc<str>>,
    /// Routes that only B has.
    pub only_b: Vec<Arc<str>>,
    /// The tolerance of durations and rates.
    pub tolerance: f64,
    /// The tolerance of shares.
    pub tolerance_points: f64,
    /// The draws and their seed, with one run a side.
    pub draws: Option<Draws>,
}

/// How the slices of single runs were drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// How often.
    pub count: usize,
    /// The seed.
    pub seed: u64,
    /// Slices in a block of A and of B; none where a run is too short for two.
    pub block: [Option<usize>; 2],
    /// Runs of the history that widened the intervals.
    pub history: usize,
}

/// One figure of both sides.
#[derive(Clone, Debug)]
pub struct Row {
    /// The thing it speaks of.
    pub subject: Subject,
    /// The figure.
    pub measure: Measure,
    /// Whether the verdict of the whole rests on it.
    pub is_primary: bool,
    /// The runs of each side that have it.
    pub runs: [usize; 2],
    /// Its value of A: the mean over the runs, of ratios the geometric one.
    pub a: Option<f64>,
    /// Its value of B.
    pub b: Option<f64>,
    /// The change from A to B; none if it cannot be told.
    pub change: Option<Change>,
    /// How probable a change of this size is where there is none.
    pub p: Option<f64>,
    /// The same, corrected for the figures that were asked together.
    pub p_corrected: Option<f64>,
    /// The exact permutation test, with two to six runs a side.
    pub permutation: Option<Permutation>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is unclear, if it is.
    pub why: Option<Why>,
    /// Of thresholds: the runs of each side in which it held.
    pub held: Option<[usize; 2]>,
    /// How its values are set against each other.
    pub scale: Scale,
    /// Which way is better.
    pub better: Option<Better>,
}

/// Compares the runs of two sides.
///
/// Several runs a side are set against each other as runs; a single one a side is cut into slices that are drawn
/// again. `history` are earlier runs of the same script; with five of them or more, single runs are compared with the
/// spread that these show.
pub fn compare(
    a: &[Run],
    b: &[Run],
    history: &[Run],
    settings: &Settings,
) -> Result<Comparison, Refusal> {
    check(a, b, settings)?;
    let mut warnings = likeness(a, b, settings)?;
    let sides = [Side::of(a, settings)?, Side::of(b, settings)?];
    warnings.extend(remarks(a, b, &sides));

    let planned = Planned::of(&sides);
    let count = |count, warning: fn(usize) -> Warning| (count > 0).then(|| warning(count));
    warnings.extend(count(planned.routes_left_out, |count| Warning::RoutesLeftOut { count }));
    warnings.extend(count(planned.figures_left_out, |count| Warning::FiguresLeftOut { count }));

    let is_single = a.len() == 1 && b.len() == 1;
    let earlier: Vec<Slice> = if is_single {
        history.iter().filter_map(|run| Side::total(run, settings)).collect()
    } else {
        Vec::new()
    };
    let spreads = is_single.then(|| Spreads::of(&sides, planned.main.as_ref(), settings));
    if is_single {
        let history = if earlier.len() >= HISTORY_LEAST { earlier.len() } else { 0 };
        warnings.push(Warning::OneRunASide { history });
    }

    let mut rows: Vec<Row> = planned
        .figures
        .iter()
        .map(|(subject, measure)| {
            let values = sides.each_ref().map(|side| side.values(subject, measure));
            let spread = spreads.as_ref().map(|spreads| spreads.get(subject, measure));
            let scale = measure.scale();
            let mut row = Row::empty(subject, measure);
            row.is_primary = planned.is_primary(subject, measure);
            row.fill(&values);
            let estimate = match spread {
                Some(spread) => {
                    let earlier = earlier.iter().filter_map(|slice| measure.value(subject, slice));
                    single(
                        &values,
                        spread,
                        &earlier.map(|value| scaled(scale, value)).collect::<Vec<_>>(),
                    )
                }
                None => welch(&values[0], &values[1]).ok_or(Why::OneSide),
            };
            row.estimate(estimate.map(|estimate| {
                let shares = sides.each_ref().map(|side| side.share(subject, measure));
                floored(estimate, shares, values[0].len() + values[1].len())
            }));
            if !is_single {
                row.permutation = permutation::exact(&values[0], &values[1])
                    .filter(|_| values[0].len() + values[1].len() > 2);
            }
            row
        })
        .collect();
    rows.extend(rows::thresholds(a, b));
    judge(&mut rows, settings.tolerance);

    let verdict = Verdict::of_all(rows.iter().filter(|row| row.is_primary).map(|row| row.verdict));
    let identities = |side: &[Run]| side.iter().map(|run| run.identity.clone()).collect();
    Ok(Comparison {
        verdict,
        a: identities(a),
        b: identities(b),
        seconds: sides.each_ref().map(|side| side.totals.iter().map(|one| one.width_s).sum()),
        rows,
        warnings,
        only_a: planned.only_a,
        only_b: planned.only_b,
        tolerance: settings.tolerance,
        tolerance_points: settings.tolerance * POINTS_OF_TOLERANCE,
        draws: spreads.map(|spreads| Draws {
            count: settings.draws,
            seed: settings.seed,
            block: spreads.block(),
            history: if earlier.len() >= HISTORY_LEAST { earlier.len() } else { 0 },
        }),
    })
}

fn check(a: &[Run], b: &[Run], settings: &Settings) -> Result<(), Refusal> {
    for (name, side) in [("A", a), ("B", b)] {
        if side.is_empty() {
            return Err(Refusal::NoRun(name));
        }
    }
    let Settings { tolerance, from_s, to_s, draws, .. } = *settings;
    let bad = |name, value, wanted| Err(Refusal::Setting { name, value, wanted });
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return bad("the tolerance", tolerance, "more than 0 and less than 1");
    }
    if let (Some(from), Some(to)) = (from_s, to_s)
        && from.total_cmp(&to).is_ge()
    {
        return bad("the end of the part", to, "behind its begin");
    }
    if !(100..=100_000).contains(&draws) {
        return bad("the number of draws", draws as f64, "100 to 100000");
    }
    Ok(())
}

/// Refuses unlike runs, or warns of them.
fn likeness(a: &[Run], b: &[Run], settings: &Settings) -> Result<Vec<Warning>, Refusal> {
    use crate::likeness::Aspect::{Options, Script, Target, Version};
    let found = differences(a, b);
    if !settings.two_scripts {
        if found.is_empty() || settings.force {
            return Ok(found.into_iter().map(Warning::Unlike).collect());
        }
        return Err(Refusal::Unlike(found));
    }
    // Two scripts have options and targets of their own; within a side they must be one test still.
    let is_meant = |one: &Difference| matches!(one.aspect, Script | Options | Target);
    let within = [differences(a, a), differences(b, b)].concat();
    let (within, between): (Vec<_>, Vec<_>) = (
        within.into_iter().filter(is_meant).collect(),
        found.into_iter().filter(|one| matches!(one.aspect, Target | Version)).collect(),
    );
    let is_wrong = |one: &Difference| one.aspect == Version;
    if !settings.force && (!within.is_empty() || between.iter().any(is_wrong)) {
        let wrong = between.into_iter().filter(is_wrong);
        return Err(Refusal::Unlike(within.into_iter().chain(wrong).collect()));
    }
    Ok(within.into_iter().chain(between).map(Warning::Unlike).collect())
}

fn remarks(a: &[Run], b: &[Run], sides: &[Side<'_>; 2]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for run in a.iter().chain(b) {
        let (is_invalid, findings) = match &run.identity.trust {
            Trust::Invalid(findings) => (true, findings),
            Trust::Doubtful(findings) => (false, findings),
            Trust::Unknown | Trust::Trusted => continue,
        };
        let (run, findings) = (run.identity.name.clone(), findings.clone());
        warnings.push(Warning::NotTrusted { run, is_invalid, findings });
    }
    match (a.len().min(b.len()), a.len().max(b.len())) {
        (1, 1) => {}
        (1, _) => warnings.push(Warning::OneRun),
        (2, _) => warnings.push(Warning::TwoRuns),
        _ => {}
    }
    let span = |side: &[Run]| {
        let times = side.iter().map(|run| run.identity.started_us).filter(|time| *time > 0);
        times.clone().min().zip(times.max())
    };
    if a.len() + b.len() > 2
        && let (Some((first_a, last_a)), Some((first_b, last_b))) = (span(a), span(b))
        && (last_a < first_b || last_b < first_a)
    {
        warnings.push(Warning::OneAfterTheOther);
    }
    for side in sides {
        for (run, window) in side.runs.iter().zip(&side.windows) {
            if window.reason == Reason::NeverSteady {
                warnings.push(Warning::NeverSteady { run: run.identity.name.clone() });
            }
        }
    }
    warnings
}

/// The runs of a side, each with the part that counts.
#[derive(Debug)]
struct Side<'a> {
    runs: &'a [Run],
    windows: Vec<Window>,
    /// Each run's part as one slice.
    totals: Vec<Slice>,
}

impl<'a> Side<'a> {
    fn of(runs: &'a [Run], settings: &Settings) -> Result<Self, Refusal> {
        let mut side = Self { runs, windows: Vec::new(), totals: Vec::new() };
        for run in runs {
            let total = Self::total(run, settings)
                .ok_or_else(|| Refusal::NothingThere(run.identity.name.clone()))?;
            side.totals.push(total);
            side.windows.push(Window::of(run, settings.from_s, settings.to_s));
        }
        Ok(side)
    }

    fn total(run: &Run, settings: &Settings) -> Option<Slice> {
        let window = Window::of(run, settings.from_s, settings.to_s);
        let total = Slice::merged(window.slices(run));
        (total.width_s > 0.0).then_some(total)
    }

    /// The values of its runs: of ratios their logarithms.
    fn values(&self, subject: &Subject, measure: &Measure) -> Vec<f64> {
        let scale = measure.scale();
        let values = self.totals.iter().filter_map(|total| measure.value(subject, total));
        values.map(|value| scaled(scale, value)).filter(|value| value.is_finite()).collect()
    }

    /// The hits of all its runs; none if the figure is no share.
    fn share(&self, subject: &Subject, measure: &Measure) -> Option<crate::run::Share> {
        let mut all = crate::run::Share::default();
        let shares = self.totals.iter().filter_map(|total| measure.share(subject, total));
        let mut is_share = false;
        shares.for_each(|share| {
            all.add(share);
            is_share = true;
        });
        is_share.then_some(all)
    }
}

fn scaled(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Ratio => value.ln(),
        Scale::Points => value,
    }
}

/// The estimate of single runs: from the draws of their slices and from how earlier runs differ, whichever is wider.
fn single(
    values: &[Vec<f64>; 2],
    spread: Result<Estimate, Why>,
    earlier: &[f64],
) -> Result<Estimate, Why> {
    let [&[a], &[b]] = values.each_ref().map(Vec::as_slice) else { return Err(Why::OneSide) };
    // Two runs, each as far off as earlier ones are from their mean.
    let between = (earlier.len() >= HISTORY_LEAST)
        .then(|| variance(earlier).map(|variance| (2.0 * variance).sqrt()))
        .flatten();
    let degrees = earlier.len() as f64 - 1.0;
    let mut estimate = match (spread, between) {
        (Ok(estimate), Some(between)) => estimate.widened(between, degrees),
        (Ok(estimate), None) => estimate,
        (Err(_), Some(error)) => Estimate { difference: 0.0, error, degrees },
        (Err(why), None) => return Err(why),
    };
    estimate.difference = b - a;
    Ok(estimate)
}

/// Of shares: with at least the error that chance gives to this number of values. Runs without a single failure show no
/// spread; a hundred requests without one still say little.
fn floored(estimate: Estimate, shares: [Option<crate::run::Share>; 2], runs: usize) -> Estimate {
    let [Some(a), Some(b)] = shares else { return estimate };
    let chance = |share: crate::run::Share| {
        let total = share.total as f64;
        let hits = (share.hits as f64 + 0.5) / (total + 1.0);
        hits * (1.0 - hits) / total.max(1.0)
    };
    estimate.widened((chance(a) + chance(b)).sqrt(), estimate.degrees.max(runs as f64 - 2.0))
}

/// Corrects the p-values of each family and says the verdicts.
fn judge(rows: &mut [Row], tolerance: f64) {
    let tolerance_of = |row: &Row| match row.scale {
        Scale::Ratio => tolerance,
        Scale::Points => tolerance * POINTS_OF_TOLERANCE,
    };
    let mut families: BTreeMap<Family, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        // Figures that are the same can't be called anything else: they are no question, and take no part in a family.
        let is_same = row.change.is_some_and(|change| change.is_within(tolerance_of(row)));
        if row.p.is_some() && !is_same {
            families.entry(Family::of(row)).or_default().push(index);
        }
    }
    for (family, members) in families {
        let p_values: Vec<f64> = members.iter().filter_map(|index| rows[*index].p).collect();
        let corrected =
            if family == Family::Primary { hochberg(&p_values) } else { holm(&p_values) };
        for (index, corrected) in members.into_iter().zip(corrected) {
            rows[index].p_corrected = Some(corrected);
        }
    }
    for row in rows {
        let (Some(change), Some(p)) = (row.change, row.p) else { continue };
        let evidence = Evidence {
            change,
            tolerance: tolerance_of(row),
            p,
            corrected: row.p_corrected.unwrap_or(p),
            permutation: row.permutation,
            better: row.better,
        };
        (row.verdict, row.why) = evidence.judge();
    }
}

/// Figures that are asked together, and whose p-values are corrected together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    /// Those that the verdict of the whole rests on.
    Primary,
    /// The other statistics of one duration, or the other rates and shares, of the whole test.
    All(Option<Arc<str>>),
    /// One figure over all routes.
    Routes(Measure),
    Checks,
    Thresholds,
}

impl Family {
    fn of(row: &Row) -> Self {
        match (&row.subject, &row.measure) {
            _ if row.is_primary => Self::Primary,
            (Subject::All, Measure::Duration(metric, _)) => Self::All(Some(Arc::clone(metric))),
            (Subject::All, _) => Self::All(None),
            (Subject::Route(_), measure) => Self::Routes(measure.clone()),
            (Subject::Check(_), _) => Self::Checks,
            (Subject::Threshold(_), _) => Self::Thresholds,
        }
    }
}

impl Row {
    fn empty(subject: &Subject, measure: &Measure) -> Self {
        Self {
            subject: subject.clone(),
            measure: measure.clone(),
            is_primary: false,
            runs: [0; 2],
            a: None,
            b: None,
            change: None,
            p: None,
            p_corrected: None,
            permutation: None,
            verdict: Verdict::Unclear,
            why: Some(Why::OneSide),
            held: None,
            scale: measure.scale(),
            better: measure.better(),
        }
    }

    /// Takes the values of the runs, of ratios their logarithms.
    fn fill(&mut self, values: &[Vec<f64>; 2]) {
        self.runs = values.each_ref().map(Vec::len);
        let value = |values: &Vec<f64>| {
            (!values.is_empty()).then(|| match self.scale {
                Scale::Ratio => mean(values).exp(),
                Scale::Points => mean(values),
            })
        };
        (self.a, self.b) = (value(&values[0]), value(&values[1]));
    }

    fn estimate(&mut self, estimate: Result<Estimate, Why>) {
        match estimate {
            Ok(estimate) => {
                let back = |value: f64| match self.scale {
                    Scale::Ratio => value.exp_m1(),
                    Scale::Points => value,
                };
                let (low, high) = estimate.interval();
                self.change = Some(Change {
                    value: back(estimate.difference),
                    low: back(low),
                    high: back(high),
                });
                self.p = Some(estimate.p_value());
                self.why = None;
            }
            Err(why) => self.why = Some(why),
        }
    }
}

/// The names that maps of several slices have.
fn names<'a, V: 'a>(
    maps: impl IntoIterator<Item = &'a BTreeMap<Arc<str>, V>>,
) -> BTreeSet<Arc<str>> {
    maps.into_iter().flat_map(BTreeMap::keys).cloned().collect()
}

/// The duration that the verdict rests on, in the order of preference.
const MAIN: [&str; 4] =
    ["http_req_duration", "grpc_req_duration", "sql_duration", "iteration_duration"];

/// The statistics of it that the verdict rests on.
const PRIMARY: [Statistic; 2] = [Statistic::P50, Statistic::P95];

#[cfg(test)]
mod tests;
