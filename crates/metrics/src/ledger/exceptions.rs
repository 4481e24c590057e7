//! The exceptions that ended iterations, over the whole test.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::frame::ExceptionDeltas;
use crate::summary::{Exception, Exceptions};

/// Different texts that are told; others are counted together.
const TEXTS_MAX: usize = 100;

/// Exceptions put together: the first hundred different ones by their text, and how many others there were.
#[derive(Debug, Default)]
pub struct ExceptionLog {
    /// How often, and a number that grows with time.
    by_text: FxHashMap<Arc<str>, (u64, u64)>,
    others: u64,
}

impl ExceptionLog {
    /// Takes in what a frame tells.
    pub fn absorb(&mut self, deltas: &ExceptionDeltas) {
        self.others += deltas.others;
        for delta in &deltas.told {
            if let Some((count, order)) = self.by_text.get_mut(&delta.text) {
                *count += delta.count;
                *order = delta.order.min(*order);
            } else if self.by_text.len() >= TEXTS_MAX {
                self.others += delta.count;
            } else {
                self.by_text.insert(Arc::clone(&delta.text), (delta.count, delta.order));
            }
        }
    }

    /// In the order of their first appearance.
    pub fn summary(&self) -> Exceptions {
        let mut told: Vec<_> = self.by_text.iter().collect();
        told.sort_by_key(|(_, (_, order))| *order);
        let told = told
            .into_iter()
            .map(|(text, (count, _))| Exception { text: text.to_string(), count: *count });
        Exceptions { told: told.collect(), others: self.others }
    }
}
