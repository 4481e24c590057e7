//! `-threshold`: conditions on the whole attack.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_attack::Sink;
use brunt_records::{Record, Summary, SummaryConfig, Threshold};

use crate::{
    Context,
    exit::Exit,
    vegeta::{flag::Values, threshold},
};

/// Conditions, and what they are judged by.
pub(super) struct Judge {
    thresholds: Vec<Threshold>,
    summary: Arc<Mutex<Summary>>,
}

impl Judge {
    /// Nothing, if there are no conditions.
    pub(super) fn new(values: &Values) -> Option<Self> {
        let thresholds = threshold::read(values);
        let summary = Arc::new(Mutex::new(Summary::new(SummaryConfig::default())));
        (!thresholds.is_empty()).then_some(Self { thresholds, summary })
    }

    /// Takes the records of a core.
    pub(super) fn sink(&self) -> Box<dyn Sink> {
        let summary = Arc::clone(&self.summary);
        Box::new(move |record: &Record| {
            summary.lock().unwrap_or_else(PoisonError::into_inner).add(record);
        })
    }

    /// Tells what came of each.
    pub(super) fn exit(&self, context: &Context) -> Exit {
        let summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        threshold::judge(context, &self.thresholds, &summary)
    }
}
