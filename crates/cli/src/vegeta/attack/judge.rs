//! `-threshold`: conditions on the whole attack, or on each stretch of it.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_attack::Sink;
use brunt_records::{Course, Record, Summary, SummaryConfig, Threshold};

use crate::vegeta::{
    flag::Values,
    threshold::{self, Found},
};

/// Conditions, and what they are judged by.
pub(super) struct Judge {
    thresholds: Vec<Threshold>,
    hits: Arc<Mutex<Hits>>,
}

/// The hits so far, and the courses of thresholds in time.
struct Hits {
    summary: Summary,
    courses: Vec<Option<Course>>,
}

impl Judge {
    /// Nothing, if there are no conditions.
    pub(super) fn new(values: &Values) -> Option<Self> {
        let thresholds = threshold::read(values);
        let courses = thresholds.iter().map(Course::of).collect();
        let summary = Summary::new(SummaryConfig::default());
        let hits = Arc::new(Mutex::new(Hits { summary, courses }));
        (!thresholds.is_empty()).then_some(Self { thresholds, hits })
    }

    /// Takes the records of a core.
    pub(super) fn sink(&self) -> Box<dyn Sink> {
        let hits = Arc::clone(&self.hits);
        Box::new(move |record: &Record| {
            let Hits { summary, courses } =
                &mut *hits.lock().unwrap_or_else(PoisonError::into_inner);
            courses.iter_mut().flatten().for_each(|course| course.add(record, summary));
            summary.add(record);
        })
    }

    /// The outcome of each, when the attack is over.
    pub(super) fn find(&self) -> Vec<Found> {
        let Hits { summary, courses } =
            &mut *self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        threshold::find(&self.thresholds, summary, courses)
    }
}
