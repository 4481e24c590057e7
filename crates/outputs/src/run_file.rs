//! `--out run[=FILE]`: the run file, which holds all of a run in slices of time.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use brunt_metrics::Frame;
use brunt_runfile::exchange::Evidence;
use brunt_runfile::{Event, Extras, Load, RunInfo, Writer};
use brunt_verdict::Signals;
use jiff::Timestamp;

use crate::output::{Context, Output, OutputError, Written};

/// The folder of files without a given name.
const FOLDER: &str = "brunt-results";

/// The content of a run file beside measurements.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// All that is known before the run.
    pub info: Arc<RunInfo>,
    /// How things stand while it goes on.
    pub watch: Arc<dyn RunWatch>,
    /// Where the file is left at the end.
    pub handle: RunFileHandle,
}

/// A run, as the run file wants to see it. Asked on the thread of the output, once for each slice.
pub trait RunWatch: Send + Sync + fmt::Debug {
    /// This moment, on the clock of the frames: nanoseconds since the Unix epoch.
    fn now(&self) -> u64;

    /// When the clock of the run started, if it has.
    fn started_at(&self) -> Option<u64>;

    /// The moment up to which slices may be written when a frame of the moment `at` has come, or nothing comes: an earlier one if
    /// frames of others are still on their way.
    fn settled(&self, at: u64) -> u64 {
        at
    }

    /// The state of each scenario.
    fn load(&self) -> Vec<Load>;

    /// All that happened since the last call.
    fn events(&self) -> Vec<Event>;

    /// The exchanges that were chosen since the last call.
    fn evidence(&self) -> Evidence;

    /// The signals of the generator since the last call; none if nothing looks at it.
    fn health(&self) -> Option<Signals> {
        None
    }
}

/// The file after all measurements are in: whoever runs the test says in it how the run ended.
#[derive(Clone, Default)]
pub struct RunFileHandle {
    writer: Arc<Mutex<Option<Writer>>>,
    path: Arc<OnceLock<PathBuf>>,
}

impl RunFileHandle {
    /// The file, if its output got to its end.
    pub fn take(&self) -> Option<Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Where it is, once its output is open.
    pub fn path(&self) -> Option<PathBuf> {
        self.path.get().cloned()
    }
}

impl fmt::Debug for RunFileHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("RunFileHandle")
    }
}

/// Writes slices as they are over.
pub(crate) struct RunFile {
    /// Until the end.
    writer: Option<Writer>,
    path: PathBuf,
    facts: RunFacts,
    is_started: bool,
    /// Nothing came since the last flush.
    is_quiet: bool,
}

impl RunFile {
    pub(crate) fn open(arg: &str, context: &Context) -> Result<Self, OutputError> {
        let wrong = |what: String| OutputError::Setting { output: "run", what };
        let facts = context.run.clone().ok_or_else(|| wrong("only a test has one".to_owned()))?;
        let now = facts.watch.now();
        let path = match arg {
            "" => free_name(&context.script, now, context),
            path => PathBuf::from(path),
        };
        let writer = Writer::create(&path, &facts.info, &context.registry, now)
            .map_err(|error| wrong(error.to_string()))?;
        // Of two run files the first one is shown.
        drop(facts.handle.path.set(path.clone()));
        Ok(Self { writer: Some(writer), path, facts, is_started: false, is_quiet: false })
    }

    /// Writes the slices that are over at this moment, as far as their frames are all there.
    fn turn(&mut self, at: u64) {
        if !self.is_started
            && let Some(at) = self.facts.watch.started_at()
            && let Some(writer) = &mut self.writer
        {
            writer.start(at);
            self.is_started = true;
        }
        let now = self.facts.watch.settled(at);
        let Some(writer) = &mut self.writer else { return };
        if writer.is_due(now) {
            let extras = extras(&self.facts);
            writer.tick(now, extras);
        }
    }
}

fn extras(facts: &RunFacts) -> Extras {
    Extras {
        load: facts.watch.load(),
        health: facts.watch.health(),
        events: facts.watch.events(),
        evidence: facts.watch.evidence(),
    }
}

impl Output for RunFile {
    fn description(&self) -> String {
        format!("run ({})", self.path.display())
    }

    fn flush_interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn wants_samples(&self) -> bool {
        false
    }

    /// The table `health` has them.
    fn wants_generator(&self) -> bool {
        false
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        self.is_quiet = false;
        // Slices that this frame is beyond come first; it may tell the start, too.
        self.turn(frame.at);
        if let Some(writer) = &mut self.writer {
            writer.frame(frame);
        }
        Ok(Written::default())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Frames tell the time as long as any come: those that wait belong to slices of their own time.
        if std::mem::replace(&mut self.is_quiet, true) {
            self.turn(self.facts.watch.now());
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        self.turn(self.facts.watch.now());
        if let Some(mut writer) = self.writer.take() {
            writer.finish(extras(&self.facts));
            let mut left = self.facts.handle.writer.lock().unwrap_or_else(PoisonError::into_inner);
            *left = Some(writer);
        }
        Ok(Written::default())
    }
}

/// `brunt-results/<script>-<yyyymmdd-hhmmss>.brunt`, with a number if there is one already.
fn free_name(script: &str, now: u64, context: &Context) -> PathBuf {
    let stem = Path::new(script).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.filter(|stem| stem != "-").unwrap_or_else(|| "stdin".to_owned());
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let stem: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    // Names of files have 255 bytes at most.
    let stem = &stem[..stem.floor_char_boundary(180)];
    let now = Timestamp::from_nanosecond(i128::from(now)).unwrap_or_default();
    let moment = now.to_zoned(context.time_zone.clone()).strftime("%Y%m%d-%H%M%S").to_string();
    let name = |number: u32| {
        let number = if number < 2 { String::new() } else { format!("-{number}") };
        Path::new(FOLDER).join(format!("{stem}-{moment}{number}.brunt"))
    };
    (1..1000).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(1000))
}

#[cfg(test)]
mod tests {
    use brunt_metrics::Registry;

    use super::*;

    #[test]
    fn a_file_that_nobody_names_is_called_after_script_and_time() {
        let mut context = Context::new(Arc::new(Registry::new()));
        context.time_zone = jiff::tz::TimeZone::UTC;
        let name = |script| free_name(script, 1_700_000_000_000_000_000, &context);
        let expected = "brunt-results/a_b-20231114-221320.brunt";
        assert_eq!(
            name("x/a b.test.js"),
            Path::new("brunt-results/a_b.test-20231114-221320.brunt")
        );
        assert_eq!(name("a b.js"), Path::new(expected));
        assert_eq!(name("-"), Path::new("brunt-results/stdin-20231114-221320.brunt"));
    }

    #[test]
    fn without_a_test_there_is_no_run_file() {
        let context = Context::new(Arc::new(Registry::new()));
        assert!(RunFile::open("x.brunt", &context).is_err());
    }
}
