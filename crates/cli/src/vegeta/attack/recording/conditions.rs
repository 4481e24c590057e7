//! The conditions of an attack as a run file has them: thresholds on its metrics, where those tell the same number.

use brunt_metrics::{Breach, ThresholdResult, ThresholdSet, Timing};
use brunt_records::Threshold;
use brunt_runfile::Judgement;

use crate::vegeta::threshold::Found;

/// The metric that shows a condition whose number no metric has.
const PLACE: &str = "http_reqs";

/// The thresholds on metrics; and the other conditions, each with the name of the metric that shows it.
pub(super) fn planned(all: &[Threshold]) -> (Vec<ThresholdSet>, Vec<(String, String)>) {
    let mut sets: Vec<ThresholdSet> = Vec::new();
    let mut others = Vec::new();
    for one in all {
        let Some(twin) = one.twin() else {
            others.push((PLACE.to_owned(), label(one)));
            continue;
        };
        match sets.iter_mut().find(|set| set.metric == twin.set.metric) {
            Some(set) => set.thresholds.extend(twin.set.thresholds),
            None => sets.push(twin.set),
        }
    }
    (sets, others)
}

/// The condition with its words as results write them.
fn label(threshold: &Threshold) -> String {
    let (expression, _) = Timing::words(threshold.text());
    format!("{expression}{}", threshold.timing())
}

/// How a condition was found.
pub(super) fn judgement(found: &Found) -> Judgement {
    let Found { threshold, verdict, breach } = found;
    let twin = threshold.twin();
    let number = |value: f64| match &twin {
        Some(twin) => twin.value(value),
        None => threshold.scaled(value),
    };
    let one = twin.as_ref().and_then(|twin| Some((&twin.set.metric, twin.set.thresholds.first()?)));
    let (metric, source, aggregation) = match one {
        Some((metric, one)) => (&**metric, &*one.source, one.aggregation.to_string()),
        None => (PLACE, Timing::words(threshold.text()).0, String::new()),
    };
    Judgement {
        metric: metric.to_owned(),
        result: ThresholdResult {
            source: source.to_owned(),
            ok: verdict.is_ok,
            value: verdict.value.map(number),
            aggregation,
            abort_on_fail: false,
            timing: threshold.timing().clone(),
            breach: breach.map(|breach| Breach { value: breach.value.map(number), ..breach }),
        },
    }
}

/// When a condition in time broke first, in nanoseconds since the start, and how that is told.
pub(super) fn event(found: &Found) -> Option<(u64, String)> {
    let breach = found.breach?;
    let at = u64::try_from(breach.at.as_nanos()).ok()?;
    Some((at, format!("threshold {} was broken", found.threshold)))
}
