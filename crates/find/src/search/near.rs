//! The steps near the limit: on both sides of it, then the confirmation.

use super::{Bounds, Search, is_confirmation};
use crate::limit::Limit;
use crate::step::{Purpose, Step};

/// The confirmed load is this part of the precision below where the limit seems to be.
const MARGIN: f64 = 0.3;

/// After this many steps near the limit it is time to confirm, however wide the gap is.
const NARROWINGS_MAX: usize = 5;

/// The limit is well known if its standard deviation is below this part of the precision,
const SURE: f64 = 0.4;

/// or known as well as may be after this many steps.
const SURE_STEPS: usize = 8;

/// A step between two others is at least this part of their gap from both.
const EDGE: f64 = 0.3;

/// After a confirmation that broke clearly, the next load is at least this part of the precision lower.
const LOWER: f64 = 0.25;

/// With each step after this many the load to confirm is lower by the margin: it is time to come to an end.
const HURRY: usize = 10;

/// After this many steps a load that is confirmed is good enough, though the gap above it is wide.
const ENOUGH: usize = 11;

/// Loads above a confirmed one that are tried, to see them break.
const ABOVE_MAX: usize = 2;

impl Search {
    /// The next step between loads that held and loads that broke; none if the limit is known.
    pub(super) fn near(&self) -> Option<(Purpose, f64)> {
        let limit = self.limit()?;
        let precision = self.bounds.precision;
        let count = |which: &dyn Fn(&&Step) -> bool| self.steps.iter().filter(which).count();
        let Some(confirmed) = self.confirmed() else {
            let narrowings = count(&|step| step.trial.purpose == Purpose::Narrow);
            let failed = count(&|step| is_confirmation(step));
            if failed == 0
                && narrowings < NARROWINGS_MAX
                && let Some(load) = self.between(limit)
            {
                return Some((Purpose::Narrow, load));
            }
            return Some((Purpose::Confirm, self.candidate(limit)));
        };
        let broke = self.broke()?;
        let above =
            count(&|step| step.trial.load > confirmed && !is_confirmation(step) && step.held());
        if self.is_near(confirmed, broke) || above >= ABOVE_MAX || self.steps.len() >= ENOUGH {
            return None;
        }
        let better = self.candidate(limit);
        let has_held = self.held_loads().any(|load| load > confirmed);
        if has_held && better > confirmed * (1.0 + precision / 2.0) && better < broke {
            return Some((Purpose::Confirm, better));
        }
        let up = self.tidy(confirmed * (1.0 + precision));
        (up > confirmed && up < broke).then_some((Purpose::Narrow, up))
    }

    /// Whether the gap is as narrow as was asked for.
    fn is_near(&self, held: f64, broke: f64) -> bool {
        let gap = broke - held;
        let is_one = self.bounds.is_whole && gap <= 1.0;
        // A hair more, because loads are rounded.
        is_one || gap <= held * self.bounds.precision * 1.001
    }

    /// The nearest loads around the limit of which one held and one broke.
    fn gap(&self, limit: Limit) -> Option<(f64, f64)> {
        // A little above: where chance decides, the highest that held may lie there.
        let most = limit.load * (1.0 + self.bounds.precision / 4.0);
        let lowest = self.held_loads().reduce(f64::min)?;
        let held = self.held_loads().filter(|load| *load <= most).fold(lowest, f64::max);
        let broke = self.broken_loads().filter(|load| *load > held).reduce(f64::min)?;
        Some((held, broke))
    }

    /// A load that narrows the gap: the limit as long as little is known of it, then just below it and just above it. None if
    /// the gap is narrow and the limit well known.
    fn between(&self, limit: Limit) -> Option<f64> {
        let (held, broke) = self.gap(limit)?;
        let precision = self.bounds.precision;
        if self.is_near(held, broke) {
            let is_sure = limit.spread <= SURE * precision || self.steps.len() >= SURE_STEPS;
            return (!is_sure && !self.bounds.is_whole).then(|| self.tidy(limit.load));
        }
        let side = precision / 2.0;
        let (low, high) = (limit.load * (1.0 - side), limit.load * (1.0 + side));
        let load = if limit.spread > precision && held < low {
            limit.load
        } else if held < limit.load * (1.0 - precision) {
            low
        } else {
            high
        };
        // Well inside: what is known of the limit may be wrong.
        let (apart, gap) = (broke / held, EDGE * (broke / held).ln());
        let least = held * gap.exp();
        let load = self.tidy(load.clamp(least, least.max(apart * held / gap.exp())));
        if load > held && load < broke {
            return Some(load);
        }
        let middle = self.tidy((held * broke).sqrt());
        (middle > held && middle < broke).then_some(middle)
    }

    /// The highest load that held, if it did so clearly and a load just above it broke as clearly: there is no chance in it.
    fn cliff(&self, limit: Limit) -> Option<f64> {
        let (held, broke) = self.gap(limit)?;
        let is_clear = |load: f64| {
            let of_load = self.steps.iter().filter(|step| step.trial.load.total_cmp(&load).is_eq());
            let mut points = of_load.filter_map(Step::point);
            points.all(|point| point.is_clear())
        };
        (self.is_near(held, broke) && is_clear(held) && is_clear(broke)).then_some(held)
    }

    /// The load to confirm: one that held, just below the limit, else one just below the limit; less than a load that was to be
    /// confirmed and broke.
    fn candidate(&self, limit: Limit) -> f64 {
        let Bounds { precision, least, is_whole, .. } = self.bounds;
        let failed = self.steps.iter().filter(|step| is_confirmation(step) && step.broke());
        let below = |step: &Step| match step.trial.load {
            load if is_whole => load - 1.0,
            // Chance may have decided: the same load may hold, if it still is below the limit.
            load if step.measured.is_undecided() => load,
            load => self.tidy(load * (1.0 - LOWER * precision)),
        };
        let most = failed.map(below).fold(f64::INFINITY, f64::min);
        let late = self.steps.len().saturating_sub(HURRY) as f64;
        let margin = MARGIN * precision * (1.0 + late);
        let near = |load: &f64| {
            *load <= most
                && *load <= limit.load * (1.0 - margin / 2.0)
                && *load >= limit.load * (1.0 - 2.0 * margin)
        };
        let clear = self.cliff(limit).filter(|load| *load <= most);
        let held = clear.or_else(|| self.held_loads().filter(near).reduce(f64::max));
        let load = held.unwrap_or_else(|| self.tidy(limit.load * (1.0 - margin)).min(most));
        let load = if is_whole { load.floor() } else { load };
        load.max(least)
    }
}
