//! The section *Agents* of a summary: how each agent fared.

use std::cmp::Reverse;
use std::fmt::Write as _;

use brunt_cluster::{Report, SeatReport};
use serde_json::{Value, json};

/// Agents in the text: the worst come first if there are more.
const SHOWN: usize = 20;

/// Late starts above this are marked, in nanoseconds.
const LATE_NS: u64 = 10_000_000;

/// A clock that differs from the leader's by more than this is marked, in nanoseconds.
const OFF_NS: u64 = 1_000_000_000;

/// A CPU share above this is marked.
const BUSY: f64 = 0.9;

/// All agents of a test.
#[derive(Debug, Clone)]
pub(crate) struct Agents {
    report: Report,
    /// Unix ns of the leader's clock.
    started: Option<u64>,
}

impl Agents {
    pub(super) fn new(report: Report, started: Option<u64>) -> Self {
        Self { report, started }
    }

    /// The section as text, below the summary.
    pub(crate) fn text(&self) -> String {
        let mut out = String::from("\n  █ AGENTS\n\n");
        let mut seats: Vec<&SeatReport> = self.report.seats.iter().collect();
        if seats.len() > SHOWN {
            seats.sort_by_key(|seat| (Reverse(badness(seat)), seat.seat));
        }
        let _ = writeln!(
            out,
            "    {:>4}  {:<20} {:>7} {:>10} {:>10} {:>8} {:>10} {:>8} {:>6}  remarks",
            "seat", "host", "share", "iterations", "requests", "failed", "p(95)", "missed", "cpu"
        );
        for seat in seats.iter().take(SHOWN) {
            let _ = writeln!(out, "    {}", self.line(seat));
        }
        if seats.len() > SHOWN {
            let _ =
                writeln!(out, "    … and {} more agents without more remarks", seats.len() - SHOWN);
        }
        if !self.report.missing.is_empty() {
            out.push('\n');
            for sentence in self.report.missing.iter().take(SHOWN) {
                let _ = writeln!(out, "    ✗ {sentence}");
            }
            let more = self.report.missing.len().saturating_sub(SHOWN);
            if more > 0 {
                let _ = writeln!(out, "    … and {more} more");
            }
        }
        out
    }

    fn line(&self, seat: &SeatReport) -> String {
        let host = seat.agent.as_ref().map_or("-", |agent| agent.host.as_str());
        let p95 = if seat.durations.is_empty() {
            "-".to_owned()
        } else {
            format!("{:.2}ms", seat.durations.percentile(95.0))
        };
        let line = format!(
            "{:>4}  {host:<20.20} {:>6.1}% {:>10} {:>10} {:>8} {p95:>10} {:>8} {:>5.0}%  {}",
            seat.seat,
            seat.share * 100.0,
            seat.totals.iterations,
            seat.totals.requests,
            seat.failed,
            seat.missed,
            seat.cpu_max * 100.0,
            self.remarks(seat).join("; ")
        );
        line.trim_end().to_owned()
    }

    /// The things that are not as they should be.
    fn remarks(&self, seat: &SeatReport) -> Vec<String> {
        let mut remarks = Vec::new();
        if seat.agent.is_none() {
            remarks.push("no agent came".to_owned());
        } else if !seat.is_whole {
            let since = seat.missing_since_ns.map(|ns| format!(" from {}", seconds(ns)));
            remarks.push(format!("not whole{}", since.unwrap_or_default()));
        }
        for hole in &seat.holes {
            let at = self.at(hole.since);
            match hole.until {
                Some(until) => {
                    let length = seconds(until.saturating_sub(hole.since));
                    remarks.push(format!("out of touch {length} from {at}"));
                }
                None => remarks.push(format!("not heard of since {at}")),
            }
        }
        if let Some(late) = seat.late_ns.filter(|late| *late > LATE_NS) {
            remarks.push(format!("started {} late", seconds(late)));
        }
        if seat.offset_ns.unsigned_abs() > OFF_NS {
            let way = if seat.offset_ns > 0 { "behind" } else { "ahead" };
            remarks.push(format!("clock {} {way}", seconds(seat.offset_ns.unsigned_abs())));
        }
        if seat.cpu_max > BUSY {
            remarks.push("its CPUs were busy".to_owned());
        }
        if seat.delivery.coarser > 0 {
            remarks.push(format!("{} seconds were told together", seat.delivery.coarser));
        }
        if !seat.notes.is_empty() {
            let count = seat.notes.len();
            remarks.push(format!("{count} different error{}", if count == 1 { "" } else { "s" }));
        }
        remarks
    }

    /// A moment of the leader's clock, since the start.
    fn at(&self, moment: u64) -> String {
        seconds(moment.saturating_sub(self.started.unwrap_or(moment)))
    }

    /// The section as JSON.
    pub(crate) fn json(&self) -> Value {
        let seats: Vec<Value> = self.report.seats.iter().map(|seat| self.seat_json(seat)).collect();
        json!({
            "seats": seats,
            "missing": self.report.missing,
            "refused_messages": self.report.refused,
            "unknown_values": self.report.unknown,
        })
    }

    fn seat_json(&self, seat: &SeatReport) -> Value {
        let agent = seat.agent.as_ref();
        let relative = |moment: u64| self.started.map(|start| (moment as f64 - start as f64) / 1e9);
        let states: Vec<Value> = seat
            .states
            .iter()
            .map(|(state, at)| json!({ "state": state, "at_s": relative(*at) }))
            .collect();
        let holes: Vec<Value> = seat
            .holes
            .iter()
            .map(|hole| {
                json!({
                    "from_s": relative(hole.since), "to_s": hole.until.and_then(relative),
                    "lost": hole.was_lost,
                })
            })
            .collect();
        let p95 = (!seat.durations.is_empty()).then(|| seat.durations.percentile(95.0));
        json!({
            "seat": seat.seat,
            "segment": seat.segment,
            "share": seat.share,
            "host": agent.map(|agent| &agent.host),
            "agent": agent.map(|agent| &agent.agent),
            "version": agent.map(|agent| &agent.version),
            "cores": agent.map(|agent| agent.cores),
            "offset_ms": seat.offset_ns as f64 / 1e6,
            "offset_bound_ms": seat.offset_bound_ns as f64 / 1e6,
            "late_ms": seat.late_ns.map(|late| late as f64 / 1e6),
            "iterations": seat.totals.iterations,
            "requests": seat.totals.requests,
            "failed": seat.failed,
            "http_req_duration_p95_ms": p95,
            "missed": seat.missed,
            "cpu_max": seat.cpu_max,
            "lateness_p99_ms": seat.lateness_p99_ms,
            "states": states,
            "holes": holes,
            "whole": seat.is_whole,
            "missing_since_s": seat.missing_since_ns.map(|ns| ns as f64 / 1e9),
            "missing": seat.missing,
            "frames": {
                "sent": seat.delivery.numbered, "again": seat.delivery.again,
                "coarser": seat.delivery.coarser, "missing": seat.missing_messages.0,
            },
            "errors": seat.notes,
        })
    }
}

/// How much an agent needs a look.
fn badness(seat: &SeatReport) -> u64 {
    let mut bad = 0;
    for (is_so, weight) in [
        (seat.agent.is_none(), 1 << 40),
        (!seat.is_whole, 1 << 39),
        (!seat.holes.is_empty(), 1 << 38),
        (seat.late_ns.is_some_and(|late| late > LATE_NS), 1 << 37),
        (seat.cpu_max > BUSY, 1 << 36),
    ] {
        if is_so {
            bad += weight;
        }
    }
    bad + seat.failed.saturating_add(seat.missed).min(1 << 35)
}

/// `1.25s`
fn seconds(ns: u64) -> String {
    format!("{:.2}s", ns as f64 / 1e9)
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
}
