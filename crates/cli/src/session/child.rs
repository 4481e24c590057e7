//! Runs of the written script in a process of their own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::run::replay_log::VARIABLE;
use crate::run::signal::Signals;

/// Settings that would change how often the script runs, or where its results go. Others (proxies, certificates, DNS) hold.
const UNWANTED: [&str; 24] = [
    "VUS",
    "ITERATIONS",
    "DURATION",
    "STAGES",
    "EXECUTION_SEGMENT",
    "EXECUTION_SEGMENT_SEQUENCE",
    "OUT",
    "RPS",
    "PAUSED",
    "WEB_DASHBOARD",
    "SUMMARY_EXPORT",
    "SUMMARY_MODE",
    "REPORT",
    "UI",
    "TRACES_OUTPUT",
    "HTTP_DEBUG",
    "LINGER",
    "ADDRESS",
    "LOG_OUTPUT",
    "LOG_FORMAT",
    "THROW",
    "DISCARD_RESPONSE_BODIES",
    "CONSOLE_OUTPUT",
    "SCENARIO",
];

/// The pauses of a run, against the recorded ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// A tenth of them.
    Fast,
    /// As they were: tokens expire in them.
    AsRecorded,
}

impl Pace {
    /// `__ENV.PACE` of the script.
    fn text(self) -> &'static str {
        match self {
            Self::Fast => "0.1",
            Self::AsRecorded => "1",
        }
    }
}

/// A process that was asked to end gets this long for it.
const GRACE: Duration = Duration::from_secs(5);

/// The end of a run.
pub(super) struct Ended {
    /// `None`: a signal ended it.
    pub(super) code: Option<i32>,
    /// The records of all that it did.
    pub(super) log: Bytes,
    /// Its log lines, as JSON.
    pub(super) stderr: String,
    /// It took too long.
    pub(super) is_late: bool,
}

/// Starts runs, one at a time, in a folder that its owner alone can read and that is gone afterwards. A signal ends the run, not
/// this process.
pub(super) struct Runs {
    folder: tempfile::TempDir,
    running: Arc<Mutex<Option<Pid>>>,
    signals: Arc<AtomicU32>,
    count: u32,
}

impl Runs {
    /// Starts to watch for signals.
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("brunt-replay-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir()?;
        let running: Arc<Mutex<Option<Pid>>> = Arc::default();
        let signals: Arc<AtomicU32> = Arc::default();
        let (watched, counted) = (Arc::clone(&running), Arc::clone(&signals));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut source = {
            let _inside = runtime.enter();
            Signals::new()?
        };
        std::thread::Builder::new().name("brunt-signal".to_owned()).spawn(move || {
            runtime.block_on(async {
                loop {
                    source.next().await;
                    let count = counted.fetch_add(1, Ordering::SeqCst);
                    let signal = if count == 0 { Signal::SIGINT } else { Signal::SIGKILL };
                    // Held until the signal is sent: a process that is over keeps its number until it is waited for.
                    let running = watched.lock().unwrap_or_else(PoisonError::into_inner);
                    send(*running, signal);
                }
            });
        })?;
        Ok(Self { folder, running, signals, count: 0 })
    }

    /// A signal came.
    pub(super) fn is_interrupted(&self) -> bool {
        self.signals.load(Ordering::SeqCst) > 0
    }

    /// Runs a script with these users, an iteration each.
    pub(super) fn run(
        &mut self,
        script: &Path,
        (users, pace): (u32, Pace),
        limit: Duration,
    ) -> io::Result<Ended> {
        self.count += 1;
        let path = |kind: &str| self.folder.path().join(format!("{}-{kind}", self.count));
        let (log, stderr) = (path("log"), path("stderr"));
        private(&log)?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["run", "--quiet", "--no-summary", "--no-thresholds", "--log-format=json"])
            // Shared iterations would let a quick user take those of the other.
            .arg(format!("--vus={users}"))
            .arg(format!("--iterations={users}"))
            .arg("--set=scenarios.default.executor=per-vu-iterations")
            .arg("--set=scenarios.default.iterations=1")
            .arg(format!("--env=PACE={}", pace.text()))
            .arg(script)
            .env(VARIABLE, &log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(private(&stderr)?)
            .process_group(0);
        for name in UNWANTED {
            command.env_remove(format!("K6_{name}")).env_remove(format!("BRUNT_{name}"));
        }
        let (code, is_late) = self.wait(&mut command, limit)?;
        let told = self.taken(&stderr)?;
        Ok(Ended {
            code,
            log: Bytes::from(self.taken(&log)?),
            stderr: String::from_utf8_lossy(&told).into_owned(),
            is_late,
        })
    }

    /// The bytes of a file, which is then gone.
    fn taken(&self, path: &PathBuf) -> io::Result<Vec<u8>> {
        debug_assert!(path.starts_with(self.folder.path()));
        let bytes = std::fs::read(path)?;
        std::fs::remove_file(path)?;
        Ok(bytes)
    }

    /// The exit code, and whether the time was up.
    fn wait(&self, command: &mut Command, limit: Duration) -> io::Result<(Option<i32>, bool)> {
        let mut child = {
            let mut running = self.lock();
            let child = command.spawn()?;
            *running = i32::try_from(child.id()).ok().map(Pid::from_raw);
            child
        };
        let begin = Instant::now();
        let mut is_late = false;
        let mut asked: Option<Duration> = None;
        loop {
            if let Some(status) = self.ended(&mut child)? {
                return Ok((status.code(), is_late));
            }
            let passed = begin.elapsed();
            let is_over = passed >= limit || self.is_interrupted();
            if is_over && asked.is_none() {
                is_late = passed >= limit;
                asked = Some(passed);
                send(*self.lock(), Signal::SIGINT);
            } else if asked.is_some_and(|asked| passed >= asked + GRACE) {
                send(*self.lock(), Signal::SIGKILL);
            }
            pause();
        }
    }

    fn ended(&self, child: &mut Child) -> io::Result<Option<std::process::ExitStatus>> {
        let mut running = self.lock();
        let status = child.try_wait()?;
        if status.is_some() {
            *running = None;
        }
        Ok(status)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Pid>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A new file for its owner alone.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn send(process: Option<Pid>, signal: Signal) {
    if let Some(process) = process
        && let Err(error) = kill(process, signal)
    {
        log::debug!("the replay has no use for the signal: {error}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that waits for others, no core")]
fn pause() {
    /// How often the end is looked for: a process is waited for only under the lock.
    const LOOK: Duration = Duration::from_millis(20);
    std::thread::sleep(LOOK);
}
