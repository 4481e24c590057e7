//! A scenario as it runs: what all cores share of it, and what each core has of its own.

use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use brunt_fiber::clock;
use brunt_metrics::{TagSet, WARMUP_TAG};
use brunt_schedule::{Arrivals, Budget, ClosedPlan, Executor, Scenario, Segment};
use tokio::sync::mpsc;

use crate::control::{lower, raise};
use crate::gate::Gate;
use crate::helm::Helm;
use crate::idle::IdleCount;
use crate::resumed::{DoneBefore, Resumed};

/// The work of a scenario: one of the two loops.
#[derive(Debug)]
pub(crate) enum Plan {
    Closed(ClosedPlan),
    Open(Arrivals),
}

/// One core's counts for one scenario. Written by that core alone (but `idle`), on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Lane {
    active: AtomicU64,
    complete: AtomicU64,
    /// Idle VUs that any core may reserve; open models only.
    pub(crate) idle: IdleCount,
}

impl Lane {
    pub(crate) fn enter(&self) {
        raise(&self.active);
    }

    pub(crate) fn leave(&self) {
        lower(&self.active);
    }

    pub(crate) fn count_complete(&self) {
        raise(&self.complete);
    }
}

/// A parcel for another core: an iteration with a VU reserved for it, or the end of all iterations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parcel {
    Run { due: u64 },
    Close,
}

/// A scenario while it runs; shared by all cores and whoever watches.
#[derive(Debug)]
pub struct ScenarioState {
    index: usize,
    spec: Scenario,
    tags: TagSet,
    tags_of_drops: TagSet,
    plan: Plan,
    /// Unix ns; 0 until the scenarios are launched.
    start: AtomicU64,
    /// Iterations due before this (unix ns) are missed: the process heard of the start too late. 0 for none.
    missed_until: AtomicU64,
    /// Iterations due before this (unix ns) were another process's. 0 for none.
    left_until: AtomicU64,
    /// Numbers of iterations that another process has done.
    done_before: DoneBefore,
    /// Frames tell the numbers of its iterations that came to their end.
    tells_done: bool,
    /// Iterations begun (of a shared budget: asked for, which may be more).
    begun: AtomicU64,
    /// VUs it has.
    allocated: AtomicU64,
    /// When it was over, in unix ns; 0 before.
    ended: AtomicU64,
    done: AtomicBool,
    /// It was over because the run was cut short.
    cut: AtomicBool,
    /// The one warning about too few VUs has been given.
    pub(crate) warned: AtomicBool,
    /// An unplanned VU is on its way.
    pub(crate) growing: AtomicBool,
    /// Cores that still have due times of this scenario ahead.
    pub(crate) pacers: AtomicU32,
    /// How many of its VUs may iterate, if somebody says so while the test runs.
    gate: Option<Gate>,
    /// How many iterations per second there are, if somebody says so while the test runs.
    helm: Option<Helm>,
    lanes: Box<[Lane]>,
    /// To each core, the iterations that others hand to it; never more than it has VUs.
    inboxes: Box<[mpsc::Sender<Parcel>]>,
}

/// The receiving ends of a scenario's inboxes, one for each core.
pub(crate) type Inboxes = Vec<mpsc::Receiver<Parcel>>;

impl ScenarioState {
    pub(crate) fn new(
        index: usize,
        spec: Scenario,
        (tags, tags_of_drops): (TagSet, TagSet),
        segment: &Segment,
        cores: usize,
    ) -> (ScenarioState, Inboxes) {
        let plan = match (spec.closed_plan(segment), spec.arrivals(segment)) {
            (Some(plan), _) => Plan::Closed(plan),
            (None, Some(arrivals)) => Plan::Open(arrivals),
            (None, None) => unreachable!("an executor is closed or open"),
        };
        let gate = match spec.executor {
            Executor::ExternallyControlled { vus, max_vus, .. } => {
                Some(Gate::new(vus, max_vus, segment.clone()))
            }
            _ => None,
        };
        let (mut inboxes, mut outlets) = (Vec::new(), Vec::new());
        if let Plan::Open(arrivals) = &plan {
            // A parcel is sent only to a core that has reserved a VU for it, so this never fills up; the
            // one on top is for the closing word. tokio allocates as parcels come, not in advance.
            let limit = usize::try_from(arrivals.max_vus()).unwrap_or(usize::MAX);
            let limit = limit.saturating_add(1).min(tokio::sync::Semaphore::MAX_PERMITS);
            (inboxes, outlets) = (0..cores).map(|_| mpsc::channel(limit)).unzip();
        }
        let state = ScenarioState {
            index,
            spec,
            tags,
            tags_of_drops,
            plan,
            start: AtomicU64::new(0),
            missed_until: AtomicU64::new(0),
            left_until: AtomicU64::new(0),
            done_before: DoneBefore::default(),
            tells_done: false,
            begun: AtomicU64::new(0),
            allocated: AtomicU64::new(0),
            done: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            ended: AtomicU64::new(0),
            warned: AtomicBool::new(false),
            growing: AtomicBool::new(false),
            pacers: AtomicU32::new(0),
            gate,
            helm: None,
            lanes: (0..cores).map(|_| Lane::default()).collect(),
            inboxes: inboxes.into(),
        };
        (state, outlets)
    }

    /// Its arrival rate is decided from outside; a closed scenario stays as it is.
    pub(crate) fn steer(&mut self) {
        if matches!(self.plan, Plan::Open(_)) {
            self.helm = Some(Helm::new());
        }
    }

    /// Frames tell the numbers of its iterations that came to their end, if there is a number of them.
    pub(crate) fn tell_done(&mut self) {
        let budget = self.closed().map(|plan| plan.budget);
        self.tells_done = matches!(budget, Some(Budget::PerVu(_) | Budget::Shared(_)));
    }

    pub(crate) fn tells_done(&self) -> bool {
        self.tells_done
    }

    /// Goes on where another process was. Iterations of each VU become iterations that the VUs share: which VU had done how many is
    /// not known.
    pub(crate) fn resume(&mut self, from: &Resumed) {
        let Plan::Closed(plan) = &mut self.plan else { return };
        match plan.budget {
            Budget::Unlimited => return self.begun.store(from.begun, Relaxed),
            Budget::PerVu(each) => {
                plan.budget = Budget::Shared(each.saturating_mul(plan.handles.len() as u64));
            }
            Budget::Shared(_) => {}
        }
        self.done_before = DoneBefore::new(&from.done);
    }

    /// Iterations due before `moment` (unix ns) were another process's: they are neither begun nor counted. Said before the scenario
    /// begins, and after its start is known.
    pub(crate) fn leave_until(&self, moment: u64) {
        self.left_until.store(moment, Relaxed);
        if let (Plan::Open(arrivals), Some(start)) = (&self.plan, self.started_at()) {
            let since = std::time::Duration::from_nanos(moment.saturating_sub(start));
            self.begun.store(arrivals.due_before(since), Relaxed);
        }
    }

    pub(crate) fn left_until(&self) -> u64 {
        self.left_until.load(Relaxed)
    }

    /// The iterations of a budget of `all` that are not begun yet.
    pub(crate) fn not_begun(&self, all: u64) -> u64 {
        let begun = self.begun.load(Relaxed).min(all);
        (all - begun).saturating_sub(self.done_before.count(begun, all))
    }

    /// Its place among the scenarios, ordered by (start time, name); from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Name, executor, function, env: what the script says.
    pub fn spec(&self) -> &Scenario {
        &self.spec
    }

    /// The run's tags, the scenario's on top, and `scenario` if that system tag is on.
    pub fn tags(&self) -> &TagSet {
        &self.tags
    }

    /// The tags of `dropped_iterations`: the run's and `scenario`, but none of the scenario's own, as in k6, because
    /// no code of the scenario ran.
    pub(crate) fn tags_of_drops(&self, now: u64) -> TagSet {
        if now < self.warm_until() {
            return self.tags_of_drops.with(WARMUP_TAG, "true");
        }
        self.tags_of_drops.clone()
    }

    /// Until when measurements are a warm-up, in unix ns; 0 if they never are.
    pub fn warm_until(&self) -> u64 {
        if self.spec.warmup.is_zero() {
            return 0;
        }
        self.started_at()
            .map_or(0, |start| start.saturating_add(clock::duration_ns(self.spec.warmup)))
    }

    /// When it starts or started (`exec.scenario.startTime`), in unix ns; `None` before the launch.
    pub fn started_at(&self) -> Option<u64> {
        Some(self.start.load(Relaxed)).filter(|at| *at != 0)
    }

    /// When it was over, in unix ns; `None` before.
    pub fn ended_at(&self) -> Option<u64> {
        Some(self.ended.load(Relaxed)).filter(|at| *at != 0)
    }

    /// The progress, 0 to 1 (`exec.scenario.progress`): of its iterations if it has a number of them, else of its
    /// regular duration. It no longer changes once the scenario is over.
    pub fn progress(&self) -> f64 {
        if self.is_done() && !self.is_unfinished() {
            return 1.0;
        }
        let (part, whole) = if let Some(total) = self.iterations_total() {
            (self.complete() as f64, total as f64)
        } else {
            let now = self.ended_at().unwrap_or_else(clock::now_ns);
            let since = now.saturating_sub(self.start());
            (since as f64, self.spec.executor.regular_duration().as_nanos() as f64)
        };
        if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Iterations that came to their end.
    pub fn complete(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.complete.load(Relaxed)).sum()
    }

    /// Iterations that have begun.
    pub fn begun(&self) -> u64 {
        let asked = self.begun.load(Relaxed);
        self.shared_budget().map_or(asked, |budget| asked.min(budget))
    }

    /// How many iterations it is to run, if it is a matter of iterations and not of time.
    pub fn iterations_total(&self) -> Option<u64> {
        match &self.plan {
            Plan::Closed(plan) => match plan.budget {
                Budget::Unlimited => None,
                Budget::PerVu(each) => Some(each.saturating_mul(plan.handles.len() as u64)),
                Budget::Shared(all) => Some(all.saturating_sub(self.done_before.count(0, all))),
            },
            Plan::Open(_) => None,
        }
    }

    /// VUs that work for it; in open models those inside an iteration.
    pub fn vus_active(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.active.load(Relaxed)).sum()
    }

    /// VUs that work for it, or, if that is steered from outside, that are to: who is one too many may still be busy.
    pub fn vus_wanted(&self) -> u64 {
        match &self.gate {
            Some(gate) if self.started_at().is_some() && !self.is_done() => gate.open(),
            Some(_) => 0,
            None => self.vus_active(),
        }
    }

    /// VUs that it has.
    pub fn vus_allocated(&self) -> u64 {
        self.allocated.load(Relaxed)
    }

    /// VUs it may come to: its handles, or `maxVUs`.
    pub fn vus_max(&self) -> u64 {
        match (&self.gate, &self.plan) {
            (Some(gate), _) => gate.most(),
            (None, Plan::Closed(plan)) => plan.handles.len() as u64,
            (None, Plan::Open(arrivals)) => arrivals.max_vus(),
        }
    }

    /// Iterations per second that an open model plans at this moment.
    pub fn rate(&self) -> Option<f64> {
        let Plan::Open(arrivals) = &self.plan else {
            return None;
        };
        let since = clock::now_ns().saturating_sub(self.started_at()?);
        let since = std::time::Duration::from_nanos(since);
        match &self.helm {
            Some(helm) => Some(helm.course().rate_at(since)),
            None => Some(arrivals.rate_at(since)),
        }
    }

    /// Whether it is over.
    pub fn is_done(&self) -> bool {
        self.done.load(Relaxed)
    }

    /// Whether it is over, but not all that it was to do is done: the run was cut short, or `maxDuration`
    /// ended before the shared iterations did.
    pub fn is_unfinished(&self) -> bool {
        let done = |all| self.complete() + self.done_before.count(0, all);
        let is_short = || self.shared_budget().is_some_and(|all| done(all) < all);
        self.is_done() && (self.cut.load(Relaxed) || is_short())
    }

    /// The gate that decides how many of its VUs iterate, if that is decided from outside.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    /// The helm that decides its arrival rate, if that is decided from outside.
    pub(crate) fn helm(&self) -> Option<&Helm> {
        self.helm.as_ref()
    }

    /// How many of its iterations were due by now, if their rate is decided from outside.
    pub fn steered_so_far(&self) -> Option<u64> {
        let since = clock::now_ns().saturating_sub(self.started_at()?);
        Some(self.helm.as_ref()?.course().count(std::time::Duration::from_nanos(since)))
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn closed(&self) -> Option<&ClosedPlan> {
        match &self.plan {
            Plan::Closed(plan) => Some(plan),
            Plan::Open(_) => None,
        }
    }

    pub(crate) fn arrivals(&self) -> Option<&Arrivals> {
        match &self.plan {
            Plan::Open(arrivals) => Some(arrivals),
            Plan::Closed(_) => None,
        }
    }

    pub(crate) fn shared_budget(&self) -> Option<u64> {
        match self.closed()?.budget {
            Budget::Shared(all) => Some(all),
            Budget::Unlimited | Budget::PerVu(_) => None,
        }
    }

    pub(crate) fn lane(&self, core: u32) -> &Lane {
        &self.lanes[core as usize]
    }

    pub(crate) fn inbox(&self, core: usize) -> Option<&mpsc::Sender<Parcel>> {
        self.inboxes.get(core)
    }

    pub(crate) fn cores(&self) -> usize {
        self.lanes.len()
    }

    /// Its start in unix ns; `u64::MAX` before the launch.
    pub(crate) fn start(&self) -> u64 {
        self.started_at().unwrap_or(u64::MAX)
    }

    pub(crate) fn set_start(&self, at: u64) {
        self.start.store(at, Relaxed);
    }

    /// Iterations that were due before `moment` (unix ns) are counted as dropped, and not begun. Said before the scenario begins.
    pub(crate) fn miss_until(&self, moment: u64) {
        self.missed_until.store(moment, Relaxed);
    }

    pub(crate) fn missed_until(&self) -> u64 {
        self.missed_until.load(Relaxed)
    }

    /// It is over; `cut` if only because the run is cut short.
    pub(crate) fn finish(&self, cut: bool) {
        self.cut.store(cut, Relaxed);
        self.ended.store(clock::now_ns(), Relaxed);
        self.done.store(true, Relaxed);
    }

    pub(crate) fn set_allocated(&self, vus: u64) {
        self.allocated.store(vus, Relaxed);
    }

    /// Takes the next iteration's number (from 0); `None` if the shared budget is used up.
    pub(crate) fn begin(&self) -> Option<u64> {
        loop {
            let number = self.begun.fetch_add(1, Relaxed);
            if self.shared_budget().is_some_and(|budget| number >= budget) {
                return None;
            }
            let Some(last) = self.done_before.end_of(number) else { return Some(number) };
            self.begun.fetch_max(last.saturating_add(1), Relaxed);
        }
    }

    /// The number in the whole test of this process's n-th iteration.
    pub(crate) fn global(&self, number: u64) -> u64 {
        match &self.plan {
            Plan::Closed(plan) => plan.indexes.global(number),
            Plan::Open(arrivals) => arrivals.index(number),
        }
    }
}

/// A scenario on one core.
pub struct ScenarioHere {
    state: Arc<ScenarioState>,
    slot: OnceCell<Box<dyn Any>>,
}

impl ScenarioHere {
    pub(crate) fn new(state: Arc<ScenarioState>) -> Rc<ScenarioHere> {
        Rc::new(ScenarioHere { state, slot: OnceCell::new() })
    }

    /// The shared state.
    pub fn state(&self) -> &Arc<ScenarioState> {
        &self.state
    }

    /// The scenario of the script.
    pub fn spec(&self) -> &Scenario {
        &self.state.spec
    }

    /// The tags of everything its VUs measure, before the script adds its own.
    pub fn tags(&self) -> &TagSet {
        &self.state.tags
    }

    /// The runner's own state for this scenario on this core; made at the first call.
    ///
    /// # Panics
    /// If it is asked for with another type than at first.
    pub fn slot<T: 'static>(&self, make: impl FnOnce() -> T) -> &T {
        let kept = self.slot.get_or_init(|| Box::new(make()));
        kept.downcast_ref().expect("one runner keeps one type of state for a scenario")
    }
}

impl std::fmt::Debug for ScenarioHere {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ScenarioHere").field("state", &self.state).finish_non_exhaustive()
    }
}
