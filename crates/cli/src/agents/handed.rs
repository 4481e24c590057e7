//! The settings that a leader hands to its agents beside the plan of their machines: in the plan, under one key.

use std::collections::BTreeMap;

use brunt_cluster::Plan as WholePlan;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::follow::settings::check_file;
use crate::Context;
use crate::failure::{Failure, Outcome};
use crate::flags::Given;
use crate::run::plan::Plan;
use crate::run::routes;
use crate::settings::RunSettings;

/// The key in the plan's settings.
const KEY: &str = "handed";

/// The text of `--routes` travels in the plan, which is one message.
const ROUTES_MAX: usize = 256 << 10;

/// Variables of outputs that agents have, each with the types of its outputs: they hold for all machines.
const VARIABLES: [(&str, &[&str]); 3] = [
    ("K6_CSV_", &["csv"]),
    ("K6_INFLUXDB_", &["influxdb", "xk6-influxdb"]),
    ("K6_STATSD_", &["statsd"]),
];

/// The name of a file, which each agent has for itself.
const OF_EACH: &str = "K6_CSV_FILENAME";

/// Outputs whose settings in the configuration file travel.
const COLLECTORS: [&str; 4] = ["csv", "influxdb", "json", "statsd"];

/// All of them. Unknown ones are left out: leader and agents are of one version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Handed {
    /// The text of `--routes`.
    pub(super) routes: Option<String>,
    /// The feature flags that are on.
    pub(super) features: Vec<String>,
    /// `--traces-output`: each agent sends its own spans.
    pub(super) traces: Option<String>,
    /// `--console-output`: each agent writes a file of its own.
    pub(super) console: Option<String>,
    /// The leader wants the metrics `generator_*` of all.
    pub(super) wants_generator: bool,
    /// `--no-generator-metrics`
    pub(super) no_generator: bool,
    /// Variables of outputs.
    pub(super) variables: BTreeMap<String, String>,
    /// Settings of outputs, by their types.
    pub(super) collectors: BTreeMap<String, Value>,
}

impl Handed {
    /// The settings of the leader's command line, environment and configuration file.
    ///
    /// `of_samples`: the outputs that agents have. Settings of others may hold passwords, and stay here.
    ///
    /// # Errors
    /// A file that can't be read, or is too large to travel; a place that agents don't write to.
    pub(super) fn gather(
        context: &Context,
        given: &Given,
        settings: &RunSettings,
        plan: &Plan,
        of_samples: &[String],
    ) -> Outcome<Self> {
        let routes = routes::read(settings)?;
        if let Some(text) = routes.as_ref().filter(|text| text.len() > ROUTES_MAX) {
            let size = text.len().div_ceil(1024);
            let told = format!(
                "--routes: a file of {size} KiB can't be had with --agents, {} KiB at most",
                ROUTES_MAX / 1024
            );
            return Err(Failure::usage(told)
                .hint("at most 200 routes are told apart: leave comments and rare patterns out"));
        }
        if routes.is_some() && routes::book_of(None, settings.no_routes, plan).is_none() {
            log::warn!("--routes names routes, but --no-routes leaves them out");
        }
        let text = |flag: &str| given.last(flag).filter(|text| !text.is_empty());
        let console = text("console-output").map(str::to_owned);
        if let Some(file) = &console {
            check_file(file).map_err(|fault| {
                Failure::usage(format!(
                    "--console-output {file} can't be had with --agents: {fault}"
                ))
            })?;
        }
        let is_there =
            |kind: &str| of_samples.iter().any(|output| output.split('=').next() == Some(kind));
        let is_of_outputs = |name: &str| {
            let mut all = VARIABLES.iter();
            let own = all.find(|(prefix, _)| name.starts_with(prefix));
            name != OF_EACH && own.is_some_and(|(_, kinds)| kinds.iter().any(|kind| is_there(kind)))
        };
        let variables = context.environment.with_aliases();
        let is_theirs = |kind: &str| COLLECTORS.contains(&kind) && is_there(kind);
        let collectors = plan.collectors.clone().into_iter();
        Ok(Self {
            routes,
            features: plan.features().names(),
            traces: settings.traces.as_ref().and_then(|_| text("traces-output")).map(str::to_owned),
            console,
            wants_generator: false,
            no_generator: settings.no_generator_metrics,
            variables: variables.into_iter().filter(|(name, _)| is_of_outputs(name)).collect(),
            collectors: collectors.filter(|(kind, _)| is_theirs(kind)).collect(),
        })
    }

    /// Puts them into the settings of a plan.
    pub(super) fn put(&self, settings: &mut Map<String, Value>) {
        let value = serde_json::to_value(self).expect("it is plain data");
        settings.insert(KEY.to_owned(), value);
    }

    /// The settings in a plan.
    pub(super) fn of(plan: &WholePlan) -> Self {
        let value = plan.settings.get(KEY).cloned().unwrap_or_default();
        serde_json::from_value(value).unwrap_or_default()
    }
}
