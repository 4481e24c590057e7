//! From layers of options to what the engine is told.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use brunt_engine::RunConfig;
use brunt_metrics::{Ledger, LedgerConfig, Registry, TagSet, ThresholdSet};
use brunt_modules::watch::Watcher;
use brunt_options::{
    ConfigFile, Consolidated, Known, Layer, Layers, Options, OptionsError, Rules, SystemTag,
    TimeUnit, UnknownKeys, consolidate_for,
};
use brunt_routes::Book;
use brunt_schedule::{Scenario, overview, total_duration};
use brunt_summary::humanize::Unit;

use super::{
    adjust::Adjust,
    config_file,
    host::{Script, TestOptions},
    http_debug::HttpDebug,
    routes,
    wrong::{Texts, invalid_in},
};
use crate::{
    Context,
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
    features::{Features, MERGE_RUN_TAGS, NATIVE_HISTOGRAMS},
    flags::{Given, global, of_run},
    logging::Format,
};

/// The layers beside the script: what is known before it is loaded.
#[derive(Debug, Default)]
pub(crate) struct Outer {
    config_file: ConfigFile,
    /// Its path and what it says.
    config_text: Option<(PathBuf, String)>,
    environment: Options,
    flags: Options,
    adjust: Adjust,
    pub(super) features: Features,
    /// Variables that are nearly one of ours, and that one.
    near_variables: Vec<(String, String)>,
}

/// The test to run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) consolidated: Consolidated,
    /// Outputs that the configuration file names.
    pub(crate) outputs: Option<Vec<String>>,
    /// The settings of each.
    pub(crate) collectors: BTreeMap<String, serde_json::Value>,
    /// The configuration file says so, both.
    pub(crate) linger: bool,
    pub(crate) web_dashboard: bool,
    /// Where the run's randomness begins.
    pub(crate) seed: u64,
    /// A search decides the load: the durations of the scenarios are bounds, and say nothing of how long it takes.
    pub(crate) is_search: bool,
    features: Features,
}

impl Outer {
    /// The seed that a flag, a variable or the configuration file gives.
    pub(crate) fn seed(&self) -> Option<u64> {
        let weak = self.config_file.parsed.options.seed;
        let seed = self.flags.seed.or(self.environment.seed).or(weak);
        seed.map(i64::cast_unsigned)
    }

    /// Whether the test waits before its start, as far as its script does not say.
    pub(super) fn is_paused(&self) -> bool {
        let weak = self.config_file.parsed.options.paused;
        self.flags.paused.or(self.environment.paused).or(weak).unwrap_or(false)
    }

    /// The feature flags that are on.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// The layers of an agent: its segment, over what the archive says, and the feature flags of its leader.
    pub(crate) fn of_segment(segment: String, sequence: String, features: Features) -> Self {
        let flags = Options {
            execution_segment: Some(segment),
            execution_segment_sequence: Some(sequence),
            ..Options::default()
        };
        Self { flags, features, ..Self::default() }
    }

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
        let mut flags: Vec<_> = flags.collect();
        flags.sort_by_key(|(.., said_as)| *said_as);
        let mut errors = Vec::new();
        let mut take = |read: Result<Options, OptionsError>| {
            read.map_err(|error| errors.push(error)).unwrap_or_default()
        };
        let flags = take(Options::from_flags(flags));
        let environment = take(Options::from_environment(|name| context.environment.get(name)));
        if let Some(size) = flags.vu_memory.or(environment.vu_memory) {
            // Init code runs before all layers are known.
            crate::memory::limit_heaps(size)?;
        }
        warn_of_log_format(given);
        let near_variables = near_variables(&context.environment);
        let config_text = config_file::read(context);
        let config_file = match &config_text {
            Ok(Some((path, text))) => {
                log::debug!(path = path.display().to_string(); "Reading the configuration file");
                ConfigFile::parse(text).map_err(|error| errors.push(error)).unwrap_or_default()
            }
            // Where a flag or a variable is wrong as well, that is told before a file that can't be read.
            Ok(None) | Err(_) => ConfigFile::default(),
        };
        tell(config_file.parsed.warning(Layer::ConfigFile));
        if let Some(error) = OptionsError::all(errors) {
            let config = config_text.as_ref().ok().and_then(Option::as_ref);
            let texts = Texts { config, ..Texts::default() };
            return Err(invalid_in(&error, texts));
        }
        let config_text = config_text?;
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
        Ok(Self { config_file, config_text, environment, flags, adjust, features, near_variables })
    }
}

/// The functions that the script can run.
///
/// # Errors
/// It exports no function (255).
pub(crate) fn functions<S: Script>(script: &S) -> Outcome<&[String]> {
    let functions = script.functions();
    if functions.is_empty() {
        let hint = if script.others().iter().any(|other| other == "default") {
            "the default export is not a function"
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
    pub(crate) fn make<S: Script>(
        outer: Outer,
        script: &S,
        registry: &Registry,
        thresholds: bool,
    ) -> Outcome<Self> {
        let functions = functions(script)?;
        let (mut parsed, unread) = Options::read_json(script.options(), Layer::Script);
        // They are told of on their own.
        parsed.unknown.retain(|key| key != "features");
        for (name, meant) in &outer.near_variables {
            // A variable that the script reads is the script's own.
            if !script.text().contains(name.as_str()) {
                log::warn!(hint = format!("did you mean {meant}?").as_str(); "the variable {name} is not a setting, only the script can read it");
            }
        }
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
        let texts = Texts {
            script: script.url().map(|url| (url, script.text())),
            config: outer.config_text.as_ref(),
        };
        let read_file = |name: &str| script.read_file(name);
        let known = Known { registry: Some(registry), read_file: Some(&read_file) };
        let consolidated = match consolidate_for(layers, rules, known) {
            Ok(consolidated) if unread.is_empty() => consolidated,
            all => {
                let others = all.err().map(OptionsError::into_each).unwrap_or_default();
                let others = others.into_iter().filter(|error| !follows(error, &unread));
                let all: Vec<_> = unread.iter().cloned().chain(others).collect();
                let error = OptionsError::all(all).expect("one of the two was wrong");
                return Err(invalid_in(&error, texts));
            }
        };
        let consolidated = outer.adjust.apply(consolidated, rules, known)?;
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
        check_functions(&consolidated.scenarios, functions, script.others())?;
        Ok(Self {
            consolidated,
            outputs: outer.config_file.out,
            collectors: outer.config_file.collectors,
            linger: outer.config_file.linger.unwrap_or(false),
            web_dashboard: outer.config_file.web_dashboard.unwrap_or(false),
            seed: 0,
            is_search: false,
            features: outer.features,
        })
    }

    /// The facts for the script world; the second watcher is that of failures alone.
    pub(crate) fn test_options(
        &self,
        env: BTreeMap<String, String>,
        [watcher, failures]: [Option<Arc<dyn Watcher>>; 2],
        routes: Option<Arc<Book>>,
    ) -> TestOptions {
        TestOptions {
            options: self.consolidated.options.clone(),
            exec_options: self.consolidated.to_test_options_json(),
            written_back: self.consolidated.to_written_back_json(),
            share: 1.0,
            env,
            run_tags: self.run_tags(),
            watcher,
            failures,
            routes,
            segment: self.consolidated.segment.clone(),
            leases: None,
        }
    }

    /// Tags all that is measured.
    pub(crate) fn tag(&mut self, name: &str, value: &str) {
        let tags = self.consolidated.options.tags.get_or_insert_default();
        tags.insert(name.to_owned(), value.to_owned());
    }

    /// Says where the run's randomness begins.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        self.consolidated.set_seed(seed);
    }

    /// The tags of everything.
    pub(crate) fn run_tags(&self) -> TagSet {
        let options = &self.consolidated.options;
        let own = options.tags.iter().flatten();
        let mut tags = TagSet::from_pairs(own.map(|(name, value)| (name.as_str(), value.as_str())));
        for (name, value) in self.features.tags() {
            tags = tags.with(&name, value);
        }
        tags
    }

    /// The feature flags that are on.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// `httpDebug`: whether requests are logged, and with bodies.
    pub(crate) fn http_debug(&self) -> Option<HttpDebug> {
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
    pub(crate) fn ledger(&self, registry: &Arc<Registry>, breakdown: bool) -> Outcome<Ledger> {
        let options = &self.consolidated.options;
        let config = LedgerConfig {
            thresholds: self.consolidated.thresholds.clone(),
            trend_stats: options.summary_trend_stats(),
            expected_response_submetric: self.tags_expected_response(),
            breakdown,
            unjudged: self.consolidated.unjudged.clone(),
            no_check_tag: !options.system_tags().contains(SystemTag::Check),
            no_group_tag: !options.system_tags().contains(SystemTag::Group),
            warmup: self.has_warmup(),
        };
        Ledger::new(Arc::clone(registry), config)
            .map_err(|error| Failure::new(Exit::InvalidConfig, error))
    }

    /// Whether some scenario begins with a warm-up.
    fn has_warmup(&self) -> bool {
        self.consolidated.scenarios.iter().any(|scenario| !scenario.warmup.is_zero())
    }

    /// Whether the option `thresholds` has a metric (with its tags) that is so.
    pub(crate) fn names(&self, is_so: impl Fn(&str) -> bool) -> bool {
        let judged = self.consolidated.thresholds.iter().map(|set| &set.metric);
        judged.chain(&self.consolidated.unjudged).any(|metric| is_so(metric.trim()))
    }

    /// Whether the option `thresholds` names this metric: one of ours is shown only then (or if a flag asks for it).
    pub(crate) fn names_metric(&self, name: &str) -> bool {
        self.names(|metric| {
            metric.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
        })
    }

    /// Whether measurements have the system tag `scenario`.
    pub(crate) fn tells_scenarios(&self) -> bool {
        self.consolidated.options.system_tags().contains(SystemTag::Scenario)
    }

    /// Whether samples carry the tag `route`.
    pub(crate) fn tags_routes(&self) -> bool {
        self.consolidated.options.system_tags().contains(SystemTag::Route)
    }

    /// The routes that thresholds name, without their methods.
    pub(crate) fn judged_routes(&self) -> Vec<String> {
        let judged = self.consolidated.thresholds.iter().map(|set| &set.metric);
        judged
            .chain(&self.consolidated.unjudged)
            .filter_map(|name| routes::named_in(name))
            .collect()
    }

    /// The names of the tags by which thresholds select.
    pub(crate) fn judged_tags(&self) -> Vec<String> {
        let judged = self.consolidated.thresholds.iter().map(|set| &set.metric);
        let selectors = judged
            .chain(&self.consolidated.unjudged)
            .filter_map(|name| brunt_metrics::Selector::parse(name).ok());
        let mut names: Vec<String> =
            selectors.flat_map(|selector| selector.tags).map(|(name, _)| name).collect();
        names.push("expected_response".to_owned());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Tells the engine.
    pub(crate) fn fill(&self, config: &mut RunConfig) {
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

    /// The facts for outputs.
    pub(crate) fn output_context(
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
            warmup: self.has_warmup(),
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

    /// How the summary is made, for the run file.
    pub(crate) fn summary_info(&self) -> brunt_runfile::SummaryInfo {
        let options = &self.consolidated.options;
        brunt_runfile::SummaryInfo {
            thresholds: self.thresholds().to_vec(),
            trend_stats: options.summary_trend_stats(),
            expected_response_submetric: self.tags_expected_response(),
            unjudged: self.consolidated.unjudged.clone(),
            no_check_tag: !options.system_tags().contains(SystemTag::Check),
            no_group_tag: !options.system_tags().contains(SystemTag::Group),
            hides_own: false,
            warmup: self.has_warmup(),
            routes: false,
            failures: 0,
            conditions: Vec::new(),
            time_unit: super::run_file::time_unit(options.summary_time_unit()),
        }
    }

    /// `(100.00%) 2 scenarios, …`
    pub(crate) fn overview(&self) -> String {
        overview(&self.consolidated.scenarios, &self.consolidated.segment)
    }

    /// Name and text of each scenario.
    pub(crate) fn bullets(&self) -> Vec<(String, String)> {
        let segment = &self.consolidated.segment;
        let describe = |scenario: &Scenario| (scenario.name.clone(), scenario.describe(segment));
        self.consolidated.scenarios.iter().map(describe).collect()
    }

    /// `summaryTimeUnit`
    pub(crate) fn time_unit(&self) -> Option<Unit> {
        Some(match self.consolidated.options.summary_time_unit()? {
            TimeUnit::Seconds => Unit::Seconds,
            TimeUnit::Milliseconds => Unit::Milliseconds,
            TimeUnit::Microseconds => Unit::Microseconds,
        })
    }

    /// `handleSummaryTimeout`
    pub(crate) fn summary_time_limit(&self) -> Duration {
        self.consolidated.options.handle_summary_timeout()
    }

    fn thresholds(&self) -> &[ThresholdSet] {
        &self.consolidated.thresholds
    }

    fn tags_expected_response(&self) -> bool {
        self.consolidated.options.system_tags().contains(SystemTag::ExpectedResponse)
    }
}

/// Whether the script exports what its scenarios run.
///
/// # Errors
/// All that it doesn't (104).
fn check_functions(scenarios: &[Scenario], functions: &[String], others: &[String]) -> Outcome<()> {
    let mut wrong = Vec::new();
    let mut hint = None;
    for Scenario { name, exec, .. } in scenarios {
        if others.contains(exec) {
            wrong.push(format!(
                "the scenario \"{name}\" runs \"{exec}\", which is exported but is not a function"
            ));
        } else if !functions.contains(exec) {
            wrong.push(format!(
                "the scenario \"{name}\" runs the function \"{exec}\", which the script doesn't export"
            ));
            let meant = brunt_spelling::question(exec, functions.iter().map(String::as_str));
            let all = format!("exported functions are: {}", functions.join(", "));
            hint.get_or_insert(meant.map_or(all.clone(), |question| format!("{question} {all}")));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let failure = Failure::config(wrong.join("; "));
    Err(match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    })
}

/// Whether a fault may be there only because another value could not be read.
fn follows(error: &OptionsError, unread: &[OptionsError]) -> bool {
    const WORKLOAD: [&str; 5] = ["vus", "duration", "iterations", "stages", "scenarios"];
    let Some(path) = error.path() else { return false };
    let top = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
    let unit = |path: &str| match path.strip_prefix("scenarios.") {
        Some(rest) => rest.split('.').next().unwrap_or_default().to_owned(),
        None => top(path),
    };
    let is_inside = |inner: &str, outer: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    unread.iter().filter_map(OptionsError::path).any(|other| {
        let are_scenarios = path.starts_with("scenarios.") && other.starts_with("scenarios.");
        let are_workload = WORKLOAD.contains(&&*top(&path)) && WORKLOAD.contains(&&*top(&other));
        if are_scenarios {
            unit(&path) == unit(&other)
        } else {
            are_workload || is_inside(&other, &path)
        }
    })
}

/// k6 takes every word that it doesn't know for `text`.
fn warn_of_log_format(given: &Given) {
    let word = given.last("log-format").unwrap_or_default();
    if let Some(meant) = Format::meant_by(word) {
        log::warn!(hint = format!("did you mean {meant}?").as_str(); "there is no log format \"{word}\": log lines are written as text");
    }
}

/// Variables that are nearly one of ours, and that one: it was perhaps meant.
fn near_variables(environment: &Environment) -> Vec<(String, String)> {
    /// Variables of outputs and of k6's cloud and browser begin so.
    const OF_OUTPUTS: [&str; 9] = [
        "BROWSER_",
        "CLOUD_",
        "CSV_",
        "INFLUXDB_",
        "JSON_",
        "OTEL_",
        "PROMETHEUS_",
        "STATSD_",
        "WEB_DASHBOARD",
    ];
    let known: Vec<&str> = Options::variables()
        .chain(global::FLAGS.iter().chain(of_run()).filter_map(|flag| flag.env))
        .collect();
    let mut near = Vec::new();
    for name in environment.all().keys() {
        let Some((prefix, rest)) =
            ["K6_", "BRUNT_"].iter().find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)))
        else {
            continue;
        };
        if let Some(meant) = brunt_spelling::nearest(rest, known.iter().copied())
            && !OF_OUTPUTS.iter().any(|start| rest.starts_with(start))
        {
            near.push((name.clone(), format!("{prefix}{meant}")));
        }
    }
    near
}

pub(crate) fn tell(warning: Option<UnknownKeys>) {
    let Some(UnknownKeys { message, error, hint }) = warning else { return };
    match hint {
        Some(hint) => {
            log::warn!(error = error.as_str(), hint = hint.as_str(); "{message}");
        }
        None => log::warn!(error = error.as_str(); "{message}"),
    }
}
