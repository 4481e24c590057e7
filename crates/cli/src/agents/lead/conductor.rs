//! One test for a leader: its machine, and the tasks that carry actions out.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use brunt_cluster::{
    Beat, Leader, LeaderAction, LeaderConfig, LeaderEvent, Level, Policy, Stored, View, Wish,
};
use brunt_fiber::clock;
use brunt_nats::{FrameMessage, Run, Said};
use tokio::sync::mpsc;
use tokio::task::JoinHandle as Task;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::led::Led;
use super::thread::{Finish, Input, Told};
use crate::agents::{broker, link};
use crate::exit::Exit;

/// More data of `setup()` than this the leader does not read, in bytes.
const SETUP_MAX: u64 = 1 << 30;

/// From one picture of the test for the screen to the next.
const VIEW_EVERY: Duration = Duration::from_millis(200);

/// A stream of frames that brings none for so long is begun anew: each agent sends one each second.
const SILENT: Duration = Duration::from_secs(6);

/// Events that may wait for the machine; then the tasks that bring them wait.
const EVENTS_WAITING: usize = 4096;

/// Errors that are remembered, so that the end tells none of them again.
const ERRORS_KEPT: usize = 64;

enum Heard {
    Machine(LeaderEvent),
    Keys(link::KeyNews),
    Frame(FrameMessage),
    Link(bool),
    Clock(Said),
    Input(Input),
    Tick,
}

/// The archive of the test: the name of its file, and its bytes.
pub(super) type Archive = (String, Vec<u8>);

/// Leads the run to its end.
pub(super) async fn conduct(
    run: &Run,
    (config, archive, wishes): (LeaderConfig, Arc<Archive>, Wish),
    stored: Stored,
    (inputs, led): (&mut mpsc::Receiver<Input>, Arc<Led>),
    told: &SyncSender<Told>,
) -> Finish {
    let (events, mut heard) = mpsc::channel(EVENTS_WAITING);
    let tasks = vec![
        link::watch_link(run.clone(), true, events.clone(), Heard::Link),
        link::listen(run.clone(), "beat.*", events.clone(), |beat: Beat| {
            Heard::Machine(LeaderEvent::Beat(beat))
        }),
        clock_questions(run.clone(), events.clone()),
    ];
    let takes_over = config.plan.policy == Policy::TakeOver;
    let leader = Leader::new(config, clock::now_ns());
    let mut conductor = Conductor {
        leader,
        run: run.clone(),
        events,
        told: told.clone(),
        led,
        tasks,
        watch: None,
        frames: None,
        wants_frames: false,
        archive: Some(archive),
        takes_over,
        question: None,
        errors: Vec::new(),
        end: None,
    };
    conductor.handle(LeaderEvent::Steer(wishes));
    conductor.handle(LeaderEvent::Opened(stored));
    let mut ticks = interval(VIEW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        if let Some(end) = conductor.end.take() {
            return end;
        }
        let wait = conductor.leader.wake_at();
        let wait = wait.map(|at| Duration::from_nanos(at.saturating_sub(clock::now_ns())));
        let heard = tokio::select! {
            heard = heard.recv() => heard,
            input = inputs.recv() => input.map(Heard::Input),
            _ = ticks.tick() => Some(Heard::Tick),
            () = sleep(wait.unwrap_or(VIEW_EVERY)), if wait.is_some() => Some(Heard::Machine(LeaderEvent::Wake)),
        };
        let Some(heard) = heard else {
            // The main thread is gone.
            let code = Some(Exit::Panic.code());
            let has_led = conductor.leader.has_led();
            return Finish { code, message: None, is_told: false, has_led };
        };
        conductor.hear(heard);
    }
}

struct Conductor {
    leader: Leader,
    run: Run,
    events: mpsc::Sender<Heard>,
    told: SyncSender<Told>,
    led: Arc<Led>,
    tasks: Vec<Task<()>>,
    /// The watch of keys, begun anew with each connection.
    watch: Option<Task<()>>,
    /// So the stream of frames, once it is wanted.
    frames: Option<Task<()>>,
    wants_frames: bool,
    /// Its name and bytes, as long as agents may need it: a broker may come back without it.
    archive: Option<Arc<Archive>>,
    /// Loads may be taken over while the test runs: whoever does that needs the archive.
    takes_over: bool,
    /// The question about the time that is being answered.
    question: Option<Said>,
    /// The errors that were told: at most [`ERRORS_KEPT`].
    errors: Vec<String>,
    end: Option<Finish>,
}

impl Drop for Conductor {
    fn drop(&mut self) {
        for task in self.tasks.iter().chain(&self.watch).chain(&self.frames) {
            task.abort();
        }
    }
}

impl Conductor {
    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Machine(event) => self.handle(event),
            Heard::Keys(link::KeyNews::Current) => {}
            Heard::Keys(link::KeyNews::Changed { key, value, revision }) => {
                if let (brunt_cluster::Key::Setup, Some(value)) = (key, &value) {
                    self.note_setup(value);
                }
                self.handle(LeaderEvent::Changed { key, value, revision });
            }
            Heard::Frame(message) => {
                let payload: Arc<[u8]> = Arc::from(&message.bytes[..]);
                self.handle(LeaderEvent::Message { payload, stream_seq: message.at });
            }
            Heard::Link(false) => {
                self.led.link(false);
                self.handle(LeaderEvent::Disconnected);
            }
            Heard::Link(true) => {
                self.led.link(true);
                self.handle(LeaderEvent::Connected);
                if let Some(watch) = self.watch.take() {
                    watch.abort();
                }
                let (run, events) = (self.run.clone(), self.events.clone());
                self.watch = Some(link::watch_keys(run, events, Heard::Keys));
                self.keep_archive();
                self.consume();
            }
            Heard::Clock(said) => {
                if let Ok(ask) = serde_json::from_slice(&said.bytes) {
                    self.question = Some(said);
                    self.handle(LeaderEvent::AskClock(ask));
                    self.question = None;
                }
            }
            Heard::Input(Input::Abort(fault)) => self.handle(LeaderEvent::Abort(fault)),
            Heard::Input(Input::Concluded(crossed)) => {
                self.handle(LeaderEvent::Concluded(crossed));
            }
            Heard::Input(Input::Order(event, done)) => {
                self.handle(event);
                self.look();
                // The asking client may have gone.
                let _ = done.send(());
            }
            Heard::Input(Input::Summary(answer)) => self.tell(Told::Ask(answer)),
            Heard::Tick => {
                let view = self.look();
                // A login that may not write the leader's sign would try for ever.
                if view.step.is_none()
                    && let Some(failure) = broker::of_rights(self.run.broker())
                {
                    let (code, message) = (Some(failure.exit.code()), Some(failure.message()));
                    self.end = Some(Finish { code, message, is_told: false, has_led: false });
                }
                self.tell(Told::View(Box::new(view)));
            }
        }
    }

    /// How things are; the REST API knows it from now on.
    fn look(&self) -> View {
        let view = self.leader.view(clock::now_ns());
        self.led.see(&view);
        view
    }

    /// Puts the archive again, if agents may need it and the broker has lost it.
    fn keep_archive(&self) {
        let (run, Some(archive)) = (self.run.clone(), self.archive.clone()) else { return };
        drop(tokio::spawn(async move {
            let (name, bytes) = &*archive;
            if run.has_file(name).await == Some(false)
                && let Err(error) = run.put_file(name, bytes).await
            {
                log::debug!("{error}");
            }
        }));
    }

    /// Reads the stream of frames from its beginning, if it is wanted.
    fn consume(&mut self) {
        if let Some(frames) = self.frames.take() {
            frames.abort();
        }
        if self.wants_frames {
            self.frames = Some(frames(self.run.clone(), self.events.clone()));
        }
    }

    /// Small data of `setup()` are in the key, large ones in a file.
    fn note_setup(&self, value: &[u8]) {
        let Ok(setup) = serde_json::from_slice::<brunt_cluster::SetupData>(value) else { return };
        self.led.see_setup(&setup);
        if let Some(data) = setup.data {
            self.tell(Told::SetupData(Arc::from(data.get())));
        } else if setup.object.is_some() {
            let (run, told, led) = (self.run.clone(), self.told.clone(), Arc::clone(&self.led));
            drop(tokio::spawn(async move {
                let read = run.file_now("setup", SETUP_MAX).await;
                let read = read.map_err(|error| error.to_string());
                match read.and_then(|data| String::from_utf8(data).map_err(|e| e.to_string())) {
                    Ok(data) => {
                        let data: Arc<str> = Arc::from(data);
                        led.has_setup(Arc::clone(&data));
                        if told.try_send(Told::SetupData(data)).is_err() {
                            log::warn!(
                                "handleSummary() has no data of setup(): too much waits for the main thread"
                            );
                        }
                    }
                    Err(why) => log::warn!("handleSummary() has no data of setup(): {why}"),
                }
            }));
        }
    }

    /// Whether the log has this message: as one error, or as the last ones together.
    fn has_told(&self, message: &str) -> bool {
        let mut last = (0..self.errors.len()).map(|from| self.errors[from..].join("; "));
        self.errors.iter().any(|error| error == message) || last.any(|errors| errors == message)
    }

    fn tell(&self, told: Told) {
        // The main thread is gone: the loop notices.
        drop(self.told.send(told));
    }

    fn handle(&mut self, event: LeaderEvent) {
        let mut actions = Vec::new();
        self.leader.handle(clock::now_ns(), event, &mut actions);
        for action in actions {
            self.act(action);
        }
    }

    fn act(&mut self, action: LeaderAction) {
        let (run, events) = (self.run.clone(), self.events.clone());
        match action {
            LeaderAction::Write(write) => drop(tokio::spawn(async move {
                let event = match link::write(&run, write).await {
                    None => return,
                    Some(link::Written::Done(key, revision)) => {
                        LeaderEvent::Wrote { key, revision }
                    }
                    Some(link::Written::Conflict(key, current)) => {
                        LeaderEvent::Conflict { key, current }
                    }
                };
                drop(events.send(Heard::Machine(event)).await);
            })),
            LeaderAction::Consume => {
                self.wants_frames = true;
                self.consume();
            }
            LeaderAction::Merge(frame, run_ns) => {
                let moment = run_ns.map(Duration::from_nanos);
                self.tell(Told::Merge(Box::new(frame), moment));
            }
            LeaderAction::Whole(until) => self.tell(Told::Whole(Duration::from_nanos(until))),
            LeaderAction::Seen(seen) => {
                drop(tokio::spawn(async move { run.say("seen", link::json(&seen)).await }));
            }
            LeaderAction::ReplyClock(reply) => {
                if let Some(said) = self.question.take() {
                    let answer = link::json(&reply);
                    drop(tokio::spawn(async move { run.answer(&said, answer).await }));
                }
            }
            LeaderAction::PutCheckpoint(bytes) => drop(tokio::spawn(async move {
                let put = run.put_file("checkpoint", &bytes).await;
                let event = LeaderEvent::CheckpointPut(put.map_err(|error| error.to_string()));
                drop(events.send(Heard::Machine(event)).await);
            })),
            LeaderAction::Purge { stream_seq } => drop(tokio::spawn(async move {
                if let Err(error) = run.remove_frames(Some(stream_seq + 1)).await {
                    log::debug!("{error}");
                }
            })),
            LeaderAction::Started { at } => {
                if !self.takes_over {
                    self.archive = None;
                }
                self.tell(Told::Started(at));
            }
            LeaderAction::Conclude(outcome) => {
                self.tell(Told::View(Box::new(self.leader.view(clock::now_ns()))));
                self.tell(Told::Conclude(Box::new(outcome)));
            }
            LeaderAction::Tell(level, text) => {
                link::tell(level, &text);
                self.tell(Told::Note(text.clone()));
                if level == Level::Error && self.errors.len() < ERRORS_KEPT {
                    self.errors.push(text);
                }
            }
            LeaderAction::Finish { code, message } => {
                let is_told = message.as_ref().is_some_and(|it| self.has_told(it));
                let has_led = self.leader.has_led();
                self.end = Some(Finish { code, message, is_told, has_led });
            }
        }
    }
}

/// Reads the stream of frames from its beginning; doubles do no harm.
fn frames(run: Run, events: mpsc::Sender<Heard>) -> Task<()> {
    tokio::spawn(async move {
        let mut next = 0;
        loop {
            match run.frames_from(next).await {
                Err(error) => log::debug!("{error}"),
                Ok(mut frames) => {
                    while let Ok(Some(message)) = timeout(SILENT, frames.next()).await {
                        next = message.at + 1;
                        if events.send(Heard::Frame(message)).await.is_err() {
                            return;
                        }
                    }
                }
            }
            sleep(Duration::from_millis(500)).await;
        }
    })
}

/// Questions about the time, each with where its answer goes.
fn clock_questions(run: Run, events: mpsc::Sender<Heard>) -> Task<()> {
    tokio::spawn(async move {
        loop {
            match run.listen("clock").await {
                Err(error) => log::debug!("{error}"),
                Ok(mut talk) => {
                    while let Some(said) = talk.next().await {
                        if events.send(Heard::Clock(said)).await.is_err() {
                            return;
                        }
                    }
                }
            }
            sleep(Duration::from_millis(500)).await;
        }
    })
}
