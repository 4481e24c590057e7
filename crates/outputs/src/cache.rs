//! The text that all lines of a series share, written once.

use std::sync::Arc;

use brunt_metrics::{Series, SeriesDelta};
use rustc_hash::FxHashMap;

/// Series whose text is kept (about a kilobyte each); when there are more, all are forgotten and
/// written anew as they turn up.
const SERIES_MAX: usize = 50_000;

/// The bytes of those texts; when there are more, likewise.
const BYTES_MAX: usize = 64 << 20;

/// The texts before and after the value.
pub(crate) struct Text {
    pub(crate) head: Box<[u8]>,
    pub(crate) tail: Box<[u8]>,
}

/// The texts of series, looked up once per frame: its samples know their series by a number.
#[derive(Default)]
pub(crate) struct Texts {
    /// By the address of the series, which is kept so that the address stays its own.
    by_address: FxHashMap<usize, u32>,
    kept: Vec<(Arc<Series>, Text)>,
    bytes: usize,
    /// Where the text of each series of the frame at hand is kept.
    order: Vec<u32>,
}

impl Texts {
    /// Turns to a frame with these series; texts that are not known are made by `write`.
    pub(crate) fn turn_to(&mut self, series: &[SeriesDelta], write: impl Fn(&Series) -> Text) {
        if self.kept.len() + series.len() > SERIES_MAX || self.bytes >= BYTES_MAX {
            self.by_address.clear();
            self.kept.clear();
            self.bytes = 0;
        }
        self.order.clear();
        for SeriesDelta { series, .. } in series {
            let (kept, bytes) = (&mut self.kept, &mut self.bytes);
            let place = self.by_address.entry(Arc::as_ptr(series) as usize).or_insert_with(|| {
                let text = write(series);
                *bytes += text.head.len() + text.tail.len() + series.tags.size();
                kept.push((Arc::clone(series), text));
                kept.len() as u32 - 1
            });
            self.order.push(*place);
        }
    }

    /// A series of the frame, by a sample's number, and its text.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> (&Series, &Text) {
        let (series, text) = &self.kept[self.order[number as usize] as usize];
        (series, text)
    }
}
