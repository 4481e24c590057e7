//! The output of `--out json`, counted.

use serde_json::Value;

use crate::support::{Told, brunt};

/// One run and its samples.
pub(crate) struct Ran {
    pub(crate) told: Told,
    points: Vec<Value>,
}

/// Runs a script quietly with `--out json`, and more flags.
pub(crate) fn run(script: &str, flags: &str) -> Ran {
    let mut call = brunt(&format!("run -q --out json=o.json s.js {flags}")).file("s.js", script);
    let told = call.told();
    let written = std::fs::read_to_string(call.path("o.json")).unwrap_or_default();
    let parse = |line: &str| serde_json::from_str::<Value>(line).expect("each line is JSON");
    let points = written.lines().map(parse).filter(|line| line["type"] == "Point").collect();
    Ran { told, points }
}

impl Ran {
    /// The samples of a metric.
    pub(crate) fn points<'a>(&'a self, metric: &'a str) -> impl Iterator<Item = &'a Value> {
        self.points.iter().filter(move |point| point["metric"] == metric)
    }

    /// How many samples a metric has.
    pub(crate) fn count(&self, metric: &str) -> usize {
        self.points(metric).count()
    }

    /// The values of a metric, in the order of the file.
    pub(crate) fn values(&self, metric: &str) -> Vec<f64> {
        self.points(metric).filter_map(|point| point["data"]["value"].as_f64()).collect()
    }

    /// Their sum.
    pub(crate) fn sum(&self, metric: &str) -> f64 {
        self.values(metric).iter().sum()
    }

    /// The lines of `console.log`, in order.
    pub(crate) fn logged(&self) -> Vec<String> {
        logged(&self.told)
    }

    /// The lines of `console.log`, as numbers, sorted.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let mut numbers: Vec<i64> =
            self.logged().iter().map(|line| line.parse().expect("a number")).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The lines of `console.log`, in order.
pub(crate) fn logged(told: &Told) -> Vec<String> {
    let console = told.stderr.lines().filter(|line| line.contains("source=console"));
    console
        .map(|line| {
            let message = line.split_once("msg=").map_or("", |(_, rest)| rest);
            let message = message.trim_end_matches(" source=console");
            message.trim_matches('"').replace("\\\"", "\"")
        })
        .collect()
}
