//! Notes on a result: how sure it is, and what got in the way.

use brunt_find::{End, Step};

use super::{Finding, request::number};

/// Fewer values than this beyond a percentile are few.
const BEYOND_MIN: f64 = 10.0;

impl Finding {
    /// How far the limit may be from where it seems to be: two standard errors, as a part of it. None if it is not known.
    pub(super) fn uncertainty(&self) -> Option<f64> {
        let limit = self.limit.filter(|_| self.end == End::Found)?;
        let gap = self.held.zip(self.broke).map_or(0.0, |(held, broke)| (broke - held) / held);
        // Between a load that held and one that broke nothing was seen.
        Some((2.0 * limit.spread).max(gap / 2.0))
    }

    /// Sentences about the result, without their full stops.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = [self.chance(), self.few(), self.below(), self.others(), self.slowly()];
        notes.into_iter().flatten().collect()
    }

    /// The limit is less sure than was asked for.
    fn chance(&self) -> Option<String> {
        let uncertainty = self.uncertainty().filter(|part| *part > self.request.precision)?;
        Some(format!(
            "the limit is uncertain by {} %, more than the {} % of --precision: what is measured near it varies by chance; a longer --hold than {} \
             tells more",
            number((uncertainty * 100.0).round().max(1.0)),
            number(self.request.precision * 100.0),
            brunt_duration::wait::format(self.request.hold)
        ))
    }

    /// A percentile rests on a few values.
    fn few(&self) -> Option<String> {
        let held = self.steps.iter().rfind(|step| self.is_limit(step))?;
        let values = (held.measured.good + held.measured.failed) * held.measured.seconds;
        let beyond = |percent: f64| values * (1.0 - percent / 100.0);
        let (goal, percent) = self.percentiles.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let beyond = beyond(*percent);
        (*percent < 100.0 && beyond < BEYOND_MIN).then(|| {
            format!(
                "{goal} rests on {} slow requests at {}: that few are chance; a longer --hold than {} has more",
                number(beyond.round()),
                self.request.load(held.trial.load),
                brunt_duration::wait::format(self.request.hold)
            )
        })
    }

    /// Less than the load that held broke once.
    fn below(&self) -> Option<String> {
        let held = self.held.filter(|_| self.is_confirmed)?;
        let below = self.steps.iter().filter(|step| step.broke() && step.trial.load <= held);
        let loads: Vec<String> = below.map(|step| self.request.load(step.trial.load)).collect();
        (!loads.is_empty()).then(|| {
            format!(
                "{} broke once, and {} held for longer afterwards: so near to the limit that is chance",
                loads.join(" and "),
                self.request.load(held)
            )
        })
    }

    /// Other programs were in the way.
    fn others(&self) -> Option<String> {
        let steps = match self.disturbed {
            0 => return None,
            1 => "one step that broke".to_owned(),
            count => format!("{count} steps that broke"),
        };
        Some(format!(
            "other programs (the target, perhaps) took the CPUs from the generator in {steps}, and did so again when the step was repeated: the system \
             may bear more than was seen; search again when the machine is idle, or from another machine than the target's"
        ))
    }

    /// The system did not become itself again.
    fn slowly(&self) -> Option<String> {
        let before = |index: &usize| self.steps.get(*index);
        let loads: Vec<String> = self
            .slow
            .iter()
            .filter_map(before)
            .map(|step: &Step| self.request.load(step.trial.load))
            .collect();
        (!loads.is_empty()).then(|| {
            format!(
                "before {} the system had not become as quick again as in the lowest step within {} (--recovery): it may bear more when it is fresh",
                loads.join(" and "),
                brunt_duration::wait::format(self.request.recovery)
            )
        })
    }
}
