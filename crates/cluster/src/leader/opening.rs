//! How a process becomes the leader of a run, and takes up one that was begun.

use super::{Cell, Leader, LeaderAction, SUPERSEDED, Stored, json};
use crate::checkpoint::Checkpoint;
use crate::code;
use crate::keys::Key;
use crate::level::Level;
use crate::messages::LeaderSign;
use crate::phase::{Phase, Step};
use crate::plan::Plan;
use crate::report::Report;
use crate::seat::Fault;
use crate::setup::SetupData;
use crate::time::{MILLI, Nanos, SECOND};

/// A leader that does not renew its sign for so long is gone.
const SILENCE: u64 = 10 * SECOND;
/// After the verdict, the last phase gets this time to be written.
pub(super) const FAREWELL: u64 = 10 * SECOND;

/// How far the process is.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// It does not know what the store has.
    #[default]
    Opening,
    /// There was a leader: is it alive?
    Watching { until: Nanos, sign: LeaderSign, is_alive: bool, stored: Stored },
    /// Its sign is being written.
    Taking(Stored),
    /// It leads.
    Leading,
    /// All is gathered; that the summary is being told is written, so that a successor knows.
    Marking { until: Nanos, report: Box<Report> },
    /// The summary is being made.
    Concluding,
    /// The last phase is being written; then it is over.
    Ending { until: Nanos, code: Option<u8>, message: Option<String> },
    /// It is over.
    Over,
}

impl Stage {
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    pub(super) fn has_opened(&self) -> bool {
        !matches!(self, Self::Opening)
    }

    /// Whether this process is the leader.
    pub(super) fn leads(&self) -> bool {
        matches!(
            self,
            Self::Leading | Self::Marking { .. } | Self::Concluding | Self::Ending { .. }
        )
    }

    /// Whether measurements still count.
    pub(super) fn is_leading(&self) -> bool {
        matches!(self, Self::Leading)
    }

    /// A key as the watch tells it before this process leads.
    pub(super) fn changed(&mut self, key: Key, value: Option<Vec<u8>>, revision: u64) {
        let (Self::Watching { stored, .. } | Self::Taking(stored)) = self else { return };
        stored.keys.retain(|(known, _, at)| *known != key || *at > revision);
        if let Some(value) = &value
            && !stored.keys.iter().any(|(known, ..)| *known == key)
        {
            stored.keys.push((key, value.clone(), revision));
        }
        let renewed = value.and_then(|value| serde_json::from_slice::<LeaderSign>(&value).ok());
        if let (Self::Watching { sign, is_alive, .. }, Key::Leader, Some(renewed)) =
            (self, key, renewed)
            && renewed != *sign
        {
            (*is_alive, *sign) = (true, renewed);
        }
    }
}

impl Leader {
    pub(super) fn opened(&mut self, now: Nanos, stored: Stored) {
        if self.stage.has_opened() {
            return;
        }
        self.tick_at = now;
        let sign = stored.keys.iter().find(|(key, ..)| *key == Key::Leader);
        let sign = sign.and_then(|(_, value, _)| serde_json::from_slice::<LeaderSign>(value).ok());
        let is_over = stored.keys.iter().any(|(key, value, _)| {
            let phase = || serde_json::from_slice::<Phase>(value).ok();
            *key == Key::Phase && phase().is_some_and(|phase| phase.phase == Step::Done)
        });
        self.stage = match sign {
            Some(sign) if sign.incarnation != self.config.incarnation && !is_over => {
                Stage::Watching { until: now + SILENCE, sign, is_alive: false, stored }
            }
            _ => self.taking(now, stored),
        };
    }

    /// Writes the sign over the one that was found.
    fn taking(&mut self, now: Nanos, stored: Stored) -> Stage {
        let known = stored.keys.iter().find(|(key, ..)| *key == Key::Leader);
        self.desk.know(Key::Leader, known.map(|(.., revision)| *revision));
        self.sign(now);
        Stage::Taking(stored)
    }

    /// Goes from watching to taking, when the time is up; ends if the other leader is alive.
    pub(super) fn open(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let limit = self.config.plan.limits.leader_timeout_ms.saturating_mul(MILLI);
        if !self.stage.leads() && !self.stage.is_over() && now.saturating_sub(self.born) >= limit {
            let wait = brunt_duration::format(limit.min(i64::MAX as u64) as i64);
            self.refuse(format!("the broker did not answer for {wait}: check --nats"), out);
            return;
        }
        let Stage::Watching { until, sign, is_alive, .. } = &self.stage else { return };
        if *is_alive {
            let text =
                format!("another leader ({}) leads this run: choose another --run-id", sign.id);
            self.refuse(text, out);
        } else if now >= *until
            && let Stage::Watching { stored, .. } = std::mem::take(&mut self.stage)
        {
            self.stage = self.taking(now, stored);
        }
    }

    pub(super) fn superseded(
        &mut self,
        now: Nanos,
        value: &[u8],
        revision: u64,
        out: &mut Vec<LeaderAction>,
    ) {
        let Ok(sign) = serde_json::from_slice::<LeaderSign>(value) else {
            self.desk.know(Key::Leader, Some(revision));
            return;
        };
        if let Stage::Taking(stored) = std::mem::take(&mut self.stage) {
            self.desk.forget(Key::Leader);
            self.stage = Stage::Watching { until: now + SILENCE, sign, is_alive: false, stored };
            self.stage.changed(Key::Leader, Some(value.to_vec()), revision);
            return;
        }
        let text = format!("another leader ({}) has taken this run over", sign.id);
        self.stage = Stage::Over;
        self.has_led = false;
        out.push(LeaderAction::Finish { code: Some(SUPERSEDED), message: Some(text) });
    }

    /// The store has this process as its leader.
    pub(super) fn sign_is_written(&mut self, now: Nanos, key: Key, out: &mut Vec<LeaderAction>) {
        if key != Key::Leader || !matches!(self.stage, Stage::Taking(_)) {
            return;
        }
        let Stage::Taking(stored) = std::mem::take(&mut self.stage) else { return };
        match self.take_up(now, &stored, out) {
            Ok(()) => {
                self.stage = Stage::Leading;
                self.has_led = true;
                out.push(LeaderAction::Consume);
            }
            Err(Refusal::Other(text)) => self.refuse(text, out),
            Err(Refusal::Over(end)) => self.was_over(end, out),
        }
    }

    /// Ends without having led.
    fn refuse(&mut self, text: String, out: &mut Vec<LeaderAction>) {
        self.stage = Stage::Over;
        out.push(LeaderAction::Finish { code: Some(code::NOT_STARTED), message: Some(text) });
    }

    /// The run is over, and its leader was killed before it had tidied up: tells how it ended.
    fn was_over(&mut self, end: Fault, out: &mut Vec<LeaderAction>) {
        self.stage = Stage::Over;
        self.has_led = true;
        let told = "the run is over; the leader before this one has told its summary";
        let Fault { code, message } = end;
        if code == 0 {
            out.push(LeaderAction::Tell(Level::Info, format!("{told}, and it ended well")));
            out.push(LeaderAction::Finish { code: None, message: None });
        } else {
            let message = Some(format!("{told}: {message}"));
            out.push(LeaderAction::Finish { code: Some(code), message });
        }
    }

    /// Goes on where the store says the run is.
    fn take_up(
        &mut self,
        now: Nanos,
        stored: &Stored,
        out: &mut Vec<LeaderAction>,
    ) -> Result<(), Refusal> {
        let find = |wanted: Key| stored.keys.iter().find(|(key, ..)| *key == wanted);
        if let Some((_, value, revision)) = find(Key::Plan) {
            let plan = Plan::read(value).map_err(|error| Refusal::Other(error.to_string()))?;
            let own = &self.config.plan;
            if (&plan.archive.sha256, plan.seats) != (&own.archive.sha256, own.seats) {
                let text = "this run id belongs to a test with another script or number of agents: choose another --run-id";
                return Err(Refusal::Other(text.into()));
            }
            self.desk.know(Key::Plan, Some(*revision));
            self.cells = Cell::all(&plan);
            self.plan = plan;
        }
        self.phase.nonce = self.plan.nonce;
        let mut is_resumed = false;
        if let Some((_, value, revision)) = find(Key::Phase) {
            self.desk.know(Key::Phase, Some(*revision));
            let phase = serde_json::from_slice::<Phase>(value);
            if let Ok(phase) = phase.map_err(drop)
                && phase.nonce == self.plan.nonce
            {
                if phase.phase == Step::Done {
                    let end = phase.ended.filter(|_| !stored.is_swept);
                    let text = "this run is over: choose another --run-id";
                    return Err(end.map_or(Refusal::Other(text.into()), Refusal::Over));
                }
                is_resumed = true;
                self.adopt(now, phase);
            }
        }
        self.phase_at = now;
        self.desk.put(Key::Plan, Some(json(&self.plan)));
        self.desk.put(Key::Phase, Some(json(&self.phase)));
        for (key, value, revision) in &stored.keys {
            if let Key::Seat(seat) = key {
                self.seat_changed(now, *seat, Some(value), *revision, out);
            }
        }
        self.restore(now, stored.checkpoint.as_deref(), out);
        for (key, value, revision) in &stored.keys {
            if matches!(key, Key::Agent(_) | Key::Setup) {
                self.changed(now, *key, Some(value), *revision, out);
            }
        }
        if is_resumed {
            let text = format!("the run goes on, in its phase {:?}", self.phase.phase);
            out.push(LeaderAction::Tell(Level::Info, text));
        }
        if let Some(at) = self.start {
            out.push(LeaderAction::Started { at });
        }
        Ok(())
    }

    fn restore(&mut self, now: Nanos, bytes: Option<&[u8]>, out: &mut Vec<LeaderAction>) {
        let Some(bytes) = bytes else { return };
        match Checkpoint::read(bytes, self.frames.decoder()) {
            Ok(checkpoint) if checkpoint.head.nonce == self.plan.nonce => {
                self.restored(now, checkpoint, out);
            }
            Ok(_) => {}
            Err(error) => {
                let text = format!(
                    "the checkpoint of the run cannot be read ({error}): results may be missing"
                );
                out.push(LeaderAction::Tell(Level::Warn, text));
            }
        }
    }

    /// The summary is told: writes the last phase.
    /// `crossed`: the fault of crossed thresholds, if some are crossed.
    pub(super) fn concluded(&mut self, now: Nanos, crossed: Option<Fault>) {
        if !matches!(self.stage, Stage::Concluding) {
            return;
        }
        let (code, message) = self.verdict();
        let told = code.map(|code| Fault::new(code, message.clone().unwrap_or_default()));
        let told = match (told, crossed) {
            // A threshold may have an exit code of its own.
            (Some(told), Some(crossed)) if told.code == code::THRESHOLDS => crossed,
            (told, crossed) => told.or(crossed).unwrap_or_else(|| Fault::new(0, "it ended well")),
        };
        self.phase.ended = Some(told);
        self.stage = Stage::Ending { until: now + FAREWELL, code, message };
        self.set_phase(now, Step::Done);
    }

    /// Ends, once the last phase is written.
    pub(super) fn farewell(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let Stage::Ending { until, code, message } = &self.stage else { return };
        if !self.desk.is_done(Key::Phase) && now < *until {
            return;
        }
        let (code, message) = (*code, message.clone());
        self.stage = Stage::Over;
        out.push(LeaderAction::Finish { code, message });
    }

    /// The data of `setup()`, if they are known to be there.
    pub(super) fn setup_fault(&self) -> Option<&crate::seat::Fault> {
        self.setup.as_ref().and_then(|setup: &SetupData| setup.error.as_ref())
    }
}

/// Why a run is not taken up.
enum Refusal {
    /// It is over, and how it ended is known.
    Over(Fault),
    /// It is another run, or nothing is known of its end.
    Other(String),
}
