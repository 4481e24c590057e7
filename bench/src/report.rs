//! Tables and verdicts, for the terminal and for the page.

use std::fmt::{self, Write as _};

use crate::bench::Bench;
use crate::machine;
use crate::settings::What;

/// One table with its question and what became of its goals.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// How it was measured.
    pub(crate) method: String,
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) verdicts: Vec<Verdict>,
}

/// A goal, and what was measured.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) goal: String,
    pub(crate) got: String,
    /// None if it could not be measured.
    pub(crate) met: Option<bool>,
}

impl Verdict {
    /// A goal of the form "at most so much".
    pub(crate) fn at_most(goal: impl Into<String>, got: Option<f64>, limit: f64) -> Self {
        Self {
            goal: goal.into(),
            got: got.map_or("not measured".into(), short),
            met: got.map(|got| got <= limit),
        }
    }

    /// A goal of the form "at least so much".
    pub(crate) fn at_least(goal: impl Into<String>, got: Option<f64>, limit: f64) -> Self {
        Self {
            goal: goal.into(),
            got: got.map_or("not measured".into(), short),
            met: got.map(|got| got >= limit),
        }
    }

    fn word(&self) -> &'static str {
        match self.met {
            Some(true) => "met",
            Some(false) => "NOT met",
            None => "open",
        }
    }
}

/// The number of goals that were met, in one line, and by name those that were not: a reader skips most tables.
pub(crate) fn tally(figures: &[Figure]) -> String {
    let verdicts = || {
        figures
            .iter()
            .flat_map(|figure| figure.verdicts.iter().map(move |verdict| (figure, verdict)))
    };
    let met = verdicts().filter(|(_, verdict)| verdict.met == Some(true)).count();
    let mut out = format!("{met} of {} goals met", verdicts().count());
    for (figure, verdict) in verdicts().filter(|(_, verdict)| verdict.met != Some(true)) {
        out.push_str(
            &["\n  ", verdict.word(), ": ", &figure.title, ": ", &verdict.goal, "; ", &verdict.got]
                .concat(),
        );
    }
    out
}

/// A number with as many digits as tell something.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The middle of the values; none of none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The median with the least and the greatest: `5.31 (5.20 – 5.60)`.
pub(crate) fn spread(values: &[f64]) -> String {
    let Some(median) = median(values) else {
        return "-".into();
    };
    if values.len() == 1 {
        return short(median);
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} ({} – {})", short(median), short(least), short(greatest))
}

impl Figure {
    /// In place of a figure that failed as a whole.
    pub(crate) fn unmeasured(what: What, error: &anyhow::Error) -> Self {
        Self {
            title: format!("{what:?}: not measured"),
            method: error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": "),
            header: Vec::new(),
            rows: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// For a terminal: columns aligned by spaces.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("\n{}\n{}\n\n", self.title, self.method);
        let widths = self.widths();
        let header: Vec<String> = self.header.iter().map(ToString::to_string).collect();
        for row in std::iter::once(&header).chain(&self.rows) {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            out.push_str(format!("  {}", cells.join("  ")).trim_end());
            out.push('\n');
        }
        out.push('\n');
        for verdict in &self.verdicts {
            out.push_str(
                &["  ", verdict.word(), ": ", &verdict.goal, "; ", &verdict.got, "\n"].concat(),
            );
        }
        out
    }

    /// For the page.
    fn markdown(&self) -> String {
        let mut out = format!("\n## {}\n\n{}\n\n", self.title, self.method);
        if self.header.is_empty() {
            return out;
        }
        push(&mut out, format_args!("| {} |", self.header.join(" | ")));
        push(&mut out, format_args!("|{}", " --- |".repeat(self.header.len())));
        for row in &self.rows {
            push(&mut out, format_args!("| {} |", row.join(" | ")));
        }
        out.push('\n');
        for verdict in &self.verdicts {
            push(
                &mut out,
                format_args!(
                    "- **{}**: {}; measured: {}",
                    verdict.word(),
                    verdict.goal,
                    verdict.got
                ),
            );
        }
        out
    }

    /// Rows of failures, which have one long cell, take no part.
    fn widths(&self) -> Vec<usize> {
        let width = |text: &str| text.chars().count();
        let rows: Vec<_> = self.rows.iter().filter(|row| row.len() == self.header.len()).collect();
        (0..self.header.len())
            .map(|at| {
                rows.iter().map(|row| width(&row[at])).fold(width(self.header[at]), usize::max)
            })
            .collect()
    }
}

/// One line more.
fn push(out: &mut String, line: fmt::Arguments<'_>) {
    out.write_fmt(line).expect("a String takes what is written to it");
    out.push('\n');
}

/// The row of a client that could not be measured.
pub(crate) fn failed_row(failure: &str) -> Vec<String> {
    vec![failure.lines().next().unwrap_or_default().to_owned()]
}

/// The whole page.
pub(crate) fn page(figures: &[Figure], bench: &Bench) -> String {
    let mut out = format!(
        "# The cost of a request\n\n\
         Written by `cargo run --release -p brunt-bench -- all`.\n\n\
         Machine: {}.\n\n\
         Medians of {} rounds of {} s, least and greatest in parentheses; every round runs each \
         client once against the same nginx. CPU time is user and system time of the client's \
         process, from the kernel's accounting, start and end of the process included.\n\n",
        machine::describe(),
        bench.settings.rounds,
        bench.settings.seconds
    );
    for version in bench.versions() {
        push(&mut out, format_args!("- {version}"));
    }
    for figure in figures {
        out.push_str(&figure.markdown());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_lies_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_goal_that_was_not_measured_is_open() {
        assert_eq!(Verdict::at_most("x", None, 1.5).word(), "open");
        assert_eq!(Verdict::at_most("x", Some(1.5), 1.5).word(), "met");
        assert_eq!(Verdict::at_most("x", Some(1.6), 1.5).word(), "NOT met");
        assert_eq!(Verdict::at_least("x", Some(3.1), 3.0).word(), "met");
    }

    #[test]
    fn a_table_is_aligned() {
        let figure = Figure {
            title: "Title".into(),
            method: "How.".into(),
            header: vec!["client", "µs"],
            rows: vec![vec!["brunt".into(), "5.3".into()], vec!["k6".into(), "60".into()]],
            verdicts: vec![Verdict::at_most("at most 1/6 of k6", Some(0.09), 0.166)],
        };
        assert_eq!(
            figure.text(),
            "\nTitle\nHow.\n\n  client  µs\n  brunt   5.3\n  k6      60\n\n  met: at most 1/6 of k6; 0.09\n"
        );
    }
}
