//! `ramping-vus`: the instants at which the number of VUs changes.
//!
//! ```text
//!  4 |          .—.              VU 4   2.0 ├┤ 2.5
//!  3 |        .—'  '—.           VU 3   1.5 ├──┤ 3.0
//!  2 |     .—'       '—.         VU 2   1.0 ├────┤ 3.5
//!  1 |  .—'            '—.       VU 1   0.5 ├──────┤ 4.0
//!    +——————————————————————
//!     0     1     2     3     4 s    (0 → 4 in 2 s, 4 → 0 in 2 s)
//! ```
//! VUs are numbered over the whole test, and a segment applies these instants to the numbers it owns;
//! so the starts of several machines interleave.

use std::time::Duration;

use crate::{HandlePlan, Segment, Span, Stage, Step};

/// The spans of every VU handle that `segment` owns. `hard_end` is the end of the graceful stop.
pub(crate) fn handles(
    start_vus: u64,
    stages: &[Stage],
    graceful_ramp_down: Duration,
    hard_end: Duration,
    segment: &Segment,
) -> Vec<HandlePlan> {
    let mut ramp = Ramp::new(start_vus, stages, graceful_ramp_down, hard_end);
    ramp.numbers(segment).map(|n| HandlePlan { spans: ramp.spans(n).to_vec() }).collect()
}

/// The options that the spans of a VU follow from, and room to write them down: there may be millions of VUs.
struct Ramp<'a> {
    start_vus: u64,
    stages: &'a [Stage],
    grace: Duration,
    hard_end: Duration,
    ups: Vec<Up>,
    spans: Vec<Span>,
}

/// A time in which a VU is wanted.
struct Up {
    start: Duration,
    /// `None` if it still is when the last stage ends.
    end: Option<Duration>,
}

impl<'a> Ramp<'a> {
    fn new(start_vus: u64, stages: &'a [Stage], grace: Duration, hard_end: Duration) -> Self {
        Self { start_vus, stages, grace, hard_end, ups: Vec::new(), spans: Vec::new() }
    }

    /// The numbers (from 1) of the VUs that `segment` owns.
    fn numbers<'s>(&self, segment: &'s Segment) -> impl Iterator<Item = u64> + use<'s> {
        let highest = self.stages.iter().map(|stage| stage.target).fold(self.start_vus, u64::max);
        (0..segment.scale(highest)).map(|local| segment.global(local) + 1)
    }

    /// Writes down when VU number `n` is wanted; returns when the last stage ends.
    fn up_times(&mut self, n: u64) -> Duration {
        let ups = &mut self.ups;
        ups.clear();
        if n <= self.start_vus {
            ups.push(Up { start: Duration::ZERO, end: None });
        }
        let (mut from, mut end) = (self.start_vus, Duration::ZERO);
        for Stage { duration, target: to } in self.stages.iter().copied() {
            end = end.saturating_add(duration);
            if from < n && n <= to {
                let at = end.saturating_sub(part(duration, to - n, to - from));
                match ups.last_mut() {
                    // Down and up at one instant is no change.
                    Some(last) if last.end == Some(at) => last.end = None,
                    _ => ups.push(Up { start: at, end: None }),
                }
            } else if to < n && n <= from {
                let at = end.saturating_sub(part(duration, n - 1 - to, from - to));
                let last = ups.last_mut().expect("a VU that is ramped down was up");
                last.end = Some(at);
            }
            from = to;
        }
        end
    }

    /// The spans of VU number `n`.
    fn spans(&mut self, n: u64) -> &[Span] {
        let regular_end = self.up_times(n);
        let spans = &mut self.spans;
        spans.clear();
        for up in self.ups.iter().rev() {
            let mut hard = match up.end {
                Some(end) => end.saturating_add(self.grace).min(self.hard_end),
                None => self.hard_end,
            };
            // Wanted back before its time is up: the VU just goes on.
            if let Some(later) = spans.last().filter(|later| later.start <= hard) {
                hard = later.hard_end;
            }
            let graceful_end = up.end.unwrap_or(regular_end);
            spans.push(Span { start: up.start, graceful_end, hard_end: hard });
        }
        spans.reverse();
        spans
    }
}

/// `duration · num / den`, truncated to nanoseconds; `num ≤ den`.
fn part(duration: Duration, num: u64, den: u64) -> Duration {
    // Durations of more than u64::MAX nanoseconds are cut to that: options do not let them in.
    let nanos = duration.as_nanos().min(u128::from(u64::MAX));
    Duration::from_nanos((nanos * u128::from(num) / u128::from(den)) as u64)
}

/// How many VUs are held when, those counted that are being ramped down. A VU that is up for no time at
/// all counts too, as in k6: two steps then bear the same instant.
pub(crate) fn requirements(
    start_vus: u64,
    stages: &[Stage],
    graceful_ramp_down: Duration,
    hard_end: Duration,
    segment: &Segment,
) -> Vec<Step> {
    let mut ramp = Ramp::new(start_vus, stages, graceful_ramp_down, hard_end);
    let (mut comings, mut goings): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    for n in ramp.numbers(segment) {
        // Spans that hang together end at the same instant and are held as one.
        for held in ramp.spans(n).chunk_by(|a, b| a.hard_end == b.hard_end) {
            comings.push(held[0].start);
            goings.push(held[0].hard_end);
        }
    }
    // A stage alone gives them in order, forwards or backwards: this sort takes such runs as they are.
    comings.sort();
    goings.sort();
    let (mut comings, mut goings) = (&comings[..], &goings[..]);
    let mut planned = 0_u64;
    let mut steps = Vec::new();
    while let Some(leaves) = goings.first().copied() {
        // Every VU comes before it goes, so that the last to change are those that go.
        let at = comings.first().copied().filter(|comes| *comes <= leaves);
        if let Some(at) = at {
            planned += take_all(&mut comings, at);
        } else {
            planned -= take_all(&mut goings, leaves);
        }
        steps.push(Step { at: at.unwrap_or(leaves), planned, unplanned: 0 });
    }
    steps
}

/// Takes the instants that are `at` away from the front of a list in order; how many there were.
fn take_all(instants: &mut &[Duration], at: Duration) -> u64 {
    let count = instants.iter().take_while(|instant| **instant == at).count();
    *instants = &instants[count..];
    count as u64
}

#[cfg(test)]
mod tests;
