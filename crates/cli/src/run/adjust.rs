//! `--scenario`, `--set`, `--once`: changes to a test that is otherwise as it was written.

use brunt_options::{Consolidated, Known, Layer, Layers, Options, Rules, consolidate_for};
use serde_json::{Map, Value, json};

use super::wrong::invalid;
use crate::{
    failure::{Failure, Outcome},
    flags::Given,
};

/// The changes to make once all layers are together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Adjust {
    /// Keep these scenarios; all if there are none.
    scenarios: Vec<String>,
    /// Path and value.
    set: Vec<(String, Value)>,
    /// One VU and one iteration for each scenario.
    once: bool,
}

/// The maximum number of parts of a path.
const DEEPEST: usize = 16;

impl Adjust {
    /// Reads the flags.
    ///
    /// # Errors
    /// A `--set` without `=` (255).
    pub(super) fn read(given: &Given) -> Outcome<Self> {
        let mut set = Vec::new();
        for text in given.all("set") {
            let (path, value) =
                text.split_once('=').filter(|(path, _)| !path.is_empty()).ok_or_else(|| {
                    Failure::usage(format!("invalid value \"{text}\" for --set"))
                        .hint("write a path and a value, such as scenarios.browse.vus=5")
                })?;
            if path.split('.').count() > DEEPEST {
                return Err(Failure::usage(format!("the path \"{path}\" of --set is too long")));
            }
            // A value that is no JSON is a text: `duration=30s` needs no quotes.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            set.push((path.to_owned(), value));
        }
        let names = given.all("scenario").iter().flat_map(|names| names.split(','));
        let scenarios = names.map(|name| name.trim().to_owned()).collect();
        Ok(Self { scenarios, set, once: given.is_on("once") })
    }

    /// Makes the changes, and checks the outcome like any other options.
    ///
    /// # Errors
    /// A scenario that is not there, a path that leads nowhere, a value that makes no sense (104).
    pub(super) fn apply(
        &self,
        before: Consolidated,
        rules: Rules,
        known: Known<'_>,
    ) -> Outcome<Consolidated> {
        if *self == Self::default() {
            return Ok(before);
        }
        let shortcuts = ["vus", "duration", "iterations", "stages"];
        let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
        let sets_shortcut = self.set.iter().any(|(path, _)| shortcuts.contains(&&*first(path)));
        let needs_scenarios = !self.scenarios.is_empty() || self.once || !sets_shortcut;
        let mut options = before.to_inspect_json();
        let map = options.as_object_mut().expect("options are printed as an object");
        for key in ["totalDuration", "maxVUs"] {
            map.remove(key);
        }
        if needs_scenarios {
            // Shortcuts have become the scenario `default`.
            for key in shortcuts {
                map.insert(key.to_owned(), Value::Null);
            }
        } else if before.options.scenarios.is_none() {
            map.insert("scenarios".to_owned(), Value::Null);
        }
        let left_out = self.pick(map)?;
        for (path, value) in &self.set {
            set(map, path, value.clone())?;
        }
        if self.once {
            once(map);
        }
        let parsed = Options::from_json(&options, Layer::CommandLine).map_err(invalid)?;
        if let Some(unknown) = parsed.unknown.first() {
            let failure = Failure::config(format!("--set: there is no option {unknown}"));
            return Err(match brunt_spelling::question(unknown, Options::names()) {
                Some(question) => failure.hint(question),
                None => failure,
            });
        }
        let options = Options {
            local_ips: before.options.local_ips,
            console_output: before.options.console_output,
            ..parsed.options
        };
        let layers = Layers { command_line: options, ..Layers::default() };
        // Thresholds were held against the metrics before.
        let known = Known { registry: None, ..known };
        let mut after = consolidate_for(layers, rules, known).map_err(invalid)?;
        after.warnings.splice(0..0, before.warnings);
        if !left_out.is_empty() {
            after.warnings.push(format!(
                "thresholds of scenarios that don't run are left out: {}",
                left_out.join(", ")
            ));
        }
        Ok(after)
    }

    /// Leaves out the scenarios that are not wanted, and returns the thresholds that thereby have nothing to look at, which
    /// are left out too. If there is one scenario left, it starts at once.
    fn pick(&self, options: &mut Map<String, Value>) -> Outcome<Vec<String>> {
        if self.scenarios.is_empty() {
            return Ok(Vec::new());
        }
        let Some(Value::Object(scenarios)) = options.get_mut("scenarios") else {
            return Ok(Vec::new());
        };
        if let Some(missing) = self.scenarios.iter().find(|name| !scenarios.contains_key(*name)) {
            let names: Vec<&str> = scenarios.keys().map(String::as_str).collect();
            let meant = brunt_spelling::question(missing, names.iter().copied());
            return Err(Failure::config(format!("there is no scenario \"{missing}\""))
                .hint(if let Some(question) = meant {
                    question
                } else if names == ["default"] {
                    "scenarios are: default, which the script's shortcuts or the flags for VUs, iterations, duration and \
                     stages make"
                        .to_owned()
                } else {
                    format!("scenarios are: {}", names.join(", "))
                }));
        }
        let absent: Vec<String> =
            scenarios.keys().filter(|name| !self.scenarios.contains(name)).cloned().collect();
        scenarios.retain(|name, _| self.scenarios.contains(name));
        if scenarios.len() == 1 {
            for scenario in scenarios.values_mut().filter_map(Value::as_object_mut) {
                scenario.remove("startTime");
            }
        }
        let Some(Value::Object(thresholds)) = options.get_mut("thresholds") else {
            return Ok(Vec::new());
        };
        let of_absent = |name: &&String| absent.iter().any(|scenario| looks_at(name, scenario));
        let left_out: Vec<String> = thresholds.keys().filter(of_absent).cloned().collect();
        thresholds.retain(|name, _| !left_out.contains(name));
        Ok(left_out)
    }
}

/// Whether a threshold's metric is one with the tag `scenario` of this scenario: `http_reqs{scenario:buy}`.
fn looks_at(metric: &str, scenario: &str) -> bool {
    let Some((_, tags)) = metric.split_once('{') else { return false };
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    tags.trim_end().trim_end_matches('}').split(',').any(|tag| {
        tag.split_once(':')
            .is_some_and(|(name, value)| plain(name) == "scenario" && plain(value) == scenario)
    })
}

/// A value as its place wants it: tags and variables are text, even if it looks like a number.
fn fitting(path: &str, value: Value) -> Value {
    let parents: Vec<&str> = path.rsplit('.').skip(1).collect();
    let is_text = matches!(parents.first(), Some(&("tags" | "env"))) || path == "userAgent";
    match value {
        Value::Number(_) | Value::Bool(_) if is_text => Value::from(value.to_string()),
        other => other,
    }
}

/// Sets a value by its path. Lists are entered by number.
fn set(options: &mut Map<String, Value>, path: &str, value: Value) -> Outcome<()> {
    let value = fitting(path, value);
    let nowhere = || Failure::config(format!("--set: the path \"{path}\" leads nowhere"));
    let mut parts = path.split('.').peekable();
    let first = parts.next().ok_or_else(nowhere)?;
    let mut at = options.entry(first).or_insert(Value::Null);
    if first == "scenarios"
        && let (Some(name), Some(scenarios)) = (parts.peek(), at.as_object())
        && !scenarios.contains_key(*name)
    {
        let names: Vec<&str> = scenarios.keys().map(String::as_str).collect();
        return Err(Failure::config(format!("--set: there is no scenario \"{name}\""))
            .hint(format!("scenarios are: {}", names.join(", "))));
    }
    for part in parts {
        if at.is_null() {
            *at = json!({});
        }
        at = match at {
            Value::Object(map) => map.entry(part).or_insert(Value::Null),
            Value::Array(list) => {
                part.parse::<usize>().ok().and_then(|n| list.get_mut(n)).ok_or_else(nowhere)?
            }
            _ => return Err(nowhere()),
        };
    }
    *at = value;
    Ok(())
}

/// Each scenario once: function, tags and environment stay.
fn once(options: &mut Map<String, Value>) {
    let Some(Value::Object(scenarios)) = options.get_mut("scenarios") else { return };
    for scenario in scenarios.values_mut().filter_map(Value::as_object_mut) {
        scenario.retain(|key, _| matches!(key.as_str(), "exec" | "env" | "tags" | "options"));
        scenario.insert("executor".to_owned(), "per-vu-iterations".into());
        scenario.insert("vus".to_owned(), 1.into());
        scenario.insert("iterations".to_owned(), 1.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adjusted(options: &Value, adjust: &Adjust) -> Result<Value, String> {
        let script = Options::from_json(options, Layer::Script).unwrap().options;
        let layers = Layers { script, ..Layers::default() };
        let known = Known::default();
        let before = consolidate_for(layers, Rules::default(), known).unwrap();
        let after =
            adjust.apply(before, Rules::default(), known).map_err(|error| error.message())?;
        Ok(after.to_inspect_json()["scenarios"].clone())
    }

    fn two() -> Value {
        json!({ "scenarios": {
            "a": { "executor": "constant-arrival-rate", "rate": 5, "duration": "10s",
                   "preAllocatedVUs": 2, "startTime": "1m" },
            "b": { "executor": "constant-vus", "vus": 3, "duration": "20s", "exec": "other" },
        }})
    }

    #[test]
    fn one_scenario_can_be_run_alone_and_starts_at_once() {
        let adjust = Adjust { scenarios: vec!["a".into()], ..Adjust::default() };
        let scenarios = adjusted(&two(), &adjust).unwrap();
        assert_eq!(scenarios.as_object().unwrap().len(), 1);
        assert!(scenarios["a"].get("startTime").is_none_or(|time| time.is_null() || time == "0s"));
        let adjust = Adjust { scenarios: vec!["c".into()], ..Adjust::default() };
        assert_eq!(adjusted(&two(), &adjust).unwrap_err(), "there is no scenario \"c\"");
    }

    #[test]
    fn values_are_set_by_their_path() {
        let set = |path: &str, value: Value| Adjust {
            set: vec![(path.to_owned(), value)],
            ..Adjust::default()
        };
        let scenarios = adjusted(&two(), &set("scenarios.a.rate", json!(50))).unwrap();
        assert_eq!(scenarios["a"]["rate"], 50);
        let scenarios = adjusted(&json!({ "vus": 1, "duration": "5s" }), &set("vus", json!(7)));
        assert_eq!(scenarios.unwrap()["default"]["vus"], 7);
        let scenarios = adjusted(
            &json!({ "vus": 1, "duration": "5s" }),
            &set("scenarios.default.duration", json!("1m")),
        );
        assert_eq!(scenarios.unwrap()["default"]["duration"], "1m0s");
        for (path, part) in [
            ("scenarios.c.vus", "no scenario \"c\""),
            ("nope", "no option nope"),
            ("scenarios.b.vus.x", "leads nowhere"),
        ] {
            let error = adjusted(&two(), &set(path, json!(1))).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn tags_and_variables_are_text() {
        let set = |path: &str, value: Value| Adjust {
            set: vec![(path.to_owned(), value)],
            ..Adjust::default()
        };
        let scenarios = adjusted(&two(), &set("scenarios.a.env.PORT", json!(8080))).unwrap();
        assert_eq!(scenarios["a"]["env"]["PORT"], "8080");
        let scenarios = adjusted(&two(), &set("scenarios.b.tags.new", json!(true))).unwrap();
        assert_eq!(scenarios["b"]["tags"]["new"], "true");
    }

    #[test]
    fn thresholds_of_scenarios_that_do_not_run_are_left_out() {
        let mut options = two();
        options["thresholds"] = json!({
            "http_reqs": ["count>0"],
            "http_reqs{scenario:a}": ["count>0"],
            "http_reqs{ status:200, 'scenario': \"b\" }": ["count>0"],
            "http_reqs{scenario:bb}": ["count>0"],
        });
        let adjust = Adjust { scenarios: vec!["a".into()], ..Adjust::default() };
        let left_out = adjust.pick(options.as_object_mut().unwrap()).unwrap();
        assert_eq!(left_out, ["http_reqs{ status:200, 'scenario': \"b\" }"]);
        assert_eq!(options["thresholds"].as_object().unwrap().len(), 3);
    }

    #[test]
    fn once_means_one_iteration_of_each() {
        let scenarios = adjusted(&two(), &Adjust { once: true, ..Adjust::default() }).unwrap();
        for name in ["a", "b"] {
            assert_eq!(scenarios[name]["executor"], "per-vu-iterations");
            assert_eq!(scenarios[name]["iterations"], 1);
        }
        assert_eq!(scenarios["b"]["exec"], "other");
    }
}
