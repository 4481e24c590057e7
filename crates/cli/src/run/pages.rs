//! The page of the run: `--report`. It is made of a run file, which is a temporary one if nobody asks for one that stays.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use brunt_page::{PageError, Stretch};
use brunt_runfile::RunFile;
use tempfile::TempDir;

use super::run_file;
use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    settings::RunSettings,
};

/// The pages that were asked for.
pub(super) struct Pages {
    report: Option<PathBuf>,
    /// The folder of a run file that nobody asked for.
    folder: Option<TempDir>,
}

impl Pages {
    /// Sees to it that there is a run file if a page needs one, and that the report can be written.
    ///
    /// # Errors
    /// A file can't be written.
    pub(super) fn prepare(settings: &RunSettings, outputs: &mut Vec<String>) -> Outcome<Self> {
        let report = settings.report.clone();
        if let Some(path) = &report {
            // Better now than after the test. What is there stays until then.
            OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
                let what = format!("--report: \"{}\" can't be written: {error}", path.display());
                Failure::new(Exit::Other, anyhow::Error::msg(what))
            })?;
        }
        let is_needed = report.is_some() && !run_file::is_wanted(outputs);
        let folder = is_needed.then(|| temporary(report.as_deref())).transpose()?;
        if let Some(folder) = &folder {
            outputs.push(format!("run={}", folder.path().join("run.brunt").display()));
        }
        Ok(Self { report, folder })
    }

    /// As the description shows it.
    pub(super) fn report(&self) -> Option<String> {
        self.report.as_ref().map(|path| path.display().to_string())
    }

    /// The descriptions of outputs without that of a run file that goes away.
    pub(super) fn shown(&self, mut outputs: Vec<String>) -> Vec<String> {
        if self.folder.is_some() {
            outputs.pop();
        }
        outputs
    }

    /// The run is over, and this is its file. A page that can't be written changes no exit code: it is logged.
    pub(super) fn finish(self, file: Option<&Path>) {
        if let (Some(path), Some(file)) = (&self.report, file)
            && let Err(error) = write(file, path)
        {
            let (path, error) = (path.display().to_string(), error.to_string());
            log::error!(file = path.as_str(), error = error.as_str(); "The report is not written");
        }
    }
}

/// A folder that goes away: beside the report, where there is room for both, or among temporary files.
fn temporary(report: Option<&Path>) -> Outcome<TempDir> {
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
    let file = RunFile::open(file)?;
    let mut out = BufWriter::new(File::create(path)?);
    brunt_page::saved(&file, Stretch::default(), &mut out)?;
    Ok(out.flush()?)
}
