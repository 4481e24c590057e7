//! The end-of-test summary for a terminal, laid out as k6 lays it out.
//!
//! Three layouts: `compact` (k6's default), `full` (plus every group and scenario), and `legacy`
//! (what k6 printed before 1.0, which k6 2 dropped and we keep). They share the table of metric
//! lines ([`table`]), the colours ([`colour`]) and the numbers ([`crate::humanize`]).
//!
//! ```text
//!   compact / full                        legacy
//!   █ THRESHOLDS                               ✓ a check
//!   █ TOTAL RESULTS                            █ group
//!       checks, then one section per              ✓ its check
//!       family of metrics                      metric......: value
//!   █ GROUP: …      (full)
//!   █ SCENARIO: …   (full)
//! ```

pub(crate) mod checks;
mod colour;
mod exceptions;
mod failures;
mod legacy;
mod modern;
pub(crate) mod routes;
pub(crate) mod sections;
mod table;

use std::collections::HashSet;
use std::fmt::{self, Write as _};

use brunt_metrics::summary::{MetricSummary, Summary, Values};
use brunt_metrics::{Contains, Kind, TrendStat};

use crate::humanize::{self, Unit};
use colour::Palette;

/// Which of k6's layouts to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Thresholds, checks, and the metrics that most readers want.
    #[default]
    Compact,
    /// The same with all metrics, and once more for every group and scenario.
    Full,
    /// One flat list, after the tree of groups and checks.
    Legacy,
}

impl Mode {
    /// Reads the value of `--summary-mode`; `disabled` is the caller's business and no mode here.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "compact" => Some(Self::Compact),
            "full" => Some(Self::Full),
            "legacy" => Some(Self::Legacy),
            _ => None,
        }
    }
}

/// The look of the text. Its content is all in the [`Summary`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// The layout.
    pub mode: Mode,
    /// Whether to colour with ANSI sequences: for terminals that were not told otherwise.
    pub colour: bool,
    /// `summaryTimeUnit`; without it each time gets the unit that suits it.
    pub time_unit: Option<Unit>,
    /// Whether the section REQUESTS is shown, which k6 does not have; never in the layout `legacy`.
    pub routes: bool,
    /// The kinds of failures that are shown, with an example each; likewise.
    pub failures: usize,
}

/// Renders the summary. Lines end in `\n`; k6's trailing spaces are kept.
///
/// k6 prints it between a line break and two more: [`surrounded`] does that.
pub fn render(summary: &Summary, options: &TextOptions) -> String {
    let writer = Writer {
        palette: Palette::new(options.colour, options.mode == Mode::Legacy),
        unit: options.time_unit,
        stats: &summary.trend_stats,
        seconds: summary.run.as_secs_f64(),
    };
    match options.mode {
        Mode::Compact | Mode::Full => modern::render(&writer, summary, options),
        Mode::Legacy => legacy::render(&writer, summary),
    }
}

/// The text with the empty lines around it that k6 prints.
pub fn surrounded(text: &str) -> String {
    format!("\n{text}\n\n")
}

/// The facts for every part of a layout.
struct Writer<'a> {
    palette: Palette,
    unit: Option<Unit>,
    stats: &'a [TrendStat],
    /// Length of the run, for the rates of checks.
    seconds: f64,
}

impl Writer<'_> {
    /// A measured value in the unit of its metric.
    fn quantity(&self, value: f64, contains: Contains) -> String {
        match contains {
            Contains::Data => humanize::bytes(value),
            Contains::Time => humanize::duration(value, self.unit),
            Contains::Default => humanize::trimmed(value, 6),
        }
    }

    /// The cells of a metric line after its name.
    fn cells(&self, metric: &MetricSummary) -> table::Cells {
        let quantity = |value| self.quantity(value, metric.contains);
        match &metric.values {
            Values::Counter { count, rate } => table::Cells::Value {
                value: quantity(*count),
                extras: vec![format!("{}/s", quantity(rate.unwrap_or(0.0)))],
            },
            Values::Gauge { value, min, max } => table::Cells::Value {
                value: quantity(*value),
                extras: vec![format!("min={}", quantity(*min)), format!("max={}", quantity(*max))],
            },
            Values::Rate { rate, passes, fails } => table::Cells::Value {
                value: humanize::percent(rate.unwrap_or(0.0)),
                extras: vec![format!("{passes} out of {}", passes + fails)],
            },
            Values::Trend(trend) => {
                let stats = self.stats.iter().map(|stat| {
                    let value = trend.stat(stat);
                    let text = match stat {
                        TrendStat::Count => humanize::js_number(value),
                        _ => quantity(value),
                    };
                    (stat.to_string(), text)
                });
                table::Cells::Stats(stats.collect())
            }
        }
    }

    /// The left side of a threshold, as the metric's own lines show it.
    fn threshold_value(&self, metric: &MetricSummary, aggregation: &str, value: f64) -> String {
        match (metric.kind, aggregation) {
            (Kind::Rate, _) => humanize::percent(value),
            (Kind::Counter, "rate") => format!("{}/s", self.quantity(value, metric.contains)),
            (Kind::Trend, "count") => humanize::js_number(value),
            _ => self.quantity(value, metric.contains),
        }
    }
}

/// The thresholds are about it.
fn is_asked(metric: &MetricSummary) -> bool {
    metric.named || !metric.thresholds.is_empty()
}

/// The metrics to list, in k6's order: those measured, those that a threshold asks for, and the
/// parents of such.
pub(crate) fn listed(metrics: &[MetricSummary]) -> Vec<&MetricSummary> {
    let parents: HashSet<&str> = metrics
        .iter()
        .filter(|metric| is_asked(metric))
        .filter_map(|metric| metric.parent.as_deref())
        .collect();
    let mut listed: Vec<_> = metrics
        .iter()
        .filter(|metric| {
            metric.observed || is_asked(metric) || parents.contains(metric.name.as_str())
        })
        .collect();
    listed.sort_by(|a, b| crate::order::by_name(&a.name, &b.name));
    listed
}

/// Appends formatted text.
fn put(out: &mut String, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes what is written to it");
}
