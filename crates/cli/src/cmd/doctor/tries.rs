//! Facts that no file of the kernel tells, tried: timers, the loopback interface, folders, variables.

use std::fs::read_to_string;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use brunt_doctor::{Folder, Ticks, Timers, Tried};
use brunt_fiber::timer::CoreTimer;

use crate::Context;

/// Tries all, in about a second.
pub(super) fn tried(context: &Context, vus: Option<u64>) -> Tried {
    let before = ticks();
    let timers = timers();
    let after = ticks();
    let timer = timer();
    Tried {
        vus,
        timers: Some(timers),
        ticks: before.zip(after).and_then(|(before, after)| shares(before, after)),
        coarse_timer: matches!(timer, Ok(false)),
        no_timer: timer.err(),
        no_loopback: std::net::TcpListener::bind("127.0.0.1:0")
            .err()
            .map(|error| error.to_string()),
        no_resolver: !read_to_string("/etc/resolv.conf")
            .is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with("nameserver"))),
        folders: folders(context),
        proxies: proxies(context),
        settings: settings(context),
    }
}

/// Waits of a millisecond, one after another.
fn timers() -> Timers {
    const WAIT: Duration = Duration::from_millis(1);
    const COUNT: usize = 800;
    // Nothing is ever sent: the wait ends by its time alone.
    let (_sender, receiver) = sync_channel::<()>(1);
    let mut late: Vec<u64> = (0..COUNT)
        .map(|_| {
            let began = Instant::now();
            let _ = receiver.recv_timeout(WAIT);
            began.elapsed().saturating_sub(WAIT).as_micros() as u64
        })
        .collect();
    late.sort_unstable();
    Timers { p99_us: late[COUNT * 99 / 100], max_us: late[COUNT - 1] }
}

/// The first line of `/proc/stat`, in ticks: user nice system idle iowait irq softirq steal.
fn ticks() -> Option<[u64; 8]> {
    let text = read_to_string("/proc/stat").ok()?;
    let numbers = text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let numbers: Vec<u64> = numbers.take(8).map_while(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

fn shares(before: [u64; 8], after: [u64; 8]) -> Option<Ticks> {
    let grown: Vec<u64> =
        after.iter().zip(before).map(|(after, before)| after.saturating_sub(before)).collect();
    let all: u64 = grown.iter().sum();
    let idle = grown[3] + grown[4];
    (all > 0).then(|| Ticks {
        busy: (all - idle) as f64 / all as f64,
        steal: grown[7] as f64 / all as f64,
    })
}

/// Whether the engine's own timer is exact, in a runtime such as each core has.
fn timer() -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let made = runtime.and_then(|runtime| runtime.block_on(async { CoreTimer::new() }));
    made.map(|timer| timer.is_exact()).map_err(|error| error.to_string())
}

fn folders(context: &Context) -> Vec<Folder> {
    let variable = |name: &str| {
        context.environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    let home = variable("HOME");
    let of_home = |variable: Option<PathBuf>, below: &str| {
        variable.or_else(|| Some(home.as_ref()?.join(below)))
    };
    let cache = of_home(variable("XDG_CACHE_HOME"), ".cache");
    let data = of_home(variable("XDG_DATA_HOME"), ".local/share");
    let folder =
        |path: PathBuf, purpose, remedy| Folder { fault: fault(&path), path, purpose, remedy };
    let mut folders = vec![folder(
        std::env::temp_dir(),
        "brunt record, compare --against, large bodies and archives need temporary files",
        "set TMPDIR to a folder that can be written; in a container with a read-only root mount an emptyDir or tmpfs at /tmp",
    )];
    folders.extend(cache.map(|path| {
        folder(
            path,
            "modules from https:// are fetched again in each run",
            "set XDG_CACHE_HOME to a folder that can be written",
        )
    }));
    folders.extend(data.map(|path| {
        folder(
            path,
            "brunt record can't keep its certificate authority",
            "set XDG_DATA_HOME to a folder that can be written",
        )
    }));
    folders
}

/// Why nothing can be written there, or in the nearest folder above that exists.
fn fault(path: &Path) -> Option<String> {
    let nearest = path.ancestors().find(|folder| folder.is_dir())?;
    let made = tempfile::tempfile_in(nearest).and_then(|mut file| file.write_all(b"brunt"));
    made.err().map(|error| error.to_string())
}

/// Without passwords.
fn proxies(context: &Context) -> Vec<String> {
    const NAMES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];
    let set = NAMES.into_iter().filter_map(|name| {
        let value = context.environment.get(name).filter(|value| !value.is_empty())?;
        let shown = match value.rsplit_once('@') {
            Some((_, host)) => host,
            None => value,
        };
        Some(format!("{name}={shown}"))
    });
    set.collect()
}

/// The names of variables that are read as settings of a run.
fn settings(context: &Context) -> Vec<String> {
    let names = context.environment.all().iter().filter(|(name, value)| {
        !value.is_empty() && (name.starts_with("K6_") || name.starts_with("BRUNT_"))
    });
    names.map(|(name, _)| name.clone()).collect()
}
