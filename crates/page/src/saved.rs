//! A page with all data in it: of a run file, or of any other document.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use brunt_runfile::{RunFile, RunFileError, page};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

use crate::template;

/// Why a page was not written.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The run file.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// Where the page goes.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The stretch of time that a page shows when it is opened; nothing is the beginning or the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// From this moment after the start of the run.
    pub from: Option<Duration>,
    /// To this one.
    pub to: Option<Duration>,
}

/// Writes the page of a run.
///
/// # Errors
/// The file is damaged, or the writer's.
pub fn saved(file: &RunFile, stretch: Stretch, out: &mut dyn Write) -> Result<(), PageError> {
    let about = file.about();
    let mut config = Map::new();
    config.insert("mode".to_owned(), json!("report"));
    if stretch != Stretch::default() {
        let from = stretch.from.unwrap_or_default();
        let to = stretch.to.unwrap_or(about.duration).min(about.duration);
        let stretch = json!({ "from": from.as_secs_f64(), "to": to.as_secs_f64() });
        config.insert("stretch".to_owned(), stretch);
    }
    // The last document that is weighed is the one that is taken.
    let packed = RefCell::new(Ok(Vec::new()));
    page::saved(file, |document| {
        let all = pack(document);
        let size = all.as_ref().map_or(0, Vec::len) as u64;
        drop(packed.replace(all));
        template::weight() + size.div_ceil(3) * 4
    })?;
    template::write(out, &title(&about.name), &Value::Object(config), &packed.into_inner()?)?;
    Ok(())
}

/// Writes the page of a run into a file; compressed if its name ends in `.gz`. An older file of that name stays as it is until the
/// page is whole.
///
/// # Errors
/// As [`saved`].
pub fn save(file: &RunFile, path: &Path) -> Result<(), PageError> {
    let is_packed = path.extension().is_some_and(|ending| ending == "gz");
    let whole = |out: &File| -> Result<(), PageError> {
        let mut out = BufWriter::new(out);
        if is_packed {
            let mut encoder = GzEncoder::new(&mut out, Compression::default());
            saved(file, Stretch::default(), &mut encoder)?;
            encoder.finish()?;
        } else {
            saved(file, Stretch::default(), &mut out)?;
        }
        Ok(out.flush()?)
    };
    // Links are followed; pipes and devices are written into.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let older = std::fs::metadata(&path);
    if older.as_ref().is_ok_and(|older| !older.is_file()) {
        return whole(&File::create(&path)?);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".brunt-");
    #[cfg(unix)]
    builder.permissions(permissions(older.ok()));
    match builder.tempfile_in(folder.unwrap_or(Path::new("."))) {
        Ok(page) => {
            whole(page.as_file())?;
            page.persist(&path).map_err(|error| error.error)?;
            Ok(())
        }
        // The folder may not be written, but the file may.
        Err(_) => whole(&File::create(&path)?),
    }
}

/// The permissions of the older file, or those of any new file (the system takes its mask off).
#[cfg(unix)]
fn permissions(older: Option<std::fs::Metadata>) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    older.map_or_else(|| std::fs::Permissions::from_mode(0o666), |older| older.permissions())
}

/// Writes a page about anything that a document tells.
///
/// # Errors
/// The writer's.
pub fn document(title: &str, document: &[u8], out: &mut dyn Write) -> io::Result<()> {
    template::write(out, title, &json!({ "mode": "report" }), &pack(document)?)
}

/// The title of a run's page.
pub fn title(name: &str) -> String {
    if name.is_empty() { "Brunt".to_owned() } else { format!("{name} – Brunt") }
}

/// Packed with gzip.
pub(crate) fn pack(document: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(document)?;
    encoder.finish()
}
