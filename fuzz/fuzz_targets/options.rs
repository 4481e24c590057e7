//! Any text as options: a script's, a config file's, those of variables, those of flags.
//!
//! Options that can be read print as JSON that means the same; laid together they give a plan or say why not.
#![no_main]

use std::collections::BTreeMap;

use brunt_options::{ConfigFile, Layer, Layers, Options, Rules, consolidate};
use brunt_schedule::{Executor, Scenario};
use libfuzzer_sys::fuzz_target;

/// The most VUs of ramps: time and memory of a plan grow with them.
const VUS: u64 = 100_000;

fn ramped(scenario: &Scenario) -> u64 {
    match &scenario.executor {
        Executor::RampingVus { start_vus, stages, .. } => {
            stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max)
        }
        _ => 0,
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut layers = Layers::default();
    let pairs = || text.lines().filter_map(|line| line.split_once('='));
    let options = match control % 4 {
        0 => {
            let Ok(json) = serde_json::from_str(text) else { return };
            let (parsed, errors) = Options::read_json(&json, Layer::Script);
            assert_eq!(Options::from_json(&json, Layer::Script).is_ok(), errors.is_empty());
            for error in &errors {
                assert!(!error.to_string().is_empty());
            }
            layers.script = parsed.options;
            &layers.script
        }
        1 => {
            let Ok(file) = ConfigFile::parse(text) else { return };
            layers.config_file = file.parsed.options;
            &layers.config_file
        }
        2 => {
            let all: BTreeMap<&str, &str> = pairs().collect();
            let variable = |name: &str| all.get(name).copied();
            let Ok(options) = Options::from_environment(variable) else { return };
            layers.environment = options;
            &layers.environment
        }
        _ => {
            for (key, value) in pairs() {
                let parts: Vec<&str> = value.split('|').collect();
                let _ = layers.command_line.set_from_flag(key, &parts, "--flag");
            }
            &layers.command_line
        }
    };
    let json = options.to_inspect_json();
    let again = Options::from_json(&json, Layer::Script).expect("what we printed can be read");
    assert_eq!(again.options.to_inspect_json(), json);
    let Ok(plan) = consolidate(layers, Rules::default()) else { return };
    assert!(!plan.scenarios.is_empty());
    if plan.scenarios.iter().map(ramped).sum::<u64>() > VUS {
        return;
    }
    let _ = (plan.peak(), plan.total_duration());
    let _ = (plan.to_inspect_json(), plan.to_test_options_json(), plan.to_written_back_json());
    let archived = Options::from_json(&plan.to_archive_json(), Layer::Script);
    assert!(archived.is_ok(), "what an archive keeps can be read");
});
