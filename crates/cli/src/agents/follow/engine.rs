//! The run of an agent, watched by the thread of the broker.

use std::time::{Duration, Instant};

use brunt_cluster::{AgentEvent, Fault, Loaded, ScenarioLoad, Vitals};
use brunt_engine::{AbortReason, Live, Phase, Relayed};

use super::judged::Judged;
use crate::cpu::cpu_seconds;
use crate::exit::Exit;

/// From one look at the CPU time to the next.
const CPU_EVERY: Duration = Duration::from_secs(1);

/// Scenarios whose load is told each second.
const SCENARIOS_MAX: usize = 100;

/// A run, and what has been told of it.
pub(super) struct Engine {
    pub(super) live: Live,
    relayed: Relayed,
    loaded: Option<Loaded>,
    is_started: bool,
    is_settling: bool,
    is_faulty: bool,
    is_marked: bool,
    judged: Judged,
    meter: CpuMeter,
    /// The share of the last second.
    cpu: f64,
}

/// Something that the thread is to do about the run.
pub(super) enum Look {
    /// Tell the machine.
    Tell(AgentEvent),
    /// The scenarios are over: wait for their last frames, then tell so.
    Settle,
}

impl Engine {
    pub(super) fn new(live: Live, (relayed, judged): (Relayed, Judged), loaded: Loaded) -> Self {
        Self {
            live,
            relayed,
            loaded: Some(loaded),
            is_started: false,
            is_settling: false,
            is_faulty: false,
            is_marked: false,
            judged,
            meter: CpuMeter::new(),
            cpu: 0.0,
        }
    }

    /// Whether the VUs were never all made.
    pub(super) fn is_loading(&self) -> bool {
        self.loaded.is_some()
    }

    /// The frames since the last call.
    pub(super) fn frames(&mut self, out: &mut Vec<Look>) {
        let (frames, _) = self.relayed.take();
        for frame in frames.into_iter().filter(|frame| !frame.is_empty()) {
            self.judged.take(&frame);
            out.push(Look::Tell(AgentEvent::Frame(frame)));
        }
    }

    /// The news since the last call, its frames first.
    pub(super) fn look(&mut self, out: &mut Vec<Look>) {
        let control = self.live.control();
        // The frames of before the phase are told before the phase.
        let phase = control.phase();
        if phase >= Phase::Paused
            && let Some(loaded) = self.loaded.take()
        {
            out.push(Look::Tell(AgentEvent::Loaded(Ok(loaded))));
            // A short test is over before the first second is.
            out.push(Look::Tell(AgentEvent::Vitals(self.vitals(0.0))));
        }
        // Else they wait.
        if !self.is_loading() {
            self.frames(out);
        }
        let control = self.live.control();
        if let Some(late) = control.start_late().filter(|_| !self.is_started) {
            self.is_started = true;
            let late_ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
            out.push(Look::Tell(AgentEvent::Started { late_ns }));
        }
        if let Some(fault) = control.abort_reason().and_then(fault).filter(|_| !self.is_faulty) {
            self.is_faulty = true;
            out.push(Look::Tell(AgentEvent::Fault(fault)));
        }
        if control.is_marked_failed() && !self.is_marked {
            self.is_marked = true;
            let fault = Fault::new(Exit::MarkedAsFailed.code(), "test run was marked as failed");
            out.push(Look::Tell(AgentEvent::Fault(fault)));
        }
        if phase == Phase::Teardown && !self.is_settling {
            self.is_settling = true;
            out.push(Look::Settle);
        }
        if let Some(cpu) = self.meter.share(CPU_EVERY) {
            self.cpu = cpu;
        }
        if !self.is_loading() {
            // A beat is to tell the present.
            out.push(Look::Tell(AgentEvent::Vitals(self.vitals(self.cpu))));
        }
    }

    fn vitals(&self, cpu: f64) -> Vitals {
        let control = self.live.control();
        Vitals {
            vus: control.vus_active(),
            vus_max: control.vus_initialized(),
            iterations: control.iterations_complete(),
            cpu,
            lateness_p99_ms: self.judged.lateness_p99(),
            load: self.load(),
        }
    }

    fn load(&self) -> Vec<ScenarioLoad> {
        if self.live.control().started_at().is_none() {
            return Vec::new();
        }
        let all = self.live.scenarios().iter().take(SCENARIOS_MAX);
        all.map(|state| {
            let active = state.vus_active();
            ScenarioLoad {
                vus: state.vus_allocated().max(active),
                active,
                begun: state.begun(),
                complete: state.complete(),
                is_over: state.is_done(),
            }
        })
        .collect()
    }

    /// The scenarios are over: whether their numbers can be trusted, and a last telling of vitals.
    pub(super) fn end(&self) -> [AgentEvent; 2] {
        let verdict = self.judged.verdict(&self.live);
        [AgentEvent::Verdict(verdict), AgentEvent::Vitals(self.vitals(0.0))]
    }

    /// Ends the run, whatever it does.
    pub(super) fn let_go(&self) {
        let control = self.live.control();
        if control.phase() < Phase::Teardown {
            control.abort(AbortReason::Leader { reason: "it is over".to_owned() });
        }
        control.release();
    }
}

/// The fault that an abort is to the leader; none if the leader ordered it.
fn fault(reason: &AbortReason) -> Option<Fault> {
    let exit = match reason {
        AbortReason::Test { .. } => Exit::ScriptAborted,
        AbortReason::Panic { .. } => Exit::Panic,
        AbortReason::System { .. } => Exit::Other,
        _ => return None,
    };
    Some(Fault::new(exit.code(), reason.to_string()))
}

/// The share of the machine's cores that the process uses.
struct CpuMeter {
    at: Instant,
    /// CPU seconds of the process at that moment; 0 where the system does not tell.
    used: f64,
    cores: f64,
}

impl CpuMeter {
    fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { at: Instant::now(), used: cpu_seconds().unwrap_or(0.0), cores: cores as f64 }
    }

    /// The share since the last one, if that is at least so long ago.
    fn share(&mut self, gap: Duration) -> Option<f64> {
        let passed = self.at.elapsed();
        if passed < gap {
            return None;
        }
        let before = std::mem::replace(&mut self.used, cpu_seconds().unwrap_or(0.0));
        self.at = Instant::now();
        Some(((self.used - before) / passed.as_secs_f64() / self.cores).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leader_hears_of_aborts_that_it_did_not_order() {
        let of = |reason: AbortReason| fault(&reason).map(|fault| fault.code);
        assert_eq!(of(AbortReason::Test { message: "x".into() }), Some(108));
        assert_eq!(of(AbortReason::Panic { message: "x".into() }), Some(109));
        assert_eq!(of(AbortReason::Leader { reason: "x".into() }), None);
        assert_eq!(of(AbortReason::Init), None);
    }
}
