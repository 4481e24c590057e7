//! The pages of the run: `--report`, `--ui`, and those of `--out web-dashboard`. They are made of a run file, which is a temporary one
//! unless `--out run` asks for one that stays.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brunt_engine::{Live, RunReport};
use brunt_outputs::{Page, stand_back};
use brunt_page::{Feed, PageError};
use brunt_runfile::RunFile;
use brunt_schedule::Scenario;
use tempfile::TempDir;

use super::{
    run_file::{self, Recording, led::LedRecording},
    signal::SignalWatch,
    ui::{Noting, Serving, Ui},
};
use crate::{
    api::Subject,
    exit::Exit,
    failure::{Failure, Outcome},
    settings::RunSettings,
};

/// The pages that were asked for.
pub(crate) struct Pages {
    report: Option<PathBuf>,
    ui: Option<Ui>,
    /// The folder of a run file that goes away.
    folder: Option<TempDir>,
    /// The run as pages show it while it goes on.
    pub(crate) feed: Feed,
    serving: Option<Serving>,
    /// Somebody may look while it goes on.
    is_live: bool,
}

impl Pages {
    /// Sees to it that there is a run file if a page needs one, and that pages can be written and served.
    ///
    /// # Errors
    /// A file can't be written, or an address is taken.
    pub(crate) fn prepare(
        settings: &RunSettings,
        outputs: &mut Vec<String>,
        signals: &SignalWatch,
    ) -> Outcome<Self> {
        let report = settings.report.clone();
        if let Some(path) = &report {
            // Better now than after the test.
            try_to_write(path).map_err(|error| {
                let what = format!("--report: \"{}\" can't be written: {error}", path.display());
                Failure::new(Exit::Other, anyhow::Error::msg(what))
            })?;
        }
        let ui = settings.ui.as_deref().map(Ui::listen).transpose()?;
        let is_dashboard = |output: &String| output.split('=').next() == Some("web-dashboard");
        let has_dashboard = outputs.iter().any(is_dashboard);
        let is_needed = report.is_some() || ui.is_some() || has_dashboard;
        let folder = (is_needed && !run_file::is_wanted(outputs))
            .then(|| temporary(report.as_deref()))
            .transpose();
        let feed = Feed::default();
        let folder = match folder {
            // The parts that k6 shows of a test need no file.
            Err(failure) if report.is_none() && ui.is_none() => {
                log::warn!(
                    "the web dashboard has its events alone, neither page nor report: {}",
                    failure.error
                );
                feed.close();
                None
            }
            folder => folder?,
        };
        if let Some(folder) = &folder {
            signals.remove(folder.path());
            outputs.push(format!("run={}", folder.path().join("run.brunt").display()));
        }
        Ok(Self { report, ui, is_live: false, folder, feed, serving: None })
    }

    /// The file of the report, as the description shows it.
    pub(crate) fn report(&self) -> Option<String> {
        self.report.as_ref().map(|path| path.display().to_string())
    }

    /// The address of the live page, with its token if it needs one.
    pub(crate) fn address(&self) -> Option<String> {
        self.ui.as_ref().map(|ui| ui.address().to_owned())
    }

    /// The descriptions of outputs without that of a run file that goes away.
    pub(crate) fn shown(&self, mut outputs: Vec<String>) -> Vec<String> {
        if self.folder.is_some() {
            outputs.pop();
        }
        outputs
    }

    /// The run can be watched now: serves its page, if anybody asked for that.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn serve(
        &mut self,
        recording: &Recording,
        live: Live,
        (dashboards, scenarios): (&[Page], &[Scenario]),
    ) -> Outcome<()> {
        self.follow(recording.path(), dashboards)?;
        if let Some(ui) = self.ui.take() {
            let notes = recording.notes();
            let note: Noting = Arc::new(move |text| notes.add(text));
            self.serving = Some(ui.serve(Arc::new(live), &self.feed, note, scenarios)?);
        }
        Ok(())
    }

    /// The same for a test that this process leads on other machines.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn serve_led(
        &mut self,
        recording: &LedRecording,
        led: Arc<dyn Subject>,
        (dashboards, scenarios): (&[Page], &[Scenario]),
    ) -> Outcome<()> {
        self.follow(recording.path(), dashboards)?;
        if let Some(ui) = self.ui.take() {
            let run = recording.run();
            let note: Noting = Arc::new(move |text| run.remark(text));
            self.serving = Some(ui.serve(led, &self.feed, note, scenarios)?);
        }
        Ok(())
    }

    /// Shows the run file as it grows to those who look, if anybody may.
    ///
    /// # Errors
    /// The system gives no thread.
    fn follow(&mut self, file: Option<PathBuf>, dashboards: &[Page]) -> Outcome<()> {
        let is_served = self.ui.is_some() || dashboards.iter().any(|page| page.address.is_some());
        match file {
            _ if !is_served => {}
            Some(path) => {
                self.feed.follow(&path, stand_back)?;
                self.is_live = true;
            }
            None => self.feed.close(),
        }
        Ok(())
    }

    /// The run is over: `end` says so in the run file. Writes the report, and what web dashboards export.
    ///
    /// A page that can't be written changes no exit code: it is logged.
    pub(crate) fn finish(
        &self,
        report: &RunReport,
        dashboards: &[Page],
        end: impl FnOnce() -> Option<PathBuf>,
    ) {
        if self.is_live {
            self.feed.let_go();
        }
        let file = end();
        if let Some(serving) = &self.serving {
            serving.ended(report);
        }
        if self.is_live {
            self.feed.end();
        }
        let Some(file) = file else { return };
        let exports = dashboards.iter().filter_map(|page| page.export.as_deref());
        let exports =
            exports.map(|path| (Path::new(path), "The report of the web dashboard is lost"));
        let ours = self.report.as_deref().map(|path| (path, "The report is not written"));
        for (path, lost) in exports.chain(ours) {
            if let Err(error) = write(&file, path) {
                let error = format!("\"{}\" cannot be written: {error}", path.display());
                log::error!(error = error.as_str(); "{lost}");
            }
        }
    }

    /// People may go on looking at the live page.
    pub(crate) fn linger(&self, failed: bool, signals: &SignalWatch, quiet: bool) {
        if let Some(serving) = &self.serving {
            serving.linger(failed, signals, quiet);
        }
    }
}

/// Whether a file can be written. An older one stays as it is, a new one does not stay.
fn try_to_write(path: &Path) -> std::io::Result<()> {
    if is_special(path) {
        return Ok(());
    }
    match OpenOptions::new().append(true).create_new(true).open(path) {
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().append(true).create(true).open(path).map(drop)
        }
        Err(error) => Err(error),
    }
}

/// Whether this is a pipe or a device, of which a trial would wait for its reader, or be read.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// A folder that goes away: beside the report, where there is room for both, or among temporary files.
fn temporary(report: Option<&Path>) -> Outcome<TempDir> {
    let report = report.filter(|path| !is_special(path));
    let beside = report.map(|path| path.parent().filter(|folder| !folder.as_os_str().is_empty()));
    let mut builder = tempfile::Builder::new();
    let folder = match beside {
        None => builder.prefix("brunt-").tempdir(),
        Some(folder) => builder.prefix(".brunt-").tempdir_in(folder.unwrap_or(Path::new("."))),
    };
    folder.map_err(|error| {
        let what = format!("a temporary run file can't be made: {error}");
        Failure::new(Exit::Other, anyhow::Error::msg(what))
            .hint("--out run=FILE puts the run file where you like, and keeps it")
    })
}

fn write(file: &Path, path: &Path) -> Result<(), PageError> {
    brunt_page::save(&RunFile::open(file)?, path)
}
