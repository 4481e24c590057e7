//! All that a leader has merged, as bytes: for a successor.
//!
//! Not the ledger, but the frames that it has absorbed, merged into one: what a ledger makes of one big frame is what it made of
//! the small ones, except that thresholds over windows of time see all of it at the moment of the restart.

use std::sync::Arc;

use brunt_metrics::{Frame, Registry, Series, SeriesDelta, Sink, TagSet, builtin};
use serde::{Deserialize, Serialize};

use crate::leader::{Cell, Kept, Touch};
use crate::seat::{Fault, Seat};
use crate::whole::Whole;
use crate::wire::{Decoder, Encoder, Head, Message, WireError};

/// The tag of a seat's durations.
const SEAT: &str = "seat";

/// A checkpoint.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) head: HeadStored,
    /// Of all agents.
    pub(crate) whole: Frame,
}

/// Everything but the measurements.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeadStored {
    pub(crate) nonce: u64,
    pub(crate) marked: Option<Fault>,
    pub(crate) refused: u64,
    pub(crate) cells: Vec<CellStored>,
}

/// An agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CellStored {
    pub(crate) seat: u32,
    pub(crate) holder: Seat,
    pub(crate) is_lost: bool,
    pub(crate) kept: Kept,
}

/// Why bytes are no checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CheckpointError {
    #[error("it is cut off")]
    Cut,
    #[error("its head: {0}")]
    Head(String),
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl CellStored {
    pub(crate) fn of(seat: u32, cell: &Cell) -> Option<Self> {
        let (holder, is_lost) = (cell.seat.clone()?, cell.touch == Touch::Lost);
        Some(Self { seat, holder, is_lost, kept: cell.kept.clone() })
    }
}

impl Checkpoint {
    /// As bytes: the head as JSON, then messages, each with its length in four bytes before it: those of the whole, one of length
    /// 0, those of each seat's durations.
    pub(crate) fn write(&self, registry: Arc<Registry>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let head = serde_json::to_vec(&self.head).expect("it is plain data");
        part(&mut bytes, &head);
        let mut encoder = Encoder::exact(registry);
        let mut frame = |frame: &Frame, bytes: &mut Vec<u8>| {
            for mut cut in encoder.cut(frame) {
                part(bytes, &encoder.pack(&mut cut, Head::default()));
            }
        };
        frame(&self.whole, &mut bytes);
        part(&mut bytes, &[]);
        let series = self.head.cells.iter().filter(|cell| !cell.kept.durations.is_empty());
        let series = series.map(|cell| {
            let tags = TagSet::from_pairs([(SEAT, cell.seat.to_string())]);
            let series = Arc::new(Series { metric: builtin::HTTP_REQ_DURATION, tags });
            SeriesDelta { series, sink: Sink::Trend(cell.kept.durations.clone()) }
        });
        frame(&Frame { series: series.collect(), ..Frame::default() }, &mut bytes);
        bytes
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(crate) fn read(mut bytes: &[u8], decoder: &mut Decoder) -> Result<Self, CheckpointError> {
        let head = next(&mut bytes).ok_or(CheckpointError::Cut)?;
        let mut head: HeadStored = serde_json::from_slice(head)
            .map_err(|error| CheckpointError::Head(error.to_string()))?;
        if head.cells.iter().any(|cell| !cell.kept.ranges.is_sound()) {
            return Err(CheckpointError::Head("its numbers contradict themselves".into()));
        }
        let mut whole = Whole::default();
        loop {
            let message = next(&mut bytes).ok_or(CheckpointError::Cut)?;
            if message.is_empty() {
                break;
            }
            whole.absorb(&decoder.frame(Message::read(message)?));
        }
        while !bytes.is_empty() {
            let message = next(&mut bytes).ok_or(CheckpointError::Cut)?;
            for delta in decoder.frame(Message::read(message)?).series {
                let seat = delta.series.tags.get(SEAT).and_then(|seat| seat.parse::<u32>().ok());
                let cell = head.cells.iter_mut().find(|cell| Some(cell.seat) == seat);
                if let (Some(cell), Sink::Trend(trend)) = (cell, delta.sink) {
                    cell.kept.durations.merge(&trend);
                }
            }
        }
        Ok(Self { head, whole: whole.take() })
    }
}

fn part(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u32).to_be_bytes());
    bytes.extend(part);
}

/// The next part; no longer than a message, but for the head, which comes first.
fn next<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (part, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *bytes = rest;
    Some(part)
}
