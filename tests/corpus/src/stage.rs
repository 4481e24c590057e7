//! The servers that scripts talk to.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

/// Demo targets of its own, with latencies that suit tests. They end when this is dropped.
#[derive(Debug)]
pub struct Stage {
    // Kept for their end.
    _targets: Vec<Target>,
    /// `DEMO_URL`, `DEMO_FAULTS`, …: one variable for each address that the demo target tells, and `DEMO_TLS` for one
    /// with TLS.
    pub env: Vec<(String, String)>,
}

/// A process that is stopped when it is no longer needed.
#[derive(Debug)]
struct Target(Child);

const DEMO: &str = "demo --json --listen 127.0.0.1:0 --seed 1 --origin-ms 20 --origin-jitter 0s --origin-slow-every 0 \
     --origin-write 2ms --redis-latency 2ms --redis-jitter 0s --redis-connect 5ms --event-delay 5ms";

const DEMO_TLS: &str =
    "demo --json --tls --listen 127.0.0.1:0 --seed 1 --faults-listen none --grpc-listen none";

impl Stage {
    /// Starts the demo target of this `brunt`.
    ///
    /// # Errors
    /// If it does not start, or tells no addresses.
    pub fn start(brunt: &Path) -> anyhow::Result<Self> {
        let (target, addresses) = start(brunt, DEMO)?;
        let env = addresses.as_object().into_iter().flatten().filter_map(|(name, value)| {
            Some((format!("DEMO_{}", name.to_uppercase()), value.as_str()?.to_owned()))
        });
        let mut env: Vec<_> = env.collect();
        let (with_tls, addresses) = start(brunt, DEMO_TLS)?;
        let url = addresses["url"].as_str().context("the address of the target with TLS")?;
        env.push(("DEMO_TLS".to_owned(), url.to_owned()));
        Ok(Self { _targets: vec![target, with_tls], env })
    }
}

fn start(brunt: &Path, words: &str) -> anyhow::Result<(Target, Value)> {
    let mut command = Command::new(brunt);
    command.args(words.split_whitespace()).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| brunt.display().to_string())?;
    let stdout = child.stdout.take().context("stdout is a pipe");
    let target = Target(child);
    let mut line = String::new();
    BufReader::new(stdout?).read_line(&mut line)?;
    let addresses = serde_json::from_str(&line).context("the demo target's line")?;
    Ok((target, addresses))
}

impl Drop for Target {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
