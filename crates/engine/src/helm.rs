//! The arrival rate of a scenario, decided from outside while the test runs.

use std::sync::Arc;
use std::time::Duration;

use brunt_schedule::Course;
use tokio::sync::watch;

/// A rate takes effect so long after it is set: by then all cores have heard of it.
const AHEAD: Duration = Duration::from_millis(20);

/// Where the course is set; all pacers follow it. Shared by all cores and whoever decides.
#[derive(Debug)]
pub(crate) struct Helm {
    course: watch::Sender<Arc<Course>>,
}

impl Helm {
    pub(crate) fn new() -> Helm {
        Helm { course: watch::Sender::new(Arc::default()) }
    }

    /// A little after `now` (since the scenario's start) there are `rate` iterations per second.
    pub(crate) fn set(&self, now: Duration, rate: f64) {
        self.change(|course| course.set(now.saturating_add(AHEAD), rate));
    }

    /// Nothing is due from `now` on: the scenario ends when its last iteration does.
    pub(crate) fn end(&self, now: Duration) {
        self.change(|course| course.end(now));
    }

    fn change(&self, make: impl FnOnce(&mut Course)) {
        self.course.send_modify(|course| make(Arc::make_mut(course)));
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Arc<Course>> {
        self.course.subscribe()
    }

    pub(crate) fn course(&self) -> Arc<Course> {
        Arc::clone(&self.course.borrow())
    }
}
