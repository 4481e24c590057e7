//! A table for a terminal, with a bar for each interval.

use std::fmt::Write as _;

use super::sections::{Room, Sections, Title};
use super::{headline, label, number, runs, text};
use crate::comparison::{Comparison, Row};
use crate::measure::Scale;
use crate::verdict::Verdict;

/// Narrower terminals get lines of this width.
const WIDTH_MIN: usize = 40;
/// Wider ones of this.
const WIDTH_MAX: usize = 200;
/// Widths of bars.
const BAR: std::ops::RangeInclusive<usize> = 15..=41;
/// At least this wide a terminal must be for the values of both sides.
const FOR_VALUES: usize = 60;
/// The same for bars.
const FOR_BARS: usize = 76;
/// The same for the ends of intervals in numbers.
const FOR_ENDS: usize = 104;
/// The width of the word of a verdict.
const VERDICT: usize = 7;

/// The comparison as lines of at most `columns` columns, with ANSI colours or without.
pub fn terminal(comparison: &Comparison, columns: usize, is_coloured: bool) -> String {
    let columns = columns.clamp(WIDTH_MIN, WIDTH_MAX);
    let paint = Paint { is_on: is_coloured };
    let mut out = String::new();
    for line in text::wrapped(&headline(comparison), columns) {
        push(&mut out, &paint.bold(comparison.verdict, &line));
    }
    out.push('\n');
    for (name, side, seconds) in
        [("A", &comparison.a, comparison.seconds[0]), ("B", &comparison.b, comparison.seconds[1])]
    {
        let names: Vec<String> = side.iter().map(|run| text::plain(&run.name)).collect();
        let line = format!("  {name}  {}: {}", runs(side.len(), seconds), names.join(", "));
        push(&mut out, text::cut(&line, columns).trim_end());
    }

    let sections = Sections::of(comparison, Room { most: 20, is_whole: false });
    let table = Table::of(comparison, &sections, columns);
    for section in &sections.sections {
        out.push('\n');
        let title = match section.title {
            Title::All => "All requests".into(),
            Title::Route(name) => text::plain(name),
            Title::Checks => "Checks".into(),
            Title::Thresholds => "Thresholds".into(),
        };
        push(&mut out, &table.heading(&title, paint));
        for row in &section.rows {
            push(&mut out, &table.line(row, paint));
        }
    }
    let mut remarks: Vec<String> = Vec::new();
    let primary = || comparison.rows.iter().filter(|row| row.is_primary);
    if primary().next().is_some() {
        let mut remark = String::from("The verdict rests on the figures with *.");
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for (row, why) in primary().filter_map(|row| Some((row, row.why?.sentence()))) {
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, labels)) => labels.push(label(row)),
                None => reasons.push((why, vec![label(row)])),
            }
        }
        for (why, labels) in reasons {
            let verb = if labels.len() == 1 { "is" } else { "are" };
            let _ = write!(remark, " {} {verb} unclear: {why}.", labels.join(", "));
        }
        remarks.push(remark);
    }
    remarks.extend(sections.more().map(|more| format!("{more}. --format json has all.")));
    for (side, names) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !names.is_empty() {
            let shown: Vec<String> = names.iter().take(5).map(|name| text::plain(name)).collect();
            let dots = if names.len() > 5 { ", …" } else { "" };
            remarks.push(format!(
                "{} routes of {side} alone: {}{dots}",
                names.len(),
                shown.join(", ")
            ));
        }
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
    for remark in remarks {
        for line in text::wrapped(&remark, columns - 2) {
            push(&mut out, &format!("  {line}"));
        }
    }
    for warning in &comparison.warnings {
        out.push('\n');
        let words = text::wrapped(&text::plain(&warning.to_string()), columns - 11);
        for (index, line) in words.iter().enumerate() {
            let lead = if index == 0 { paint.tone("33", "  warning: ") } else { " ".repeat(11) };
            push(&mut out, &format!("{lead}{line}"));
        }
    }
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

/// ANSI colours, or none.
#[derive(Clone, Copy, Debug)]
struct Paint {
    is_on: bool,
}

impl Paint {
    fn tone(self, sequence: &str, text: &str) -> String {
        if self.is_on { format!("\x1b[{sequence}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn verdict(self, verdict: Verdict, text: &str) -> String {
        self.tone(sequence(verdict), text)
    }

    fn bold(self, verdict: Verdict, text: &str) -> String {
        self.tone(&format!("1;{}", sequence(verdict)), text)
    }
}

fn sequence(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "31",
        Verdict::Better => "32",
        Verdict::Unclear => "33",
        Verdict::Same => "2",
    }
}

/// The widths of the columns; 0 = there is no room for it.
#[derive(Debug)]
struct Table {
    columns: usize,
    name: usize,
    value: usize,
    change: usize,
    ends: usize,
    bar: usize,
    /// The change, in tolerances, at the right end of a bar.
    reach: f64,
    tolerances: [f64; 2],
}

impl Table {
    fn of(comparison: &Comparison, sections: &Sections<'_>, columns: usize) -> Self {
        let tolerances = [comparison.tolerance, comparison.tolerance_points];
        let rows = || sections.sections.iter().flat_map(|section| &section.rows);
        let widest = |of: &dyn Fn(&Row) -> usize| rows().map(|row| of(row)).max().unwrap_or(0);
        let value = widest(&|row| {
            let of = |value| text::width(&number::value(row, value));
            of(row.a).max(of(row.b))
        });
        let change = widest(&|row| text::width(&change(row))).max(6);
        let ends = widest(&|row| text::width(&ends(row)));
        let label = widest(&|row| text::width(&name(row)));
        let value = if columns >= FOR_VALUES { value.clamp(1, 12) } else { 0 };
        let ends = if columns >= FOR_ENDS { ends } else { 0 };
        let gap = |width: usize| if width > 0 { width + 2 } else { 0 };
        let fixed = 2 + 2 * gap(value) + gap(change) + gap(ends) + 2 + VERDICT;
        let bar_least = if columns >= FOR_BARS { *BAR.start() } else { 0 };
        let name = label.clamp(8, columns.saturating_sub(fixed + gap(bar_least)).max(8));
        let left = columns.saturating_sub(fixed + name + 2);
        let bar = if bar_least == 0 || left < bar_least { 0 } else { left.min(*BAR.end()) };
        // Bars have a middle.
        let bar = if bar == 0 { 0 } else { bar - usize::from(bar.is_multiple_of(2)) };
        let farthest = rows().filter_map(|row| row.change.map(|change| (row, change)));
        let reach = farthest
            .map(|(row, change)| {
                change.low.abs().max(change.high.abs()) / tolerances[index(row.scale)]
            })
            .filter(|reach| reach.is_finite())
            .fold(2.0, f64::max)
            .min(6.0);
        Self { columns, name, value, change, ends, bar, reach, tolerances }
    }

    fn heading(&self, title: &str, paint: Paint) -> String {
        if self.value == 0 {
            return paint.tone("1", &text::cut(title, self.columns));
        }
        let title = text::padded(title, self.name + 2, false);
        let mut line = paint.tone("1", &title);
        for side in ["A", "B"] {
            line.push_str("  ");
            line.push_str(&paint.tone("2", &text::padded(side, self.value, true)));
        }
        line.push_str("  ");
        line.push_str(&paint.tone("2", &text::padded("change", self.change, true)));
        line
    }

    fn line(&self, row: &Row, paint: Paint) -> String {
        let mut line = format!("  {}", text::padded(&name(row), self.name, false));
        if self.value > 0 {
            for value in [row.a, row.b] {
                line.push_str("  ");
                line.push_str(&text::padded(&number::value(row, value), self.value, true));
            }
        }
        line.push_str("  ");
        line.push_str(&text::padded(&change(row), self.change, true));
        if self.ends > 0 {
            line.push_str("  ");
            line.push_str(&paint.tone("2", &text::padded(&ends(row), self.ends, true)));
        }
        if self.bar > 0 {
            line.push_str("  ");
            line.push_str(&paint.verdict(row.verdict, &self.bar(row)));
        }
        line.push_str("  ");
        line.push_str(&paint.verdict(row.verdict, row.verdict.word()));
        line
    }

    /// The interval as a line with a dot at the change; a bar's marks are no change and the tolerance.
    fn bar(&self, row: &Row) -> String {
        let last = (self.bar - 1) as f64;
        let place = |tolerances: f64| {
            let place = f64::midpoint(tolerances / self.reach, 1.0) * last;
            place.clamp(0.0, last).round() as usize
        };
        let mut cells = vec![' '; self.bar];
        cells[place(-1.0)] = '┊';
        cells[place(1.0)] = '┊';
        cells[place(0.0)] = '│';
        if let Some(change) = row.change {
            let tolerance = self.tolerances[index(row.scale)];
            let [low, value, high] =
                [change.low, change.value, change.high].map(|end| end / tolerance);
            for cell in &mut cells[place(low)..=place(high)] {
                *cell = '━';
            }
            if low < -self.reach {
                cells[0] = '◀';
            }
            if high > self.reach {
                cells[self.bar - 1] = '▶';
            }
            if value.abs() <= self.reach {
                cells[place(value)] = '●';
            }
        }
        cells.into_iter().collect()
    }
}

fn index(scale: Scale) -> usize {
    usize::from(scale == Scale::Points)
}

fn name(row: &Row) -> String {
    let mark = if row.is_primary { " *" } else { "" };
    format!("{}{mark}", label(row))
}

fn change(row: &Row) -> String {
    match row.held {
        Some([a, b]) if row.change.is_none() && (a > 0) != (b > 0) => {
            if a > 0 {
                "held → broken".into()
            } else {
                "broken → held".into()
            }
        }
        _ => row.change.map_or("–".into(), |change| number::change(change.value, row.scale)),
    }
}

fn ends(row: &Row) -> String {
    row.change
        .map(|change| number::interval(change.low, change.high, row.scale))
        .unwrap_or_default()
}
