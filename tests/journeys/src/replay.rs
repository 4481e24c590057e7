//! A script of a journey, run against the application that was recorded, which meanwhile has begun anew.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use brunt_correlate::{Plan, correlate};
use brunt_scribe::{Content, Options, Script};
use serde_json::Value;

use crate::app::Truth;
use crate::browser::Taken;
use crate::figure::Figure;
use crate::foretold::wrong;
use crate::journeys::Journey;
use crate::needs::{Need, needs};
use crate::site::Site;
use crate::user::User;

/// Users of a replay.
pub const USERS: usize = 5;
/// Iterations of a replay, of all users together.
pub const ITERATIONS: usize = 15;
/// Seconds after which a run is killed.
const PATIENCE: &str = "90";
/// Texts that are shorter may be in a script by chance.
const TELLING: usize = 6;

/// A journey with its application, what was recorded of it, and what that became.
#[derive(Debug)]
pub struct Rehearsal {
    /// The application.
    pub site: Site,
    /// The session.
    pub taken: Taken,
    /// The same clicks, with another state of the application.
    pub other: Taken,
    /// The values that a script can't repeat.
    pub needs: Vec<Need>,
    /// The plan of the script.
    pub plan: Plan,
    /// The script.
    pub script: Script,
    seed: u64,
}

/// The outcome of a replay.
#[derive(Debug)]
pub struct Replayed {
    /// The exit code; −1 if a signal killed it.
    pub code: i32,
    /// The log.
    pub log: String,
    /// Checks that passed, and how often.
    pub passed: BTreeMap<String, u64>,
    /// Checks that failed, and how often.
    pub failed: BTreeMap<String, u64>,
    /// The application's own count.
    pub truth: Truth,
}

impl Rehearsal {
    /// Records a journey twice and writes the script of the first recording.
    pub fn new(journey: &Journey, seed: u64) -> Self {
        let (site, user) = (journey.start(seed), User::new(0));
        let taken = journey.record(&site, &user, seed);
        site.renew(seed + 1);
        let other = journey.record(&site, &user, seed + 1);
        let needs = needs(&taken, &other);
        let plan = correlate(&taken.recording);
        let script = brunt_scribe::write(&taken.recording, &plan, &Options::default());
        Self { site, taken, other, needs, plan, script, seed }
    }

    /// Counts what the plan finds.
    pub fn figure(&self) -> Figure {
        Figure::new(&self.plan, &self.needs)
    }

    /// The texts that the plan would send wrongly if it had to repeat the other recording.
    pub fn wrong(&self) -> Vec<String> {
        wrong(&self.plan, &self.taken, &self.other)
    }

    /// Names of files of the script, and what of the recording is still in them and must not be.
    pub fn literals(&self) -> Vec<(String, &Need)> {
        let mut all = Vec::new();
        for (path, content) in &self.script.files {
            let Content::Bytes(bytes) = content else { continue };
            let text = String::from_utf8_lossy(bytes);
            let telling = self.needs.iter().filter(|need| need.text.len() >= TELLING);
            let here = telling.filter(|need| text.contains(&need.text));
            all.extend(here.map(|need| (path.display().to_string(), need)));
        }
        all
    }

    /// Writes the script into a folder.
    ///
    /// # Errors
    /// A file can't be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, content) in &self.script.files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            match content {
                Content::Bytes(bytes) | Content::Secret(bytes) => std::fs::write(path, bytes)?,
                Content::Copy(from) => drop(std::fs::copy(from, path)?),
            }
        }
        Ok(())
    }

    /// Runs the script in this folder against the application, which begins anew.
    ///
    /// # Errors
    /// The binary can't be started, or a file can't be read.
    pub fn replay(&self, brunt: &Path, folder: &Path) -> io::Result<Replayed> {
        self.site.renew(self.seed + 2);
        let summary = folder.join("summary.json");
        // A run that fails early leaves the one before.
        let _ = std::fs::remove_file(&summary);
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", PATIENCE]).arg(brunt);
        // Without pauses.
        command.args(["run", "--quiet", "script.js", "--env", "PACE=0", "--summary-export"]);
        command.arg(&summary);
        command.args(["--vus", &USERS.to_string(), "--iterations", &ITERATIONS.to_string()]);
        command.current_dir(folder).env_clear().env("HOME", folder).stdin(Stdio::null());
        let output = command.output()?;
        let mut replayed = Replayed {
            code: output.status.code().unwrap_or(-1),
            log: String::from_utf8_lossy(&output.stderr).into_owned(),
            passed: BTreeMap::new(),
            failed: BTreeMap::new(),
            truth: self.site.truth(),
        };
        if let Ok(text) = std::fs::read_to_string(&summary) {
            let summary: Value = serde_json::from_str(&text)?;
            replayed.count(&summary["root_group"]);
        }
        Ok(replayed)
    }
}

impl Replayed {
    fn count(&mut self, group: &Value) {
        for check in group["checks"].as_object().into_iter().flat_map(|checks| checks.values()) {
            let name = check["name"].as_str().unwrap_or_default();
            let mut add = |to: &str, counts: fn(&mut Self) -> &mut BTreeMap<String, u64>| {
                let count = check[to].as_u64().unwrap_or_default();
                if count > 0 {
                    *counts(self).entry(name.to_owned()).or_default() += count;
                }
            };
            add("passes", |it| &mut it.passed);
            add("fails", |it| &mut it.failed);
        }
        for inner in group["groups"].as_object().into_iter().flat_map(|groups| groups.values()) {
            self.count(inner);
        }
    }

    /// Whether each iteration came to its end, and nothing was refused.
    pub fn is_proven(&self) -> bool {
        let is_done = self.truth.done == ITERATIONS && self.truth.refused.is_empty();
        self.code == 0 && is_done && self.failed.is_empty() && !self.passed.is_empty()
    }

    /// The faults, in a few lines.
    pub fn story(&self) -> String {
        let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
        for why in &self.truth.refused {
            *refused.entry(why).or_default() += 1;
        }
        let log: Vec<&str> = self.log.lines().take(12).collect();
        format!(
            "exit code {}, {} of {ITERATIONS} journeys done\nrefused: {refused:#?}\nfailed checks: {:#?}\n{}",
            self.code,
            self.truth.done,
            self.failed,
            log.join("\n")
        )
    }
}
