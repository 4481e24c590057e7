//! `FileStream`: a file that is read while it is sent.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use brunt_http::{FileRange, Payload};
use brunt_js::Host;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Thrown};

use super::super::part::FilePart;
use crate::globals::text::needs_new;
use crate::throwing::throw;

/// A file to be sent. Never whole in memory, and open only while it is on its way.
#[derive(Clone)]
pub(crate) struct FileStream {
    path: Arc<Path>,
    /// How large it was when it was last looked at.
    size: Rc<Cell<u64>>,
}

impl Class for FileStream {
    const NAME: &'static std::ffi::CStr = c"FileStream";

    fn members() -> &'static Members {
        static NONE: LazyLock<Members> = LazyLock::new(Members::new);
        &NONE
    }
}

pub(super) fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    needs_new(&call, "FileStream")?;
    if call.len() != 1 {
        return Err(throw(ctx, "FileStream takes one argument, the path of the file"));
    }
    let name = call.argument(0).to_string_lossy()?;
    // As `import.meta.resolve` gives it.
    let url = if name.starts_with("file://") { brunt_js::path_of(&name) } else { None };
    let path = url.unwrap_or_else(|| name.clone().into());
    if Host::of(ctx).program().files().is_sealed() {
        return Err(cannot_open(ctx, &name, OUTSIDE));
    }
    let size = size_of_file(&path).map_err(|why| cannot_open(ctx, &name, &why))?;
    ctx.instance(FileStream { path: path.into(), size: Rc::new(Cell::new(size)) })
}

/// Why a test in an archive streams no file.
pub(super) const OUTSIDE: &str =
    "files of the disk are not read by a test in an archive; open() them instead";

/// Opens the file, so that what is wrong with it is told at once.
fn size_of_file(path: &Path) -> Result<u64, String> {
    let no_file = |error: std::io::Error| {
        let text = error.to_string();
        // The system's own words, as Go has them.
        text.split(" (os error").next().unwrap_or_default().to_lowercase()
    };
    // Looked at first: opening a named pipe would wait for whoever writes to it.
    let meta = fs::metadata(path).map_err(no_file)?;
    if meta.is_dir() {
        return Err("is a directory".to_owned());
    }
    if !meta.is_file() {
        return Err("is not a regular file".to_owned());
    }
    File::open(path).map_err(no_file)?;
    Ok(meta.len())
}

fn cannot_open(ctx: Ctx<'_>, name: &str, why: &str) -> Thrown {
    throw(ctx, &format!("open {name}: {why}"))
}

impl FileStream {
    /// The file as a part of a form, under its own name.
    pub(crate) fn part(&self) -> FilePart {
        let name = self.path.file_name().unwrap_or_default();
        FilePart {
            payload: self.payload(),
            is_text: false,
            filename: name.to_string_lossy().into_owned(),
            content_type: "application/octet-stream".to_owned(),
        }
    }

    /// The file from its beginning, as large as it is now.
    pub(crate) fn payload(&self) -> Payload {
        // If it is gone, sending it fails and says so.
        if let Ok(meta) = fs::metadata(&self.path) {
            self.size.set(meta.len());
        }
        Payload::from(FileRange { path: Arc::clone(&self.path), start: 0, len: self.size.get() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_measured_each_time_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "four").unwrap();
        let size = size_of_file(&path).unwrap();
        let stream = FileStream { path: path.as_path().into(), size: Rc::new(Cell::new(size)) };
        assert_eq!(stream.payload().len(), Some(4));
        fs::write(&path, "seven!!").unwrap();
        assert_eq!(stream.payload().len(), Some(7));
        fs::remove_file(&path).unwrap();
        assert_eq!(stream.payload().len(), Some(7));
    }

    #[test]
    fn what_is_no_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(size_of_file(folder.path()).unwrap_err(), "is a directory");
        let missing = folder.path().join("missing");
        assert_eq!(size_of_file(&missing).unwrap_err(), "no such file or directory");
        assert_eq!(size_of_file(Path::new("/dev/null")).unwrap_err(), "is not a regular file");
    }
}
