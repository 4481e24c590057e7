//! The `Metric` line: what a metric is, before its first value.

use std::collections::BTreeMap;
use std::sync::Arc;

use brunt_metrics::{Metric, MetricId, Registry, Selector, TagSet, Threshold, builtin};

use super::text::{push_html_safe, push_plain, push_tags};
use crate::output::Context;

/// The descriptions of all metrics.
pub(super) struct Descriptions {
    registry: Arc<Registry>,
    by_name: BTreeMap<String, Description>,
}

#[derive(Default)]
struct Description {
    thresholds: Vec<Threshold>,
    submetrics: Vec<Selector>,
}

impl Descriptions {
    pub(super) fn new(context: &Context) -> Self {
        let registry = Arc::clone(&context.registry);
        let mut by_name: BTreeMap<String, Description> = BTreeMap::new();
        for set in &context.thresholds {
            // The ledger has refused what does not parse.
            let Ok(selector) = Selector::parse(&set.metric) else {
                continue;
            };
            let description = by_name.entry(selector.metric.clone()).or_default();
            if selector.suffix.is_some() {
                description.add(selector);
            } else {
                description.thresholds.extend(set.thresholds.iter().cloned());
            }
        }
        if context.expected_response_submetric {
            let metric = registry.get(builtin::HTTP_REQ_DURATION).name.to_string();
            by_name.entry(metric.clone()).or_default().add(Selector {
                metric,
                suffix: Some("expected_response:true".into()),
                tags: vec![("expected_response".into(), "true".into())],
            });
        }
        Self { registry, by_name }
    }

    pub(super) fn metric(&self, id: MetricId) -> Metric {
        self.registry.get(id)
    }

    pub(super) fn push_line(&self, out: &mut Vec<u8>, id: MetricId) {
        let Metric { name, kind, contains, .. } = self.metric(id);
        let nothing = Description::default();
        let description = self.by_name.get(&*name).unwrap_or(&nothing);
        out.extend_from_slice(b"{\"type\":\"Metric\",\"data\":{\"name\":");
        push_plain(out, &name);
        out.extend_from_slice(
            format!(",\"type\":\"{kind}\",\"contains\":\"{contains}\"").as_bytes(),
        );
        out.extend_from_slice(b",\"thresholds\":[");
        separated(out, &description.thresholds, push_threshold);
        out.extend_from_slice(b"],\"submetrics\":");
        if description.submetrics.is_empty() {
            out.extend_from_slice(b"null");
        } else {
            out.push(b'[');
            separated(out, &description.submetrics, push_submetric);
            out.push(b']');
        }
        out.extend_from_slice(b"},\"metric\":");
        push_html_safe(out, &name);
        out.extend_from_slice(b"}\n");
    }
}

impl Description {
    /// The same pairs again are the same submetric.
    fn add(&mut self, selector: Selector) {
        let pairs = |selector: &Selector| {
            let mut tags = selector.tags.clone();
            tags.sort();
            tags
        };
        if !self.submetrics.iter().any(|known| pairs(known) == pairs(&selector)) {
            self.submetrics.push(selector);
        }
    }
}

fn separated<T>(out: &mut Vec<u8>, items: &[T], push: impl Fn(&mut Vec<u8>, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push(out, item);
    }
}

/// The bare expression unless it can stop the test.
fn push_threshold(out: &mut Vec<u8>, threshold: &Threshold) {
    if !threshold.abort_on_fail {
        return push_plain(out, &threshold.source);
    }
    out.extend_from_slice(b"{\"threshold\":");
    push_plain(out, &threshold.source);
    out.extend_from_slice(b",\"abortOnFail\":true,\"delayAbortEval\":");
    match threshold.delay_abort_eval {
        Some(delay) => push_plain(out, &brunt_duration::wait::format(delay)),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
}

fn push_submetric(out: &mut Vec<u8>, selector: &Selector) {
    out.extend_from_slice(b"{\"name\":");
    push_plain(out, &selector.name());
    out.extend_from_slice(b",\"suffix\":");
    push_plain(out, selector.suffix.as_deref().unwrap_or_default());
    out.extend_from_slice(b",\"tags\":");
    push_tags(out, &TagSet::from_pairs(selector.tags.iter().map(|(k, v)| (&**k, &**v))));
    out.push(b'}');
}
