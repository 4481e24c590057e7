//! A document about something that is no run file, such as an attack of which only the records are left.

use std::collections::BTreeMap;

use brunt_metrics::{Contains, Kind, Sink};
use serde_json::{Map, Value, json};

use super::columns::Columns;
use super::{PageMetric, document};

/// Series and facts in the making.
#[derive(Debug, Default)]
pub struct Draft {
    metrics: BTreeMap<PageMetric, usize>,
    told: Vec<Value>,
    series: Vec<Value>,
    columns: Vec<Columns>,
}

impl Draft {
    /// A new series; its number. `family`: `metric`, `load`, `failure`.
    pub fn series(
        &mut self,
        (name, kind, contains, family): (&str, Kind, Contains, &'static str),
        tags: &[(&str, &str)],
    ) -> usize {
        let metric = PageMetric::new(name, kind, contains, family);
        let next = self.metrics.len();
        let place = *self.metrics.entry(metric.clone()).or_insert(next);
        if place == next {
            self.told.push(metric.told());
        }
        let tags: Map<String, Value> =
            tags.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        self.series.push(json!([place, tags]));
        self.columns.push(Columns::default());
        self.series.len() - 1
    }

    /// The values of a series in a slice that is later than those before. `binned`: it has more than 4096 values in all slices.
    pub fn push(&mut self, series: usize, slice: u64, sink: &Sink, binned: bool) {
        self.columns[series].push(slice, sink, binned);
    }

    /// The document. `facts`: all keys of its JSON but `metrics` and `series`.
    pub fn document(self, mut facts: Map<String, Value>) -> Vec<u8> {
        facts.insert("metrics".to_owned(), Value::Array(self.told));
        facts.insert("series".to_owned(), Value::Array(self.series));
        let chunks: Vec<(usize, Vec<u8>)> = self
            .columns
            .into_iter()
            .enumerate()
            .map(|(id, columns)| (id, columns.chunk(id as u64)))
            .collect();
        document(false, &Value::Object(facts), &chunks)
    }
}
