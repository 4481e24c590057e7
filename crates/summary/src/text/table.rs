//! Lines of `name....: value extras`, aligned among themselves.

use super::colour::Palette;

/// The cells after the name.
#[derive(Debug)]
pub(super) enum Cells {
    /// A value and one or two remarks: counters, gauges and rates.
    Value { value: String, extras: Vec<String> },
    /// `key=value` columns: trends.
    Stats(Vec<(String, String)>),
}

/// One line before it is aligned.
#[derive(Debug)]
pub(super) struct Line {
    /// The text before the name, colours included.
    pub(super) lead: String,
    /// How many characters of the lead count as part of the name; the rest takes no part in the
    /// alignment.
    pub(super) inset: usize,
    pub(super) name: String,
    pub(super) cells: Cells,
}

/// The widths that the lines of one block share, in characters.
#[derive(Debug, Default)]
pub(super) struct Widths {
    name: usize,
    value: usize,
    extras: Vec<usize>,
    stats: Vec<usize>,
}

impl Widths {
    /// Widens for what one more line needs.
    pub(super) fn include(&mut self, line: &Line) {
        self.name = self.name.max(line.inset + width(&line.name));
        match &line.cells {
            Cells::Value { value, extras } => {
                self.value = self.value.max(width(value));
                widen(&mut self.extras, extras.iter().map(|extra| width(extra)));
            }
            Cells::Stats(stats) => {
                widen(&mut self.stats, stats.iter().map(|(_, value)| width(value)));
            }
        }
    }

    /// Writes the line with its `\n`.
    pub(super) fn write(&self, line: &Line, palette: Palette, out: &mut String) {
        out.push_str(&line.lead);
        out.push_str(&line.name);
        let dots = ".".repeat(self.name - line.inset - width(&line.name) + 3);
        out.push_str(&palette.dots(&format!("{dots}:")));
        out.push(' ');
        match &line.cells {
            Cells::Value { value, extras } => {
                out.push_str(&palette.value(value));
                pad(out, self.value - width(value) + 1);
                if let [extra] = &extras[..] {
                    out.push_str(&palette.extra(extra));
                } else {
                    for (at, extra) in extras.iter().enumerate() {
                        if at > 0 {
                            out.push(' ');
                        }
                        out.push_str(&palette.extra(extra));
                        pad(out, self.extras[at] - width(extra));
                    }
                }
            }
            Cells::Stats(stats) => {
                for (at, (key, value)) in stats.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    out.push_str(key);
                    out.push('=');
                    out.push_str(&palette.value(value));
                    pad(out, self.stats[at] - width(value));
                }
            }
        }
        out.push('\n');
    }
}

fn widen(columns: &mut Vec<usize>, widths: impl Iterator<Item = usize>) {
    for (at, width) in widths.enumerate() {
        match columns.get_mut(at) {
            Some(column) => *column = width.max(*column),
            None => columns.push(width),
        }
    }
}

fn pad(out: &mut String, spaces: usize) {
    out.extend(std::iter::repeat_n(' ', spaces));
}

fn width(text: &str) -> usize {
    text.chars().count()
}
