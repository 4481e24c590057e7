//! Runs after runs, each in a process of its own: none begins with memory, caches or connections of the one before.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{
    Context,
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
    logging::Flusher,
    run::signal::Signals,
};

/// More runs in one call are a mistake.
const COUNT_MAX: u32 = 1000;

/// `--repeat`: how many runs, or which one of them this process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// From 1; 0 in the process that starts them.
    place: u32,
    count: u32,
}

impl Repeat {
    /// Reads `5`, and `2/5`: the second of five, as this program calls itself.
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let number = |text: &str| text.parse().ok().filter(|n| (1..=COUNT_MAX).contains(n));
        let found = match text.split_once('/') {
            None => number(text).map(|count| Self { place: 0, count }),
            Some((place, count)) => number(place)
                .zip(number(count))
                .filter(|(place, count)| place <= count)
                .map(|(place, count)| Self { place, count }),
        };
        found.ok_or_else(|| {
            Failure::usage(format!(
                "invalid value \"{text}\" for --repeat: expected 1 to {COUNT_MAX}"
            ))
        })
    }

    /// One of several machines that write files of their own: `seat` of `seats`, from 1 on.
    pub(crate) fn of_seat(seat: u32, seats: u32) -> Self {
        Self { place: seat, count: seats }
    }

    /// Whether this process is to start others.
    pub(crate) fn starts_others(self) -> bool {
        self.place == 0 && self.count > 1
    }

    /// The name of a file that each run writes: with the run's number before its ending.
    pub(crate) fn numbered(self, path: &Path) -> PathBuf {
        let text = path.to_string_lossy();
        if self.place == 0 || text == "-" || text.starts_with("/dev/") {
            return path.to_owned();
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let (name, packed) = match name.strip_suffix(".gz") {
            Some(name) => (name, ".gz"),
            None => (name.as_str(), ""),
        };
        let ending = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
        let (stem, ending) = name.split_at(ending);
        path.with_file_name(format!("{stem}-{}{ending}{packed}", self.place))
    }

    /// An output with its file numbered: `json=a.json` is `json=a-2.json`.
    pub(crate) fn output(self, output: &str, environment: &Environment) -> String {
        if self.place == 0 {
            return output.to_owned();
        }
        let (kind, argument) = output.split_once('=').unwrap_or((output, ""));
        let numbered = |path: &str| self.numbered(Path::new(path)).display().to_string();
        match (kind, argument) {
            ("csv", "") => {
                let name = environment.setting("CSV_FILENAME").map_or("file.csv", |(_, name)| name);
                format!("csv={}", numbered(name))
            }
            ("csv", settings) if settings.contains('=') => {
                let parts = settings.split(',').map(|part| match part.split_once('=') {
                    Some((key @ ("fileName" | "file_name"), name)) => {
                        format!("{key}={}", numbered(name))
                    }
                    _ => part.to_owned(),
                });
                format!("csv={}", parts.collect::<Vec<_>>().join(","))
            }
            ("web-dashboard", settings) => {
                let parts = settings.split('&').map(|part| match part.split_once('=') {
                    Some((key @ ("export" | "report" | "record"), name)) if !name.is_empty() => {
                        format!("{key}={}", numbered(name))
                    }
                    _ => part.to_owned(),
                });
                let mut parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
                // Of the variables' files those that the argument does not name otherwise.
                for (keys, variables) in [
                    (&["export=", "report="][..], &["REPORT", "EXPORT"][..]),
                    (&["record="][..], &["RECORD"][..]),
                ] {
                    let is_named =
                        parts.iter().any(|part| keys.iter().any(|key| part.starts_with(key)));
                    let mut set = variables.iter().filter_map(|variable| {
                        environment.setting(&format!("WEB_DASHBOARD_{variable}"))
                    });
                    if let Some((_, name)) = set.next().filter(|_| !is_named) {
                        // The argument is a query.
                        let name = numbered(name).replace('%', "%25");
                        let name = name.replace('&', "%26").replace('+', "%2B");
                        parts.push(format!("{}{name}", keys[0]));
                    }
                }
                if parts.is_empty() {
                    return kind.to_owned();
                }
                format!("{kind}={}", parts.join("&"))
            }
            // Without a name, each run file is called after its moment.
            ("json" | "csv" | "run", path) if !path.is_empty() => {
                format!("{kind}={}", numbered(path))
            }
            _ => output.to_owned(),
        }
    }
}

/// `brunt run --repeat N`: the worst exit code of all.
pub(crate) fn perform(context: &Context, repeat: Repeat, script: &str) -> Outcome<Exit> {
    if script == "-" {
        return Err(Failure::usage(
            "standard input can be read once, and --repeat runs it more often",
        )
        .hint("give brunt run a file"));
    }
    let children = Children::watch(context.logging.flusher())?;
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let mut codes = Vec::new();
    let mut worst = Exit::Success;
    for place in 1..=repeat.count {
        if !context.global.quiet {
            let _ = context.screen.stdout(&format!("run {place} of {}\n", repeat.count));
        }
        let mut command = Children::command();
        command.args(with_place(&words, place, repeat.count));
        let exit = children.run(&mut command)?;
        codes.push(exit.code().to_string());
        if rank(exit) > rank(worst) {
            worst = exit;
        }
        if rank(exit) == STOPS && place < repeat.count {
            log::error!(
                "run {place} of {} ended with exit code {}: the others are left out",
                repeat.count,
                exit.code()
            );
            break;
        }
    }
    if worst != Exit::Success {
        log::warn!("the exit codes of the runs: {}", codes.join(" "));
    }
    Ok(worst)
}

/// No further run would go better, or none is wanted.
const STOPS: u8 = 4;

/// How bad an end is.
fn rank(exit: Exit) -> u8 {
    match exit {
        Exit::Success => 0,
        Exit::Thresholds | Exit::Untrusted => 1,
        Exit::MarkedAsFailed => 2,
        Exit::ScriptAborted => 3,
        _ => STOPS,
    }
}

/// The words of this call with the number of a run in place of `--repeat N`.
fn with_place(words: &[std::ffi::OsString], place: u32, count: u32) -> Vec<std::ffi::OsString> {
    let mut out = Vec::new();
    let mut words = words.iter();
    let mine = || std::ffi::OsString::from(format!("--repeat={place}/{count}"));
    let mut is_told = false;
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--repeat" {
            words.next();
        } else if text == "--" {
            out.push(mine());
            out.push(word.clone());
            out.extend(words.by_ref().cloned());
            is_told = true;
        } else if !text.starts_with("--repeat=") {
            out.push(word.clone());
        }
    }
    if !is_told {
        out.push(mine());
    }
    out
}

/// The processes that this one starts, one at a time. Signals are passed on to the one that runs; without one they end
/// this process.
pub(crate) struct Children {
    running: Arc<Mutex<Option<Pid>>>,
}

impl Children {
    /// Starts to watch for signals.
    ///
    /// # Errors
    /// The system refuses a thread or a signal handler.
    pub(crate) fn watch(flusher: Flusher) -> std::io::Result<Self> {
        let running: Arc<Mutex<Option<Pid>>> = Arc::default();
        let watched = Arc::clone(&running);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = {
            let _inside = runtime.enter();
            Signals::new()?
        };
        std::thread::Builder::new().name("brunt-signal".to_owned()).spawn(move || {
            runtime.block_on(async {
                loop {
                    let name = signals.next().await;
                    let signal = if name == "interrupt" { Signal::SIGINT } else { Signal::SIGTERM };
                    // Held until the signal is sent: a process that is over keeps its number until it is waited for.
                    let running = locked(&watched);
                    let Some(child) = *running else {
                        log::error!("ended by the signal '{name}'");
                        flusher.flush(Duration::from_secs(1));
                        std::process::exit(i32::from(Exit::Signal.code()));
                    };
                    if let Err(error) = kill(child, signal) {
                        log::debug!("the run has no use for the signal: {error}");
                    }
                }
            });
        })?;
        Ok(Self { running })
    }

    /// A call of this program, whatever has become of its file.
    pub(crate) fn command() -> Command {
        Command::new("/proc/self/exe")
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// It can't be started.
    pub(crate) fn run(&self, command: &mut Command) -> Outcome<Exit> {
        /// How often the end is looked for: a process is waited for only under the lock.
        const LOOK: Duration = Duration::from_millis(20);
        let mut child = {
            let mut running = locked(&self.running);
            let child = command.spawn().map_err(|error| {
                let told = format!("this program can't be started once more: {error}");
                Failure::new(Exit::Other, anyhow::Error::msg(told))
            })?;
            *running = i32::try_from(child.id()).ok().map(Pid::from_raw);
            child
        };
        let status = loop {
            let mut running = locked(&self.running);
            if let Some(status) = child.try_wait()? {
                *running = None;
                break status;
            }
            drop(running);
            pause(LOOK);
        };
        Ok(status.code().map_or(Exit::Signal, Exit::of_code))
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that waits for others, no core")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_runs_or_one_of_them_is_read() {
        let read = |text: &str| Repeat::parse(text).map(|repeat| (repeat.place, repeat.count)).ok();
        assert_eq!((read("5"), read("2/5")), (Some((0, 5)), Some((2, 5))));
        assert!(Repeat::parse("2").expect("a number").starts_others());
        assert!(!Repeat::parse("1").expect("a number").starts_others());
        for text in ["0", "-1", "x", "6/5", "0/5", "1/", "1001", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn files_of_runs_have_the_number_before_their_ending() {
        let second = Repeat { place: 2, count: 5 };
        let told =
            ["a/out.json", "out.json.gz", "out", ".hidden", "my.run.brunt", "-", "/dev/null"]
                .map(|path| second.numbered(Path::new(path)).display().to_string());
        let wanted = [
            "a/out-2.json",
            "out-2.json.gz",
            "out-2",
            ".hidden-2",
            "my.run-2.brunt",
            "-",
            "/dev/null",
        ];
        assert_eq!(told, wanted);
        assert_eq!(Repeat { place: 0, count: 5 }.numbered(Path::new("a.x")), Path::new("a.x"));
    }

    #[test]
    fn outputs_that_are_files_are_numbered_and_others_are_not() {
        let second = Repeat { place: 2, count: 5 };
        let environment = Environment::default();
        let told = [
            "json=a.json",
            "json",
            "csv",
            "csv=x.csv.gz",
            "csv=fileName=y.csv,saveInterval=1s",
            "run",
            "run=r.brunt",
            "influxdb=http://x/y.z",
            "web-dashboard",
            "web-dashboard=port=0&export=r.html&record=e.json",
        ]
        .map(|output| second.output(output, &environment));
        let wanted = [
            "json=a-2.json",
            "json",
            "csv=file-2.csv",
            "csv=x-2.csv.gz",
            "csv=fileName=y-2.csv,saveInterval=1s",
            "run",
            "run=r-2.brunt",
            "influxdb=http://x/y.z",
            "web-dashboard",
            "web-dashboard=port=0&export=r-2.html&record=e-2.json",
        ];
        assert_eq!(told, wanted);
        let variable = ("K6_WEB_DASHBOARD_EXPORT".to_owned(), "a b.html".to_owned());
        let environment: Environment = [variable].into_iter().collect();
        assert_eq!(
            second.output("web-dashboard=port=0", &environment),
            "web-dashboard=port=0&export=a b-2.html"
        );
    }

    #[test]
    fn each_run_gets_its_number_and_all_other_words() {
        let words =
            |text: &str| -> Vec<std::ffi::OsString> { text.split(' ').map(Into::into).collect() };
        for (line, wanted) in [
            ("run --repeat 5 -u 2 s.js", "run -u 2 s.js --repeat=2/5"),
            ("run s.js --repeat=5", "run s.js --repeat=2/5"),
            ("run --repeat 5 -- s.js", "run --repeat=2/5 -- s.js"),
        ] {
            assert_eq!(with_place(&words(line), 2, 5), words(wanted), "{line}");
        }
    }

    #[test]
    fn an_end_that_others_would_share_is_worse_than_a_broken_threshold() {
        assert!(rank(Exit::Thresholds) > rank(Exit::Success));
        assert!(rank(Exit::ScriptException) > rank(Exit::Thresholds));
        assert_eq!(rank(Exit::Signal), STOPS);
    }
}
