//! Starts the binary and the demo target, and waits no longer than it must.

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    time::{Duration, Instant},
};

/// A process that takes longer is killed, and the test fails.
const PATIENCE: Duration = Duration::from_mins(2);

/// The outcome of a call of the binary.
#[derive(Debug)]
pub(crate) struct Told {
    /// The exit code; −1 if a signal killed it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// How long one of its threads had work and no processor, because other programs or other threads had them all: the
    /// machine made it late by this much at most. Zero where the kernel does not say.
    pub(crate) waited: Duration,
}

/// A call of the binary, in a folder of its own, with an empty environment.
pub(crate) struct Brunt {
    command: Command,
    folder: tempfile::TempDir,
    stdin: Option<Vec<u8>>,
}

/// `brunt` with these words behind it, which blanks divide.
pub(crate) fn brunt(line: &str) -> Brunt {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
    command
        .args(line.split_whitespace())
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Brunt { command, folder, stdin: None }
}

impl Brunt {
    /// One more word, blanks and all.
    pub(crate) fn word(mut self, word: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(word);
        self
    }

    /// More words, which blanks divide.
    pub(crate) fn words(mut self, line: &str) -> Self {
        self.command.args(line.split_whitespace());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// A file in the folder where it runs.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        let parent = path.parent().expect("a file in a folder");
        std::fs::create_dir_all(parent).expect("a folder for the file");
        std::fs::write(path, content).expect("a file for the test");
        self
    }

    pub(crate) fn stdin(mut self, content: impl AsRef<[u8]>) -> Self {
        self.command.stdin(Stdio::piped());
        self.stdin = Some(content.as_ref().to_owned());
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The content of a file of the folder.
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Runs it to its end.
    pub(crate) fn told(&mut self) -> Told {
        self.start().wait()
    }

    /// Starts it.
    pub(crate) fn start(&mut self) -> Running {
        let mut running = Running::start(&mut self.command);
        if let Some(content) = &self.stdin {
            let mut stdin = running.child.stdin.take().expect("stdin is a pipe");
            stdin.write_all(content).expect("the binary reads its stdin");
        }
        running
    }
}

/// A process that runs. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts a program and takes its output.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stderr = read_all(child.stderr.take().expect("stderr is a pipe"));
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Self { child, stdout: Some(stdout), stderr }
    }

    /// The next line of stdout.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let stdout = self.stdout.as_mut().expect("stdout is still here");
        stdout.read_line(&mut line).expect("stdout is text");
        line
    }

    /// Reads stdout up to a line that holds `part`.
    pub(crate) fn line_with(&mut self, part: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "stdout ended before {part:?}");
            if line.contains(part) {
                return line;
            }
        }
    }

    /// The process's number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal: `INT` or `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("there is a kill command").success());
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> Told {
        let stdout = read_all(self.stdout.take().expect("stdout is still here"));
        let waits = watch_waits(self.child.id());
        let said = |text: &Receiver<String>| match text.recv_timeout(PATIENCE) {
            Ok(text) => text,
            Err(RecvTimeoutError::Timeout) => panic!("it did not end within {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("its output is no text"),
        };
        let (stdout, stderr) = (said(&stdout), without_excuses(&said(&self.stderr)));
        let status = self.child.wait().expect("it is our child");
        let waited = waits.recv().unwrap_or_default();
        Told { code: status.code().unwrap_or(-1), stdout, stderr, waited }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The log without the line about a machine on which other programs run, too: tests run beside each other.
fn without_excuses(stderr: &str) -> String {
    let is_excuse = |line: &&str| line.contains("generator was ");
    stderr.split_inclusive('\n').filter(|line| !is_excuse(line)).collect()
}

/// Looks every now and then how long each thread of a process has waited for a processor, as long as there is the process; then
/// tells the longest.
#[expect(clippy::disallowed_methods, reason = "a thread of the test's own, not a core")]
fn watch_waits(process: u32) -> Receiver<Duration> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut longest = 0;
        // A process that has ended has no threads to read about, or none that tell anything.
        while let Some(waits) = waits_of(process) {
            longest = waits.into_iter().fold(longest, u64::max);
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = sender.send(Duration::from_nanos(longest));
    });
    receiver
}

/// The waits of the threads of a process, in nanoseconds; none if it has ended.
fn waits_of(process: u32) -> Option<Vec<u64>> {
    let is_alive = |status: &str| !status.contains("State:\tZ");
    std::fs::read_to_string(format!("/proc/{process}/status")).ok().filter(|it| is_alive(it))?;
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let wait = |thread: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').nth(1)?.parse().ok()
    };
    Some(threads.filter_map(wait).collect())
}

/// Reads a pipe to its end on a thread, so that the other pipe can't fill up meanwhile.
fn read_all(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// A demo target in a process of its own, with latencies that suit tests.
pub(crate) struct DemoServer {
    _running: Running,
    _folder: Brunt,
    pub(crate) url: String,
    pub(crate) faults: String,
    /// Empty where its flags leave it out; so is the next.
    pub(crate) grpc: String,
    pub(crate) redis: String,
}

impl DemoServer {
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// The same with more flags.
    pub(crate) fn start_with(flags: &str) -> Self {
        let mut folder = brunt(&format!(
            "demo --json --listen 127.0.0.1:0 --seed 1 --origin-ms 20 --origin-jitter 0s \
             --origin-slow-every 0 --origin-write 2ms --redis-latency 2ms --redis-jitter 0s \
             --redis-connect 5ms --event-delay 5ms {flags}",
        ));
        let mut running = folder.start();
        let line = running.line();
        let addresses: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
        let text = |name: &str| addresses[name].as_str().expect("an address").to_owned();
        Self {
            url: text("url"),
            faults: text("faults"),
            grpc: addresses["grpc"].as_str().unwrap_or_default().to_owned(),
            redis: addresses["redis"].as_str().unwrap_or_default().to_owned(),
            _running: running,
            _folder: folder,
        }
    }
}

impl Told {
    /// The one log line of level error, checked to be the only one.
    pub(crate) fn error(&self) -> &str {
        let mut errors = self.stderr.lines().filter(|line| line.contains("level=error"));
        let error = errors.next().unwrap_or_else(|| panic!("no error in {self:?}"));
        assert_eq!(errors.next(), None, "two errors in {self:?}");
        error
    }
}

/// Tries it up to ten times, for as long as it fails while other programs take the processors: on a machine that is never
/// free for ten tries it fails, since nothing is known then. The error is that of the first try that no other program
/// disturbed, or of the last one.
pub(crate) fn undisturbed(
    mut attempt: impl FnMut() -> (Told, Result<(), String>),
) -> Result<(), String> {
    /// Less is no excuse.
    const DISTURBED: Duration = Duration::from_millis(250);
    let mut left = 10;
    loop {
        left -= 1;
        match attempt() {
            (_, Ok(())) => return Ok(()),
            (told, Err(fault)) if left == 0 || told.waited < DISTURBED => {
                return Err(format!("{fault}: {told:?}"));
            }
            (_, Err(_)) => {}
        }
    }
}

/// Does the work, and measures how late a thread that sleeps beside it wakes at worst: a yardstick for how late others may
/// be on a machine that does other things, too.
#[expect(clippy::disallowed_methods, reason = "a thread of the test's own, not a core")]
pub(crate) fn beside_a_yardstick<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    const STEP: Duration = Duration::from_millis(5);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let yardstick = scope.spawn(|| {
            let mut worst = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let from = Instant::now();
                std::thread::sleep(STEP);
                worst = worst.max(from.elapsed().saturating_sub(STEP));
            }
            worst
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        (done, yardstick.join().expect("it measures and no more"))
    })
}

/// A port for a server that can't tell which it took. It is no port that the kernel gives to those who connect (from 32768 on),
/// so that no connection of another test takes it before the server does; and the port 10000 above it, on which a Redis of a
/// cluster listens, is free, too.
pub(crate) fn free_port() -> u16 {
    const FIRST: u32 = 11_000;
    const COUNT: u32 = 11_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes of tests that run beside this one begin elsewhere.
    let begin = std::process::id().wrapping_mul(7919);
    let is_free = |port: &u16| {
        [*port, *port + 10_000].into_iter().all(|it| TcpListener::bind(("127.0.0.1", it)).is_ok())
    };
    let mut ports = std::iter::repeat_with(|| {
        let next = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        u16::try_from(FIRST + next % COUNT).expect("a port")
    });
    ports.by_ref().take(COUNT as usize).find(is_free).expect("a free port")
}

/// A folder of the repository.
pub(crate) fn repository(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}
