//! A page of HTML in one file: tables, and the latencies as a curve over percentiles.

use std::fmt::Write as _;

use super::text::{ns, occurred, sorted_codes};
use crate::{Histogram, Summary, moment};

const STYLE: &str = include_str!("style.css");

pub(super) fn page(summary: &Summary) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Brunt report</title>\n\
         <style>\n{STYLE}</style>\n<h1>Brunt report</h1>\n"
    );
    let _ = writeln!(
        out,
        "<p class=\"when\">{} – {}</p>",
        moment::text(summary.earliest()),
        moment::text(summary.end())
    );
    tiles(&mut out, summary);
    out.push_str("<h2>Latency</h2>\n");
    curves(&mut out, summary);
    latencies(&mut out, summary);
    codes(&mut out, summary);
    groups(&mut out, summary);
    errors(&mut out, summary);
    out.push_str("</html>\n");
    out
}

/// The numbers that are looked at first.
fn tiles(out: &mut String, summary: &Summary) {
    let quantiles = summary.latencies().quantiles(&[0.5, 0.99]);
    let mut tiles = vec![
        ("requests", summary.requests().to_string()),
        ("success", format!("{:.2} %", summary.success() * 100.0)),
        ("rate", format!("{:.2}/s", summary.rate())),
        ("throughput", format!("{:.2}/s", summary.throughput())),
        ("median", ns(quantiles[0])),
        ("99th percentile", ns(quantiles[1])),
        ("duration", ns(summary.duration().saturating_add(summary.wait()))),
    ];
    if let Some(schedule) = summary.schedule() {
        tiles.push(("offered", format!("{:.2}/s", schedule.offered_rate())));
        tiles.push(("achieved", format!("{:.2}/s", schedule.achieved_rate())));
        tiles.push(("worst lag", ns(schedule.lags.max())));
    }
    out.push_str("<dl class=\"tiles\">\n");
    for (name, value) in tiles {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    out.push_str("</dl>\n");
}

/// The histograms that are shown, each with its name.
fn shown(summary: &Summary) -> Vec<(&'static str, Histogram)> {
    let mut shown = vec![("all", summary.latencies())];
    let classes = occurred(summary);
    if classes.len() > 1 {
        shown.extend(classes.into_iter().map(|class| (class.name(), summary.class(class).clone())));
    }
    if let Some(schedule) = summary.schedule() {
        shown.push(("from schedule", schedule.response_times.clone()));
    }
    shown
}

fn latencies(out: &mut String, summary: &Summary) {
    out.push_str(
        "<table>\n<tr><th><th>count<th>min<th>mean<th>50<th>90<th>95<th>99<th>99.9<th>max\n",
    );
    for (name, histogram) in shown(summary) {
        row(out, name, &histogram);
    }
    out.push_str("</table>\n");
}

fn row(out: &mut String, name: &str, histogram: &Histogram) {
    let _ = write!(out, "<tr><td>{}<td>{}", escape(name), histogram.count());
    let quantiles = histogram.quantiles(&[0.5, 0.9, 0.95, 0.99, 0.999]);
    for value in [histogram.min(), histogram.mean()].into_iter().chain(quantiles) {
        let _ = write!(out, "<td>{}", ns(value));
    }
    let _ = writeln!(out, "<td>{}", ns(histogram.max()));
}

/// Latency (logarithmic) over the percentile, which is stretched so that each further nine takes as much room.
fn curves(out: &mut String, summary: &Summary) {
    const WIDTH: f64 = 860.0;
    const HEIGHT: f64 = 260.0;
    const NINES: f64 = 4.0;
    let x = |share: f64| -(1.0 - share).log10() / NINES * WIDTH;
    let shares: Vec<f64> =
        (0..=160).map(|step| 1.0 - 10_f64.powf(-f64::from(step) * NINES / 160.0)).collect();
    let all = summary.latencies();
    if all.count() == 0 {
        return;
    }
    let shown = shown(summary);
    let max = shown.iter().map(|(_, histogram)| histogram.max()).max().unwrap_or(1).max(10);
    let (low, high) = ((all.min().max(1) as f64).log10().floor(), (max as f64).log10().ceil());
    let y = |ns: u64| HEIGHT - ((ns.max(1) as f64).log10() - low) / (high - low).max(1.0) * HEIGHT;
    let _ = writeln!(
        out,
        "<svg viewBox=\"-70 -10 960 300\" role=\"img\" aria-label=\"latency over percentile\">"
    );
    for (share, name) in
        [(0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99")]
    {
        let x = x(share);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{x:.1} 0V{HEIGHT}\"/><text x=\"{x:.1}\" y=\"278\" text-anchor=\"middle\">{name}</text>"
        );
    }
    for power in low as i32..=high as i32 {
        let value = 10_u64.saturating_pow(power.max(0) as u32);
        let y = y(value);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M0 {y:.1}H{WIDTH}\"/><text x=\"-8\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            y + 4.0,
            ns(value)
        );
    }
    for (index, (_, histogram)) in shown.iter().enumerate() {
        let points: Vec<String> = histogram
            .quantiles(&shares)
            .iter()
            .zip(&shares)
            .map(|(value, share)| format!("{:.1},{:.1}", x(*share), y(*value)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline class=\"line c{}\" points=\"{}\"/>",
            index % 8,
            points.join(" ")
        );
    }
    out.push_str("</svg>\n<p class=\"legend\">");
    for (index, (name, _)) in shown.iter().enumerate() {
        let _ = write!(out, "<span class=\"key c{}\">━</span> {} ", index % 8, escape(name));
    }
    out.push_str("</p>\n");
}

fn codes(out: &mut String, summary: &Summary) {
    out.push_str("<h2>Status codes</h2>\n<table>\n<tr><th>status<th>count<th>share\n");
    for (code, count) in sorted_codes(summary) {
        let name = if code == "0" { "no response" } else { &code };
        let share = summary.per_request(count) * 100.0;
        let _ = writeln!(out, "<tr><td>{name}<td>{count}<td>{share:.2} %");
    }
    out.push_str("</table>\n");
}

fn groups(out: &mut String, summary: &Summary) {
    let Some(group_by) = summary.group_by() else { return };
    let (groups, rest) = summary.groups();
    let _ = writeln!(
        out,
        "<h2>By {}</h2>\n<table>\n<tr><th><th>count<th>min<th>mean<th>50<th>90<th>95<th>99<th>99.9<th>max",
        group_by.name()
    );
    for (name, group) in groups {
        row(out, name, &group.latencies);
    }
    if rest.latencies.count() > 0 {
        row(out, "(others)", &rest.latencies);
    }
    out.push_str("</table>\n");
}

fn errors(out: &mut String, summary: &Summary) {
    let errors = summary.errors();
    if errors.texts().is_empty() {
        return;
    }
    out.push_str("<h2>Errors</h2>\n<table>\n<tr><th>kind<th>count\n");
    for (kind, count, _) in summary.kinds().sorted() {
        let _ = writeln!(out, "<tr><td>{}<td>{count}", escape(kind));
    }
    out.push_str("</table>\n<table>\n<tr><th>text<th>count\n");
    for (text, count) in errors.texts() {
        let _ = writeln!(out, "<tr><td class=\"text\">{}<td>{count}", escape(text));
    }
    if errors.not_kept() > 0 {
        let _ = writeln!(out, "<tr><td>(other texts)<td>{}", errors.not_kept());
    }
    out.push_str("</table>\n");
}

/// For HTML's text and attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
