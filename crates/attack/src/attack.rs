//! An attack, from its threads to its end.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_http::Network;
use brunt_net::SettingsError;

use crate::control::Control;
use crate::core::{self, Seed};
use crate::http::Exchanges;
use crate::load::Report;
use crate::outcome::{Outcome, Reason};
use crate::pacer::Pacer;
use crate::plan::Plan;
use crate::sink::Sink;
use crate::sql::{Queries, Statements};
use crate::target::TargetError;
use crate::targets::Targets;

/// From the moment when all is ready to the first hit: for all cores to see it.
const RUN_UP: Duration = Duration::from_millis(2);

/// A core that is at work for so much of its time has none left.
const BUSY: f64 = 0.9;

/// A core's thread, and what it gives back.
type Thread<'a> = thread::ScopedJoinHandle<'a, std::io::Result<Report>>;

/// The targets and the plan of an attack.
#[derive(Clone, Debug)]
pub struct Attack {
    plan: Arc<Plan>,
    on: On,
}

/// The target of the attack.
#[derive(Clone, Debug)]
enum On {
    Http(Targets),
    Sql(Arc<Queries>),
}

/// Why there is no attack, or why it ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttackError {
    /// Without a schedule only the number of workers limits the load.
    #[error("-rate=0 requires setting -max-workers")]
    NoLimit,
    /// No worker is allowed.
    #[error("-max-workers must be at least 1")]
    NoWorkers,
    /// Settings of connections that can't be carried out.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system refuses a thread, a timer, or what else a core needs.
    #[error("core {core} can't start")]
    Core {
        /// Which, from 0.
        core: usize,
        /// Why.
        source: std::io::Error,
    },
    /// A core came to grief: a bug of ours.
    #[error("core {core} panicked")]
    Panicked {
        /// Which, from 0.
        core: usize,
    },
    /// A target that was read during the attack is no target.
    #[error(transparent)]
    Targets(#[from] TargetError),
}

impl Attack {
    /// An attack to be [`run`](Self::run).
    ///
    /// # Errors
    /// The plan makes no sense.
    pub fn new(plan: Plan, targets: Targets) -> Result<Self, AttackError> {
        Self::on(plan, On::Http(targets))
    }

    /// An attack on a database. The most connections per host of the plan's network are those to the database, for all cores together.
    ///
    /// # Errors
    /// The plan makes no sense.
    pub fn of_queries(plan: Plan, queries: Arc<Queries>) -> Result<Self, AttackError> {
        Self::on(plan, On::Sql(queries))
    }

    fn on(plan: Plan, on: On) -> Result<Self, AttackError> {
        match plan.max_workers {
            None if plan.pacer == Pacer::Unlimited => return Err(AttackError::NoLimit),
            Some(0) => return Err(AttackError::NoWorkers),
            _ => {}
        }
        Network::check(&plan.network)?;
        Ok(Self { plan: Arc::new(plan), on })
    }

    /// Runs it to its end, on threads of its own. `sink` is called once on each, with its number.
    ///
    /// `control` stops it from elsewhere.
    ///
    /// # Errors
    /// [`AttackError`]; the records of what was hit until then have been given to the sinks.
    pub fn run(
        &self,
        control: &Control,
        sink: impl Fn(usize) -> Box<dyn Sink> + Sync,
    ) -> Result<Outcome, AttackError> {
        let cores = self.plan.threads();
        // Read once, so that all cores agree on the first moment.
        let start = clock::now_ns() + clock::duration_ns(RUN_UP);
        let reports: Vec<Result<Report, AttackError>> = thread::scope(|scope| {
            let sink = &sink;
            let seed = |index| Seed {
                index,
                cores,
                start,
                plan: Arc::clone(&self.plan),
                control: control.clone(),
            };
            let spawn = |index| {
                let seed = seed(index);
                let run = move || {
                    let control = seed.control.clone();
                    let (plan, place) = (&self.plan, (index, cores));
                    let result = match self.on.clone() {
                        On::Http(targets) => {
                            let load = || Exchanges::new(plan, place, targets);
                            core::run(seed, sink(index), load)
                        }
                        On::Sql(queries) => {
                            let load = || Statements::new(plan, place, queries);
                            core::run(seed, sink(index), load)
                        }
                    };
                    if result.is_err() {
                        control.stop();
                    }
                    result
                };
                let name = format!("attack-{index}");
                thread::Builder::new().name(name).spawn_scoped(scope, run)
            };
            let threads: Vec<_> = (0..cores).map(spawn).collect();
            let join = |(core, thread): (usize, std::io::Result<Thread<'_>>)| {
                let started = thread.map_err(|source| AttackError::Core { core, source });
                let ended = started?.join().map_err(|_| AttackError::Panicked { core })?;
                ended.map_err(|source| AttackError::Core { core, source })
            };
            if threads.iter().any(Result::is_err) {
                control.stop();
            }
            threads.into_iter().enumerate().map(join).collect()
        });
        let reports = reports.into_iter().collect::<Result<Vec<_>, _>>()?;
        if let On::Http(Targets::Stream(stream)) = &self.on
            && let Some(trouble) = stream.take_trouble()
        {
            return Err(trouble.into());
        }
        Ok(self.sum_up(&reports, control, start))
    }

    fn sum_up(&self, reports: &[Report], control: &Control, start: u64) -> Outcome {
        let most = |what: fn(&Report) -> u64| reports.iter().map(what).max().unwrap_or_default();
        let sum = |what: fn(&Report) -> u64| reports.iter().map(what).sum::<u64>();
        let begun = control.begun();
        let paced = Duration::from_nanos(most(|report| report.paced_ns));
        // One that was stopped, or whose targets or schedule ended, owes no more than what was due until then.
        let is_early = control.is_stopping() || reports.iter().any(|report| report.ran_dry);
        let lasted = if is_early { paced } else { self.plan.duration.unwrap_or(paced) };
        let has_schedule = self.plan.pacer != Pacer::Unlimited;
        let due = has_schedule.then(|| {
            if reports.iter().any(|report| report.ran_dry) {
                return begun;
            }
            // Hits that were begun were due, even those of the very moment of the stop.
            self.plan.pacer.hits_before(lasted).max(begun)
        });
        let mut outcome = Outcome {
            due,
            begun,
            ended: sum(|report| report.ended),
            failed: sum(|report| report.failed),
            elapsed: lasted,
            last_begun: Duration::from_nanos(most(|report| report.last).saturating_sub(start)),
            worst_lag: Duration::from_nanos(most(|report| report.lag_max)),
            mean_lag: Duration::from_nanos(
                sum(|report| report.lag_sum).checked_div(begun).unwrap_or_default(),
            ),
            workers: control.workers(),
            reasons: Vec::new(),
        };
        let waited = Duration::from_nanos(most(|report| report.at_cap_ns));
        if let Some(max) = self.plan.max_workers
            && waited > Duration::from_millis(10)
            && has_schedule
        {
            outcome.reasons.push(Reason::Workers { max, waited });
        }
        let times = sum(|report| report.sockets_refused);
        if times > 0 {
            outcome.reasons.push(Reason::Sockets { times });
        }
        let waited = Duration::from_nanos(most(|report| report.full_ns));
        if !waited.is_zero() {
            outcome.reasons.push(Reason::Records { waited });
        }
        let waited = Duration::from_nanos(most(|report| report.hungry_ns));
        if waited > Duration::from_millis(100) && has_schedule {
            outcome.reasons.push(Reason::Targets { waited });
        }
        let busy = reports.iter().map(|report| report.busy).fold(0.0, f64::max);
        if busy > BUSY && has_schedule {
            outcome.reasons.push(Reason::Cpu { busy });
        }
        outcome
    }
}
