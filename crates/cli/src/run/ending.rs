//! The end of a test: summary, files, warnings about the run itself.

use std::{fmt::Write as _, path::Path, time::SystemTime};

use brunt_engine::RunReport;
use brunt_metrics::{Dropped, OTHERS, TAG_MAX};
use brunt_summary::{
    humanize::Unit,
    json::{self, SummaryContext, machine},
    text::{self, Mode, TextOptions},
};
use brunt_verdict::Verdict;
use serde_json::Value;

use super::host::{Answer, Files, TestRunner};
use crate::{
    Context,
    agents::lead::agents::Agents,
    secrets,
    settings::{RunSettings, SummaryMode},
    version::K6_VERSION,
};

/// How the end is told.
pub(crate) struct Ending<'a> {
    pub(crate) context: &'a Context,
    pub(crate) settings: &'a RunSettings,
    /// `summaryTimeUnit`.
    pub(crate) time_unit: Option<Unit>,
    /// `handleSummaryTimeout`.
    pub(crate) time_limit: std::time::Duration,
    /// The text of the script.
    pub(crate) script: &'a str,
    /// The verdict on the run; none if its load was made elsewhere.
    pub(crate) verdict: Option<&'a Verdict>,
    /// Where the run's randomness began.
    pub(crate) seed: Option<i64>,
    /// How each agent fared, if there were some.
    pub(crate) agents: Option<&'a Agents>,
    /// Whether the script exports `handleSummary`; without it, its data are not made, which may be large.
    pub(crate) has_handle_summary: bool,
    /// Whether it may be called, if it is there: it is not called a second time.
    pub(crate) calls_handle_summary: bool,
}

/// The beginning of k6's message about any fault of the summary.
const UNHANDLED: &str = "failed to handle the end-of-test summary";

impl Ending<'_> {
    /// Writes the summary to wherever it goes. Failing to do so changes no exit code: it is logged.
    pub(crate) fn write<R: TestRunner>(&self, report: &RunReport, runner: &R) {
        let Some(mode) = self.mode() else { return };
        let data = if self.has_handle_summary { self.data(report) } else { String::new() };
        let usual = || vec![("stdout".to_owned(), self.text(report, mode))];
        // k6's newer shape is no JavaScript object there: what scripts write into it is refused.
        let exports = self.settings.summary_export.is_some() && !self.settings.new_summary_shape;
        let mut changed = None;
        let answer = if self.calls_handle_summary {
            runner.handle_summary(data, self.time_limit, exports.then_some(&mut changed))
        } else {
            Answer::Usual
        };
        let mut files = match answer {
            Answer::Usual => usual(),
            Answer::Write(files) => files,
            Answer::Failed(problem) => {
                log::error!(hint = "script exception"; "{problem}");
                usual()
            }
            Answer::Rejected(problem) => {
                log::error!("{problem}");
                Files::new()
            }
            // As in k6 nothing is written then, not even the export.
            Answer::Unusable(problem) => {
                log::error!(error = problem.as_str(); "{UNHANDLED}");
                return;
            }
        };
        if let Some(path) = &self.settings.summary_export {
            match self.export(report, changed) {
                Ok(export) => {
                    files.push((path.to_string_lossy().into_owned(), export.into_bytes()));
                }
                Err(problem) => {
                    let error = format!(
                        "--summary-export: handleSummary() left data of which no summary can be made: {problem}"
                    );
                    log::error!(error = error.as_str(); "{UNHANDLED}");
                    return;
                }
            }
        }
        self.save(files);
    }

    /// The file of `--summary-export`. `changed`: what `handleSummary` made of its data, if there is such a function.
    fn export(
        &self,
        report: &RunReport,
        changed: Option<Result<String, String>>,
    ) -> Result<String, String> {
        if self.settings.new_summary_shape {
            return Ok(json::pretty(&self.machine_data(report)));
        }
        let Some(changed) = changed else {
            let setup_data = report.setup_data.as_deref();
            let setup_data = setup_data.and_then(|text| serde_json::from_str(text).ok());
            let export = json::summary_export(&report.summary, setup_data);
            return Ok(if self.agents.is_none() {
                export
            } else {
                let export = serde_json::from_str(&export).map_err(|error| error.to_string())?;
                json::pretty(&self.with_agents(export))
            });
        };
        let data: Value = serde_json::from_str(&changed?).map_err(|error| error.to_string())?;
        json::exported(data).map(|export| json::pretty(&self.with_agents(export)))
    }

    /// k6 has no agents, so that its shape has room for them.
    fn with_agents(&self, mut export: Value) -> Value {
        if let (Some(agents), Value::Object(all)) = (self.agents, &mut export) {
            all.insert("agents".to_owned(), agents.json());
        }
        export
    }

    fn mode(&self) -> Option<Mode> {
        match self.settings.summary_mode {
            SummaryMode::Compact => Some(Mode::Compact),
            SummaryMode::Full => Some(Mode::Full),
            SummaryMode::Legacy => Some(Mode::Legacy),
            SummaryMode::Disabled => None,
        }
    }

    /// The usual text.
    fn text(&self, report: &RunReport, mode: Mode) -> Vec<u8> {
        let colour = self.context.global.color && self.context.screen.stdout_is_terminal();
        let options = TextOptions {
            mode,
            colour,
            time_unit: self.time_unit,
            routes: !self.settings.no_routes,
            failures: self.settings.show_failures,
        };
        let mut text = text::render(&report.summary, &options);
        text.extend(self.agents.map(Agents::text));
        let mut text = text::surrounded(&text);
        if let Some(redactor) = secrets::redactor() {
            secrets::redact(redactor, &mut text);
        }
        text.into_bytes()
    }

    /// The data of the summary in k6's newer shape.
    fn machine_data(&self, report: &RunReport) -> Value {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut now = Vec::new();
        brunt_moment::Stamps::new(jiff::tz::TimeZone::system())
            .push_nano(&mut now, since.unwrap_or_default().as_nanos() as u64);
        let now = String::from_utf8_lossy(&now);
        let mut data = machine::summary_data(
            &report.summary,
            &machine::MachineContext {
                script: self.script,
                execution: "local",
                generated_at: &now,
                k6_version: K6_VERSION,
                full: self.settings.summary_mode == SummaryMode::Full,
            },
        );
        if let Some(verdict) = self.verdict {
            data["verdict"] = verdict.json();
        }
        if let Some(seed) = self.seed {
            data["seed"] = seed.into();
        }
        if let Some(agents) = self.agents {
            data["agents"] = agents.json();
        }
        data
    }

    /// The argument of `handleSummary`, as JSON text.
    fn data(&self, report: &RunReport) -> String {
        if self.settings.new_summary_shape {
            return self.machine_data(report).to_string();
        }
        json::handle_summary_text(
            &report.summary,
            &SummaryContext {
                no_color: !self.context.global.color,
                is_stdout_tty: self.context.screen.stdout_is_terminal(),
                is_stderr_tty: self.context.screen.stderr_is_terminal(),
                time_unit: self.time_unit,
            },
            &[
                ("verdict", self.verdict.map(|verdict| verdict.json().to_string()).as_deref()),
                ("seed", self.seed.map(|seed| seed.to_string()).as_deref()),
                ("agents", self.agents.map(|agents| agents.json().to_string()).as_deref()),
                ("setup_data", report.setup_data.as_deref()),
            ],
        )
    }

    /// Writes each, whatever becomes of the others.
    fn save(&self, files: Files) {
        let mut problems = String::new();
        for (name, content) in files {
            let written = match name.as_str() {
                "stdout" => self.context.screen.stdout(&String::from_utf8_lossy(&content)),
                "stderr" => {
                    self.context.screen.stderr(&String::from_utf8_lossy(&content));
                    Ok(())
                }
                path => std::fs::write(Path::new(path), &content),
            };
            if let Err(error) = written {
                let error = error.to_string();
                let error = error.split(" (os error").next().unwrap_or_default().to_lowercase();
                // Writing to a String can't fail.
                let _ = write!(problems, "\n\t- could not open '{name}': open {name}: {error}");
            }
        }
        if !problems.is_empty() {
            let error = format!("Could not save some summary information:{problems}");
            log::error!(error = error.as_str(); "{UNHANDLED}");
        }
    }
}

/// Warns of what makes the numbers worth less.
pub(crate) fn warn(report: &RunReport) {
    if report.started && report.failure.is_none() && report.iterations_complete == 0 {
        log::warn!("No script iterations fully finished, consider making the test duration longer");
    }
    super::routes::warn_of_missing(&report.summary);
    told_dropped(&report.summary.dropped);
}

/// Says once what the tables of measurements had no room for.
fn told_dropped(dropped: &Dropped) {
    let Dropped { samples: _, checks, groups, not_numbers, resets: _, crowded, stale } = *dropped;
    let cut = brunt_metrics::texts_cut();
    if crowded > 0 {
        log::warn!(
            "tags had more new values than can be told apart: \"{OTHERS}\" replaces {crowded} of them. Each sample \
             counts in its metric all the same; give tags fewer values, such as one `name` for changing URLs"
        );
    }
    if cut > 0 {
        log::warn!(
            "{cut} values of tags or names of checks and groups were longer than {} KiB and were cut",
            TAG_MAX / 1024
        );
    }
    for (count, what) in [
        (
            checks,
            "results of checks are not in the list of checks (the metric has them): there are too many different checks",
        ),
        (
            groups,
            "times a group was entered that is not in the list of groups: there are too many different groups",
        ),
        (not_numbers, "values were no numbers and are not counted"),
        (
            stale,
            "values are lost: their series had been given up (a fault in Brunt, please report it)",
        ),
    ] {
        if count > 0 {
            log::warn!("{count} {what}");
        }
    }
}
