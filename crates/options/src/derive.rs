//! Shortcuts turned into scenarios.

use std::collections::BTreeMap;

use crate::error::{Fault, Layer, OptionsError};
use crate::options::Options;
use crate::scenario::{ExecutorKind, ScenarioConfig};

/// The name of the scenario that shortcuts make.
pub(crate) const DEFAULT: &str = "default";

/// Which layer each key comes from.
pub(crate) type Sources = BTreeMap<&'static str, Layer>;

/// The result of shortcuts.
pub(crate) struct Derived {
    pub(crate) scenarios: BTreeMap<String, ScenarioConfig>,
    /// Whether they come from shortcuts, so that `default` is not a name from the script.
    pub(crate) is_shortcut: bool,
}

/// The scenarios that these options mean; the first rule that fits decides:
///
/// | set | with | scenario `default` |
/// |---|---|---|
/// | `iterations` | not `stages`, `scenarios` | shared-iterations, `duration` as its maximum |
/// | `duration` | not `stages`, `scenarios` | constant-vus |
/// | `stages`, not empty | not `scenarios` | ramping-vus from `vus` on |
/// | `vus` | `scenarios` of the same or a lower layer lose | shared-iterations, one for each |
/// | `scenarios`, not empty | | (none: they are taken as they are) |
/// | nothing | | per-vu-iterations, 1 × 1 |
pub(crate) fn derive(
    options: &Options,
    sources: &Sources,
    warnings: &mut Vec<String>,
) -> Result<Derived, OptionsError> {
    let has_stages = options.stages.as_ref().is_some_and(|stages| !stages.is_empty());
    let has_scenarios = options.scenarios.as_ref().is_some_and(|all| !all.is_empty());
    let alone = |first: &'static str, others: &[(&'static str, bool)]| {
        let layer = sources.get(first).copied().unwrap_or(Layer::Script);
        match others.iter().find(|(_, is_set)| *is_set) {
            Some((second, _)) => Err(OptionsError::Conflict { layer, first, second }),
            None => Ok(()),
        }
    };
    let stages = ("stages", has_stages);
    let scenarios = ("scenarios", has_scenarios);
    let default = if options.iterations.is_some() {
        alone("iterations", &[stages, scenarios])?;
        ScenarioConfig {
            executor: Some(ExecutorKind::SharedIterations),
            vus: options.vus,
            iterations: options.iterations,
            max_duration: options.duration,
            ..ScenarioConfig::default()
        }
    } else if let Some(duration) = options.duration {
        alone("duration", &[stages, scenarios])?;
        if duration.is_zero() {
            let fault = Fault::new("duration", "must be more than 0");
            let layer = sources.get("duration").copied();
            return Err(OptionsError::Invalid { layer, fault });
        }
        ScenarioConfig {
            executor: Some(ExecutorKind::ConstantVus),
            vus: options.vus,
            duration: options.duration,
            ..ScenarioConfig::default()
        }
    } else if has_stages {
        alone("stages", &[scenarios])?;
        ScenarioConfig {
            executor: Some(ExecutorKind::RampingVus),
            start_vus: options.vus,
            stages: options.stages.clone(),
            ..ScenarioConfig::default()
        }
    } else if let Some(vus) = options.vus.filter(|_| vus_win(options, sources, warnings)) {
        ScenarioConfig {
            executor: Some(ExecutorKind::SharedIterations),
            vus: Some(vus),
            iterations: Some(vus),
            ..ScenarioConfig::default()
        }
    } else if let Some(scenarios) = options.scenarios.clone().filter(|_| has_scenarios) {
        return Ok(Derived { scenarios, is_shortcut: false });
    } else {
        for (key, is_set) in
            [("stages", options.stages.is_some()), ("scenarios", options.scenarios.is_some())]
        {
            if is_set {
                warnings.push(format!("{key} is empty: running 1 iteration in 1 VU"));
            }
        }
        ScenarioConfig {
            executor: Some(ExecutorKind::PerVuIterations),
            ..ScenarioConfig::default()
        }
    };
    let scenarios = BTreeMap::from([(DEFAULT.to_string(), default)]);
    Ok(Derived { scenarios, is_shortcut: true })
}

/// Whether `vus`, alone in its layer, is stronger than the scenarios.
fn vus_win(options: &Options, sources: &Sources, warnings: &mut Vec<String>) -> bool {
    if options.vus == Some(0) {
        warnings.push("vus is 0 and does nothing without iterations, duration or stages".into());
        return false;
    }
    if options.scenarios.as_ref().is_none_or(BTreeMap::is_empty) {
        return true;
    }
    if sources.get("vus") < sources.get("scenarios") {
        return false;
    }
    warnings.push(
        "vus overrides scenarios: each VU runs one iteration of the default function; leave vus out \
         to run the scenarios"
            .into(),
    );
    true
}

/// The place in the options of the value at `path` in the derived scenario.
pub(crate) fn path_of_shortcut(path: &str) -> &str {
    match path {
        "startVUs" => "vus",
        "maxDuration" => "duration",
        other => other,
    }
}
