//! The input of a run, and its result.

use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{Ledger, Registry, Summary, TagSet};
use brunt_schedule::{Scenario, Segment};

use crate::control::AbortReason;
use crate::error::Failure;
use crate::gather::Listener;
use crate::health::CoreHealth;
use crate::resumed::Resumed;

/// Called when a run is over and would linger; false if it shall not.
pub type Linger = Box<dyn FnOnce() -> bool + Send>;

/// Everything a run needs to know besides its [`Runner`](crate::Runner).
pub struct RunConfig {
    /// The scenarios to run; validated. The order does not matter.
    pub scenarios: Vec<Scenario>,
    /// This process's share of the test.
    pub segment: Segment,
    /// Cores (threads that run VUs); 0 for as many as the machine has.
    pub workers: usize,
    /// The metrics, as registered by the script's init code.
    pub registry: Arc<Registry>,
    /// Where all is added up; made after the script's init code ran, for it knows the thresholds.
    pub ledger: Ledger,
    /// The tags of everything.
    pub run_tags: TagSet,
    /// Whether samples get the tag `scenario` (the system tag of that name is on).
    pub scenario_tag: bool,
    /// Whether a listener needs each single sample. Costs memory and time: only for outputs that do.
    pub want_samples: bool,
    /// The listeners that see the frames.
    pub listeners: Vec<Box<dyn Listener>>,
    /// Leave `setup()` out.
    pub no_setup: bool,
    /// Leave `teardown()` out.
    pub no_teardown: bool,
    /// After this `setup()` is interrupted and the run fails.
    pub setup_timeout: Duration,
    /// After this `teardown()` is interrupted and the run fails.
    pub teardown_timeout: Duration,
    /// A VU rests after an iteration until this has passed since its start.
    pub min_iteration_duration: Duration,
    /// The process ends after the run: VUs are not taken apart at its end, which costs a fifth of what making them does.
    /// Their connections are closed by the system.
    pub is_last: bool,
    /// The rates of arrival-rate scenarios are not those of their options but the ones that are told by
    /// [`Live::set_rate`](crate::Live::set_rate), none at first; VUs are made only when
    /// [`Live::have_vus`](crate::Live::have_vus) asks.
    pub steered: bool,
    /// Linger after the end, `teardown()` included: the cores stay, [`Live::run_teardown`](crate::Live::run_teardown) and
    /// [`Live::run_setup`](crate::Live::run_setup) are answered, and their measurements count in the summary. The function is
    /// called when lingering begins, on the thread that executes the run; [`Control::end_linger`](crate::Control::end_linger)
    /// ends it. A run whose planned VUs could not be made does not linger, as in k6.
    pub linger: Option<Linger>,
    /// The run is a part of one test on several machines, and a leader says what happens when: `setup()` and `teardown()` run
    /// only if [`Live::stage_setup`](crate::Live::stage_setup) and [`Live::stage_teardown`](crate::Live::stage_teardown) ask
    /// for them, scenarios begin at the moment of [`Control::start_at`](crate::Control::start_at), and behind them the run
    /// waits for [`Control::release`](crate::Control::release). Thresholds are judged at the end alone, `vus` and `vus_max`
    /// are not measured: the leader does both for all.
    pub led: bool,
    /// The run takes a load over that another process made: how far each closed scenario was there. It begins by
    /// [`Control::resume_at`](crate::Control::resume_at).
    pub resumed: Option<Vec<Resumed>>,
    /// Frames tell which iterations came to their end, of scenarios with a number of them: another process may have to go on.
    pub tells_done: bool,
    /// Wait after the initialisation until someone calls [`Control::resume`](crate::Control::resume).
    pub paused: bool,
}

impl RunConfig {
    /// A run of these scenarios, everything else as k6 has it by default.
    pub fn new(scenarios: Vec<Scenario>, registry: Arc<Registry>, ledger: Ledger) -> RunConfig {
        RunConfig {
            scenarios,
            segment: Segment::full(),
            workers: 0,
            registry,
            ledger,
            run_tags: TagSet::default(),
            scenario_tag: true,
            want_samples: false,
            listeners: Vec::new(),
            no_setup: false,
            no_teardown: false,
            setup_timeout: Duration::from_mins(1),
            teardown_timeout: Duration::from_mins(1),
            min_iteration_duration: Duration::ZERO,
            is_last: false,
            steered: false,
            linger: None,
            led: false,
            resumed: None,
            tells_done: false,
            paused: false,
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct RunReport {
    /// The numbers.
    pub summary: Summary,
    /// The first thing that went wrong, thresholds and marks at the end apart.
    pub failure: Option<Failure>,
    /// Why the run was cut short, if it was.
    pub abort: Option<AbortReason>,
    /// Metrics whose thresholds do not hold at the end, sorted.
    pub crossed: Vec<String>,
    /// The exit code that the first of their thresholds asks for, if one does.
    pub exit_code: Option<u8>,
    /// `exec.test.fail()` was called.
    pub marked_failed: bool,
    /// Whether the clock ever started: false if the initialisation failed or was cut short.
    pub started: bool,
    /// Iterations that came to their end. If there are none, the user should hear of it.
    pub iterations_complete: u64,
    /// Iterations that were cut off.
    pub iterations_interrupted: u64,
    /// From the start of the clock (before `setup()`) to the end of `teardown()`.
    pub duration: Duration,
    /// The result of `setup()`, as JSON.
    pub setup_data: Option<Arc<str>>,
    /// Distinct series, roughly.
    pub series: u64,
    /// How each core did.
    pub cores: Vec<CoreHealth>,
}

impl RunReport {
    /// The failure that decides the exit code: the first error, else the mark of the test as failed, else crossed
    /// thresholds. That is k6's order.
    pub fn error(&self) -> Option<Failure> {
        let at_end = || {
            if self.marked_failed {
                return Some(Failure::MarkedFailed);
            }
            (!self.crossed.is_empty()).then(|| Failure::Thresholds(self.crossed.clone()))
        };
        self.failure.clone().or_else(at_end)
    }
}
