//! `-threshold`: conditions on the whole attack.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_attack::Sink;
use brunt_results::{Record, Summary, SummaryConfig, Threshold};

use crate::{
    exit::Exit,
    failure::Outcome,
    vegeta::{failure, flag::Values},
};

/// Conditions, and what they are judged by.
pub(super) struct Judge {
    thresholds: Vec<Threshold>,
    summary: Arc<Mutex<Summary>>,
}

impl Judge {
    /// Nothing, if there are no conditions.
    pub(super) fn new(values: &Values) -> Outcome<Option<Self>> {
        let texts = values.texts("threshold").into_iter().map(str::parse::<Threshold>);
        let thresholds: Vec<_> =
            texts.collect::<Result<_, _>>().map_err(|error| failure(error.to_string()))?;
        let summary = Arc::new(Mutex::new(Summary::new(SummaryConfig::default())));
        Ok((!thresholds.is_empty()).then_some(Self { thresholds, summary }))
    }

    /// Takes the records of a core.
    pub(super) fn sink(&self) -> Box<dyn Sink> {
        let summary = Arc::clone(&self.summary);
        Box::new(move |record: &Record| {
            summary.lock().unwrap_or_else(PoisonError::into_inner).add(record);
        })
    }

    /// Tells each condition that does not hold.
    pub(super) fn exit(&self) -> Exit {
        let summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        let mut exit = Exit::Success;
        for threshold in &self.thresholds {
            let verdict = threshold.judge(&summary);
            if !verdict.is_ok {
                let found = verdict.found.unwrap_or_else(|| "unknown".to_owned());
                log::error!("threshold {threshold} was crossed: {found}");
                exit = Exit::Thresholds;
            }
        }
        exit
    }
}
