//! Which part of a run counts: the steady one, or the one that was asked for.

use crate::run::{Run, Slice, Stage};

/// Times closer than this are one: slices and stages come from different clocks.
const SLACK_S: f64 = 0.002;

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Stretches of time, rising: begin and end in seconds.
    pub stretches: Vec<(f64, f64)>,
    /// Why these.
    pub reason: Reason,
}

/// Why a part of a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The user named its begin or end.
    Asked,
    /// Stages in which the load rises or falls are left out.
    Steady,
    /// The run has no stages that are known.
    NoStages,
    /// The load rises or falls all the time.
    NeverSteady,
}

impl Window {
    /// The part of a run that counts: from `from_s` to `to_s` if any of them is given, else without the stages in
    /// which the load rises or falls.
    pub fn of(run: &Run, from_s: Option<f64>, to_s: Option<f64>) -> Self {
        let whole = |reason| Self { stretches: vec![(f64::NEG_INFINITY, f64::INFINITY)], reason };
        if from_s.is_some() || to_s.is_some() {
            let stretch = (from_s.unwrap_or(f64::NEG_INFINITY), to_s.unwrap_or(f64::INFINITY));
            return Self { stretches: vec![stretch], reason: Reason::Asked };
        }
        if run.stages.is_empty() {
            return whole(Reason::NoStages);
        }
        let steady = Self { stretches: steady(&run.stages), reason: Reason::Steady };
        if run.slices.iter().any(|slice| steady.holds(slice)) {
            steady
        } else {
            whole(Reason::NeverSteady)
        }
    }

    /// Whether a slice lies wholly in it.
    pub fn holds(&self, slice: &Slice) -> bool {
        self.stretches
            .iter()
            .any(|(start, end)| slice.start_s >= start - SLACK_S && slice.end_s() <= end + SLACK_S)
            && slice.width_s > 0.0
    }

    /// The slices of a run that lie in it.
    pub fn slices<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = &'a Slice> + 'a {
        run.slices.iter().filter(|slice| self.holds(slice))
    }
}

/// Where some scenario has a constant load and none a changing one.
fn steady(stages: &[Stage]) -> Vec<(f64, f64)> {
    let mut borders: Vec<f64> =
        stages.iter().flat_map(|stage| [stage.start_s, stage.end_s]).collect();
    borders.retain(|border| border.is_finite());
    borders.sort_by(f64::total_cmp);
    borders.dedup();
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    for pair in borders.windows(2) {
        let middle = f64::midpoint(pair[0], pair[1]);
        let mut here =
            stages.iter().filter(|stage| stage.start_s <= middle && middle < stage.end_s);
        let (mut is_loaded, mut is_changing) = (false, false);
        here.by_ref().for_each(|stage| {
            is_changing |= stage.from.total_cmp(&stage.to).is_ne();
            is_loaded |= stage.from > 0.0;
        });
        if is_changing || !is_loaded {
            continue;
        }
        match stretches.last_mut() {
            Some((_, end)) if end.total_cmp(&pair[0]).is_eq() => *end = pair[1],
            _ => stretches.push((pair[0], pair[1])),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(scenario: &str, start_s: f64, end_s: f64, from: f64, to: f64) -> Stage {
        Stage { scenario: scenario.into(), start_s, end_s, from, to }
    }

    fn run(stages: Vec<Stage>, seconds: u32) -> Run {
        let slices = (0..seconds)
            .map(|n| Slice { start_s: f64::from(n), width_s: 1.0, ..Slice::default() })
            .collect();
        Run { stages, slices, ..Run::default() }
    }

    #[test]
    fn ramps_are_left_out() {
        let stages = vec![
            stage("s", 0.0, 10.0, 0.0, 50.0),
            stage("s", 10.0, 30.0, 50.0, 50.0),
            stage("s", 30.0, 40.0, 50.0, 80.0),
            stage("s", 40.0, 50.0, 80.0, 80.0),
            stage("s", 50.0, 60.0, 80.0, 0.0),
        ];
        let run = run(stages, 63);
        let window = Window::of(&run, None, None);
        assert_eq!(window.stretches, [(10.0, 30.0), (40.0, 50.0)]);
        assert_eq!(window.slices(&run).count(), 30);
        assert_eq!(window.reason, Reason::Steady);
    }

    #[test]
    fn a_ramp_of_one_scenario_unsettles_all() {
        let stages = vec![stage("a", 0.0, 60.0, 5.0, 5.0), stage("b", 20.0, 30.0, 0.0, 9.0)];
        let window = Window::of(&run(stages, 60), None, None);
        assert_eq!(window.stretches, [(0.0, 20.0), (30.0, 60.0)]);
    }

    #[test]
    fn a_run_that_ramps_all_the_time_counts_as_a_whole() {
        let run = run(vec![stage("s", 0.0, 10.0, 0.0, 50.0)], 10);
        let window = Window::of(&run, None, None);
        assert_eq!((window.reason, window.slices(&run).count()), (Reason::NeverSteady, 10));
    }

    #[test]
    fn the_user_s_times_go_before_stages() {
        let run = run(vec![stage("s", 0.0, 10.0, 0.0, 50.0)], 10);
        let window = Window::of(&run, Some(2.0), Some(5.0));
        assert_eq!((window.reason, window.slices(&run).count()), (Reason::Asked, 3));
        assert_eq!(Window::of(&run, Some(2.0), None).slices(&run).count(), 8);
        assert_eq!(Window::of(&run, Some(9.5), None).slices(&run).count(), 0);
    }

    #[test]
    fn time_before_and_after_the_stages_is_left_out() {
        let run = run(vec![stage("s", 2.0, 8.0, 5.0, 5.0)], 12);
        assert_eq!(Window::of(&run, None, None).slices(&run).count(), 6);
        let pause = vec![stage("s", 0.0, 4.0, 5.0, 5.0), stage("s", 4.0, 8.0, 0.0, 0.0)];
        assert_eq!(Window::of(&self::run(pause, 8), None, None).stretches, [(0.0, 4.0)]);
    }

    #[test]
    fn numbers_that_are_none_do_no_harm() {
        let stages = vec![
            stage("s", f64::NAN, 4.0, 5.0, 5.0),
            stage("s", 0.0, f64::INFINITY, f64::NAN, 5.0),
        ];
        assert!(!Window::of(&run(stages, 3), None, None).stretches.is_empty());
    }
}
