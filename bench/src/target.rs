//! Brunt's own demo target as a process: the server of the figures about bodies.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::Context as _;

use crate::process::{self, Guard};

/// A running demo target; stopped when dropped.
#[derive(Debug)]
pub(crate) struct Target {
    _child: Guard,
    url: String,
    grpc: String,
}

impl Target {
    /// Starts it, on one core if asked, and waits until it says where it listens.
    ///
    /// # Errors
    /// If it does not start.
    pub(crate) fn start(brunt: &Path, core: Option<usize>) -> anyhow::Result<Self> {
        let mut command = process::command(brunt, core);
        command.args(["demo", "--json", "--workers", "1", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Guard(command.spawn().context("starting `brunt demo`")?);
        let stdout = child.0.stdout.take().context("stdout is a pipe")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let told: serde_json::Value =
            serde_json::from_str(&line).context("`brunt demo --json` says where it listens")?;
        let url = told["url"].as_str().context("`brunt demo --json` tells its url")?.to_owned();
        let grpc = told["grpc"].as_str().context("`brunt demo --json` tells its gRPC port")?;
        Ok(Self { _child: child, url, grpc: grpc.to_owned() })
    }

    /// The address of the gRPC port.
    pub(crate) fn grpc(&self) -> &str {
        &self.grpc
    }

    /// The address of a path that begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        [&self.url, path].concat()
    }
}
