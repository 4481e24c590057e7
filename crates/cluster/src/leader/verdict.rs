//! How the run went: agent by agent, and as an exit code.

use super::{Cell, Leader, Touch};
use crate::code;
use crate::report::{Report, SeatReport};
use crate::time::Nanos;
use crate::totals::Totals;

impl Leader {
    /// The report, as things are.
    pub(super) fn report(&self, now: Nanos) -> Report {
        let mut seats: Vec<SeatReport> = self
            .cells
            .iter()
            .enumerate()
            .map(|(index, cell)| self.seat_report(index, cell))
            .collect();
        if self.has_begun() {
            for (seat, cell) in seats.iter_mut().zip(&self.cells).filter(|(seat, _)| !seat.is_whole)
            {
                let mut sentence = self.sentence(now, seat, cell);
                if let Some(note) = seat.notes.first() {
                    sentence.push_str("; the first error in its log: ");
                    sentence.push_str(note);
                }
                seat.sentence = Some(sentence);
            }
        }
        let missing = seats.iter().filter_map(|seat| seat.sentence.clone()).collect();
        Report { seats, missing, refused: self.frames.refused, unknown: self.frames.unknown() }
    }

    fn seat_report(&self, index: usize, cell: &Cell) -> SeatReport {
        let seat = index as u32 + 1;
        let segment = self.plan.segment(self.root(index)).ok();
        let state = cell.state.as_ref();
        let is_whole = self.is_whole(cell) && !self.is_taken(index);
        let takeover = self.phase.takeovers.iter().find(|takeover| takeover.seat == seat);
        SeatReport {
            seat: index as u32 + 1,
            segment: segment.as_ref().map(ToString::to_string).unwrap_or_default(),
            share: segment.map_or(0.0, |segment| segment.share()),
            agent: cell.seat.clone(),
            states: cell.kept.states.clone(),
            holes: cell.kept.holes.clone(),
            offset_ns: state.map_or(0, |state| state.offset_ns),
            offset_bound_ns: state.map_or(0, |state| state.rtt_ns.div_ceil(2)),
            late_ns: state.and_then(|state| state.late_ns),
            totals: cell.kept.totals,
            missing: cell.missing(),
            missing_messages: cell.missing_messages(),
            is_whole,
            missing_since_ns: (!is_whole).then(|| missing_since(cell)),
            took_over: takeover.map(|it| (it.of, self.since_start(it.from_ns))),
            taken_by: self.phase.taken(seat).map(|takeover| takeover.seat),
            failed: cell.kept.failed,
            missed: cell.kept.missed,
            durations: cell.kept.durations.clone(),
            cpu_max: cell.kept.cpu_max,
            lateness_p99_ms: cell.beat.lateness_p99_ms,
            delivery: state.map(|state| state.delivery).unwrap_or_default(),
            notes: state.map(|state| state.notes.clone()).unwrap_or_default(),
            verdict: state.and_then(|state| state.verdict.clone()),
            sentence: None,
        }
    }

    /// Whether an agent made all its load, and all that it measured is merged.
    fn is_whole(&self, cell: &Cell) -> bool {
        let Some(state) = &cell.state else { return false };
        let has_begun = state.late_ns.is_some() || self.fault.is_some();
        cell.is_complete()
            && state.left_ns.is_none()
            && state.delivery.thrown.is_nothing()
            && cell.kept.gone.is_none()
            && has_begun
    }

    /// Names the agent whose results are missing, how many, since when.
    fn sentence(&self, now: Nanos, seat: &SeatReport, cell: &Cell) -> String {
        let name = cell.name(seat.seat as usize - 1);
        if let Some(takeover) = self.phase.taken(seat.seat) {
            let from = self.since_start(takeover.from_ns) as f64 / 1e9;
            let at = seat.missing_since_ns.unwrap_or(0) as f64 / 1e9;
            let (missing, of) = seat.missing_messages;
            let frames = if missing > 0 {
                format!("; {missing} of its {of} known frames are missing")
            } else {
                String::new()
            };
            return format!(
                "load of {name} incomplete: it was lost; nothing is known of it since {at:.1} s after the start; {} took it over as seat {} from {from:.1} s on, {} iterations of arrival rates were missed{frames}",
                takeover.agent, takeover.seat, seat.missed
            );
        }
        let since = seat.missing_since_ns.unwrap_or(0) as f64 / 1e9;
        let (missing, of) = seat.missing_messages;
        let frames = if missing > 0 {
            format!("{missing} of {of} frames missing")
        } else if of == 0 {
            "none of its frames came".to_owned()
        } else {
            format!("all of its {of} known frames are there")
        };
        let Some(state) = cell.state.as_ref() else {
            return format!("results of {name} incomplete: nothing was heard of it");
        };
        if let Some(left) = state.left_ns {
            let at = left as f64 / 1e9;
            let results = if cell.is_complete() {
                "all that it measured is there".to_owned()
            } else {
                format!(
                    "its last word did not come: results are missing since {since:.1} s; {frames}"
                )
            };
            return format!(
                "load of {name} incomplete: it was told to stop by its machine {at:.1} s after the start; {results}"
            );
        }
        if !state.delivery.thrown.is_nothing() {
            let Totals { iterations, requests, .. } = state.delivery.thrown;
            let at = state.delivery.thrown_since_ns.unwrap_or(0) as f64 / 1e9;
            return format!(
                "results of {name} incomplete: it had no room for {iterations} iterations and {requests} requests since {at:.1} s after the start; {frames}"
            );
        }
        if let Some(told) = cell.told() {
            if state.late_ns.is_none() && self.fault.is_none() {
                return format!("load of {name} incomplete: it did not begin");
            }
            let Totals { iterations, requests, .. } = told.without(cell.kept.totals);
            return format!(
                "results of {name} incomplete: {frames}, with {iterations} iterations and {requests} requests, since {since:.1} s after the start"
            );
        }
        if let Some(gone) = &cell.kept.gone {
            return format!(
                "load of {name} incomplete: {gone}; nothing is known of it since {since:.1} s after the start; {frames}"
            );
        }
        let silence = now.saturating_sub(cell.heard) as f64 / 1e9;
        let touch =
            if cell.touch == Touch::Lost { "it was lost" } else { "its last word did not come" };
        format!(
            "results of {name} incomplete: {touch} ({silence:.0} s without a sign of life); nothing is known of it since {since:.1} s after the start; {frames}"
        )
    }

    /// The exit code, if the run ended otherwise than by its thresholds, and why.
    pub(super) fn verdict(&self) -> (Option<u8>, Option<String>) {
        let fault = self.fault.as_ref().or(self.teardown_fault.as_ref());
        let incomplete = self.missing.len() > self.plan.allow_lost as usize;
        let told = |fault: &crate::seat::Fault| (Some(fault.code), Some(fault.message.clone()));
        match fault {
            Some(fault) if fault.code != code::THRESHOLDS => told(fault),
            _ if incomplete => (Some(code::INCOMPLETE), Some(self.missing.join("; "))),
            Some(fault) => told(fault),
            None => self.marked.as_ref().map_or((None, None), told),
        }
    }
}

/// Since when load or results are missing, in nanoseconds since the start: the end of the last frame before the first hole, or the
/// moment in which the agent went.
fn missing_since(cell: &Cell) -> Nanos {
    let left = cell.state.as_ref().and_then(|state| state.left_ns);
    match left {
        Some(left) if cell.is_complete() => left,
        Some(left) => left.min(cell.kept.until_ns),
        None => cell.kept.until_ns,
    }
}
