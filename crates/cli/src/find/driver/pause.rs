//! Between two steps: the system becomes itself again, other programs leave the CPUs to us.

use std::time::{Duration, Instant};

use brunt_find::{Look, Recovering, Recovery, Step};

use super::{Driver, Over};
use crate::find::{
    generator::{self, Clocks},
    told,
};

/// Looks in a row at which the generator is undisturbed before such a step is done again.
const CALM_LOOKS: u32 = 2;

/// How long one of these looks lasts: enough ticks for a verdict on the generator.
const CALM_LOOK: Duration = Duration::from_millis(2500);

impl Driver {
    /// Lets the system become itself again under a light load.
    pub(super) fn recover(&mut self, number: usize) -> Result<Recovering, Over> {
        let Some(lowest) = self.search.lowest() else { return Ok(Recovering::Recovered) };
        let usual = Look {
            good: lowest.measured.good,
            failed: lowest.measured.failed,
            median_ms: lowest.measured.median_ms,
        };
        let probe = self.probe();
        let mut recovery = Recovery::new(usual, self.request.recovery.as_secs_f64());
        let begun = Instant::now();
        if self.set_load(probe).is_err() {
            self.wait(Duration::ZERO)?;
        }
        // Long enough for a few answers.
        let look = (5.0 / probe.max(0.1)).clamp(0.25, 2.0);
        let look = if self.request.by_vus { 1.0 } else { look };
        loop {
            self.window.begin();
            self.wait_telling(Duration::from_secs_f64(look), |_| {
                format!(
                    "before step {number}: {} until it is itself again, {} s",
                    self.request.load(probe),
                    begun.elapsed().as_secs()
                )
            })?;
            let seen = self.window.seen(Duration::from_secs_f64(look), &self.goals);
            let seen = Look { good: seen.good, failed: seen.failed, median_ms: seen.median_ms };
            match recovery.look(begun.elapsed().as_secs_f64(), seen) {
                Recovering::Wait => {}
                state => return Ok(state),
            }
        }
    }

    /// Tells that a step will be done again, and waits until other programs leave the CPUs to us, but no longer than the system
    /// may take to recover.
    pub(super) fn put_off(&mut self, step: &Step, number: usize) -> Result<(), Over> {
        let load = self.request.load(step.trial.load);
        self.status(None);
        self.say(&format!(
            "      {load:>8}  {}: other programs took the CPUs, once more when they are idle\n",
            told::word_in_short(step)
        ));
        (self.voice.notes)(&format!("step {number}: {load} again, other programs took the CPUs"));
        if step.broke() {
            self.recover(number)?;
        }
        let probe = self.probe();
        if self.set_load(probe).is_err() {
            self.wait(Duration::ZERO)?;
        }
        let (begun, mut calm) = (Instant::now(), 0);
        while calm < CALM_LOOKS && begun.elapsed() < self.request.recovery {
            let clocks = Clocks::read();
            self.window.begin();
            self.wait_telling(CALM_LOOK, |_| {
                format!(
                    "before step {number}: {} until other programs are idle, {} s",
                    self.request.load(probe),
                    begun.elapsed().as_secs()
                )
            })?;
            let seen = self.window.seen(CALM_LOOK, &self.goals);
            calm = if generator::verdict(&clocks, &seen).is_disturbed { 0 } else { calm + 1 };
        }
        Ok(())
    }

    /// The light load between steps: what held, or much less than what broke.
    pub(super) fn probe(&self) -> f64 {
        let bounds = self.search.bounds();
        let light = self.search.lowest().map_or(f64::INFINITY, |step| {
            if step.held() { step.trial.load } else { step.trial.load / 10.0 }
        });
        bounds.from.min(light).max(bounds.least)
    }
}
