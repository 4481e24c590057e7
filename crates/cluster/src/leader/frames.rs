//! Measurements: each once to the ledger, and into the checkpoint.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use brunt_metrics::{Frame, Registry, Series, SeriesDelta, Sink, TagSet, builtin};

use super::{Cell, Leader, LeaderAction, Touch};
use crate::checkpoint::{CellStored, Checkpoint, HeadStored};
use crate::level::Level;
use crate::messages::{Seen, SeenOf};
use crate::phase::Step;
use crate::plan::Policy;
use crate::seat::State;
use crate::time::{Nanos, SECOND};
use crate::whole::Whole;
use crate::wire::{Decoder, Message};

/// From one checkpoint to the next.
const STORE: u64 = 60 * SECOND;
/// After a checkpoint that failed.
const STORE_AGAIN: u64 = 10 * SECOND;
/// A checkpoint without an answer is made again.
const STORE_PATIENCE: u64 = 120 * SECOND;
/// Messages of the stream come out of order by no more than this: what a checkpoint may lack must stay in the stream.
const ORDERED: u64 = 5 * SECOND;
/// Agents in one message of seen numbers.
const SEEN_MAX: usize = 2000;

/// The measurements that are merged.
#[derive(Debug)]
pub(super) struct Frames {
    registry: Arc<Registry>,
    decoder: Decoder,
    /// All of it, for the checkpoint.
    whole: Whole,
    /// The place in the stream up to which all is merged.
    stream_seq: u64,
    /// The places that were reached, second by second, in the last [`ORDERED`].
    reached: VecDeque<(Nanos, u64)>,
    /// The checkpoint on its way: since when, up to which place, and up to which one nothing can come any more.
    storing: Option<(Nanos, u64, u64)>,
    store_at: Nanos,
    /// Something was merged since the last checkpoint.
    is_dirty: bool,
    /// Messages that were not for this run, or could not be read.
    pub(super) refused: u64,
    /// The first of them is told.
    has_told: bool,
    /// The second that was told last as whole.
    told_whole: Nanos,
    pub(super) seat_revisions: BTreeMap<u32, u64>,
}

impl Frames {
    pub(super) fn new(registry: Arc<Registry>, kept: Vec<String>, now: Nanos) -> Self {
        Self {
            decoder: Decoder::new(Arc::clone(&registry)),
            registry,
            whole: Whole::bounded(kept),
            stream_seq: 0,
            reached: VecDeque::new(),
            storing: None,
            store_at: now + STORE,
            is_dirty: false,
            refused: 0,
            has_told: false,
            told_whole: 0,
            seat_revisions: BTreeMap::new(),
        }
    }

    pub(super) fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    /// Series whose metric the leader does not have.
    pub(super) fn unknown(&self) -> u64 {
        self.decoder.unknown()
    }

    /// The store may be a new one.
    pub(super) fn store_soon(&mut self, now: Nanos) {
        (self.storing, self.store_at) = (None, now);
        // Its places begin anew, and it is read from its beginning.
        self.stream_seq = 0;
        self.reached.clear();
    }

    /// Notes how far the stream was read.
    fn note_place(&mut self, now: Nanos) {
        self.reached.push_back((now, self.stream_seq));
        // The last one that is old enough stays.
        while self.reached.get(1).is_some_and(|(at, _)| at + ORDERED <= now) {
            self.reached.pop_front();
        }
    }

    pub(super) fn merge(
        &mut self,
        frame: Frame,
        run_ns: Option<Nanos>,
        out: &mut Vec<LeaderAction>,
    ) {
        self.whole.absorb(&frame);
        self.is_dirty = true;
        out.push(LeaderAction::Merge(frame, run_ns));
    }
}

impl Leader {
    /// A message of the stream: merged, if it is the first of its number.
    pub(super) fn message(
        &mut self,
        now: Nanos,
        payload: &[u8],
        stream_seq: u64,
        out: &mut Vec<LeaderAction>,
    ) {
        self.frames.stream_seq = self.frames.stream_seq.max(stream_seq);
        let message = match Message::read(payload) {
            Ok(message) => message,
            Err(error) => return self.refuse_message(&error.to_string(), out),
        };
        let head = message.head;
        let index = (head.seat as usize).wrapping_sub(1);
        let holder = self.cells.get(index).and_then(|cell| cell.seat.as_ref());
        if head.nonce != self.plan.nonce || head.seq == 0 || head.seq == u64::MAX {
            return self.refuse_message("it belongs to another run", out);
        }
        if holder.is_none_or(|holder| holder.incarnation != head.incarnation) {
            // Its agent sends it again, if the seat is its own.
            return self.refuse_message("its sender has no seat", out);
        }
        let cell = &mut self.cells[index];
        if !cell.merges(head.seq, head.to_ns) {
            return;
        }
        if head.is_last {
            cell.kept.last = Some(head.seq);
        }
        let mut frame = self.frames.decoder.frame(message);
        self.cells[index].tally(&frame);
        if self.plan.policy == Policy::TakeOver {
            self.cells[index].tally_scenarios(&frame, &self.config.scenarios);
        }
        frame.done.clear();
        if !frame.is_empty() {
            // Where too much waited, neighbouring seconds are one.
            let is_second = head.from_ns / SECOND == head.to_ns / SECOND && head.to_ns > 0;
            self.frames.merge(frame, is_second.then_some(head.to_ns), out);
        }
        self.cells[index].look_at_whole();
        self.frames.is_dirty = true;
        self.frames.store_at = self.frames.store_at.min(now + STORE);
    }

    fn refuse_message(&mut self, reason: &str, out: &mut Vec<LeaderAction>) {
        self.frames.refused += 1;
        if !std::mem::replace(&mut self.frames.has_told, true) {
            let text = format!(
                "a message of the stream was refused: {reason}; others like it are counted"
            );
            out.push(LeaderAction::Tell(Level::Warn, text));
        }
    }

    /// Once a second: the sums of VUs, the numbers that were seen, the checkpoint.
    pub(super) fn tick(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        if !self.stage.is_leading() {
            return;
        }
        if (Step::Setup..=Step::Run).contains(&self.phase.phase) {
            self.count_vus(now, out);
        }
        self.tell_whole(out);
        self.frames.note_place(now);
        let seats: Vec<SeenOf> = self
            .cells
            .iter()
            .zip(1..)
            .filter_map(|(cell, seat)| {
                let incarnation = cell.seat.as_ref()?.incarnation;
                let is_heard = cell.is_here() && self.phase.taken(seat).is_none();
                let heard = if is_heard { cell.beat.serial } else { 0 };
                Some(SeenOf { seat, incarnation, ranges: cell.kept.ranges.clone(), heard })
            })
            .collect();
        for seats in seats.chunks(SEEN_MAX) {
            let seen = Seen { nonce: self.plan.nonce, seats: seats.to_vec() };
            out.push(LeaderAction::Seen(seen));
        }
        self.store(now, out);
    }

    /// Sums of all agents that are in touch.
    fn count_vus(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let here = || self.cells.iter().filter(|cell| cell.is_here());
        let sums = [
            (builtin::VUS, here().map(|cell| cell.beat.vus).sum::<u64>()),
            (builtin::VUS_MAX, here().map(|cell| cell.beat.vus_max).sum()),
        ];
        let tags: &TagSet = &self.config.run_tags;
        let series = sums.map(|(metric, sum)| {
            let last = sum as f64;
            let series = Arc::new(Series { metric, tags: tags.clone() });
            let sink = Sink::Gauge { last, min: last, max: last, at: Some(now) };
            SeriesDelta { series, sink }
        });
        let frame = Frame { at: now, series: series.into(), ..Frame::default() };
        let run_ns = self.start.map(|_| self.since_start(now));
        self.frames.merge(frame, run_ns, out);
    }

    /// Tells up to which second all measurements are there: of those agents that are in touch.
    fn tell_whole(&mut self, out: &mut Vec<LeaderAction>) {
        let runs = |cell: &&Cell| cell.touch == Touch::Alive && cell.is_at(State::Running);
        let whole = self.cells.iter().filter(runs).map(|cell| cell.seconds_ns).min();
        if let Some(whole) = whole.filter(|whole| *whole > self.frames.told_whole) {
            self.frames.told_whole = whole;
            out.push(LeaderAction::Whole(whole));
        }
    }

    fn store(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let frames = &mut self.frames;
        let waits = frames.storing.is_some_and(|(since, ..)| now < since + STORE_PATIENCE);
        if now < frames.store_at || waits || !frames.is_dirty || self.start.is_none() {
            return;
        }
        let settled = frames.reached.iter().take_while(|(at, _)| at + ORDERED <= now).last();
        let settled = settled.map_or(0, |(_, place)| *place);
        frames.storing = Some((now, frames.stream_seq, settled));
        frames.store_at = now + STORE;
        let cells = self.cells.iter().zip(1..);
        let head = HeadStored {
            nonce: self.plan.nonce,
            marked: self.marked.clone(),
            refused: self.frames.refused,
            cells: cells.filter_map(|(cell, seat)| CellStored::of(seat, cell)).collect(),
        };
        let checkpoint = Checkpoint { head, whole: self.frames.whole.frame() };
        let bytes = checkpoint.write(Arc::clone(&self.frames.registry));
        out.push(LeaderAction::PutCheckpoint(bytes));
    }

    pub(super) fn checkpoint_put(
        &mut self,
        now: Nanos,
        result: Result<(), String>,
        out: &mut Vec<LeaderAction>,
    ) {
        let Some((_, stream_seq, settled)) = self.frames.storing.take() else { return };
        match result {
            Ok(()) => {
                self.frames.is_dirty = self.frames.stream_seq > stream_seq;
                if settled > 0 {
                    out.push(LeaderAction::Purge { stream_seq: settled });
                }
            }
            Err(error) => {
                self.frames.store_at = now + STORE_AGAIN;
                let text = format!("the checkpoint of the run cannot be stored: {error}");
                out.push(LeaderAction::Tell(Level::Warn, text));
            }
        }
    }

    /// Takes up what a predecessor had.
    pub(super) fn restored(
        &mut self,
        now: Nanos,
        checkpoint: Checkpoint,
        out: &mut Vec<LeaderAction>,
    ) {
        self.marked = checkpoint.head.marked;
        self.frames.refused = checkpoint.head.refused;
        for stored in checkpoint.head.cells {
            let index = (stored.seat as usize).wrapping_sub(1);
            let Some(cell) = self.cells.get_mut(index) else { continue };
            let holder = cell.seat.get_or_insert_with(|| stored.holder.clone());
            if holder.incarnation != stored.holder.incarnation {
                continue;
            }
            cell.touch = if stored.is_lost { Touch::Lost } else { Touch::Alive };
            (cell.heard, cell.kept) = (now, stored.kept);
        }
        if !checkpoint.whole.is_empty() {
            self.frames.merge(checkpoint.whole, None, out);
        }
    }
}
