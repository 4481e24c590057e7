//! Runs one client to its end and takes its measure.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use nix::sys::resource::{Usage, UsageWho, getrusage};

use crate::machine;

/// How often the memory of a running client is read.
const SAMPLE: Duration = Duration::from_millis(50);

/// The cost of one run of a client.
#[derive(Debug)]
pub(crate) struct Spent {
    /// User and system time of the process and all its threads, by the kernel's accounting.
    pub(crate) cpu: Duration,
    /// The greatest resident size, in kB (the kernel's VmHWM).
    pub(crate) rss_peak_kb: u64,
    /// Resident sizes in kB over time.
    pub(crate) rss: Vec<(Duration, u64)>,
    /// When it was started, in milliseconds since the Unix epoch.
    pub(crate) started_ms: u64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Its exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
}

/// A command on one core, or on all.
pub(crate) fn command(program: &Path, core: Option<usize>) -> Command {
    match core {
        Some(core) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(core.to_string()).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Runs the command to its end, or kills it after `limit`.
///
/// Reaps no other child meanwhile: the accounting is the difference of what all reaped children
/// used before and after.
///
/// # Errors
/// If it cannot be started, or had to be killed.
pub(crate) fn run(mut command: Command, limit: Duration) -> anyhow::Result<Spent> {
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    command.stdin(Stdio::null()).env("K6_NO_USAGE_REPORT", "true");
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let before = children_cpu()?;
    let started = Instant::now();
    let started_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
    let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));

    let mut rss = Vec::new();
    let mut rss_peak_kb = 0;
    let mut killed = false;
    let exit = loop {
        if let Some(exit) = child.try_wait()? {
            break exit;
        }
        if let Some((now, peak)) = memory(&status) {
            rss.push((started.elapsed(), now));
            rss_peak_kb = rss_peak_kb.max(peak);
        }
        if started.elapsed() > limit && !killed {
            child.kill()?;
            killed = true;
        }
        pause(SAMPLE);
    };
    let cpu = children_cpu()?.saturating_sub(before);
    let stderr = text(&mut stderr)?;
    if killed {
        bail!("{command:?} did not end within {limit:?}:\n{}", tail(&stderr));
    }
    Ok(Spent {
        cpu,
        rss_peak_kb,
        rss,
        started_ms,
        stdout: text(&mut stdout)?,
        stderr,
        code: exit.code(),
    })
}

/// The last lines of a text: enough to see what went wrong.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// A child that ends with its owner.
#[derive(Debug)]
pub(crate) struct Guard(pub(crate) Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits; this process serves no load.
#[expect(clippy::disallowed_methods, reason = "the harness drives processes, no fibers")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

fn children_cpu() -> anyhow::Result<Duration> {
    let usage: Usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros =
        |time: nix::sys::time::TimeVal| time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64;
    Ok(Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time())))
}

/// Present and greatest resident size in kB.
fn memory(status: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(status).ok()?;
    let kb = |key| machine::field(&text, key)?.split_whitespace().next()?.parse().ok();
    Some((kb("VmRSS")?, kb("VmHWM")?))
}

fn text(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
