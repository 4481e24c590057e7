//! The folder of the script and the HAR file of a session. Both are claimed before it begins.

use std::path::{Path, PathBuf};

use brunt_traffic::Recording;

use crate::failure::{Failure, Outcome};
use crate::session::{self, Wish};

/// The HAR file. It is opened at the beginning: a session is too dear to be lost for a wrong path. One that is there already keeps what it
/// holds until there is a session to write; one that we made and that stayed empty goes away again.
pub(super) struct HarFile<'a> {
    path: &'a Path,
    file: std::fs::File,
    is_ours: bool,
}

impl<'a> HarFile<'a> {
    pub(super) fn open(path: &'a Path) -> Outcome<Self> {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt};
        let is_ours = !path.exists();
        let mut options = std::fs::File::options();
        let opened = options.write(true).create(true).truncate(false).mode(0o600).open(path);
        let opened = opened.and_then(|file| {
            // Passwords come into it, and an older file may be open to others. A device or a pipe stays as it is.
            if file.metadata()?.is_file() {
                file.set_permissions(PermissionsExt::from_mode(0o600))?;
            }
            Ok(file)
        });
        let file = opened.map_err(|error| unwritten(path, error))?;
        Ok(Self { path, file, is_ours })
    }

    pub(super) fn write(mut self, recording: &Recording) -> Outcome<()> {
        let written = self.file.metadata().and_then(|metadata| {
            if metadata.is_file() {
                self.file.set_len(0)?;
            }
            brunt_traffic::har::write(recording, std::io::BufWriter::new(&self.file))
        });
        self.is_ours = false;
        written.map_err(|error| unwritten(self.path, error))
    }
}

impl Drop for HarFile<'_> {
    fn drop(&mut self) {
        if self.is_ours {
            let _ = std::fs::remove_file(self.path);
        }
    }
}

fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    let message = format!("cannot write the HAR file \"{}\"", path.display());
    Failure::from(anyhow::Error::new(error).context(message))
}

/// The folder of the script. One that we made and that stayed empty goes away again.
pub(super) struct Out {
    made: Option<PathBuf>,
}

impl Out {
    pub(super) fn claim(wish: &Wish) -> Outcome<Self> {
        session::check_folder(&wish.out, wish.force)?;
        let folder = wish.out.as_path();
        let made = (!folder.exists()).then(|| folder.to_owned());
        let written = std::fs::create_dir_all(folder)
            // Now is the time to learn that it cannot be written.
            .and_then(|()| tempfile::tempfile_in(folder));
        written.map_err(|error| {
            let message = format!("cannot write the folder \"{}\"", folder.display());
            Failure::from(anyhow::Error::new(error).context(message))
        })?;
        Ok(Self { made })
    }

    /// The folder, if it is new.
    pub(super) fn made(&self) -> Option<PathBuf> {
        self.made.clone()
    }

    pub(super) fn keep(mut self) {
        self.made = None;
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        if let Some(folder) = &self.made {
            // Refused if there is anything in it.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_har_file_is_the_owners_alone_and_an_old_one_waits_for_the_new() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.har");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        drop(HarFile::open(&path).unwrap());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        HarFile::open(&path).unwrap().write(&Recording::default()).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(b"{"));
        let new = folder.path().join("b.har");
        drop(HarFile::open(&new).unwrap());
        assert!(!new.exists());
    }

    #[test]
    fn a_script_is_not_overwritten_unasked() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b");
        let wish = |force: &str| Wish {
            out: folder.clone(),
            force: !force.is_empty(),
            replay: false,
            scribe: brunt_scribe::Options::default(),
        };
        drop(Out::claim(&wish("")).unwrap());
        assert!(!folder.exists(), "an empty folder of ours goes away");
        Out::claim(&wish("")).unwrap().keep();
        std::fs::write(folder.join("script.js"), "").unwrap();
        let Err(failure) = Out::claim(&wish("")) else { panic!("it was overwritten") };
        assert!(failure.message().contains("script.js"), "{}", failure.message());
        assert!(Out::claim(&wish("--force")).is_ok());
    }
}
