//! Options as JSON.

use brunt_duration::wait;
use serde_json::{Map, Value};

use crate::consolidate::Consolidated;
use crate::options::{NOT_IN_SCRIPTS, OURS, Options};
use crate::system_tags::SystemTags;
use crate::value::OptionValue;

/// The shortcuts, which `exec.test.options` does not have: scenarios say it all.
const SHORTCUTS: [&str; 4] = ["vus", "duration", "iterations", "stages"];

impl Options {
    /// All options as `inspect` prints them and an archive keeps them: `null` for what is unset.
    /// Reading it again by [`Options::from_json`] gives the same.
    pub fn to_inspect_json(&self) -> Value {
        Value::Object(self.print_all())
    }

    fn print_all(&self) -> Map<String, Value> {
        let keys = Self::KEYS.iter().filter(|key| !NOT_IN_SCRIPTS.contains(key));
        // k6 leaves `cloud` out if it is unset.
        let keys = keys.filter(|key| **key != "cloud" || self.cloud.is_some());
        let keys = keys.filter(|key| !OURS.contains(key) || self.is_set(key));
        keys.map(|key| ((*key).to_string(), self.print_key(key))).collect()
    }
}

impl Consolidated {
    /// The output of `inspect --execution-requirements`: all options with the derived scenarios, then `totalDuration`
    /// (with graceful stops) and `maxVUs` (of this segment).
    pub fn to_inspect_json(&self) -> Value {
        let mut all = self.with_derived();
        all.insert("totalDuration".into(), wait::format(self.total_duration()).into());
        all.insert("maxVUs".into(), self.peak().possible.into());
        Value::Object(all)
    }

    /// The options of an archive: as `inspect` prints them, with the defaults that k6 fills in. Scenarios are as they
    /// were written.
    pub fn to_archive_json(&self) -> Value {
        let mut all = self.with_derived();
        all.insert("scenarios".into(), self.options.print_key("scenarios"));
        Value::Object(all)
    }

    /// The value of `exec.test.options`: no shortcuts, but the scenarios they mean.
    pub fn to_test_options_json(&self) -> Value {
        let mut all = self.with_derived();
        all.retain(|key, _| !SHORTCUTS.contains(&key.as_str()));
        for key in NOT_IN_SCRIPTS {
            all.insert(key.into(), self.options.print_key(key));
        }
        Value::Object(all)
    }

    /// The value that is written back into each VU's own `options` object: every option that is set, and the ones
    /// that k6 fills in: the scenarios that are run, `summaryTrendStats` and `systemTags`.
    pub fn to_written_back_json(&self) -> Value {
        const FILLED_IN: [&str; 3] = ["scenarios", "summaryTrendStats", "systemTags"];
        let mut all = self.with_derived();
        all.retain(|key, _| FILLED_IN.contains(&key.as_str()) || self.options.is_set(key));
        for key in NOT_IN_SCRIPTS.iter().filter(|key| self.options.is_set(key)) {
            all.insert((*key).into(), self.options.print_key(key));
        }
        Value::Object(all)
    }

    fn with_derived(&self) -> Map<String, Value> {
        let mut all = self.options.print_all();
        all.insert("scenarios".into(), self.scenario_configs.print());
        if self.options.summary_trend_stats.is_none() {
            let stats = self.options.summary_trend_stats();
            let stats = stats.iter().map(|stat| Value::from(stat.to_string())).collect();
            all.insert("summaryTrendStats".into(), stats);
        }
        if self.options.system_tags.is_none() {
            all.insert("systemTags".into(), SystemTags::default().print());
        }
        all
    }
}

#[cfg(test)]
mod tests;
