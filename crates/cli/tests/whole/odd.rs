//! Every function that scripts can reach, found by reflection, called with arguments of every wrong kind: each call returns or is
//! interrupted in its time, none panics, none takes the memory of the machine. Failing functions are named.
//!
//! ```text
//! odd/values.js   the arguments              odd/reflect.js  finds the functions
//! odd/made.js     objects to call them on    odd/calls.js    one iteration for each function and argument
//! ```
//!
//! A run calls each function with some of the arguments, drawn by `BRUNT_ODD_SEED`: most in iterations, some in init code, few in
//! `setup()` and `handleSummary()`. With `BRUNT_ODD=all` the first two have them all, which takes four hours of a core;
//! `BRUNT_ODD=k6/http` has all of them for the functions with this in their names. `BRUNT_ODD_PLACE=init` calls them there alone.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use crate::support::DemoServer;

/// How many processes call at the same time.
const WORKERS: usize = 3;

/// Where functions are called.
struct Place {
    /// Its name for the script.
    mode: &'static str,
    /// How many arguments of each kind a function is called with there: quick ones, huge ones, objects of other modules.
    drawn: [usize; 3],
    /// Of this number of functions, one is called with them.
    of: usize,
    /// It has all arguments of the functions that are asked for.
    has_all: bool,
    /// The exit codes of a process that such a call may end: there is no next iteration then.
    ends: &'static [i32],
}

static PLACES: [Place; 5] = [
    Place { mode: "call", drawn: [3, 2, 1], of: 1, has_all: true, ends: &[] },
    Place { mode: "init", drawn: [1, 0, 1], of: 2, has_all: true, ends: &[THREW, FAILED] },
    Place { mode: "init", drawn: [0, 1, 0], of: 16, has_all: false, ends: &[THREW, FAILED] },
    Place { mode: "setup", drawn: [1, 1, 0], of: 32, has_all: false, ends: &[THREW, FAILED] },
    // Its fault costs the summary, and not the test.
    Place { mode: "summary", drawn: [1, 1, 0], of: 32, has_all: false, ends: &[0] },
];

/// The memory of a process: what its scripts may have is 256 MiB.
const RESIDENT_MAX: u64 = 1 << 30;
/// Its address space in KiB, in which the stacks of fibers count in full.
const ADDRESSES_KIB: u64 = 8 << 20;

/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Looks in which all its threads sleep, after which it is taken to wait for ever: it is told to stop.
const IDLE_LOOKS: u32 = 10;
/// Work for one case, in hundredths of a second of a core, after which it is told to stop. A machine that does other things, too,
/// changes nothing in that.
const WORK_MAX: u64 = 200;
/// As both of them, for a process that was told to stop.
const STOP_LOOKS: u32 = 200;
const STOP_WORK_MAX: u64 = 2000;

/// Exit codes: a signal, an exception that ends the test, `abort()` of `k6/execution`, its `fail()`.
const STOPPED: i32 = 105;
const THREW: i32 = 107;
const ABORTED: i32 = 108;
const FAILED: i32 = 110;

#[test]
fn no_function_of_the_api_hangs_or_panics_whatever_it_is_given() {
    let asked = std::env::var("BRUNT_ODD").ok();
    let seed = std::env::var("BRUNT_ODD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let demo = DemoServer::start();
    let (url, grpc, redis) = (&demo.url, &demo.grpc, &demo.redis);
    let servers = [format!("URL={url}"), format!("GRPC={grpc}"), format!("REDIS={redis}")];
    let folders: Vec<_> = (0..WORKERS).map(|_| folder()).collect();
    let known = Known::find(&servers, folders[0].path());
    assert!(known.functions.len() > 1500, "{} functions", known.functions.len());

    let mut random = fastrand::Rng::with_seed(seed);
    let only = std::env::var("BRUNT_ODD_PLACE").ok();
    let places = PLACES.iter().filter(|place| only.as_ref().is_none_or(|only| only == place.mode));
    let mut drawn = |place: &'static Place| {
        let mut cases = known.cases(place, asked.as_deref(), &mut random);
        random.shuffle(&mut cases);
        (place, cases)
    };
    let all: Vec<(&Place, Vec<Case>)> = places.map(&mut drawn).collect();
    let count: usize = all.iter().map(|(_, cases)| cases.len()).sum();
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for (worker, folder) in folders.iter().enumerate() {
            let (servers, known, tally, all) = (&servers, &known, &tally, &all);
            scope.spawn(move || {
                for (place, cases) in all {
                    let cases: Vec<_> =
                        cases.iter().skip(worker).step_by(WORKERS).copied().collect();
                    let folder = folder.path();
                    Worker { servers, known, tally, place, folder, cases: &cases }.work();
                }
            });
        }
    });
    let tally = tally.into_inner().expect("all workers ended well");
    println!(
        "seed {seed}: {} functions, {} cases begun, {} interrupted: {:#?}",
        known.functions.len(),
        tally.begun,
        tally.interrupted.len(),
        tally.interrupted
    );
    let begun = tally.begun + tally.interrupted.len();
    assert!(begun >= count / 10 * 9, "{begun} of {count}");
    assert!(tally.faults.is_empty(), "BRUNT_ODD_SEED={seed}: {:#?}", tally.faults);
}

/// A folder with the script.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let libraries = brunt_modules::jslib::addresses();
    let all: Vec<_> = brunt_modules::K6::modules().map(str::to_owned).chain(libraries).collect();
    let lines = |line: &dyn Fn(usize, &String) -> String| -> String {
        all.iter().enumerate().map(|(number, from)| line(number, from)).collect()
    };
    let imports = lines(&|number, from| format!("import * as module{number} from '{from}';\n"));
    let members = lines(&|number, from| format!("  '{from}': module{number},\n"));
    for (name, text) in [
        ("modules.js", &*format!("{imports}export const modules = {{\n{members}}};\n")),
        ("calls.js", include_str!("odd/calls.js")),
        ("made.js", include_str!("odd/made.js")),
        ("reflect.js", include_str!("odd/reflect.js")),
        ("values.js", include_str!("odd/values.js")),
        ("table.csv", "a,b\n1,2\n"),
    ] {
        fs::write(folder.path().join(name), text).expect("a file for the test");
    }
    folder
}

/// A function, and the number of the argument.
type Case = (usize, usize);

/// The functions that the script found, and what it has to call them with.
#[derive(Default)]
struct Known {
    functions: Vec<String>,
    /// How other objects with functions are made, for the script.
    recipes: Vec<serde_json::Value>,
    /// The names of the arguments: quick ones, huge ones, objects.
    values: Vec<String>,
    /// How many there are of the first two kinds.
    kinds: [usize; 2],
}

impl Known {
    fn find(servers: &[String], folder: &Path) -> Self {
        let mut known = Self::default();
        let process = Process::start(servers, folder, &["MODE=find"]);
        let mut said = VecDeque::new();
        loop {
            let Ok(line) = process.lines.recv_timeout(Duration::from_mins(2)) else {
                panic!("the functions were not found: {said:#?}")
            };
            let json = |text: &str| serde_json::from_str(text).expect("a line of JSON");
            if line == "done" {
                return known;
            } else if let Some(name) = line.strip_prefix("function ") {
                known.functions.push(serde_json::from_str(name).expect("a name"));
            } else if let Some(recipe) = line.strip_prefix("recipe ") {
                known.recipes.push(json(recipe));
            } else if let Some(values) = line.strip_prefix("values ") {
                (known.kinds[0], known.kinds[1], known.values) =
                    serde_json::from_str(values).expect("two counts and the names");
            } else {
                keep_last(&mut said, &line);
            }
        }
    }

    /// Some cases for each function, or all of those that are asked for.
    fn cases(&self, place: &Place, asked: Option<&str>, random: &mut fastrand::Rng) -> Vec<Case> {
        let [quick, huge] = self.kinds;
        let kinds = [0..quick, quick..quick + huge, quick + huge..self.values.len()];
        let mut cases = Vec::new();
        for (function, name) in self.functions.iter().enumerate() {
            match asked {
                Some(part) if place.has_all && (part == "all" || name.contains(part)) => {
                    cases.extend((0..self.values.len()).map(|value| (function, value)));
                }
                Some(_) => {}
                None if random.usize(..place.of) > 0 => {}
                None => {
                    for (kind, count) in kinds.iter().zip(place.drawn) {
                        cases.extend((0..count).map(|_| (function, random.usize(kind.clone()))));
                    }
                }
            }
        }
        cases
    }

    fn told(&self, case: Case) -> String {
        format!("{} with {}", self.functions[case.0], self.values[case.1])
    }
}

#[derive(Debug, Default)]
struct Tally {
    begun: usize,
    interrupted: Vec<String>,
    faults: Vec<String>,
}

/// Calls its share, in one process after the other: who is told to stop ends, and the next begins behind the culprit.
struct Worker<'a> {
    servers: &'a [String],
    known: &'a Known,
    tally: &'a Mutex<Tally>,
    place: &'a Place,
    folder: &'a Path,
    cases: &'a [Case],
}

impl Worker<'_> {
    fn work(&self) {
        let named: Vec<_> = self
            .cases
            .iter()
            .map(|&(function, value)| (&self.known.functions[function], [value]))
            .collect();
        let write =
            |name: &str, text: String| fs::write(self.folder.join(name), text).expect("a file");
        write("cases.json", serde_json::to_string(&named).expect("texts and numbers"));
        write("recipes.json", serde_json::to_string(&self.known.recipes).expect("it was JSON"));
        let mut from = 0;
        while from < self.cases.len() {
            match self.call(from) {
                Some(next) => from = next,
                None => return,
            }
        }
    }

    /// Calls from this case on. Returns where the next process is to begin, if it is.
    fn call(&self, from: usize) -> Option<usize> {
        let mode = format!("MODE={}", self.place.mode);
        let process = Process::start(self.servers, self.folder, &[&*mode, &format!("FROM={from}")]);
        let (mut at, mut is_done, mut said): (Option<usize>, _, _) = (None, false, VecDeque::new());
        let mut watch = Watch::new();
        let mut looked = Instant::now();
        let fault = loop {
            match process.lines.recv_timeout(LOOK) {
                Ok(line) if line == "done" => is_done = true,
                Ok(line) => {
                    if let Some(number) = line.strip_prefix("at ").and_then(|at| at.parse().ok()) {
                        at = Some(number);
                        self.tally.lock().expect("no worker panicked").begun += 1;
                        watch.next();
                    } else if line.contains("panicked at") || line.contains("a fault in Brunt") {
                        break Some(line);
                    } else {
                        keep_last(&mut said, &line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
            if looked.elapsed() < LOOK {
                continue;
            }
            looked = Instant::now();
            match watch.look(process.child.id(), at.is_some()) {
                Seen::Fine => {}
                Seen::Stuck => process.interrupt(),
                Seen::Lost => break Some("it did not end when it was told to".to_owned()),
                Seen::Large(bytes) => break Some(format!("it holds {} MiB", bytes >> 20)),
            }
        };
        let is_lost = fault.is_some();
        let code = process.end(is_lost).code();
        let told =
            at.map_or("before the first call".to_owned(), |at| self.known.told(self.cases[at]));
        let told = format!("{told} ({})", self.place.mode);
        let mut tally = self.tally.lock().expect("no worker panicked");
        // These end the test, as they should.
        let is_abort = code == Some(ABORTED) && told.contains("abort");
        if let Some(fault) = fault {
            tally.faults.push(format!("{told}: {fault}"));
        } else if watch.is_told && code == Some(STOPPED) {
            tally.interrupted.push(told);
        } else if !(is_abort
            || is_done && matches!(code, Some(0 | FAILED))
            || at.is_some() && code.is_some_and(|code| self.place.ends.contains(&code)))
        {
            tally.faults.push(format!("{told}: it ended with code {code:?}: {said:#?}"));
        }
        if is_done { None } else { at.map(|at| at + 1) }
    }
}

fn keep_last(said: &mut VecDeque<String>, line: &str) {
    if said.len() == 8 {
        said.pop_front();
    }
    said.push_back(line.chars().take(300).collect());
}

struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    /// Gives way to other tests, which may count on a core of their own.
    fn start(servers: &[String], folder: &Path, env: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("ulimit -c 0; ulimit -v {ADDRESSES_KIB}; exec nice -n 10 \"$@\""))
            .args(["sh", env!("CARGO_BIN_EXE_brunt")])
            .args(["run", "-q", "--log-format", "raw", "--throw=false", "--address", ""])
            .args(["--vu-memory", "256MiB"]);
        for variable in servers.iter().map(String::as_str).chain(env.iter().copied()) {
            command.args(["-e", variable]);
        }
        command
            .arg("calls.js")
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("there is a shell");
        let mut stderr = BufReader::new(child.stderr.take().expect("stderr is a pipe"));
        let (sender, lines) = sync_channel(1024);
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while stderr.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if sender.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Self { child, lines }
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-s", "INT", &id]).status();
    }

    fn end(mut self, is_lost: bool) -> ExitStatus {
        if is_lost {
            let _ = self.child.kill();
        }
        self.child.wait().expect("it is our child")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

enum Seen {
    Fine,
    /// It waits, or works for too long: it is to be told to stop.
    Stuck,
    /// It was told, and did not.
    Lost,
    /// It holds this number of bytes.
    Large(u64),
}

/// Whether a process works or waits, told from its threads.
struct Watch {
    is_told: bool,
    idle: u32,
    /// The work done when the case was first looked at.
    work: Option<u64>,
}

impl Watch {
    fn new() -> Self {
        Self { is_told: false, idle: 0, work: None }
    }

    /// A case begins.
    fn next(&mut self) {
        if !self.is_told {
            (self.idle, self.work) = (0, None);
        }
    }

    fn look(&mut self, id: u32, has_begun: bool) -> Seen {
        let Some(now) = Now::of(id) else { return Seen::Fine };
        if now.resident > RESIDENT_MAX {
            return Seen::Large(now.resident);
        }
        self.idle = if now.is_idle { self.idle + 1 } else { 0 };
        let worked = now.work.saturating_sub(*self.work.get_or_insert(now.work));
        let (looks, most) = match (self.is_told, has_begun) {
            (false, true) => (IDLE_LOOKS, WORK_MAX),
            _ => (STOP_LOOKS, STOP_WORK_MAX),
        };
        if self.idle < looks && worked < most {
            return Seen::Fine;
        }
        if self.is_told || !has_begun {
            return Seen::Lost;
        }
        (self.is_told, self.idle, self.work) = (true, 0, None);
        Seen::Stuck
    }
}

/// A process now.
struct Now {
    is_idle: bool,
    /// Hundredths of a second of a core, of all its threads.
    work: u64,
    resident: u64,
}

impl Now {
    /// `None` if it is gone.
    fn of(id: u32) -> Option<Self> {
        const PAGE: u64 = 4096;
        let folder = format!("/proc/{id}");
        let pages = fs::read_to_string(format!("{folder}/statm")).ok()?;
        let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
        let mut now = Self { is_idle: true, work: 0, resident: pages * PAGE };
        for thread in fs::read_dir(format!("{folder}/task")).ok()?.flatten() {
            let Ok(line) = fs::read_to_string(thread.path().join("stat")) else { continue };
            // Behind the name: the state, and far behind that the times as user and in the system.
            let fields: Vec<_> = line.rsplit(')').next()?.split_whitespace().collect();
            now.is_idle &= fields.first().is_some_and(|state| *state == "S");
            let times = fields.get(11..13)?.iter().filter_map(|time| time.parse::<u64>().ok());
            now.work += times.sum::<u64>();
        }
        Some(now)
    }
}
