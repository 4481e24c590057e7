//! The section *Agents* of a summary: how each agent fared. In the text, in `agents` of JSON, in the run file and on its page.

use std::cmp::Reverse;
use std::fmt::Write as _;

use brunt_cluster::{Report, SeatReport};
use brunt_runfile::{AgentFrames, AgentHole, AgentRow, AgentStateAt, AgentTakeOver};
use brunt_summary::escape;
use serde_json::{Value, json};

use super::outliers;

/// Agents in the text: the worst come first if there are more.
const SHOWN: usize = 20;

/// Late starts above this are marked, in milliseconds.
const LATE_MS: f64 = 10.0;

/// A clock that differs from the leader's by more than this is marked, in milliseconds.
const OFF_MS: f64 = 1000.0;

/// A CPU share above this is marked.
const BUSY: f64 = 0.9;

/// All agents of a test.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agents {
    /// By seat.
    pub(crate) rows: Vec<AgentRow>,
    /// A sentence for each agent whose load or results are missing.
    missing: Vec<String>,
    /// Messages that were not for this run, or could not be read; a run file does not tell.
    refused: Option<u64>,
    /// Values of metrics that the leader's script does not have, likewise.
    unknown: Option<u64>,
}

impl Agents {
    /// `started`: when the scenarios began, in Unix ns of the leader's clock.
    pub(super) fn new(report: Report, started: Option<u64>) -> Self {
        let mut rows: Vec<AgentRow> = report.seats.iter().map(|seat| row(seat, started)).collect();
        outliers::mark(&mut rows);
        for row in &mut rows {
            row.remarks = remarks(row);
        }
        Self {
            rows,
            missing: report.missing,
            refused: Some(report.refused),
            unknown: Some(report.unknown),
        }
    }

    /// The agents of a run file; none if it has none.
    pub(crate) fn of_rows(rows: Vec<AgentRow>) -> Option<Self> {
        let missing = rows.iter().filter_map(|row| row.sentence.clone()).collect();
        (!rows.is_empty()).then_some(Self { rows, missing, refused: None, unknown: None })
    }

    /// The rows, the worst first if there are more than are shown.
    fn sorted(&self) -> Vec<&AgentRow> {
        let mut rows: Vec<&AgentRow> = self.rows.iter().collect();
        if rows.len() > SHOWN {
            rows.sort_by_key(|row| (Reverse(badness(row)), row.seat));
        }
        rows
    }

    /// How many rows are left out of a table, and whether any of them has remarks.
    fn more(&self) -> Option<String> {
        let sorted = self.sorted();
        let rest = sorted.get(SHOWN..).filter(|rest| !rest.is_empty())?;
        let count = rest.len();
        let marked = rest.iter().filter(|row| !row.remarks.is_empty()).count();
        Some(if marked == 0 {
            format!("and {count} more agents without remarks")
        } else {
            format!(
                "and {count} more agents, {marked} of them with remarks: the page and JSON have all"
            )
        })
    }

    /// The section as text, below the summary.
    pub(crate) fn text(&self) -> String {
        let mut out = String::from("\n  █ AGENTS\n\n");
        let _ = writeln!(
            out,
            "    {:>4}  {:<20} {:>7} {:>10} {:>10} {:>8} {:>10} {:>8} {:>6}  remarks",
            "seat", "host", "share", "iterations", "requests", "failed", "p(95)", "missed", "cpu"
        );
        for row in self.sorted().into_iter().take(SHOWN) {
            let _ = writeln!(out, "    {}", line(row));
        }
        if let Some(more) = self.more() {
            let _ = writeln!(out, "    … {more}");
        }
        if !self.missing.is_empty() {
            out.push('\n');
            for sentence in self.missing.iter().take(SHOWN) {
                let _ = writeln!(out, "    ✗ {sentence}");
            }
            let more = self.missing.len().saturating_sub(SHOWN);
            if more > 0 {
                let _ = writeln!(out, "    … and {more} more");
            }
        }
        out
    }

    /// The section as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("\n#### {} agents\n\n", self.rows.len());
        out.push_str("| seat | host | share | iterations | requests | failed | p95 | missed | cpu | remarks |\n");
        out.push_str("|--:|---|--:|--:|--:|--:|--:|--:|--:|---|\n");
        for row in self.sorted().into_iter().take(SHOWN) {
            let _ = writeln!(
                out,
                "| {} | {} | {:.1} % | {} | {} | {} | {} | {} | {:.0} % | {} |",
                row.seat,
                escape::markdown(row.host.as_deref().unwrap_or("-")),
                row.share * 100.0,
                row.iterations,
                row.requests,
                row.failed,
                p95(row),
                row.missed,
                row.cpu_max * 100.0,
                escape::markdown(&row.remarks.join("; ")),
            );
        }
        if let Some(more) = self.more() {
            let _ = writeln!(out, "\n… {more}");
        }
        for sentence in self.missing.iter().take(SHOWN) {
            let _ = writeln!(out, "\n🔴 {}", escape::markdown(sentence));
        }
        out
    }

    /// The section as JSON.
    pub(crate) fn json(&self) -> Value {
        json!({
            "seats": self.rows,
            "missing": self.missing,
            "refused_messages": self.refused,
            "unknown_values": self.unknown,
        })
    }
}

fn line(row: &AgentRow) -> String {
    let host = row.host.as_deref().unwrap_or("-");
    let line = format!(
        "{:>4}  {host:<20.20} {:>6.1}% {:>10} {:>10} {:>8} {:>10} {:>8} {:>5.0}%  {}",
        row.seat,
        row.share * 100.0,
        row.iterations,
        row.requests,
        row.failed,
        p95(row),
        row.missed,
        row.cpu_max * 100.0,
        row.remarks.join("; ")
    );
    line.trim_end().to_owned()
}

fn p95(row: &AgentRow) -> String {
    row.http_req_duration_p95_ms.map_or_else(|| "-".to_owned(), |p95| format!("{p95:.2}ms"))
}

/// The facts about a seat, but for what a comparison with others tells.
fn row(seat: &SeatReport, started: Option<u64>) -> AgentRow {
    let agent = seat.agent.as_ref();
    let relative = |moment: u64| started.map(|start| (moment as f64 - start as f64) / 1e9);
    let name = |state| serde_json::to_value(state).ok()?.as_str().map(str::to_owned);
    let states = seat.states.iter().map(|(state, at)| AgentStateAt {
        state: name(state).unwrap_or_default(),
        at_s: relative(*at),
    });
    let holes = seat.holes.iter().map(|hole| AgentHole {
        from_s: relative(hole.since),
        to_s: hole.until.and_then(relative),
        lost: hole.was_lost,
    });
    AgentRow {
        seat: seat.seat,
        segment: seat.segment.clone(),
        share: seat.share,
        host: agent.map(|agent| agent.host.clone()),
        agent: agent.map(|agent| agent.agent.clone()),
        version: agent.map(|agent| agent.version.clone()),
        cores: agent.map(|agent| agent.cores),
        offset_ms: seat.offset_ns as f64 / 1e6,
        offset_bound_ms: seat.offset_bound_ns as f64 / 1e6,
        late_ms: seat.late_ns.map(|late| late as f64 / 1e6),
        iterations: seat.totals.iterations,
        requests: seat.totals.requests,
        failed: seat.failed,
        http_req_duration_p95_ms: (!seat.durations.is_empty())
            .then(|| seat.durations.percentile(95.0)),
        missed: seat.missed,
        cpu_max: seat.cpu_max,
        lateness_p99_ms: seat.lateness_p99_ms.filter(|late| late.is_finite()),
        states: states.collect(),
        holes: holes.collect(),
        whole: seat.is_whole,
        missing_since_s: seat.missing_since_ns.map(|ns| ns as f64 / 1e9),
        missing: serde_json::to_value(seat.missing).unwrap_or_default(),
        sentence: seat.sentence.clone(),
        frames: AgentFrames {
            sent: seat.delivery.numbered,
            again: seat.delivery.again,
            coarser: seat.delivery.coarser,
            missing: seat.missing_messages.0,
        },
        errors: seat.notes.clone(),
        verdict: seat.verdict.clone().unwrap_or_default(),
        remarks: Vec::new(),
        is_outlier: false,
        took_over: seat
            .took_over
            .map(|(of, from)| AgentTakeOver { seat: of, from_s: from as f64 / 1e9 }),
        taken_by: seat.taken_by,
    }
}

/// The things that are not as they should be, behind those that a comparison found.
fn remarks(row: &AgentRow) -> Vec<String> {
    let mut remarks = Vec::new();
    if row.host.is_none() {
        remarks.push("no agent came".to_owned());
    } else if !row.whole {
        let since = row.missing_since_s.map(|at| format!(" from {at:.2}s"));
        remarks.push(format!("not whole{}", since.unwrap_or_default()));
    }
    if let Some(AgentTakeOver { seat, from_s }) = &row.took_over {
        remarks.push(format!("makes the load of seat {seat} from {from_s:.2}s"));
    }
    if let Some(by) = row.taken_by {
        remarks.push(format!("its load is seat {by}'s"));
    }
    for hole in &row.holes {
        let from = hole.from_s.unwrap_or(0.0);
        match hole.to_s {
            Some(to) => remarks.push(format!("out of touch {:.2}s from {from:.2}s", to - from)),
            None => remarks.push(format!("not heard of since {from:.2}s")),
        }
    }
    if let Some(level @ ("doubtful" | "invalid")) = row.level() {
        let findings = row.verdict["findings"].as_array();
        let names = findings.into_iter().flatten().filter_map(|it| it["name"].as_str());
        let names: Vec<&str> = names.collect();
        remarks.push(format!("generator {level}: {}", names.join(", ")));
    }
    if let Some(late) = row.late_ms.filter(|late| *late > LATE_MS) {
        remarks.push(format!("started {:.2}s late", late / 1000.0));
    }
    if row.offset_ms.abs() > OFF_MS {
        let way = if row.offset_ms > 0.0 { "behind" } else { "ahead" };
        remarks.push(format!("clock {:.2}s {way}", row.offset_ms.abs() / 1000.0));
    }
    if row.cpu_max > BUSY {
        remarks.push("its CPUs were busy".to_owned());
    }
    if row.frames.coarser > 0 {
        remarks.push(format!("{} seconds were told together", row.frames.coarser));
    }
    remarks.extend(row.remarks.iter().cloned());
    if !row.errors.is_empty() {
        let count = row.errors.len();
        remarks.push(format!("{count} different error{}", if count == 1 { "" } else { "s" }));
    }
    remarks
}

/// How much an agent needs a look.
fn badness(row: &AgentRow) -> u64 {
    let mut bad = 0;
    for (is_so, weight) in [
        (row.host.is_none(), 1 << 40),
        (!row.whole, 1 << 39),
        (!row.holes.is_empty(), 1 << 38),
        (row.level() == Some("invalid"), 1 << 37),
        (row.level() == Some("doubtful"), 1 << 36),
        (row.late_ms.is_some_and(|late| late > LATE_MS), 1 << 35),
        (row.is_outlier, 1 << 34),
        (row.cpu_max > BUSY, 1 << 33),
    ] {
        if is_so {
            bad += weight;
        }
    }
    bad + row.failed.saturating_add(row.missed).min(1 << 32)
}

#[cfg(test)]
mod tests {
    use brunt_cluster::Hole;

    use super::*;

    fn seat(number: u32) -> SeatReport {
        SeatReport { seat: number, share: 0.25, is_whole: true, ..SeatReport::default() }
    }

    #[test]
    fn the_worst_come_first_where_there_are_many() {
        let mut seats: Vec<SeatReport> = (1..=30).map(seat).collect();
        seats[24].holes =
            vec![Hole { since: 3_000_000_000, until: Some(8_000_000_000), was_lost: false }];
        let report = Report { seats, missing: vec!["seat 25 is gone".into()], ..Report::default() };
        let text = Agents::new(report, Some(1_000_000_000)).text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[4].trim_start().starts_with("25 "), "{text}");
        assert!(lines[4].contains("out of touch 5.00s from 2.00s"), "{text}");
        assert!(text.contains("… and 10 more agents"), "{text}");
        assert!(text.contains("✗ seat 25 is gone"), "{text}");
    }

    #[test]
    fn json_tells_moments_from_the_start() {
        let mut one = seat(1);
        one.holes = vec![Hole { since: 3_000_000_000, until: None, was_lost: true }];
        let report = Report { seats: vec![one], ..Report::default() };
        let json = Agents::new(report, Some(1_000_000_000)).json();
        assert_eq!(json["seats"][0]["holes"][0]["from_s"], 2.0);
        assert_eq!(json["seats"][0]["whole"], true);
    }

    #[test]
    fn a_run_file_tells_the_same_text() {
        let mut one = seat(1);
        one.is_whole = false;
        one.sentence = Some("results of seat 1 incomplete".to_owned());
        one.verdict =
            Some(json!({ "level": "invalid", "findings": [{ "name": "cpu-throttled" }] }));
        let missing = vec!["results of seat 1 incomplete".to_owned()];
        let agents = Agents::new(Report { seats: vec![one], missing, ..Report::default() }, None);
        assert!(agents.text().contains("generator invalid: cpu-throttled"), "{}", agents.text());
        let again = Agents::of_rows(agents.rows.clone()).unwrap();
        assert_eq!(again.text(), agents.text());
        assert!(Agents::of_rows(Vec::new()).is_none());
    }
}
