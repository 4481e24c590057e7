//! The test in parts: per scenario, and per group.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::metric::{Kind, MetricId, builtin};
use crate::registry::Registry;
use crate::series::Series;
use crate::sink::Sink;
use crate::summary::{Breakdown, CheckSummary, MetricSummary};

/// Scenarios and groups that are kept apart; others count in the totals only.
const PARTS_MAX: usize = 512;
/// Metrics (over all parts) that are kept; others count in the totals only.
const SINKS_MAX: usize = 8192;
/// Checks (over all parts) that are kept; others count in the totals only.
const CHECKS_MAX: usize = 8192;
/// How deep groups may nest; deeper ones count in the totals only.
const DEPTH_MAX: usize = 64;

/// Where the values of a series belong, beside the totals.
#[derive(Debug, Default)]
pub(super) struct PartRoute {
    sinks: Box<[u32]>,
    checks: Box<[u32]>,
}

/// As in k6, a scenario counts all its samples, and a group those of its own, not those of the groups
/// within; the groups of a named scenario are in that scenario; `default` counts as no scenario, and so
/// do `setup` and `teardown`, whose own group the reader may want to leave out.
#[derive(Debug)]
pub(super) struct Parts {
    /// The first belongs to no scenario; it has no numbers, just groups.
    nodes: Vec<Node>,
    scenarios: Vec<usize>,
    sinks: Vec<Sink>,
    checks: Vec<CheckSummary>,
}

#[derive(Debug, Default)]
struct Node {
    name: String,
    /// In the order of first appearance.
    groups: Vec<usize>,
    sinks: FxHashMap<MetricId, u32>,
    /// In the order of first appearance.
    checks: Vec<u32>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            scenarios: Vec::new(),
            sinks: Vec::new(),
            checks: Vec::new(),
        }
    }
}

impl Parts {
    pub(super) fn absorb(&mut self, route: &PartRoute, sink: &Sink) {
        for index in &route.sinks {
            self.sinks[*index as usize].merge(sink);
        }
        if let Sink::Rate { hits, total } = sink {
            for index in &route.checks {
                let check = &mut self.checks[*index as usize];
                check.passes += hits;
                check.fails += total - hits;
            }
        }
    }

    pub(super) fn route(&mut self, series: &Arc<Series>, kind: impl Fn() -> Kind) -> PartRoute {
        let group = series.tags.get("group").unwrap_or_default();
        let mut nodes = Vec::new();
        let base = match series.tags.get("scenario").unwrap_or("default") {
            "default" => Some(0),
            name => {
                let scenario = self.scenario(name);
                nodes.extend(scenario);
                scenario
            }
        };
        if !group.is_empty() {
            nodes.extend(base.and_then(|base| self.group(base, group)));
        }
        let sinks =
            nodes.iter().filter_map(|node| self.sink(*node, series.metric, &kind)).collect();
        let checks = match series.tags.get("check") {
            Some(name) if series.metric == builtin::CHECKS => {
                nodes.iter().filter_map(|node| self.check(*node, group, name)).collect()
            }
            _ => Box::default(),
        };
        PartRoute { sinks, checks }
    }

    fn scenario(&mut self, name: &str) -> Option<usize> {
        let known = self.scenarios.iter().find(|index| self.nodes[**index].name == name);
        known.copied().or_else(|| {
            let index = self.node(name)?;
            self.scenarios.push(index);
            Some(index)
        })
    }

    fn group(&mut self, base: usize, path: &str) -> Option<usize> {
        let mut parent = base;
        let names = path.strip_prefix("::").unwrap_or(path).split("::");
        if names.clone().nth(DEPTH_MAX).is_some() {
            return None;
        }
        for name in names {
            let within = &self.nodes[parent].groups;
            let known = within.iter().find(|index| self.nodes[**index].name == name).copied();
            parent = if let Some(index) = known {
                index
            } else {
                let index = self.node(name)?;
                self.nodes[parent].groups.push(index);
                index
            };
        }
        Some(parent)
    }

    fn node(&mut self, name: &str) -> Option<usize> {
        let index = self.nodes.len();
        (index < PARTS_MAX).then(|| {
            self.nodes.push(Node { name: name.to_owned(), ..Node::default() });
            index
        })
    }

    fn sink(&mut self, node: usize, metric: MetricId, kind: impl Fn() -> Kind) -> Option<u32> {
        if let Some(index) = self.nodes[node].sinks.get(&metric) {
            return Some(*index);
        }
        let index = self.sinks.len();
        (index < SINKS_MAX).then(|| {
            self.sinks.push(Sink::empty(kind()));
            self.nodes[node].sinks.insert(metric, index as u32);
            index as u32
        })
    }

    fn check(&mut self, node: usize, group: &str, name: &str) -> Option<u32> {
        let is_it = |index: &&u32| {
            let check = &self.checks[**index as usize];
            check.name == name && check.group == group
        };
        if let Some(index) = self.nodes[node].checks.iter().find(is_it) {
            return Some(*index);
        }
        let index = self.checks.len();
        (index < CHECKS_MAX).then(|| {
            let (name, group) = (name.to_owned(), group.to_owned());
            self.checks.push(CheckSummary { name, group, passes: 0, fails: 0 });
            self.nodes[node].checks.push(index as u32);
            index as u32
        })
    }

    /// The scenarios, and the groups of no scenario.
    pub(super) fn summary(
        &self,
        registry: &Registry,
        run: Duration,
    ) -> (Vec<Breakdown>, Vec<Breakdown>) {
        let all = |nodes: &[usize]| nodes.iter().map(|n| self.part(*n, registry, run)).collect();
        (all(&self.scenarios), all(&self.nodes[0].groups))
    }

    fn part(&self, node: usize, registry: &Registry, run: Duration) -> Breakdown {
        let node = &self.nodes[node];
        let mut metrics: Vec<MetricSummary> = node
            .sinks
            .iter()
            .filter(|(id, _)| !registry.is_own(**id))
            .map(|(id, sink)| {
                let metric = registry.get(*id);
                MetricSummary {
                    name: metric.name.to_string(),
                    parent: None,
                    kind: metric.kind,
                    contains: metric.contains,
                    values: self.sinks[*sink as usize].values(run),
                    thresholds: Vec::new(),
                    observed: true,
                    named: false,
                }
            })
            .collect();
        metrics.sort_by(|one, other| one.name.cmp(&other.name));
        Breakdown {
            name: node.name.clone(),
            metrics,
            checks: node.checks.iter().map(|index| self.checks[*index as usize].clone()).collect(),
            groups: node.groups.iter().map(|n| self.part(*n, registry, run)).collect(),
        }
    }
}
