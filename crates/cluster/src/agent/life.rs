//! The life of an agent in its seat: load, setup, run, teardown, close.

use super::{Agent, AgentAction, AgentEvent};
use crate::code;
use crate::keys::Key;
use crate::phase::{Holder, Step};
use crate::seat::{Fault, State};
use crate::setup::{INLINE_MAX, SetupData};
use crate::steering::Steering;
use crate::time::{MILLI, Nanos, SECOND};
use crate::uplink::Uplink;

/// An object that could not be put or got is asked for again after this time.
const PATIENCE: u64 = 2 * SECOND;
/// An agent that was told to go waits for so long for the leader to have all its frames.
const LEAVING: u64 = 40 * SECOND;

/// The things that were begun, and those that are done: each at most once.
#[derive(Debug, Default)]
pub(super) struct Progress {
    load_begun: bool,
    is_loaded: bool,
    setup_begun: bool,
    setup_done: bool,
    /// The data of `setup()`, too large for a key, on the way to the object store or from it.
    object: Object,
    setup_data: Option<String>,
    /// How the run is steered, as the engine was told last.
    steering: Steering,
    began: bool,
    stop_begun: bool,
    ended: Option<Nanos>,
    teardown_begun: bool,
    teardown_done: bool,
    /// The machine told it to go, at this moment.
    leaving: Option<Nanos>,
    closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Object {
    #[default]
    None,
    /// To be asked for, from this moment on.
    Due(Nanos),
    Asked,
    Done,
}

impl Progress {
    /// Whether nothing was begun.
    pub(super) fn is_fresh(&self) -> bool {
        !self.load_begun
    }

    /// Whether scenarios run.
    pub(super) fn runs(&self) -> bool {
        self.began && self.ended.is_none()
    }

    /// Whether there are VUs, and scenarios that are not over.
    fn may_be_steered(&self) -> bool {
        self.is_loaded && self.ended.is_none() && !self.stop_begun
    }

    /// Whether `setup()` runs here.
    fn sets_up(&self) -> bool {
        self.setup_begun && !self.setup_done
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether the machine told it to go.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    pub(super) fn wake_at(&self) -> Option<Nanos> {
        match self.object {
            Object::Due(at) => Some(at),
            _ => None,
        }
    }
}

impl Agent {
    /// Something that was begun is done.
    pub(super) fn happened(&mut self, now: Nanos, event: AgentEvent) {
        self.progress.setup_done |= matches!(event, AgentEvent::SetupDone(_));
        match event {
            AgentEvent::Loaded(Ok(loaded)) => {
                self.progress.is_loaded = true;
                self.state.digest = Some(loaded.digest);
                let Some((plan, seat)) = self.plan.as_ref().zip(self.seating.own) else { return };
                let own = (seat, self.config.incarnation);
                let uplink = Uplink::new(loaded.registry, plan.nonce, own, plan.frame_ms);
                self.uplink.get_or_insert(uplink);
            }
            AgentEvent::Loaded(Err(fault)) => self.fault(fault),
            AgentEvent::SetupDone(Ok(data)) => {
                if data.as_ref().is_some_and(|data| data.len() > INLINE_MAX) {
                    self.progress.object = Object::Due(now);
                } else {
                    self.put_setup(data.clone(), None, None);
                }
                self.progress.setup_data = data;
            }
            AgentEvent::SetupDone(Err(fault)) => self.put_setup(None, None, Some(fault)),
            AgentEvent::SetupPut(Ok(())) => {
                self.progress.object = Object::Done;
                let size = self.progress.setup_data.as_ref().map_or(0, String::len) as u64;
                self.put_setup(None, Some(size), None);
            }
            AgentEvent::SetupGot(Ok(data)) => {
                self.progress.object = Object::Done;
                self.progress.setup_data = Some(data);
            }
            AgentEvent::SetupPut(Err(note)) | AgentEvent::SetupGot(Err(note)) => {
                self.progress.object = Object::Due(now + PATIENCE);
                self.note(&note);
            }
            AgentEvent::Started { late_ns } => self.state.late_ns = Some(late_ns),
            AgentEvent::Ended => {
                self.state.lapsed |= self.progress.runs() && self.has_lapsed(now);
                self.progress.ended.get_or_insert(now);
                // The last counts are told at once: the leader concludes soon.
                self.beat_at = now;
            }
            AgentEvent::TeardownDone(end) => {
                self.progress.teardown_done = true;
                self.state.teardown = Some(end);
            }
            _ => {}
        }
    }

    fn put_setup(&mut self, data: Option<String>, object: Option<u64>, error: Option<Fault>) {
        let nonce = self.state.nonce;
        let raw = data.map(serde_json::value::RawValue::from_string).transpose();
        let data = if let Ok(data) = raw {
            SetupData { nonce, data, object, error }
        } else {
            let text = "setup() returned data that cannot be sent: they are no JSON";
            let error = Some(Fault::new(code::SCRIPT, text));
            SetupData { nonce, data: None, object: None, error }
        };
        let json = serde_json::to_vec(&data).expect("it is plain data");
        self.desk.put(Key::Setup, Some(json));
        self.setup = Some(data);
    }

    /// This process is told to go.
    pub(super) fn signal(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        if self.seating.own.is_none() {
            self.over(code::SIGNAL, Some("interrupted".to_owned()), out);
            return;
        }
        if self.progress.leaving.is_some() {
            return;
        }
        self.progress.leaving = Some(now);
        self.fault(Fault::new(
            code::SIGNAL,
            "the machine told the agent to stop (SIGTERM or SIGINT)",
        ));
        if self.progress.runs() {
            self.state.left_ns = Some(self.run_ns(now));
            self.state.state = State::Leaving;
            self.stop("the machine told the agent to stop", out);
        } else if !self.progress.began {
            if self.progress.sets_up() {
                // Its measurements until then are told, too.
                self.stop("the machine told the agent to stop", out);
            }
            self.state.state = self.state.state.max(State::Leaving);
        }
    }

    fn stop(&mut self, reason: &str, out: &mut Vec<AgentAction>) {
        if !std::mem::replace(&mut self.progress.stop_begun, true) {
            out.push(AgentAction::Stop { reason: reason.to_owned() });
        }
    }

    /// Does what the phase and the own state ask for.
    pub(super) fn live(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let Some((plan, seat)) = self.plan.clone().zip(self.seating.own) else { return };
        let Some(phase) = self.phase.clone() else { return };
        if self.is_over {
            return;
        }
        let step = phase.phase;
        let own = Some(Holder { seat, incarnation: self.config.incarnation });
        let is_marked = |fault: &Fault| fault.code == code::MARKED;
        let is_given_away = self.is_given_away();
        let is_here = self.progress.leaving.is_none()
            && !is_given_away
            && self.state.reason.as_ref().is_none_or(is_marked);

        if is_here && (Step::Load..Step::Stopping).contains(&step) && !self.progress.load_begun {
            self.progress.load_begun = true;
            self.state.state = State::Loading;
            self.clock.start(now);
            let substitute = self.config.substitute.clone();
            out.push(AgentAction::Load { plan: plan.clone(), seat, substitute });
        }
        if self.state.state == State::Loading && self.progress.is_loaded && self.clock.is_ready() {
            self.state.state = State::Ready;
        }
        if is_here && self.state.state == State::Ready {
            if step == Step::Setup && phase.setup == own && !self.progress.setup_begun {
                self.progress.setup_begun = true;
                out.push(AgentAction::Setup);
            }
            self.arm(now, out);
        }
        self.move_object(now, out);
        if is_here && self.progress.may_be_steered() && self.progress.steering != phase.steering {
            self.progress.steering = phase.steering;
            out.push(AgentAction::Steer(phase.steering));
        }

        let is_armed =
            self.state.state == State::Armed || self.state.state == State::Ready && !plan.has_setup;
        if is_here
            && is_armed
            && !self.progress.began
            && (Step::Start..=Step::Run).contains(&step)
            && let Some(start_ns) = phase.start_ns
        {
            self.progress.began = true;
            self.state.state = State::Running;
            let at = self.start_at(start_ns);
            let offset = self.clock.offset().saturating_neg();
            let from = self.config.substitute.as_ref();
            let from = from.map(|takeover| crate::clock::shifted(takeover.from_ns, offset));
            self.begin_lease(now, out);
            out.push(AgentAction::Start { at, from });
        }
        if is_given_away && self.progress.runs() {
            self.stop("another agent makes this one's load", out);
        }
        if step >= Step::Stopping && self.progress.runs() {
            let reason = phase.reason.as_ref().map_or("the leader stops the test", |r| &r.message);
            self.stop(reason, out);
        }
        let is_idle = self.progress.ended.is_some() || !self.progress.began;
        let is_ending = self.progress.ended.is_some() || step >= Step::Stopping || is_given_away;
        if is_idle && is_ending {
            self.state.state = self.state.state.max(State::Finished);
        }
        let is_asked = step == Step::Teardown && phase.teardown == own;
        if is_asked && is_idle && self.progress.leaving.is_none() && !self.progress.teardown_begun {
            self.progress.teardown_begun = true;
            out.push(AgentAction::Teardown);
        }
        self.close(step, is_idle);
        self.leave(now, step, is_idle, out);
    }

    /// Takes the data of `setup()`, once they are there.
    fn arm(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let Some(setup) = &self.setup else { return };
        if setup.error.is_some() {
            return;
        }
        if self.progress.setup_begun {
            if self.desk.is_done(Key::Setup) {
                self.state.state = State::Armed;
            }
            return;
        }
        let data = match (&setup.data, setup.object) {
            (Some(data), _) => Some(data.get().to_owned()),
            (None, None) => None,
            (None, Some(_)) => match (self.progress.object, &self.progress.setup_data) {
                (Object::Done, Some(data)) => Some(data.clone()),
                (Object::None, _) => {
                    self.progress.object = Object::Due(now);
                    return;
                }
                _ => return,
            },
        };
        out.push(AgentAction::TakeSetup(data));
        self.state.state = State::Armed;
    }

    /// Brings the data of `setup()` to the object store, or gets them from there.
    fn move_object(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let Object::Due(at) = self.progress.object else { return };
        if at > now {
            return;
        }
        self.progress.object = Object::Asked;
        out.push(match &self.progress.setup_data {
            Some(data) if self.progress.setup_begun => AgentAction::PutSetup(data.clone()),
            _ => AgentAction::GetSetup,
        });
    }

    /// Numbers the last frame, when no more can come.
    fn close(&mut self, step: Step, is_idle: bool) {
        let is_busy =
            self.progress.teardown_begun && !self.progress.teardown_done || self.progress.sets_up();
        let is_asked = step >= Step::Close || self.progress.leaving.is_some();
        if !is_idle || is_busy || !is_asked || self.progress.closed {
            return;
        }
        let delivery = if let Some(uplink) = &mut self.uplink {
            uplink.finish();
            self.state.totals = Some(uplink.totals());
            uplink.is_numbered().then(|| uplink.delivery())
        } else {
            self.state.totals = Some(crate::totals::Totals::default());
            Some(crate::seat::Delivery::default())
        };
        if let Some(delivery) = delivery {
            self.progress.closed = true;
            self.state.delivery = delivery;
            self.state.state = State::Closed;
        } else {
            self.state.totals = None;
        }
    }

    /// Goes, when all is told.
    fn leave(&mut self, now: Nanos, step: Step, is_idle: bool, out: &mut Vec<AgentAction>) {
        if step == Step::Done && is_idle {
            let fault = self.state.reason.clone().filter(|_| !self.progress.began);
            let code = fault.as_ref().map_or(0, |fault| fault.code);
            self.over(code, fault.map(|fault| fault.message), out);
            return;
        }
        let Some(since) = self.progress.leaving else { return };
        let is_told = self.told.as_ref().is_some_and(|told| told.state == State::Closed)
            && self.desk.is_all_done();
        let is_seen = self.uplink.as_ref().is_none_or(Uplink::is_seen);
        if self.progress.closed && is_told && is_seen {
            self.over(code::SIGNAL, Some("the machine told the agent to stop".to_owned()), out);
        } else if is_idle && now >= self.progress.ended.unwrap_or(since) + LEAVING {
            let waiting = self.uplink.as_ref().map_or(0, Uplink::waiting);
            let text = format!(
                "the agent was told to stop, and {waiting} of its frames did not reach the leader"
            );
            self.over(code::INCOMPLETE, Some(text), out);
        }
    }

    /// When this agent ends by itself.
    pub(super) fn deadline(&self) -> Nanos {
        let Some(plan) = &self.plan else { return self.born + self.config.wait };
        if self.progress.runs() {
            return Nanos::MAX;
        }
        let heard = self.leader_heard.max(self.progress.ended.unwrap_or(0));
        let gone = heard + plan.limits.leader_timeout_ms * MILLI;
        let left =
            self.progress.leaving.map(|since| self.progress.ended.unwrap_or(since) + LEAVING);
        left.map_or(gone, |left| left.min(gone))
    }

    /// Ends if there is no run, or no leader.
    pub(super) fn look_at_deadline(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        if now < self.deadline() || self.is_over {
            return;
        }
        let duration = |ms: u64| brunt_duration::format((ms * MILLI) as i64);
        let Some(plan) = &self.plan else {
            let wait = duration(self.config.wait / MILLI);
            let text = if self.is_connected {
                format!(
                    "there is no run {:?} after {wait}: start its leader (brunt run --agents)",
                    self.config.run
                )
            } else {
                format!("the broker could not be reached for {wait}: check --nats")
            };
            self.over(code::NOT_STARTED, Some(text), out);
            return;
        };
        let silence = duration(plan.limits.leader_timeout_ms);
        let text = format!("nothing was heard of the leader for {silence}");
        if self.progress.began {
            self.end(code::INCOMPLETE, Some(text), true, out);
        } else {
            self.over(code::NOT_STARTED, Some(text), out);
        }
    }
}
