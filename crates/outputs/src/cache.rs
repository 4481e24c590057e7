//! What is the same in all lines of a series, written once.

use std::sync::Arc;

use brunt_metrics::Series;
use rustc_hash::FxHashMap;

/// Series whose text is kept (about a kilobyte each); when there are more, all are forgotten and
/// written anew as they turn up.
const SERIES_MAX: usize = 50_000;

/// What stands before and after the value.
pub(crate) struct Text {
    pub(crate) head: Box<[u8]>,
    pub(crate) tail: Box<[u8]>,
}

/// The texts by the address of their series, which is kept so that the address stays its own.
#[derive(Default)]
pub(crate) struct Texts {
    by_address: FxHashMap<usize, (Arc<Series>, Text)>,
}

impl Texts {
    /// The text of a series, made by `write` if it is not known.
    #[inline]
    pub(crate) fn get(&mut self, series: &Arc<Series>, write: impl FnOnce() -> Text) -> &Text {
        let address = Arc::as_ptr(series) as usize;
        if self.by_address.len() >= SERIES_MAX && !self.by_address.contains_key(&address) {
            self.by_address.clear();
        }
        let (_, text) =
            self.by_address.entry(address).or_insert_with(|| (Arc::clone(series), write()));
        text
    }
}
