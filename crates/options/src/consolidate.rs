//! Layers laid over each other, and what that comes to.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_metrics::{Registry, ThresholdSet, TrendStat};
use brunt_schedule::{Gaps, Peak, Scenario, Segment, peak, total_duration};

use crate::derive::{DEFAULT, Derived, Sources, derive, path_of_shortcut};
use crate::error::{Fault, Layer, OptionsError};
use crate::options::Options;
use crate::rhythm::ReadFile;
use crate::scenario::ScenarioConfig;
use crate::threshold::{self, Against};

/// Options from all places, the weakest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layers {
    /// The `--config` file.
    pub config_file: Options,
    /// The script's export, or the options of an archive.
    pub script: Options,
    /// Variables.
    pub environment: Options,
    /// Flags.
    pub command_line: Options,
}

/// Rules that are no options, but decide how options are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Thresholds are not even read (`--no-thresholds`).
    pub no_thresholds: bool,
    /// Tags of layers are merged name by name (the feature `merge-run-tags`).
    pub merge_run_tags: bool,
}

/// Facts of the test that are no options.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// The metrics of the script: thresholds must fit them.
    pub registry: Option<&'a Registry>,
    /// Reads a file that lies beside the script: `rateFile`. Without it no option may name a file.
    pub read_file: Option<ReadFile<'a>>,
}

/// Options that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Consolidated {
    /// All layers together. Shortcuts are still there, scenarios are as they were written: this is what
    /// an archive keeps.
    pub options: Options,
    /// The scenarios as they are written, or the `default` that shortcuts mean.
    pub scenario_configs: BTreeMap<String, ScenarioConfig>,
    /// The same with all defaults, by start time and name. Never empty.
    pub scenarios: Vec<Scenario>,
    /// The share of the test that runs here.
    pub segment: Segment,
    /// Thresholds, by metric; empty if they are switched off.
    pub thresholds: Vec<ThresholdSet>,
    /// Metrics with thresholds that are switched off: their submetrics are kept all the same.
    pub unjudged: Vec<String>,
    /// Warnings for the user before the test.
    pub warnings: Vec<String>,
}

impl Consolidated {
    /// The most VUs at once in this segment.
    pub fn peak(&self) -> Peak {
        peak(&self.scenarios, &self.segment)
    }

    /// Has random gaps between iterations drawn from this seed, for each scenario others.
    pub fn set_seed(&mut self, seed: u64) {
        for scenario in &mut self.scenarios {
            if let Gaps::Poisson { seed: of_scenario } = &mut scenario.rhythm.gaps {
                *of_scenario = brunt_schedule::seed_of(seed, &scenario.name);
            }
        }
    }

    /// From the launch of the scenarios until the last graceful stop has passed.
    pub fn total_duration(&self) -> Duration {
        total_duration(&self.scenarios, &self.segment)
    }
}

/// Lays layers over each other and checks what they come to.
///
/// That functions named by `exec` exist and that thresholds name metrics is for those to check who know
/// the script.
///
/// # Errors
/// [`OptionsError`] for contradictions, and for values with which nothing can run (all of them at once).
pub fn consolidate(layers: Layers, rules: Rules) -> Result<Consolidated, OptionsError> {
    consolidate_for(layers, rules, Known::default())
}

/// The same for a script that is known.
///
/// # Errors
/// The same as [`consolidate`], thresholds on metrics that do not exist, and files that cannot be read.
pub fn consolidate_for(
    layers: Layers,
    rules: Rules,
    known: Known<'_>,
) -> Result<Consolidated, OptionsError> {
    let mut warnings = Vec::new();
    let (options, sources) = overlay(layers, rules, &mut warnings);
    let mut errors = Vec::new();
    let mut faults = check(&options);
    let derived = derive(&options, &sources, &mut warnings);
    let Derived { scenarios: configs, is_shortcut } = derived.unwrap_or_else(|error| {
        errors.push(error);
        Derived { scenarios: BTreeMap::new(), is_shortcut: false }
    });
    let mut scenarios = Vec::with_capacity(configs.len());
    for (name, config) in &configs {
        match config.resolve(name, known.read_file) {
            Ok(scenario) => scenarios.push(scenario),
            Err(wrong) => faults.extend(wrong.into_iter().map(|fault| {
                let path = if is_shortcut && name == DEFAULT {
                    path_of_shortcut(&fault.path).to_string()
                } else {
                    format!("scenarios.{name}.{}", fault.path)
                };
                Fault { path, ..fault }
            })),
        }
    }
    scenarios.sort_by(|a, b| a.order().cmp(&b.order()));
    let segment = segment(&options).unwrap_or_else(|fault| {
        faults.push(fault);
        Segment::full()
    });
    let is_random = |scenario: &&Scenario| scenario.rhythm.gaps != Gaps::Uniform;
    if options.seed.is_none()
        && !segment.is_full()
        && let Some(scenario) = scenarios.iter().find(is_random)
    {
        let path = format!("scenarios.{}.arrivals", scenario.name);
        let reason = "poisson on several machines needs the same option seed on all of them";
        faults.push(Fault::new(path, reason));
    }
    errors.extend(faults.into_iter().map(|fault| {
        let top = fault.path.split(['.', '[']).next().unwrap_or_default();
        OptionsError::Invalid { layer: sources.get(top).copied(), fault }
    }));
    let thresholds = match &options.thresholds {
        Some(configs) if !rules.no_thresholds => {
            let against = Against { registry: known.registry, scenarios: &scenarios };
            threshold::sets(configs, sources.get("thresholds").copied(), against, &mut errors)
        }
        _ => Vec::new(),
    };
    if let Some(error) = OptionsError::all(errors) {
        return Err(error);
    }
    let unjudged = match &options.thresholds {
        Some(configs) if rules.no_thresholds => configs.keys().cloned().collect(),
        _ => Vec::new(),
    };
    if options.tls_auth.iter().flatten().any(|auth| !auth.domains.is_empty()) {
        warnings.push(
            "tlsAuth.domains is deprecated: the server's request for a certificate is enough"
                .into(),
        );
    }
    let scenario_configs = configs;
    Ok(Consolidated {
        options,
        scenario_configs,
        scenarios,
        segment,
        thresholds,
        unjudged,
        warnings,
    })
}

/// Shortcuts and scenarios: a layer with one of them replaces all of the lower ones.
const WORKLOAD: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

fn overlay(layers: Layers, rules: Rules, warnings: &mut Vec<String>) -> (Options, Sources) {
    let mut options = Options::default();
    let mut sources = Sources::new();
    for (layer, mut next) in [
        (Layer::ConfigFile, layers.config_file),
        (Layer::Script, layers.script),
        (Layer::Environment, layers.environment),
        (Layer::CommandLine, layers.command_line),
    ] {
        if WORKLOAD.iter().any(|key| next.is_set(key)) {
            if options.scenarios.is_some() {
                // Log collectors look for k6's name of the layer.
                let name = layer.k6_name();
                warnings.push(format!(
                    "the \"{name}\" level of options ({layer}) overrides the scenarios of lower levels entirely"
                ));
            }
            options.duration = None;
            options.iterations = None;
            options.stages = None;
            options.scenarios = None;
        }
        if let Some(stages) = &mut next.stages {
            stages.retain(|stage| stage.duration.is_some());
        }
        if rules.merge_run_tags
            && let (Some(lower), Some(tags)) = (&options.tags, &mut next.tags)
        {
            for (name, value) in lower {
                tags.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        // There is no such flag in k6. Ours adds to the thresholds of the layers below.
        let mut adds = false;
        if layer == Layer::CommandLine
            && let (Some(lower), Some(added)) = (&mut options.thresholds, &mut next.thresholds)
        {
            adds = true;
            for (metric, more) in std::mem::take(added) {
                lower.entry(metric).or_default().extend(more);
            }
            added.clone_from(lower);
        }
        let is_new = |key: &&&str| {
            // Where there were some, they are the ones that have a place in a file.
            next.is_set(key) && !(adds && **key == "thresholds")
        };
        sources.extend(Options::KEYS.iter().filter(is_new).map(|key| (*key, layer)));
        options.overlay(next);
    }
    (options, sources)
}

/// The faults of options other than scenarios.
fn check(options: &Options) -> Vec<Fault> {
    let mut faults = Vec::new();
    if options.setup_timeout.is_some_and(|timeout| timeout.is_zero()) {
        faults.push(Fault::new("setupTimeout", "must be more than 0"));
    }
    for (index, stat) in options.summary_trend_stats.iter().flatten().enumerate() {
        if let Err(error) = TrendStat::parse(stat) {
            let path = format!("summaryTrendStats[{index}]");
            faults.push(Fault::new(path, error.to_string()).late());
        }
    }
    faults
}

fn segment(options: &Options) -> Result<Segment, Fault> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let own = given(&options.execution_segment);
    let sequence = given(&options.execution_segment_sequence);
    if own.is_none() && options.execution_segment_sequence.as_deref() == Some("") {
        return Err(Fault::new("executionSegmentSequence", "an empty sequence has no segment"));
    }
    Segment::parse(own.as_deref(), sequence.as_deref()).map_err(|error| {
        let key = if own.is_some() { "executionSegment" } else { "executionSegmentSequence" };
        Fault::new(key, error.to_string())
    })
}

#[cfg(test)]
mod tests;
