//! The way of an agent's frames to the leader.
//!
//! ```text
//! frames of ticks ─► second ─► waiting ─► numbered ─► acknowledged ─► seen, forgotten
//!                    (merged)  (merged if  (bytes)     by the broker    by the leader
//!                               too many)
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use brunt_metrics::{Frame, Registry};

use crate::ranges::Ranges;
use crate::seat::Delivery;
use crate::time::{Nanos, SECOND};
use crate::totals::Totals;
use crate::whole::{Whole, size_of};
use crate::wire::{Encoder, Head};

/// Messages on their way to the broker at once.
pub(crate) const IN_FLIGHT_MAX: usize = 32;
/// Bytes of frames that wait for a number, and bytes of messages that the leader has not seen: 32 MiB each. Frames that wait are
/// merged if there are more; while there are too many messages, none is numbered.
const BYTES_MAX: usize = 32 << 20;
/// A message that the broker has and the leader doesn't see for so long is sent again.
const HOLE: u64 = 3 * SECOND;
/// The longest time to the next attempt.
const HOLE_MAX: u64 = 60 * SECOND;
/// After a refusal of the broker a message waits for so long.
const REFUSED: u64 = SECOND;
/// Frames of cores may come so much later than they were made: a second is closed so long after its end.
const LATE: u64 = 250 * crate::time::MILLI;
/// All that was measured so long ago has come from the cores.
const SETTLED: u64 = 500 * crate::time::MILLI;
/// A message whose acknowledgement does not come is published again.
const ACK: u64 = 10 * SECOND;

/// A message to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// Its number.
    pub seq: u64,
    /// Under which the broker knows it: `SEAT.INCARNATION.SEQ`, with `.rN` behind if it is sent for the N-th time although the broker
    /// had it.
    pub id: String,
    /// Its bytes.
    pub payload: Arc<[u8]>,
}

/// The frames of an agent, from the tick to the leader.
#[derive(Debug)]
pub struct Uplink {
    head: Head,
    encoder: Encoder,
    frame_ns: u64,
    second: Whole,
    /// Since when the second is filled, in nanoseconds since the start.
    since: Option<Nanos>,
    until: Nanos,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    sent: BTreeMap<u64, Sent>,
    sent_bytes: usize,
    in_flight: usize,
    delivery: Delivery,
    totals: Totals,
    is_finished: bool,
    has_last: bool,
    /// When the last message that the broker acknowledged was published.
    answered: Nanos,
}

#[derive(Debug)]
struct Waiting {
    frame: Frame,
    from: Nanos,
    to: Nanos,
    size: usize,
}

#[derive(Debug)]
struct Sent {
    payload: Arc<[u8]>,
    step: Way,
    /// How often it was sent although the broker had it.
    again: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// To be published, from this moment on.
    Due(Nanos),
    /// Published at this moment.
    Flying(Nanos),
    /// The broker has it since.
    Acked(Nanos),
}

impl Uplink {
    /// The uplink of an agent. `frame_ms`: from one message to the next.
    pub fn new(
        registry: Arc<Registry>,
        nonce: u64,
        (seat, incarnation): (u32, u64),
        frame_ms: u64,
    ) -> Self {
        Self {
            head: Head { nonce, seat, incarnation, ..Head::default() },
            encoder: Encoder::new(registry),
            frame_ns: frame_ms.max(1) * crate::time::MILLI,
            second: Whole::default(),
            since: None,
            until: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            sent: BTreeMap::new(),
            sent_bytes: 0,
            in_flight: 0,
            delivery: Delivery::default(),
            totals: Totals::default(),
            is_finished: false,
            has_last: false,
            answered: 0,
        }
    }

    /// Takes in a frame of a tick, already on the leader's clock. `run_ns`: when it was made, in nanoseconds since the start of the
    /// scenarios, 0 before. A message holds no more than one of their whole seconds, so that seconds are the same for all agents.
    /// Frames after [`finish`](Self::finish) are thrown away, and counted.
    pub fn take(&mut self, frame: &Frame, run_ns: Nanos) {
        if frame.is_empty() {
            return;
        }
        if self.is_finished {
            self.throw(frame, run_ns);
            return;
        }
        if self.since.is_some_and(|since| self.second_of(run_ns) > self.second_of(since)) {
            self.close_second();
        }
        self.since.get_or_insert(run_ns);
        self.until = self.until.max(run_ns);
        self.second.absorb(frame);
    }

    /// No more frames come: the last message will say so.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Whether all messages are numbered: totals are final.
    pub fn is_numbered(&self) -> bool {
        self.has_last
    }

    /// When the last message that the broker acknowledged was published; 0 if none was.
    pub(crate) fn answered(&self) -> Nanos {
        self.answered
    }

    /// Whether the leader has all.
    pub fn is_seen(&self) -> bool {
        self.has_last && self.sent.is_empty()
    }

    /// All that was numbered so far, and all that was thrown away.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How it goes.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// Frames and messages that the leader has not seen.
    pub fn waiting(&self) -> u64 {
        (self.waiting.len() + self.sent.len() + usize::from(self.since.is_some())) as u64
    }

    /// Closes the second if it is over, and tells what is to be published now, if the broker is `there`. `run_ns`: nanoseconds since
    /// the start of the scenarios.
    pub fn poll(
        &mut self,
        now: Nanos,
        run_ns: Nanos,
        there: bool,
        mut each: impl FnMut(Publication),
    ) {
        let is_full = self.since.is_some_and(|since| run_ns >= self.closes_at(since));
        if is_full || self.is_finished && self.since.is_some() {
            self.close_second();
        }
        if !there {
            return;
        }
        for (seq, sent) in &mut self.sent {
            match sent.step {
                Way::Flying(at) if now >= at + ACK => {
                    sent.step = Way::Due(now);
                    self.in_flight -= 1;
                }
                _ => {}
            }
            let is_due = matches!(sent.step, Way::Due(at) if at <= now);
            if is_due && self.in_flight < IN_FLIGHT_MAX {
                sent.step = Way::Flying(now);
                self.in_flight += 1;
                each(publication(self.head, *seq, sent));
            }
        }
        while self.in_flight < IN_FLIGHT_MAX && self.sent_bytes < BYTES_MAX {
            let next = self.waiting.pop_front();
            match next {
                Some(waiting) => {
                    self.waiting_bytes -= waiting.size;
                    let is_last = self.is_finished && self.waiting.is_empty();
                    self.number(&waiting, is_last, now, &mut each);
                }
                None if self.is_finished && !self.has_last => {
                    let (frame, at) = (Frame::default(), self.until);
                    let waiting = Waiting { frame, from: at, to: at, size: 0 };
                    self.number(&waiting, true, now, &mut each);
                }
                None => break,
            }
        }
    }

    /// The second in which a moment lies; 0 for what came before the start.
    fn second_of(&self, run_ns: Nanos) -> u64 {
        if run_ns == 0 { 0 } else { run_ns / self.frame_ns + 1 }
    }

    /// When the second that began at `since` is closed.
    fn closes_at(&self, since: Nanos) -> Nanos {
        self.second_of(since) * self.frame_ns + LATE
    }

    /// All that was measured before this moment has a number; a whole second. `run_ns`: this moment.
    pub(crate) fn whole_until(&self, run_ns: Nanos) -> Nanos {
        let open = self.since.into_iter().chain(self.waiting.iter().map(|waiting| waiting.from));
        let until = open.min().unwrap_or(Nanos::MAX).min(run_ns.saturating_sub(SETTLED));
        until / self.frame_ns * self.frame_ns
    }

    fn close_second(&mut self) {
        let Some(from) = self.since.take() else { return };
        let frame = self.second.take();
        let size = size_of(&frame);
        let to = self.until.max(from);
        self.waiting_bytes += size;
        self.waiting.push_back(Waiting { frame, from, to, size });
        while self.waiting_bytes > BYTES_MAX && self.waiting.len() > 1 {
            self.merge_neighbours();
        }
        if self.waiting_bytes > BYTES_MAX
            && let Some(all) = self.waiting.pop_back()
        {
            // One frame that is too large by itself: more series than anybody could look at.
            self.waiting_bytes = 0;
            self.throw(&all.frame, all.from);
        }
    }

    /// Each two frames that wait become one.
    fn merge_neighbours(&mut self) {
        let mut merged = VecDeque::with_capacity(self.waiting.len() / 2 + 1);
        let mut all = std::mem::take(&mut self.waiting).into_iter();
        while let Some(one) = all.next() {
            let Some(other) = all.next() else {
                merged.push_back(one);
                break;
            };
            let mut whole = Whole::default();
            whole.absorb(&one.frame);
            whole.absorb(&other.frame);
            let frame = whole.take();
            let size = size_of(&frame);
            self.delivery.coarser += 1;
            merged.push_back(Waiting {
                frame,
                from: one.from.min(other.from),
                to: one.to.max(other.to),
                size,
            });
        }
        self.waiting = merged;
        self.waiting_bytes = self.waiting.iter().map(|waiting| waiting.size).sum();
    }

    fn throw(&mut self, frame: &Frame, from: Nanos) {
        let totals = Totals::of(frame);
        self.totals.add(totals);
        self.delivery.thrown.add(totals);
        self.delivery.thrown_since_ns.get_or_insert(from);
    }

    fn number(
        &mut self,
        waiting: &Waiting,
        is_last: bool,
        now: Nanos,
        each: &mut impl FnMut(Publication),
    ) {
        self.totals.add(Totals::of(&waiting.frame));
        let mut cuts = self.encoder.cut(&waiting.frame);
        let count = cuts.len();
        for (index, cut) in cuts.iter_mut().enumerate() {
            self.delivery.numbered += 1;
            let seq = self.delivery.numbered;
            let is_last = is_last && index + 1 == count;
            let (from_ns, to_ns) = (waiting.from, waiting.to);
            let head = Head { seq, from_ns, to_ns, is_last, ..self.head };
            let payload: Arc<[u8]> = self.encoder.pack(cut, head).into();
            self.sent_bytes += payload.len();
            let mut sent = Sent { payload, step: Way::Due(now), again: 0 };
            if self.in_flight < IN_FLIGHT_MAX {
                sent.step = Way::Flying(now);
                self.in_flight += 1;
                each(publication(self.head, seq, &sent));
            }
            self.sent.insert(seq, sent);
        }
        self.has_last |= is_last;
    }

    /// The broker has stored a message.
    pub fn acked(&mut self, now: Nanos, seq: u64) {
        if let Some(sent) = self.sent.get_mut(&seq)
            && let Way::Flying(since) = sent.step
        {
            self.answered = self.answered.max(since);
            sent.step = Way::Acked(now);
            self.in_flight -= 1;
        }
    }

    /// The broker has not, as far as is known: it will be published again a second later.
    pub fn not_acked(&mut self, now: Nanos, seq: u64) {
        if let Some(sent) = self.sent.get_mut(&seq)
            && matches!(sent.step, Way::Flying(_))
        {
            sent.step = Way::Due(now + REFUSED);
            self.in_flight -= 1;
        }
    }

    /// The leader has these. A message that the broker has for three seconds and the leader has not is sent again, under an id that
    /// the broker has not seen yet; the next time after twice as long.
    pub fn seen(&mut self, now: Nanos, ranges: &Ranges) {
        let (mut bytes, mut in_flight, mut again) = (0, 0, 0);
        self.sent.retain(|seq, sent| {
            if ranges.contains(*seq) {
                bytes += sent.payload.len();
                in_flight += usize::from(matches!(sent.step, Way::Flying(_)));
                return false;
            }
            if let Way::Acked(at) = sent.step
                && now >= at + (HOLE << sent.again.min(5)).min(HOLE_MAX)
            {
                sent.again = sent.again.saturating_add(1);
                sent.step = Way::Due(now);
                again += 1;
            }
            true
        });
        self.sent_bytes -= bytes;
        self.in_flight -= in_flight;
        self.delivery.again += again;
    }

    /// The connection is gone: nothing is on its way any more.
    pub fn disconnected(&mut self) {
        for sent in self.sent.values_mut().filter(|sent| matches!(sent.step, Way::Flying(_))) {
            sent.step = Way::Due(0);
        }
        self.in_flight = 0;
    }

    /// When [`poll`](Self::poll) has something to do.
    pub fn wake_at(&self, now: Nanos, run_ns: Nanos, there: bool) -> Option<Nanos> {
        let second = self.since.map(|since| now + self.closes_at(since).saturating_sub(run_ns));
        if !there {
            return second;
        }
        let room = self.in_flight < IN_FLIGHT_MAX;
        let ways = self.sent.values().filter_map(|sent| match sent.step {
            Way::Flying(at) => Some(at + ACK),
            Way::Due(at) if room => Some(at),
            Way::Due(_) | Way::Acked(_) => None,
        });
        let more = !self.waiting.is_empty() || self.is_finished && !self.has_last;
        let number = (room && self.sent_bytes < BYTES_MAX && more).then_some(now);
        second.into_iter().chain(ways.min()).chain(number).min()
    }
}

fn publication(head: Head, seq: u64, sent: &Sent) -> Publication {
    let mut id = format!("{}.{}.{seq}", head.seat, head.incarnation);
    if sent.again > 0 {
        id = format!("{id}.r{}", sent.again);
    }
    Publication { seq, id, payload: Arc::clone(&sent.payload) }
}

#[cfg(test)]
mod tests;
