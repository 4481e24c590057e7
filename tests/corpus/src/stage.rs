//! What scripts talk to.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

/// A demo target of its own, with latencies that suit tests. It ends when this is dropped.
#[derive(Debug)]
pub struct Stage {
    child: Child,
    /// `DEMO_URL`, `DEMO_FAULTS`, …: one variable for each address that the demo target tells.
    pub env: Vec<(String, String)>,
}

const DEMO: &str = "demo --json --listen 127.0.0.1:0 --seed 1 --origin-ms 20 --origin-jitter 0s --origin-slow-every 0 \
     --origin-write 2ms --redis-latency 2ms --redis-jitter 0s --redis-connect 5ms --event-delay 5ms";

impl Stage {
    /// Starts the demo target of this `brunt`.
    ///
    /// # Errors
    /// If it does not start, or tells no addresses.
    pub fn start(brunt: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(brunt);
        command.args(DEMO.split_whitespace()).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| brunt.display().to_string())?;
        let stdout = child.stdout.take().context("stdout is a pipe")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let addresses: Value = serde_json::from_str(&line).context("the demo target's line")?;
        let env = addresses.as_object().into_iter().flatten().filter_map(|(name, value)| {
            Some((format!("DEMO_{}", name.to_uppercase()), value.as_str()?.to_owned()))
        });
        Ok(Self { child, env: env.collect() })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
