//! Thresholds, checks and exceptions as JUnit's XML, for the test reports of CI systems.
//!
//! There is no standard of it. This is the part that all of them read: elements and attributes of Jenkins's schema
//! (`junit-10.xsd` of its plugin xUnit), and of these the ones that GitLab and Azure document and that the usual
//! actions of GitHub show. GitLab takes `classname` for the name of the suite and drops a case whose class and name it
//! has seen; Azure wants `timestamp`; Jenkins refuses a `time` with an exponent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use brunt_metrics::summary::{MetricSummary, Summary, ThresholdResult};
use brunt_metrics::{Contains, Kind};
use brunt_verdict::{Finding, Verdict};

use crate::breach;
use crate::escape::xml;
use crate::humanize;
use crate::order;

/// At most this many cases of a suite are written; one more fails and tells how many are left out.
const CASES_MAX: usize = 10_000;

/// The facts about the run beside its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The name of the whole: the script.
    pub script: &'a str,
    /// When it began, as RFC 3339 text, if that is known.
    pub started: Option<&'a str>,
    /// The machine, if that is known.
    pub host: Option<&'a str>,
    /// Why the run ended before its time, if it did.
    pub aborted: Option<&'a str>,
    /// Whether its numbers can be trusted, if anything looked at the generator.
    pub verdict: Option<&'a Verdict>,
}

/// The summary as a file of JUnit's XML.
///
/// A threshold that does not hold is a failure, and so is a check that failed once or more. An exception that ended an
/// iteration is a failure of the case `iterations`, an aborted run an error of the case `run`. Findings of the verdict on the
/// run are text of the case `verdict`, which fails never: with `--strict` the exit code tells.
pub fn junit(summary: &Summary, about: &About<'_>) -> String {
    let suites = [run(summary, about), thresholds(summary), checks(summary)];
    let seconds = format!("{:.3}", summary.run.as_secs_f64());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{seconds}\">",
        xml(about.script),
        sum(|suite| suite.cases.len()),
        sum(Suite::failures),
        sum(Suite::errors),
    );
    for suite in suites.iter().filter(|suite| !suite.cases.is_empty()) {
        suite.write(&mut out, about, &seconds);
    }
    out.push_str("</testsuites>\n");
    out
}

/// Cases of one kind.
#[derive(Debug)]
struct Suite {
    name: &'static str,
    cases: Vec<Case>,
    /// Cases by class and name: the same once more gets a number.
    seen: BTreeMap<(String, String), usize>,
    left_out: usize,
}

#[derive(Debug)]
struct Case {
    class: String,
    name: String,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    Passed,
    /// The kind of failure, its message, and more of it.
    Failed(&'static str, String, String),
    Error(&'static str, String),
    /// It passed, and has something to say.
    Told(String),
}

impl Suite {
    fn new(name: &'static str) -> Self {
        Self { name, cases: Vec::new(), seen: BTreeMap::new(), left_out: 0 }
    }

    fn push(&mut self, class: String, name: String, outcome: Outcome) {
        if self.cases.len() == CASES_MAX {
            self.left_out += 1;
            return;
        }
        let times = self.seen.entry((class.clone(), name.clone())).or_default();
        *times += 1;
        let name = if *times > 1 { format!("{name} ({times})") } else { name };
        self.cases.push(Case { class, name, outcome });
    }

    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(..))).count()
    }

    fn errors(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Error(..))).count()
    }

    fn finished(mut self) -> Self {
        if self.left_out > 0 {
            let message = format!("{} more cases are left out", self.left_out);
            let outcome = Outcome::Failed("bound", message, String::new());
            self.cases.push(Case { class: self.name.into(), name: "others".into(), outcome });
        }
        self
    }

    fn write(&self, out: &mut String, about: &About<'_>, seconds: &str) {
        let _ = write!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{seconds}\"",
            self.name,
            self.cases.len(),
            self.failures(),
            self.errors(),
        );
        for (key, value) in [("timestamp", about.started), ("hostname", about.host)] {
            if let Some(value) = value {
                let _ = write!(out, " {key}=\"{}\"", xml(value));
            }
        }
        out.push_str(">\n");
        for case in &self.cases {
            let _ = write!(
                out,
                "    <testcase classname=\"{}\" name=\"{}\" time=\"0.000\"",
                xml(&case.class),
                xml(&case.name)
            );
            let element = |out: &mut String, element, kind, message: &str, more: &str| {
                let _ = writeln!(
                    out,
                    ">\n      <{element} type=\"{kind}\" message=\"{0}\">{0}{1}</{element}>\n    </testcase>",
                    xml(message),
                    xml(more)
                );
            };
            match &case.outcome {
                Outcome::Passed => out.push_str("/>\n"),
                Outcome::Failed(kind, message, more) => {
                    element(out, "failure", kind, message, more);
                }
                Outcome::Error(kind, message) => element(out, "error", kind, message, ""),
                Outcome::Told(text) => {
                    let text = xml(text);
                    let _ =
                        writeln!(out, ">\n      <system-out>{text}</system-out>\n    </testcase>");
                }
            }
        }
        out.push_str("  </testsuite>\n");
    }
}

fn run(summary: &Summary, about: &About<'_>) -> Suite {
    let mut suite = Suite::new("run");
    let outcome = match about.aborted {
        Some(why) => Outcome::Error("aborted", why.to_owned()),
        None => Outcome::Passed,
    };
    suite.push("run".into(), "run".into(), outcome);
    let count = summary.exceptions.count();
    let outcome = if count == 0 {
        Outcome::Passed
    } else {
        let mut more = String::new();
        for exception in summary.exceptions.told.iter().take(10) {
            let _ = write!(more, "\n{} × {}", exception.count, exception.text.trim_end());
        }
        Outcome::Failed("exception", format!("{count} iterations ended with an exception"), more)
    };
    suite.push("run".into(), "iterations".into(), outcome);
    if let Some(verdict) = about.verdict {
        let lines: Vec<String> = verdict.findings.iter().map(Finding::line).collect();
        let outcome = match &lines[..] {
            [] => Outcome::Passed,
            lines => Outcome::Told(format!("{}\n{}", verdict.sentence(), lines.join("\n"))),
        };
        suite.push("run".into(), "verdict".into(), outcome);
    }
    suite
}

fn thresholds(summary: &Summary) -> Suite {
    let mut suite = Suite::new("thresholds");
    for (metric, threshold) in judged(summary) {
        let outcome = if threshold.ok {
            Outcome::Passed
        } else {
            let observed = observed(metric, threshold);
            let breach = breach::told(threshold).map_or(String::new(), |told| format!("; {told}"));
            let message = format!("{} is {observed}{breach}", threshold.aggregation);
            Outcome::Failed("threshold", message, String::new())
        };
        let name = format!("{} {}", metric.name, threshold.label().trim());
        suite.push("thresholds".into(), name, outcome);
    }
    suite.finished()
}

fn checks(summary: &Summary) -> Suite {
    let mut suite = Suite::new("checks");
    for check in &summary.checks {
        let total = check.passes.saturating_add(check.fails);
        let outcome = if check.fails == 0 {
            Outcome::Passed
        } else {
            Outcome::Failed(
                "check",
                format!("failed {} of {total} times", check.fails),
                String::new(),
            )
        };
        let group = check.group.trim_start_matches("::").replace("::", " / ");
        let class = if group.is_empty() { "checks".into() } else { format!("checks / {group}") };
        suite.push(class, check.name.clone(), outcome);
    }
    suite.finished()
}

/// Every threshold with its metric, metrics by name.
pub(crate) fn judged(
    summary: &Summary,
) -> impl Iterator<Item = (&MetricSummary, &ThresholdResult)> {
    let mut metrics: Vec<&MetricSummary> = summary.metrics.iter().chain(&summary.own).collect();
    metrics.sort_by(|a, b| order::by_name(&a.name, &b.name));
    metrics
        .into_iter()
        .flat_map(|metric| metric.thresholds.iter().map(move |threshold| (metric, threshold)))
}

/// The value that a threshold looked at, with its unit.
pub(crate) fn observed(metric: &MetricSummary, threshold: &ThresholdResult) -> String {
    let Some(value) = threshold.shown_value() else { return "not known: there is no value".into() };
    match (metric.kind, metric.contains) {
        (Kind::Rate, _) if threshold.aggregation == "rate" => {
            format!("{} %", humanize::trimmed(value * 100.0, 2))
        }
        (Kind::Trend, Contains::Time) if threshold.aggregation != "count" => {
            humanize::duration(value, None)
        }
        _ => humanize::trimmed(value, 3),
    }
}

#[cfg(test)]
pub(crate) mod tests;
