//! The result of a search.

use brunt_find::{End, Limit, Search, Step, figures};

use super::{Request, goal::Goal, request::number};
use crate::exit::Exit;

/// All that is known at the end.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(super) request: Request,
    pub(super) goals: Vec<String>,
    pub(super) end: End,
    pub(super) steps: Vec<Step>,
    /// The highest load that held.
    pub(super) held: Option<f64>,
    /// The lowest that broke.
    pub(super) broke: Option<f64>,
    pub(super) is_confirmed: bool,
    /// Where the limit seems to be, from all steps together.
    pub(super) limit: Option<Limit>,
    pub(super) plateau: Option<f64>,
    pub(super) knee: Option<f64>,
    /// When each step was measured, in seconds of the run.
    pub(super) stretches: Vec<(f64, f64)>,
    /// Steps, by number from 0, before which the system had not become itself again.
    pub(super) slow: Vec<usize>,
    /// Steps that other programs disturbed, however often they were done again.
    pub(super) disturbed: usize,
    /// The percentiles of the goals about a time, each with its goal.
    pub(super) percentiles: Vec<(String, f64)>,
}

impl Finding {
    pub(super) fn new(request: &Request, goals: &[Goal], search: &Search, end: End) -> Self {
        Self {
            request: request.clone(),
            goals: goals.iter().map(|goal| goal.name.clone()).collect(),
            end,
            held: search.held(),
            broke: search.broke(),
            is_confirmed: search.is_confirmed(),
            limit: search.limit(),
            plateau: figures::plateau(search.steps()),
            knee: figures::knee(search.steps()),
            steps: search.steps().to_vec(),
            stretches: Vec::new(),
            slow: Vec::new(),
            disturbed: 0,
            percentiles: goals
                .iter()
                .filter_map(|goal| Some((goal.name.clone(), goal.percentile()?)))
                .collect(),
        }
    }

    pub(super) fn with(
        self,
        stretches: Vec<(f64, f64)>,
        slow: Vec<usize>,
        disturbed: usize,
    ) -> Self {
        Self { stretches, slow, disturbed, ..self }
    }

    /// 0: the load is known, or all loads held. 99: the goals can't be met, or the system fell over. 98: nothing is known
    /// for sure, because the generator was the limit or the steps did not suffice. 104: a goal that nothing measures. 105:
    /// somebody stopped it.
    pub(crate) fn exit(&self) -> Exit {
        match self.end {
            End::Found | End::AllHold => Exit::Success,
            End::NoneHolds | End::Fallen | End::Down => Exit::Thresholds,
            End::Generator(_) | End::OutOfSteps => Exit::Untrusted,
            End::Unmeasured(_) => Exit::InvalidConfig,
            End::Stopped => Exit::Signal,
        }
    }

    /// The word of the end for programs.
    pub(super) fn word(&self) -> &'static str {
        match self.end {
            End::Found => "found",
            End::AllHold => "all-hold",
            End::NoneHolds => "none-holds",
            End::Generator(_) => "generator",
            End::Fallen => "fallen",
            End::Down => "down",
            End::Unmeasured(_) => "unmeasured",
            End::OutOfSteps => "out-of-steps",
            End::Stopped => "stopped",
        }
    }

    /// The result in one sentence.
    pub(crate) fn headline(&self) -> String {
        let load = |load: f64| self.request.load(load);
        let held = self.held.map(load);
        let so_far = match (&held, self.broke.map(load)) {
            (Some(held), Some(broke)) => format!("{held} held, {broke} broke"),
            (Some(held), None) => format!("{held} held"),
            (None, Some(broke)) => format!("{broke} broke, nothing held"),
            (None, None) if self.steps.is_empty() => "no step was measured".to_owned(),
            (None, None) => "nothing held".to_owned(),
        };
        let last = self.steps.last().map(|step| load(step.trial.load)).unwrap_or_default();
        match &self.end {
            End::Found => format!("it bears {}: {so_far}", held.unwrap_or_default()),
            End::AllHold => {
                format!(
                    "it bears {} and perhaps more: that is the highest load asked for (--max)",
                    held.unwrap_or_default()
                )
            }
            End::NoneHolds => {
                let least = self.broke.map(load).unwrap_or_default();
                format!("no load meets the goals: even {least} broke, the lowest that was tried")
            }
            End::Generator(why) => {
                format!("the generator is the limit at {last}: {why}; so far {so_far}")
            }
            End::Fallen => format!(
                "after {} the system fell over and stayed down for {}: {so_far}",
                self.steps
                    .iter()
                    .rfind(|step| step.broke())
                    .map(|step| load(step.trial.load))
                    .unwrap_or_default(),
                brunt_duration::wait::format(self.request.recovery)
            ),
            End::Down => format!(
                "at {last} not one answer was good: the target is down, or refuses what is sent to it"
            ),
            End::Unmeasured(goal) => format!(
                "the goal \"{goal}\" has no values: the script measures no such thing, or threw before it did"
            ),
            End::OutOfSteps => {
                let steps = match self.steps.len() {
                    1 => "one step".to_owned(),
                    count => format!("{count} steps"),
                };
                match (self.held, self.broke) {
                    (Some(held), Some(broke)) if broke <= held * (1.0 + self.request.precision) => {
                        format!(
                            "after {steps} (--max-steps) no load has held for longer yet: {so_far}"
                        )
                    }
                    (Some(_), Some(_)) => {
                        format!("after {steps} (--max-steps) the gap is still wide: {so_far}")
                    }
                    (Some(_), None) => {
                        format!("after {steps} (--max-steps) no load has broken yet: {so_far}")
                    }
                    _ => format!("after {steps} (--max-steps) no load has held yet: {so_far}"),
                }
            }
            End::Stopped => format!("stopped before the limit was known: {so_far}"),
        }
    }

    /// The load that is told as the limit: the highest that held, if a higher one broke.
    pub(super) fn is_limit(&self, step: &Step) -> bool {
        step.held() && self.broke.is_some() && self.held == Some(step.trial.load)
    }

    /// `402 good answers/s`.
    pub(super) fn plateau_text(&self) -> Option<String> {
        self.plateau.map(|plateau| format!("{} good answers/s", number(plateau)))
    }
}
