//! A part of a page, with its style, without scripts and without anything from elsewhere.

use std::fmt::Write as _;

use super::sections::{Room, Section, Sections, Title};
use super::{headline, label, number, runs, text};
use crate::comparison::{Comparison, Row};
use crate::measure::Scale;

/// Shapes and words tell the verdicts as well: colours alone do not.
const STYLE: &str = "\
.brunt-compare{font:14px/1.4 system-ui,sans-serif;color:CanvasText;background:Canvas;color-scheme:light dark;overflow-x:auto}\
.brunt-compare table{border-collapse:collapse;margin:.5em 0}\
.brunt-compare th,.brunt-compare td{padding:.2em .6em;text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\
.brunt-compare th:first-child,.brunt-compare td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:13em}\
.brunt-compare th.v,.brunt-compare td.v{text-align:left}\
.brunt-compare td.v:last-child{white-space:normal;min-width:11em}\
.brunt-compare .worse{color:light-dark(#a40000,#ff8d85);font-weight:600}\
.brunt-compare .better{color:light-dark(#00662a,#63d68a);font-weight:600}\
.brunt-compare .unclear{color:light-dark(#7a5200,#e6b450)}\
.brunt-compare svg{display:block;fill:currentColor;stroke:currentColor}\
.brunt-compare summary{overflow-wrap:anywhere;cursor:pointer}";

/// The change, in tolerances, at the ends of a bar.
const REACH: f64 = 4.0;
/// The width of a bar in pixels.
const BAR: f64 = 160.0;

/// The comparison as an HTML `<section>`, to be put into a page.
pub fn html(comparison: &Comparison) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<section class=\"brunt-compare\"><style>{STYLE}</style><h2 class=\"{}\">{}</h2><p>",
        comparison.verdict.word(),
        text::html(&headline(comparison))
    );
    for (name, side, seconds) in
        [("A", &comparison.a, comparison.seconds[0]), ("B", &comparison.b, comparison.seconds[1])]
    {
        let names: Vec<String> = side.iter().take(50).map(|run| text::html(&run.name)).collect();
        let _ = write!(out, "{name}: {} ({})<br>", runs(side.len(), seconds), names.join(", "));
    }
    out.push_str("</p>");
    for warning in &comparison.warnings {
        let _ = write!(out, "<p role=\"note\">⚠ {}</p>", text::html(&warning.to_string()));
    }
    let sections = Sections::of(comparison, Room { most: 200, is_whole: true });
    for section in &sections.sections {
        section_html(&mut out, section, comparison);
    }
    if let Some(more) = sections.more() {
        let _ = write!(out, "<p>{more}</p>");
    }
    for (side, names) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !names.is_empty() {
            let shown: Vec<String> = names.iter().take(50).map(|name| text::html(name)).collect();
            let _ =
                write!(out, "<p>Routes of {side} alone: {}: {}</p>", names.len(), shown.join(", "));
        }
    }
    out.push_str("</section>\n");
    out
}

fn section_html(out: &mut String, section: &Section<'_>, comparison: &Comparison) {
    let (title, is_folded) = match section.title {
        Title::All => ("All requests".to_owned(), false),
        Title::Route(name) => (text::html(name), true),
        Title::Checks => ("Checks".to_owned(), false),
        Title::Thresholds => ("Thresholds".to_owned(), false),
    };
    if is_folded {
        let worst = section.rows.iter().map(|row| row.verdict).max();
        let worst = worst.map_or("", crate::verdict::Verdict::word);
        let _ = write!(
            out,
            "<details><summary>{title} <span class=\"{worst}\">{worst}</span></summary>"
        );
    } else {
        let _ = write!(out, "<h3>{title}</h3>");
    }
    out.push_str(
        "<table><thead><tr><th scope=\"col\">figure</th><th scope=\"col\">A</th><th scope=\"col\">B</th>\
         <th scope=\"col\">change</th><th scope=\"col\">95 % interval</th><th scope=\"col\" class=\"v\">bar</th>\
         <th scope=\"col\" class=\"v\">verdict</th></tr></thead><tbody>",
    );
    for row in &section.rows {
        row_html(out, row, comparison);
    }
    out.push_str("</tbody></table>");
    if is_folded {
        out.push_str("</details>");
    }
}

fn row_html(out: &mut String, row: &Row, comparison: &Comparison) {
    let (change, interval) = row.change.map_or(("–".into(), "–".into()), |change| {
        let interval = number::interval(change.low, change.high, row.scale);
        (number::change(change.value, row.scale), interval)
    });
    let verdict = row.verdict.word();
    let why = row.why.map_or(String::new(), |why| format!(": {}", why.sentence()));
    let held = row.held.map_or(String::new(), |[a, b]| format!(" (held in {a} of A, {b} of B)"));
    let name = text::html(&label(row));
    let name = if row.is_primary { format!("<strong>{name}</strong>") } else { name };
    let _ = write!(
        out,
        "<tr><td>{name}</td><td>{}</td><td>{}</td><td>{change}</td><td>{interval}</td>\
         <td class=\"v {verdict}\">{}</td><td class=\"v\"><span class=\"{verdict}\">{verdict}</span>{}{held}</td></tr>",
        number::value(row, row.a),
        number::value(row, row.b),
        bar(row, comparison),
        text::html(&why),
    );
}

/// The interval as a picture: lines at no change and at the tolerance.
fn bar(row: &Row, comparison: &Comparison) -> String {
    let Some(change) = row.change else { return String::new() };
    let tolerance = match row.scale {
        Scale::Ratio => comparison.tolerance,
        Scale::Points => comparison.tolerance_points,
    };
    let place = |change: f64| f64::midpoint(change / tolerance / REACH, 1.0).clamp(0.0, 1.0) * BAR;
    let (low, value, high) = (place(change.low), place(change.value), place(change.high));
    let [left, right] = [place(-tolerance), place(tolerance)];
    let middle = BAR / 2.0;
    // A change beyond the ends has no place.
    let dot = if (change.value / tolerance).abs() <= REACH {
        format!("<circle cx=\"{value:.1}\" cy=\"8\" r=\"4\"/>")
    } else {
        String::new()
    };
    format!(
        "<svg width=\"{BAR:.0}\" height=\"16\" viewBox=\"0 0 {BAR:.0} 16\" role=\"img\" aria-label=\"{}\">\
         <path d=\"M{left:.1} 2V14M{right:.1} 2V14\" stroke-dasharray=\"2 2\" opacity=\".5\"/>\
         <path d=\"M{middle:.1} 0V16\" opacity=\".5\"/>\
         <path d=\"M{low:.1} 8H{high:.1}\" stroke-width=\"3\"/>{dot}</svg>",
        text::html(&number::interval(change.low, change.high, row.scale)),
    )
}
