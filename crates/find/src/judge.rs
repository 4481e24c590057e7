//! The meaning of a step: the system held, the system broke, or the generator was in the way.

use crate::step::{Goal, Measured, Outcome, Step};

/// Part of the iterations that must come to their end for a system to keep up.
const KEPT_UP: f64 = 0.95;

/// Part of the iterations that the generator may drop.
const DROPPED: f64 = 0.01;

/// An iteration that takes this much longer than in the lowest step shows a system that is full.
const SLOWER: f64 = 2.0;

/// A load core that is at work or waits for a CPU for this part of its time is full.
const FULL: f64 = 0.9;

/// A full core does no more for more VUs: less than this part of what they would add.
const GAIN: f64 = 0.2;

/// The steps beside the one that is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside<'a> {
    /// The step with the least load so far.
    pub(crate) lowest: Option<&'a Measured>,
    /// The step with the next lower load, if that held.
    pub(crate) below: Option<&'a Step>,
}

/// Judges a step with this load.
///
/// The order decides: a goal that stays broken without the generator's own lateness is the system's; one that holds
/// without it is the generator's; and a load that never came about says nothing.
pub(crate) fn judge(load: f64, measured: &Measured, beside: Beside<'_>) -> Outcome {
    let lowest = beside.lowest;
    if measured.finished > 0.0
        && let Some(goal) =
            measured.goals.iter().find(|goal| goal.needs_values && goal.value.is_none())
        && lowest.is_none_or(|lowest| lacks(lowest, &goal.name))
    {
        return Outcome::Unmeasured(goal.name.clone());
    }
    if measured.finished <= 0.0 && measured.good <= 0.0 && measured.failed <= 0.0 {
        return Outcome::Broke("nothing came to its end".to_owned());
    }
    if measured.good <= 0.0 && measured.failed > 0.0 {
        // The time of a request that got no connection is 0, which meets many a goal.
        return Outcome::Broke("not one answer was good".to_owned());
    }
    let full = full(load, measured, beside.below);
    if let Some(goal) = measured.goals.iter().find(|goal| !goal.holds) {
        if let (true, Some(why)) = (goal.is_time && measured.busy >= FULL, full) {
            return Outcome::Generator(why);
        }
        let own = if measured.generator.is_some() { measured.late_ms } else { 0.0 };
        return match &measured.generator {
            Some(why) if is_ours(goal, own) => Outcome::Generator(why.clone()),
            _ => Outcome::Broke(told(goal)),
        };
    }
    let Some(due) = measured.due.filter(|due| *due > 0.0) else {
        return full.map_or(Outcome::Held, Outcome::Generator);
    };
    let is_slower = is_slower(measured, lowest);
    if measured.dropped > due * DROPPED && !is_slower {
        let why = match measured.vus_at_limit {
            Some(most) => format!(
                "all {most} VUs were busy and {} of {}/s could not start; --max-vus allows more",
                rate(measured.dropped),
                rate(due)
            ),
            None => format!("{} of {}/s could not start", rate(measured.dropped), rate(due)),
        };
        return Outcome::Generator(why);
    }
    // At the edges of the stretch a few more or fewer may be under way.
    let under_way = due * measured.iteration_ms.unwrap_or(0.0) / 1000.0;
    let by_chance = (2.0 + 2.0 * under_way.sqrt()) / measured.seconds.max(1e-9);
    if measured.finished < (due * KEPT_UP).min(due - by_chance) {
        let told = format!("{} of {}/s came to their end", rate(measured.finished), rate(due));
        return match &measured.generator {
            Some(why) if !is_slower => Outcome::Generator(why.clone()),
            _ => Outcome::Broke(told),
        };
    }
    Outcome::Held
}

/// The sentence about VUs that do no more than fewer did, because the load cores are full. VUs alone can be too many for them
/// unnoticed: a rate would be missed.
fn full(load: f64, measured: &Measured, below: Option<&Step>) -> Option<String> {
    let below = below.filter(|_| measured.due.is_none())?;
    let (few, before) = (below.trial.load, below.measured.finished);
    let is_full = measured.busy + measured.waiting >= FULL;
    let is_more = measured.finished > before * (1.0 + GAIN * (load / few - 1.0));
    (is_full && !is_more).then(|| {
        let percent = |part: f64| (part * 100.0).round();
        format!(
            "{load} VUs do no more than {few} did ({} and {} iterations/s), and the fullest load core was at work {} % and waited for a CPU \
             {} % of the time; use more cores or machines, or a lighter script",
            rate(measured.finished),
            rate(before),
            percent(measured.busy),
            percent(measured.waiting)
        )
    })
}

/// Whether iterations take much longer than they did in the lowest step.
fn is_slower(measured: &Measured, lowest: Option<&Measured>) -> bool {
    let before = lowest.and_then(|lowest| lowest.iteration_ms);
    match (measured.iteration_ms, before) {
        (Some(now), Some(before)) => now > before * SLOWER,
        _ => false,
    }
}

/// Whether a broken goal would hold without the generator's own lateness.
fn is_ours(goal: &Goal, late_ms: f64) -> bool {
    match (goal.is_time, goal.value, goal.limit) {
        (true, Some(value), Some(limit)) => value - late_ms < limit,
        _ => false,
    }
}

fn lacks(measured: &Measured, name: &str) -> bool {
    measured.goals.iter().any(|goal| goal.name == name && goal.value.is_none())
}

fn told(goal: &Goal) -> String {
    match goal.value {
        Some(value) if goal.is_time => format!("{}: {} ms", goal.name, number(value)),
        Some(value) => format!("{}: {}", goal.name, number(value)),
        None => format!("{}: no values", goal.name),
    }
}

/// A number with three digits that count.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 100.0 || magnitude == 0.0 {
        format!("{value:.0}")
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 0.1 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

fn rate(per_second: f64) -> String {
    number(per_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Purpose, Trial};

    fn judge(measured: &Measured, lowest: Option<&Measured>) -> Outcome {
        super::judge(100.0, measured, Beside { lowest, below: None })
    }

    fn goal(value: f64, limit: f64) -> Goal {
        Goal {
            name: "http_req_duration p(95)<200".to_owned(),
            value: Some(value),
            holds: value < limit,
            limit: Some(limit),
            share_min: None,
            spread: None,
            is_time: true,
            needs_values: true,
        }
    }

    fn calm() -> Measured {
        Measured {
            seconds: 10.0,
            due: Some(100.0),
            finished: 100.0,
            good: 100.0,
            iteration_ms: Some(20.0),
            goals: vec![goal(50.0, 200.0)],
            ..Measured::default()
        }
    }

    #[test]
    fn a_calm_step_holds_and_a_slow_one_breaks() {
        assert_eq!(judge(&calm(), None), Outcome::Held);
        let slow = Measured { goals: vec![goal(250.0, 200.0)], ..calm() };
        let told = "http_req_duration p(95)<200: 250 ms";
        assert_eq!(judge(&slow, None), Outcome::Broke(told.to_owned()));
    }

    #[test]
    fn failures_that_are_quick_meet_no_goal() {
        let down = Measured { good: 0.0, failed: 100.0, goals: vec![goal(0.0, 200.0)], ..calm() };
        assert_eq!(judge(&down, None), Outcome::Broke("not one answer was good".to_owned()));
    }

    #[test]
    fn a_goal_that_breaks_by_our_own_lateness_is_no_fault_of_the_system() {
        let late = Measured { late_ms: 80.0, generator: Some("late".to_owned()), ..calm() };
        let ours = Measured { goals: vec![goal(250.0, 200.0)], ..late.clone() };
        assert_eq!(judge(&ours, None), Outcome::Generator("late".to_owned()));
        let theirs = Measured { goals: vec![goal(900.0, 200.0)], ..late.clone() };
        assert!(matches!(judge(&theirs, None), Outcome::Broke(_)));
        assert_eq!(judge(&late, None), Outcome::Held);
    }

    #[test]
    fn too_few_vus_are_the_generators_limit_unless_the_system_has_become_slow() {
        let busy = Measured { dropped: 20.0, finished: 80.0, vus_at_limit: Some(10), ..calm() };
        let Outcome::Generator(why) = judge(&busy, Some(&calm())) else { panic!("held") };
        assert_eq!(
            why,
            "all 10 VUs were busy and 20.0 of 100/s could not start; --max-vus allows more"
        );
        let slow = Measured { iteration_ms: Some(90.0), ..busy };
        assert_eq!(
            judge(&slow, Some(&calm())),
            Outcome::Broke("80.0 of 100/s came to their end".to_owned())
        );
    }

    #[test]
    fn a_goal_without_values_in_the_first_step_is_no_goal() {
        let none = Goal { value: None, ..goal(0.0, 200.0) };
        let silent = Measured { goals: vec![none], ..calm() };
        assert!(matches!(judge(&silent, None), Outcome::Unmeasured(_)));
        // Later the system has ceased to answer.
        let later = Measured { finished: 0.0, ..silent };
        assert!(matches!(judge(&later, Some(&calm())), Outcome::Broke(_)));
    }

    #[test]
    fn vus_that_do_no_more_on_full_cores_are_the_generators_limit() {
        let closed = Measured { due: None, busy: 0.97, finished: 5000.0, ..calm() };
        let trial = Trial { load: 50.0, purpose: Purpose::Climb };
        let below = Step { trial, measured: closed.clone(), outcome: Outcome::Held };
        let judge = |measured: &Measured| {
            super::judge(100.0, measured, Beside { lowest: None, below: Some(&below) })
        };
        let more = Measured { finished: 5300.0, ..closed.clone() };
        let Outcome::Generator(why) = judge(&more) else { panic!("held") };
        let told = "100 VUs do no more than 50 did (5300 and 5000 iterations/s)";
        assert!(why.starts_with(told), "{why}");
        // Goals about a time that break in a full core are no fault of the system, all others are.
        let slow = Measured { goals: vec![goal(250.0, 200.0)], ..more.clone() };
        assert!(matches!(judge(&slow), Outcome::Generator(_)));
        let failing = Goal { is_time: false, ..goal(250.0, 200.0) };
        let failing = Measured { goals: vec![failing], ..more.clone() };
        assert!(matches!(judge(&failing), Outcome::Broke(_)));
        // A core that has room, or that does more.
        assert_eq!(judge(&Measured { busy: 0.5, ..more.clone() }), Outcome::Held);
        assert_eq!(judge(&Measured { finished: 8000.0, ..more }), Outcome::Held);
    }
}
