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
) -> impl Iterator<Item = HandlePlan> {
    let highest = stages.iter().map(|stage| stage.target).fold(start_vus, u64::max);
    let handle = move |local: u64| {
        let times = up_times(segment.global(local) + 1, start_vus, stages);
        HandlePlan { spans: spans(&times, graceful_ramp_down, hard_end) }
    };
    (0..segment.scale(highest)).map(handle)
}

/// A time in which a VU is wanted.
struct Up {
    start: Duration,
    /// `None` if it still is when the last stage ends.
    end: Option<Duration>,
}

/// When VU number `n` (from 1) is wanted.
fn up_times(n: u64, start_vus: u64, stages: &[Stage]) -> (Vec<Up>, Duration) {
    let mut ups: Vec<Up> = Vec::new();
    if n <= start_vus {
        ups.push(Up { start: Duration::ZERO, end: None });
    }
    let (mut from, mut end) = (start_vus, Duration::ZERO);
    for Stage { duration, target: to } in stages.iter().copied() {
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
    (ups, end)
}

/// `duration · num / den`, truncated to nanoseconds; `num ≤ den`.
fn part(duration: Duration, num: u64, den: u64) -> Duration {
    // Durations of more than u64::MAX nanoseconds are cut to that: options do not let them in.
    let nanos = duration.as_nanos().min(u128::from(u64::MAX));
    Duration::from_nanos((nanos * u128::from(num) / u128::from(den)) as u64)
}

fn spans(
    (ups, regular_end): &(Vec<Up>, Duration),
    grace: Duration,
    hard_end: Duration,
) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::with_capacity(ups.len());
    for up in ups.iter().rev() {
        let mut hard = match up.end {
            Some(end) => end.saturating_add(grace).min(hard_end),
            None => hard_end,
        };
        // Wanted back before its time is up: the VU just goes on.
        if let Some(later) = spans.last().filter(|later| later.start <= hard) {
            hard = later.hard_end;
        }
        let graceful_end = up.end.unwrap_or(*regular_end);
        spans.push(Span { start: up.start, graceful_end, hard_end: hard });
    }
    spans.reverse();
    spans
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
    let mut changes: Vec<(Duration, i64)> = Vec::new();
    for handle in handles(start_vus, stages, graceful_ramp_down, hard_end, segment) {
        // Spans that hang together end at the same instant and are held as one.
        for held in handle.spans.chunk_by(|a, b| a.hard_end == b.hard_end) {
            changes.push((held[0].start, 1));
            changes.push((held[0].hard_end, -1));
        }
    }
    // Alike ones are equal: their order among themselves is nothing.
    changes.sort_unstable_by_key(|(at, change)| (*at, -change));
    let mut planned = 0_i64;
    let mut steps = Vec::new();
    for alike in changes.chunk_by(|a, b| a == b) {
        let (at, change) = alike[0];
        planned += change * alike.len() as i64;
        steps.push(Step { at, planned: planned.unsigned_abs(), unplanned: 0 });
    }
    steps
}

#[cfg(test)]
mod tests;
