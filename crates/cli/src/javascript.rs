//! JavaScript behind the seam of [`run::host`](crate::run::host).
// INTERIM: the crates js and modules are plugged in here.

use std::{rc::Rc, sync::Arc, time::Duration};

use brunt_engine::{Core, Ended, Iteration, RunError, Runner, ScenarioHere, StopHandle, Vu, VuIds};
use brunt_metrics::{Recorder, TagsId};
use serde_json::Value;

use crate::{
    failure::{Failure, Outcome},
    run::host::{Answer, Host, Script, Source, TestOptions, TestRunner},
};

/// QuickJS and the k6 API.
pub(crate) struct JavaScript;

/// A script that was loaded.
pub(crate) enum Loaded {}

/// Runs it.
pub(crate) enum Never {}

impl Host for JavaScript {
    type Script = Loaded;

    fn load(&self, source: &Source<'_>) -> Outcome<Loaded> {
        Err(Failure::usage(format!(
            "cannot load {}: JavaScript is not wired yet",
            source.name
        )))
    }
}

impl Script for Loaded {
    type Runner = Never;

    fn options(&self) -> &Value {
        match *self {}
    }

    fn functions(&self) -> &[String] {
        match *self {}
    }

    fn others(&self) -> &[String] {
        match *self {}
    }

    fn text(&self) -> &str {
        match *self {}
    }

    fn into_runner(self, _: &TestOptions) -> Outcome<Arc<Never>> {
        match self {}
    }
}

impl TestRunner for Never {
    fn handle_summary(&self, _: String, _: Duration) -> Answer {
        match *self {}
    }
}

impl Runner for Never {
    type Vu = Never;

    async fn create(&self, _: &Rc<Core>, _: VuIds) -> Result<Never, RunError> {
        match *self {}
    }

    async fn setup(&self, _: &Rc<Core>, _: &StopHandle) -> Result<Option<String>, RunError> {
        match *self {}
    }

    async fn teardown(
        &self,
        _: &Rc<Core>,
        _: Option<&str>,
        _: &StopHandle,
    ) -> Result<(), RunError> {
        match *self {}
    }

    fn set_setup_data(&self, _: Option<Arc<str>>) {
        match *self {}
    }
}

impl Vu for Never {
    fn activate(&mut self, _: &Rc<ScenarioHere>) {
        match *self {}
    }

    async fn iterate(&mut self, _: Iteration, _: &StopHandle) -> Ended {
        match *self {}
    }

    fn tags(&mut self, _: &mut Recorder) -> TagsId {
        match *self {}
    }
}
