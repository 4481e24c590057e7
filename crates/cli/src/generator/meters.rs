//! The metrics `generator_*`: what a look found, for outputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use brunt_fiber::clock;
use brunt_metrics::{Contains, Frame, Kind, MetricId, Recorder, Registry, TagSet};
use brunt_verdict::Signals;

/// All of them, with the meaning of their values. Each is a gauge.
const ALL: [(&str, Contains); 12] = [
    ("generator_cpu_busy", Contains::Default),
    ("generator_cpu_waiting", Contains::Default),
    ("generator_lateness", Contains::Time),
    ("generator_cpu_throttled", Contains::Default),
    ("generator_cpu_steal", Contains::Default),
    ("generator_memory", Contains::Data),
    ("generator_open_files", Contains::Default),
    ("generator_sockets", Contains::Default),
    ("generator_segments", Contains::Default),
    ("generator_retransmits", Contains::Default),
    ("generator_interface_drops", Contains::Default),
    ("generator_errors", Contains::Default),
];

/// Makes frames of looks.
pub(crate) struct Meters {
    recorder: Recorder,
    base: TagSet,
    /// By name, without those that the script has for something else.
    metrics: BTreeMap<&'static str, MetricId>,
}

/// Whether this is one of them, perhaps with tags behind it: `generator_lateness{core:0}`.
pub(crate) fn is_one(metric: &str) -> bool {
    let name = metric.split('{').next().unwrap_or_default();
    ALL.iter().any(|(known, _)| *known == name)
}

/// Registers the metrics, so that thresholds may name them. A metric of the script that has one of the names keeps it.
pub(crate) fn offer(registry: &Registry) {
    for (name, contains) in ALL {
        // A test with too many metrics is told so where it makes them.
        drop(registry.offer(name, Kind::Gauge, contains));
    }
}

/// The metrics of the registry that are ours, not the script's: they are told apart in frames by their numbers.
pub(crate) fn ids(registry: &Registry) -> Vec<MetricId> {
    let ids =
        ALL.iter().filter_map(|(name, contains)| registry.offer(name, Kind::Gauge, *contains).ok());
    ids.filter(|id| registry.is_taken(*id)).collect()
}

impl Meters {
    /// Takes the names that the script left. A metric of the script that has one of the names keeps it, and ours is left out.
    pub(crate) fn new(registry: &Arc<Registry>, base: TagSet, want_samples: bool) -> Self {
        let offered = ALL.iter().filter_map(|(name, contains)| {
            let id = registry.offer(name, Kind::Gauge, *contains).ok()?;
            registry.is_taken(id).then_some((*name, id))
        });
        let metrics = offered.collect();
        let recorder = Recorder::new(Arc::clone(registry), u32::MAX, want_samples);
        Self { recorder, base, metrics }
    }

    /// The values of a look.
    pub(crate) fn frame(&mut self, signals: &Signals) -> Frame {
        let float = |number: Option<u64>| number.map(|number| number as f64);
        for (core, seen) in &signals.cores {
            let core = core.to_string();
            let tag = Some(("core", core.as_str()));
            self.add("generator_cpu_busy", tag, Some(seen.busy));
            self.add("generator_cpu_waiting", tag, Some(seen.waiting));
            self.add("generator_lateness", tag, Some(seen.late_ns as f64 / 1e6));
        }
        self.add("generator_cpu_throttled", None, signals.throttled);
        self.add("generator_cpu_steal", None, signals.steal);
        self.add("generator_memory", None, float(signals.resident));
        self.add("generator_open_files", None, float(signals.files));
        for (state, count) in ["open", "orphaned", "waiting"].into_iter().zip(signals.sockets) {
            self.add("generator_sockets", Some(("state", state)), float(count));
        }
        self.add("generator_segments", None, float(signals.segments.map(|it| it.0)));
        self.add("generator_retransmits", None, float(signals.segments.map(|it| it.1)));
        self.add("generator_interface_drops", None, float(signals.interface_drops));
        let short = signals.shortages;
        for (what, count) in
            [("files", short.files), ("ports", short.ports), ("memory", short.memory)]
        {
            self.add("generator_errors", Some(("what", what)), Some(count as f64));
        }
        let mut frame = self.recorder.take_frame();
        frame.at = clock::now_ns();
        frame
    }

    fn add(&mut self, name: &str, tag: Option<(&str, &str)>, value: Option<f64>) {
        let (Some(id), Some(value)) = (self.metrics.get(name), value) else { return };
        let tags = match tag {
            Some((key, value)) => self.base.with(key, value),
            None => self.base.clone(),
        };
        let tags = self.recorder.tags(&tags);
        let series = self.recorder.series(*id, tags);
        self.recorder.add(series, value, clock::now_ns(), None);
    }
}

#[cfg(test)]
mod tests {
    use brunt_verdict::Core;

    use super::*;

    #[test]
    fn a_look_becomes_gauges_and_the_scripts_own_names_are_left_alone() {
        let registry = Arc::new(Registry::new());
        registry.register("generator_memory", Kind::Trend, Contains::Time).unwrap();
        let mut meters = Meters::new(&registry, TagSet::from_pairs([("a", "b")]), true);
        let signals = Signals {
            cores: [(3, Core { busy: 0.5, waiting: 0.25, late_ns: 1_500_000 })].into(),
            resident: Some(5),
            files: Some(7),
            ..Signals::default()
        };
        let frame = meters.frame(&signals);
        let told: Vec<String> = frame
            .series
            .iter()
            .map(|delta| {
                let tags: Vec<String> =
                    delta.series.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
                format!("{}{tags:?}", registry.get(delta.series.metric).name)
            })
            .collect();
        assert!(
            told.iter().any(|one| one == "generator_lateness[\"a=b\", \"core=3\"]"),
            "{told:?}"
        );
        assert!(told.iter().any(|one| one.starts_with("generator_open_files")));
        assert!(!told.iter().any(|one| one.starts_with("generator_memory")));
        assert_eq!(frame.samples.len(), told.len());
    }
}
