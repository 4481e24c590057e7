//! From layers of options to what the engine is told.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use brunt_engine::RunConfig;
use brunt_metrics::{Ledger, LedgerConfig, Registry, TagSet, ThresholdSet};
use brunt_modules::watch::Watcher;
use brunt_options::{
    ConfigFile, Consolidated, Layer, Layers, Options, OptionsError, Rules, SystemTag, TimeUnit,
    UnknownKeys, consolidate,
};
use brunt_report::humanize::Unit;
use brunt_schedule::{Scenario, overview, total_duration};

use super::{
    adjust::Adjust,
    config_file,
    host::{Script, TestOptions},
    http_debug::HttpDebug,
};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    features::{Features, MERGE_RUN_TAGS, NATIVE_HISTOGRAMS},
    flags::Given,
};

/// The layers beside the script: what is known before it is loaded.
#[derive(Debug, Default)]
pub(crate) struct Outer {
    config_file: ConfigFile,
    environment: Options,
    flags: Options,
    adjust: Adjust,
    pub(super) features: Features,
}

/// What is to be run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) consolidated: Consolidated,
    /// Outputs that the configuration file names.
    pub(crate) outputs: Option<Vec<String>>,
    /// What it says of each.
    pub(crate) collectors: BTreeMap<String, serde_json::Value>,
    /// The configuration file says so, both.
    pub(crate) linger: bool,
    pub(crate) web_dashboard: bool,
    features: Features,
}

impl Outer {
    /// Reads the configuration file, the variables and the flags.
    ///
    /// # Errors
    /// A flag that can't be read (255), or whose value makes no sense (104); a wrong variable, a file that is not there or wrong (104).
    pub(crate) fn read(context: &Context, given: &Given) -> Outcome<Self> {
        // Flags first: a slip of the keyboard is told before anything else.
        let flags = given.options().map(|(option, value)| {
            let texts = value.texts.iter().map(String::as_str).collect();
            (option, texts, value.said_as.as_str())
        });
        let flags = Options::from_flags(flags).map_err(|error| match error {
            OptionsError::Invalid(_) => invalid(error),
            _ => Failure::new(Exit::Other, error),
        })?;
        let environment =
            Options::from_environment(|name| context.environment.get(name)).map_err(invalid)?;
        let config_file = match config_file::read(context)? {
            None => ConfigFile::default(),
            Some((path, text)) => {
                log::debug!(path = path.display().to_string(); "Reading the configuration file");
                let file = ConfigFile::parse(&text).map_err(|error| {
                    let name = path.display().to_string();
                    let exit = invalid(error.clone()).exit;
                    Failure::new(exit, anyhow::Error::new(error).context(name))
                })?;
                tell(file.parsed.warning(Layer::ConfigFile));
                file
            }
        };
        if let Some((name, text)) = context.environment.setting("WEB_DASHBOARD")
            && !matches!(text, "true" | "false")
        {
            let problem = format!("invalid value \"{text}\" for {name}: expected true or false");
            return Err(Failure::config(problem));
        }
        let adjust = Adjust::read(given)?;
        let mut env = given.all("env").iter().rev();
        let env = env.find_map(|text| text.strip_prefix("K6_FEATURES="));
        let of_file = config_file.features.as_deref();
        let features = Features::find(given, &context.environment, env, of_file);
        Ok(Self { config_file, environment, flags, adjust, features })
    }
}

/// What the script can run.
///
/// # Errors
/// It exports no function (255).
pub(crate) fn functions<S: Script>(script: &S) -> Outcome<&[String]> {
    let functions = script.functions();
    if functions.is_empty() {
        let hint = if script.others().iter().any(|other| other == "default") {
            "the default export is no function"
        } else {
            "export default function () { … } is what a VU runs"
        };
        return Err(Failure::usage("the script exports no functions").hint(hint));
    }
    Ok(functions)
}

impl Plan {
    /// Lays the layers over each other.
    ///
    /// # Errors
    /// Options with which nothing can run (104); a script without functions (255).
    pub(crate) fn make<S: Script>(outer: Outer, script: &S, thresholds: bool) -> Outcome<Self> {
        let functions = functions(script)?;
        let mut parsed = Options::from_json(script.options(), Layer::Script).map_err(invalid)?;
        // They are told of on their own.
        parsed.unknown.retain(|key| key != "features");
        tell(parsed.warning(Layer::Script));
        let layers = Layers {
            config_file: outer.config_file.parsed.options,
            script: parsed.options,
            environment: outer.environment,
            command_line: outer.flags,
        };
        let rules = Rules {
            no_thresholds: !thresholds,
            merge_run_tags: outer.features.has(MERGE_RUN_TAGS),
        };
        let consolidated = consolidate(layers, rules).map_err(invalid)?;
        let consolidated = outer.adjust.apply(consolidated, rules)?;
        for warning in &consolidated.warnings {
            log::warn!("{warning}");
        }
        if script.options().get("features").is_some() {
            log::warn!(
                "options.features in a script does nothing: use --features, K6_FEATURES or the \
                 configuration file"
            );
        }
        outer.features.tell();
        for scenario in &consolidated.scenarios {
            let Scenario { name, exec, .. } = scenario;
            if script.others().contains(exec) {
                return Err(Failure::config(format!(
                    "the scenario \"{name}\" runs \"{exec}\", which is exported but is no function"
                )));
            }
            if !functions.contains(exec) {
                return Err(Failure::config(format!(
                    "the scenario \"{name}\" runs the function \"{exec}\", which the script doesn't \
                     export"
                ))
                .hint(format!("exported functions are: {}", functions.join(", "))));
            }
        }
        Ok(Self {
            consolidated,
            outputs: outer.config_file.out,
            collectors: outer.config_file.collectors,
            linger: outer.config_file.linger.unwrap_or(false),
            web_dashboard: outer.config_file.web_dashboard.unwrap_or(false),
            features: outer.features,
        })
    }

    /// What the script world is told.
    pub(super) fn test_options(
        &self,
        env: BTreeMap<String, String>,
        watcher: Option<Arc<dyn Watcher>>,
    ) -> TestOptions {
        TestOptions {
            options: self.consolidated.options.clone(),
            exec_options: self.consolidated.to_test_options_json(),
            written_back: self.consolidated.to_written_back_json(),
            env,
            run_tags: self.run_tags(),
            watcher,
        }
    }

    /// The tags of everything.
    fn run_tags(&self) -> TagSet {
        let options = &self.consolidated.options;
        let own = options.tags.iter().flatten();
        let mut tags = TagSet::from_pairs(own.map(|(name, value)| (name.as_str(), value.as_str())));
        for (name, value) in self.features.tags() {
            tags = tags.with(&name, value);
        }
        tags
    }

    /// `httpDebug`: whether requests are logged, and with bodies.
    pub(super) fn http_debug(&self) -> Option<HttpDebug> {
        match self.consolidated.options.http_debug.as_deref() {
            None | Some("") => None,
            Some("full") => Some(HttpDebug { bodies: true }),
            Some(_) => Some(HttpDebug { bodies: false }),
        }
    }

    /// Where everything is added up.
    ///
    /// # Errors
    /// A threshold on a metric that is not there, or with an aggregation that it has not (104).
    pub(super) fn ledger(&self, registry: &Arc<Registry>, breakdown: bool) -> Outcome<Ledger> {
        let options = &self.consolidated.options;
        let config = LedgerConfig {
            thresholds: self.consolidated.thresholds.clone(),
            trend_stats: options.summary_trend_stats(),
            expected_response_submetric: self.tags_expected_response(),
            breakdown,
            unjudged: self.consolidated.unjudged.clone(),
            no_check_tag: !options.system_tags().contains(SystemTag::Check),
            no_group_tag: !options.system_tags().contains(SystemTag::Group),
        };
        Ledger::new(Arc::clone(registry), config)
            .map_err(|error| Failure::new(Exit::InvalidConfig, error))
    }

    /// Whether the option `thresholds` names `iteration_lateness`, which is shown only then (or if a flag asks for it).
    pub(super) fn names_lateness(&self) -> bool {
        const NAME: &str = "iteration_lateness";
        let judged = self.consolidated.thresholds.iter().map(|set| &set.metric);
        judged.chain(&self.consolidated.unjudged).any(|metric| {
            metric
                .trim()
                .strip_prefix(NAME)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
        })
    }

    /// Whether the thresholds fit the metrics that init code registered.
    ///
    /// # Errors
    /// Those of [`ledger`](Self::ledger).
    pub(crate) fn check_thresholds(&self, registry: &Arc<Registry>) -> Outcome<()> {
        self.ledger(registry, false).map(drop)
    }

    /// Tells the engine.
    pub(super) fn fill(&self, config: &mut RunConfig) {
        let options = &self.consolidated.options;
        config.segment = self.consolidated.segment.clone();
        config.run_tags = self.run_tags();
        config.paused = options.paused.unwrap_or(false);
        config.scenario_tag = options.system_tags().contains(SystemTag::Scenario);
        config.no_setup = options.no_setup.unwrap_or(false);
        config.no_teardown = options.no_teardown.unwrap_or(false);
        config.setup_timeout = options.setup_timeout();
        config.teardown_timeout = options.teardown_timeout();
        config.min_iteration_duration = options.min_iteration_duration();
        config.is_last = true;
    }

    /// What outputs need to know.
    pub(super) fn output_context(
        &self,
        registry: &Arc<Registry>,
        mut env: BTreeMap<String, String>,
        script: &str,
    ) -> brunt_outputs::Context {
        if self.features.has(NATIVE_HISTOGRAMS) {
            let name = "K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM";
            env.insert(name.to_owned(), "true".to_owned());
        }
        let tags = self.consolidated.options.system_tags();
        let scenarios = &self.consolidated.scenarios;
        brunt_outputs::Context {
            thresholds: self.thresholds().to_vec(),
            expected_response_submetric: self.tags_expected_response(),
            system_tags: tags.iter().map(|tag| tag.name().to_owned()).collect(),
            env,
            collectors: self.collectors.clone(),
            script: script.to_owned(),
            scenarios: scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
            longest: total_duration(scenarios, &self.consolidated.segment),
            ..brunt_outputs::Context::new(Arc::clone(registry))
        }
    }

    /// `(100.00%) 2 scenarios, …`
    pub(super) fn overview(&self) -> String {
        overview(&self.consolidated.scenarios, &self.consolidated.segment)
    }

    /// Name and text of each scenario.
    pub(super) fn bullets(&self) -> Vec<(String, String)> {
        let segment = &self.consolidated.segment;
        let describe = |scenario: &Scenario| (scenario.name.clone(), scenario.describe(segment));
        self.consolidated.scenarios.iter().map(describe).collect()
    }

    /// `summaryTimeUnit`
    pub(super) fn time_unit(&self) -> Option<Unit> {
        Some(match self.consolidated.options.summary_time_unit()? {
            TimeUnit::Seconds => Unit::Seconds,
            TimeUnit::Milliseconds => Unit::Milliseconds,
            TimeUnit::Microseconds => Unit::Microseconds,
        })
    }

    /// `handleSummaryTimeout`
    pub(super) fn summary_time_limit(&self) -> Duration {
        self.consolidated.options.handle_summary_timeout()
    }

    fn thresholds(&self) -> &[ThresholdSet] {
        &self.consolidated.thresholds
    }

    fn tags_expected_response(&self) -> bool {
        self.consolidated.options.system_tags().contains(SystemTag::ExpectedResponse)
    }
}

/// What is wrong with the options, with the exit code that k6 has for it.
pub(crate) fn invalid(error: OptionsError) -> Failure {
    let exit = if error.is_of_configuration() { Exit::InvalidConfig } else { Exit::Other };
    Failure::new(exit, error)
}

pub(crate) fn tell(warning: Option<UnknownKeys>) {
    let Some(UnknownKeys { message, error, others }) = warning else { return };
    match others {
        Some(others) => {
            log::warn!(error = error.as_str(), hint = others.as_str(); "{message}");
        }
        None => log::warn!(error = error.as_str(); "{message}"),
    }
}
