//! The test that is led, asked and steered at the leader's REST API.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brunt_cluster::{Fault, LeaderEvent, SetupData, Steering, Step, Touch, View, Wish};
use brunt_engine::{AbortReason, Phase, ScaleError, may_pause, weigh};
use brunt_metrics::Summary;
use brunt_schedule::{Executor, Scenario};
use tokio::sync::{mpsc, oneshot};

use super::thread::Input;
use crate::api::{Asked, Fleet, State, Subject};
use crate::exit::Exit;

/// The leader does not answer any more.
const OVER: &str = "the test is over";

/// `setup()` is called by the leader, in one agent.
const NO_SETUP: &str =
    "the leader of several agents has setup() called once, in one of them, when the test begins";

/// Where its data may come from.
const NO_DATA: &str =
    "the agents have the data of setup() from the one that called it; they can't be replaced";

/// A wish that is written down when NATS is back.
const CUT_OFF: &str =
    "the connection to the NATS server is lost: the agents hear of the change when it is back";

/// The agents are free after the test.
const NO_TEARDOWN: &str =
    "the leader of several agents has teardown() called once, in one of them, before the test ends";

/// A test on several machines. All numbers are those of the whole.
#[derive(Debug)]
pub(super) struct Led {
    scenarios: Vec<Scenario>,
    /// Agents that the test wants.
    seats: u64,
    now: Mutex<Now>,
    inputs: mpsc::Sender<Input>,
    /// One change at a time is weighed and made.
    changing: tokio::sync::Mutex<()>,
}

/// The test as it was seen last.
#[derive(Debug)]
struct Now {
    state: State,
    steering: Steering,
    /// The data of `setup()`, or why they are not here.
    setup: Result<Option<Arc<str>>, String>,
    /// The NATS server is out of reach.
    is_cut_off: bool,
}

impl Led {
    /// A test that has not begun.
    pub(super) fn new(
        (scenarios, seats): (&[Scenario], usize),
        inputs: mpsc::Sender<Input>,
        steering: Steering,
    ) -> Self {
        let state = State {
            phase: Phase::Created,
            is_aborting: false,
            is_marked_failed: false,
            is_paused: steering.paused,
            vus_wanted: 0,
            vus_active: 0,
            vus_initialized: 0,
            iterations_complete: 0,
            agents: Some(Fleet { seats: seats as u64, ..Fleet::default() }),
        };
        Self {
            scenarios: scenarios.to_vec(),
            seats: seats as u64,
            now: Mutex::new(Now { state, steering, setup: Ok(None), is_cut_off: false }),
            inputs,
            changing: tokio::sync::Mutex::default(),
        }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The test as its leader sees it now.
    pub(super) fn see(&self, view: &View) {
        let state = self.seen(view);
        let mut now = self.now();
        (now.state, now.steering) = (state, view.steering);
    }

    /// The data of `setup()` are there.
    pub(super) fn see_setup(&self, setup: &SetupData) {
        let far =
            "the data of setup() are larger than 256 KiB, and the leader has not got them yet";
        let data = match (&setup.data, setup.object) {
            (Some(data), _) => Ok(Some(Arc::from(data.get()))),
            (None, Some(_)) => Err(far.to_owned()),
            (None, None) => Ok(None),
        };
        self.now().setup = data;
    }

    /// Large data of `setup()` have come.
    pub(super) fn has_setup(&self, data: Arc<str>) {
        self.now().setup = Ok(Some(data));
    }

    /// A wish that came before there is a leader: it will be a part of its beginning.
    pub(super) fn expects(&self, wish: Wish) {
        let mut now = self.now();
        now.steering.vus = wish.vus.or(now.steering.vus);
        now.steering.vus_max = wish.vus_max.or(now.steering.vus_max);
        if let Some(paused) = wish.paused {
            (now.state.is_paused, now.steering.paused) = (paused, paused);
        }
    }

    /// Whether the NATS server is in reach: without it the leader does not hear of agents.
    pub(super) fn link(&self, is_there: bool) {
        self.now().is_cut_off = !is_there;
    }

    /// The answer to a wish that was written down: agents may not hear of it yet.
    fn heard(&self) -> Result<(), String> {
        if self.now().is_cut_off { Err(CUT_OFF.to_owned()) } else { Ok(()) }
    }

    /// The test is over: the agents are free.
    pub(super) fn ends(&self) {
        let mut now = self.now();
        (now.state.phase, now.state.agents) = (Phase::Ended, None);
    }

    fn seen(&self, view: &View) -> State {
        let phase = phase(view);
        let seats = || view.seats.iter().filter(|seat| is_there(seat.touch));
        let vus_active = seats().map(|seat| seat.beat.vus).sum();
        let iterations =
            |seat: &brunt_cluster::SeatView| seat.totals.iterations.max(seat.beat.iterations);
        let is_running = phase == Phase::Running && view.run_ns.is_some();
        let is_idle = !is_running || view.steering.paused || view.step > Some(Step::Run);
        let vus_wanted = match self.wanted(view.steering) {
            Some(_) if is_idle => 0,
            Some(wanted) => wanted,
            None => vus_active,
        };
        State {
            phase,
            is_aborting: view.is_cut_short,
            is_marked_failed: view.is_marked,
            is_paused: view.steering.paused,
            vus_wanted,
            vus_active,
            vus_initialized: seats().map(|seat| seat.beat.vus_max).sum(),
            iterations_complete: view.seats.iter().map(iterations).sum(),
            agents: Some(self.fleet(view)),
        }
    }

    /// The agents that are in touch, and the others. A load that was taken over is no further agent.
    fn fleet(&self, view: &View) -> Fleet {
        let mut fleet = Fleet { seats: self.seats, ..Fleet::default() };
        let is_cut_off = self.now().is_cut_off;
        for seat in view.seats.iter().take(self.seats as usize) {
            match seat.touch {
                Touch::Alive if !is_cut_off => fleet.running += 1,
                Touch::Alive | Touch::Suspect => fleet.silent += 1,
                Touch::Lost => fleet.lost += 1,
                Touch::Empty | Touch::Gone => {}
            }
        }
        fleet
    }

    /// VUs that are to iterate, if that is decided from outside for all scenarios.
    fn wanted(&self, steering: Steering) -> Option<u64> {
        let mut scaled = steering.vus;
        let wanted = self.scenarios.iter().map(|scenario| match scenario.executor {
            Executor::ExternallyControlled { vus, .. } => Some(scaled.take().unwrap_or(vus)),
            _ => None,
        });
        wanted.sum()
    }

    /// VUs and their limit in the scenario that can be scaled, and the limit that the script sets.
    fn scalable(&self) -> Option<((u64, u64), u64)> {
        let steering = self.now().steering;
        self.scenarios.iter().find_map(|scenario| match scenario.executor {
            Executor::ExternallyControlled { vus, max_vus, .. } => {
                let now = (steering.vus.unwrap_or(vus), steering.vus_max.unwrap_or(max_vus));
                Some((now, max_vus))
            }
            _ => None,
        })
    }

    /// Has the leader do something, and waits until it has.
    async fn order(&self, event: LeaderEvent) -> Result<(), String> {
        let (done, heard) = oneshot::channel();
        self.inputs.send(Input::Order(event, done)).await.map_err(|_| OVER)?;
        heard.await.map_err(|_| OVER.to_owned())
    }

    async fn paused(&self, is_paused: bool) -> Result<(), String> {
        let _one = self.changing.lock().await;
        let state = self.state();
        match state.phase {
            Phase::Ended | Phase::Teardown => return Err(OVER.to_owned()),
            Phase::Setup | Phase::Running => {
                may_pause(self.scenarios.iter(), state.is_paused, is_paused)?;
            }
            _ if is_paused && state.is_paused => {
                return Err("execution is already paused".to_owned());
            }
            _ => {}
        }
        self.order(steered(Wish { paused: Some(is_paused), ..Wish::default() })).await?;
        self.heard()
    }

    async fn scaled(&self, vus: Option<i64>, max: Option<i64>) -> Result<(), ScaleError> {
        let _one = self.changing.lock().await;
        let (now, least) = self.scalable().ok_or(ScaleError::NoScenario)?;
        if self.state().phase >= Phase::Teardown {
            return Err(ScaleError::Refused(OVER.to_owned()));
        }
        let (vus, max) = weigh((vus, max), now, least).map_err(ScaleError::Refused)?;
        let wish = Wish { vus: Some(vus), vus_max: Some(max), ..Wish::default() };
        self.order(steered(wish)).await.and_then(|()| self.heard()).map_err(ScaleError::Refused)
    }
}

/// How far the test is, in the engine's words.
fn phase(view: &View) -> Phase {
    match view.step {
        None | Some(Step::Gather) => Phase::Created,
        Some(Step::Load) if view.is_held() => Phase::Paused,
        Some(Step::Load) => Phase::InitVus,
        Some(Step::Setup) => Phase::Setup,
        Some(Step::Stopping) if view.run_ns.is_none() => Phase::InitVus,
        Some(Step::Start | Step::Run | Step::Stopping) => Phase::Running,
        Some(Step::Teardown | Step::Close) => Phase::Teardown,
        Some(Step::Done) => Phase::Ended,
    }
}

fn is_there(touch: Touch) -> bool {
    matches!(touch, Touch::Alive | Touch::Suspect)
}

fn steered(wish: Wish) -> LeaderEvent {
    LeaderEvent::Steer(wish)
}

fn stopped() -> LeaderEvent {
    LeaderEvent::Abort(Fault::new(Exit::StoppedByApi.code(), AbortReason::Api.to_string()))
}

impl Subject for Led {
    fn state(&self) -> State {
        self.now().state
    }

    fn setup_data(&self) -> Result<Option<Arc<str>>, String> {
        self.now().setup.clone()
    }

    fn begin(&self, is_stopped: bool, is_paused: Option<bool>) {
        let wish = Wish { paused: is_paused, ..Wish::default() };
        let orders = [is_stopped.then(stopped), is_paused.map(|_| steered(wish))];
        for order in orders.into_iter().flatten() {
            // The queue is empty: the run is not executed yet.
            drop(self.inputs.try_send(Input::Order(order, oneshot::channel().0)));
        }
        self.expects(wish);
    }

    fn stop(&self) -> Asked<'_, ()> {
        Box::pin(async {
            let _one = self.changing.lock().await;
            if self.state().phase < Phase::Ended {
                // Else it is over, as was wanted.
                drop(self.order(stopped()).await);
                self.now().state.is_aborting = true;
            }
        })
    }

    fn pause(&self, is_paused: bool) -> Asked<'_, Result<(), String>> {
        Box::pin(self.paused(is_paused))
    }

    fn scale(&self, vus: Option<i64>, max: Option<i64>) -> Asked<'_, Result<(), ScaleError>> {
        Box::pin(self.scaled(vus, max))
    }

    fn run_setup(&self) -> Asked<'_, Result<Option<Arc<str>>, String>> {
        Box::pin(async { Err(NO_SETUP.to_owned()) })
    }

    fn set_setup_data(&self, _: Option<Arc<str>>) -> Asked<'_, Result<(), String>> {
        Box::pin(async { Err(NO_DATA.to_owned()) })
    }

    fn run_teardown(&self) -> Asked<'_, Result<(), String>> {
        Box::pin(async { Err(NO_TEARDOWN.to_owned()) })
    }

    fn summary(&self) -> Asked<'_, Option<Summary>> {
        Box::pin(async {
            let (answer, heard) = oneshot::channel();
            self.inputs.send(Input::Summary(answer)).await.ok()?;
            heard.await.ok()
        })
    }
}

#[cfg(test)]
mod tests;
