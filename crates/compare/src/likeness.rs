//! Whether runs are of the same test, and what differs if they are not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::run::{Identity, Run};

/// At most this many differences are told of the options; one more entry counts the others.
const OPTIONS_TOLD_MAX: usize = 50;
/// At most this many characters of a value are told.
const VALUE_MAX: usize = 200;

/// The parts of a test that must be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// The sources of the test.
    Script,
    /// The consolidated options.
    Options,
    /// The hosts that requests went to.
    Target,
    /// The version of Brunt.
    Version,
}

impl Aspect {
    /// Its word in all formats.
    pub fn word(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Options => "options",
            Self::Target => "target",
            Self::Version => "version",
        }
    }
}

/// A difference between runs. The values of a side are those of its runs, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The part that differs.
    pub aspect: Aspect,
    /// Which option: `scenarios.default.vus`; empty for the rest.
    pub place: String,
    /// The values of A's runs.
    pub a: Vec<String>,
    /// The values of B's runs.
    pub b: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.aspect.word())?;
        if !self.place.is_empty() {
            write!(f, " {}", self.place)?;
        }
        write!(f, ": A {}, B {}", self.a.join(" and "), self.b.join(" and "))
    }
}

/// All that differs among the runs of both sides, those of one side included.
pub fn differences(a: &[Run], b: &[Run]) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut look = |aspect, place: &str, of: &dyn Fn(&Identity) -> String| {
        let values = |side: &[Run]| side.iter().map(|run| of(&run.identity)).collect();
        let (of_a, of_b): (BTreeSet<String>, BTreeSet<String>) = (values(a), values(b));
        if of_a.union(&of_b).count() > 1 {
            let told = |values: BTreeSet<String>| values.iter().map(|text| cut(text)).collect();
            found.push(Difference { aspect, place: place.into(), a: told(of_a), b: told(of_b) });
        }
    };
    let is_hashed = a.iter().chain(b).all(|run| !run.identity.script_hash.is_empty());
    look(Aspect::Script, "", &|of| {
        if is_hashed {
            let short: String = of.script_hash.chars().take(12).collect();
            format!("{} ({short})", of.script)
        } else {
            of.script.clone()
        }
    });
    look(Aspect::Target, "", &|of| {
        if of.targets.is_empty() {
            "none".into()
        } else {
            of.targets.iter().cloned().collect::<Vec<_>>().join(", ")
        }
    });
    look(Aspect::Version, "", &|of| of.brunt_version.clone());
    // The same sources under another path are the same test.
    if is_hashed {
        let hashes: BTreeSet<&str> =
            a.iter().chain(b).map(|run| run.identity.script_hash.as_str()).collect();
        if hashes.len() <= 1 {
            found.retain(|one| one.aspect != Aspect::Script);
        } else if !found.iter().any(|one| one.aspect == Aspect::Script) {
            // Hashes that differ behind their first digits.
            let of = |side: &[Run]| {
                let all: BTreeSet<&str> =
                    side.iter().map(|run| run.identity.script_hash.as_str()).collect();
                all.into_iter().map(cut).collect()
            };
            let (a, b) = (of(a), of(b));
            found.push(Difference { aspect: Aspect::Script, place: String::new(), a, b });
        }
    }
    found.extend(of_options(a, b));
    found
}

fn of_options(a: &[Run], b: &[Run]) -> Vec<Difference> {
    let flat = |side: &[Run]| -> Vec<BTreeMap<String, String>> {
        let one = |run: &Run| {
            let mut leaves = BTreeMap::new();
            flatten(&run.identity.options, String::new(), &mut leaves);
            leaves
        };
        side.iter().map(one).collect()
    };
    let (flat_a, flat_b) = (flat(a), flat(b));
    let places: BTreeSet<&String> = flat_a.iter().chain(&flat_b).flat_map(BTreeMap::keys).collect();
    let mut found = Vec::new();
    let mut more = 0_usize;
    for place in places {
        let values = |side: &[BTreeMap<String, String>]| -> BTreeSet<String> {
            let value = |leaves: &BTreeMap<String, String>| {
                leaves.get(place).cloned().unwrap_or_else(|| "not set".into())
            };
            side.iter().map(value).collect()
        };
        let (of_a, of_b) = (values(&flat_a), values(&flat_b));
        if of_a.union(&of_b).count() <= 1 {
            continue;
        }
        if found.len() == OPTIONS_TOLD_MAX {
            more += 1;
            continue;
        }
        let told = |values: BTreeSet<String>| values.iter().map(|text| cut(text)).collect();
        let (a, b) = (told(of_a), told(of_b));
        found.push(Difference { aspect: Aspect::Options, place: cut(place), a, b });
    }
    if more > 0 {
        found.push(Difference {
            aspect: Aspect::Options,
            place: format!("and {more} more"),
            a: vec!["…".into()],
            b: vec!["…".into()],
        });
    }
    found
}

/// Each value of an object by its path; those that are not set are left out.
fn flatten(value: &Value, path: String, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(value, path, leaves);
            }
        }
        Value::Array(entries) if !entries.is_empty() => {
            for (index, value) in entries.iter().enumerate() {
                flatten(value, format!("{path}[{index}]"), leaves);
            }
        }
        Value::Object(_) | Value::Array(_) if path.is_empty() => {}
        // Numbers that are equal are written alike: 5 and 5.0.
        Value::Number(number) => {
            let text = number.as_f64().map_or_else(|| number.to_string(), |n| n.to_string());
            leaves.insert(path, text);
        }
        other => {
            leaves.insert(path, other.to_string());
        }
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE_MAX {
        return text.to_owned();
    }
    text.chars().take(VALUE_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(change: impl Fn(&mut Identity)) -> Run {
        let mut identity = Identity {
            script: "a.js".into(),
            script_hash: "00112233445566778899".into(),
            options: json!({"scenarios": {"default": {"vus": 5, "duration": "20s"}}}),
            targets: BTreeSet::from(["shop.test:443".to_owned()]),
            brunt_version: "0.1.0".into(),
            ..Identity::default()
        };
        change(&mut identity);
        Run { identity, ..Run::default() }
    }

    fn told(a: &[Run], b: &[Run]) -> Vec<String> {
        differences(a, b).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn like_runs_have_no_difference() {
        assert!(told(&[run(|_| {}), run(|_| {})], &[run(|_| {})]).is_empty());
        let other = run(|of| {
            of.name = "b".into();
            of.started_us = 7;
            of.labels.insert("build".into(), "2".into());
            of.script = "/elsewhere/a.js".into();
            of.options =
                json!({"scenarios": {"default": {"duration": "20s", "vus": 5.0}}, "tags": null});
        });
        assert!(told(&[run(|_| {})], &[other]).is_empty());
    }

    #[test]
    fn each_aspect_is_told() {
        let other = run(|of| {
            of.script_hash = "ffee".into();
            of.options["scenarios"]["default"]["vus"] = json!(6);
            of.options["discardResponseBodies"] = json!(true);
            of.targets = BTreeSet::new();
            of.brunt_version = "0.2.0".into();
        });
        assert_eq!(
            told(&[run(|_| {})], &[other]),
            [
                "script: A a.js (001122334455), B a.js (ffee)",
                "target: A shop.test:443, B none",
                "version: A 0.1.0, B 0.2.0",
                "options discardResponseBodies: A not set, B true",
                "options scenarios.default.vus: A 5, B 6",
            ]
        );
    }

    #[test]
    fn hashes_that_differ_late_and_runs_of_one_side_are_seen() {
        let other = run(|of| of.script_hash = "00112233445566778800".into());
        assert_eq!(told(&[run(|_| {})], std::slice::from_ref(&other)).len(), 1);
        assert_eq!(told(&[run(|_| {}), other], &[run(|_| {})]).len(), 1);
    }

    #[test]
    fn without_hashes_the_path_is_compared() {
        let bare = |path: &str| {
            run(|of| {
                of.script = path.to_owned();
                of.script_hash = String::new();
            })
        };
        assert!(told(&[bare("a.js")], &[bare("a.js")]).is_empty());
        assert_eq!(told(&[bare("a.js")], &[bare("b.js")]), ["script: A a.js, B b.js"]);
    }

    #[test]
    fn thousands_of_options_are_counted() {
        let many = run(|of| of.options = json!((0..5000).collect::<Vec<_>>()));
        let found = differences(&[run(|_| {})], &[many]);
        assert_eq!(found.len(), OPTIONS_TOLD_MAX + 1);
        assert!(found.last().unwrap().place.starts_with("and 49"));
    }
}
