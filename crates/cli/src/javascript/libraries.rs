//! Libraries of jslib, answered from within instead of over the network.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use brunt_modules::jslib;
use brunt_script::Files;

/// Files, and before them the libraries that are built in. Files answered here are in no archive: k6 fetches them, and
/// Brunt has them.
pub(super) struct Libraries {
    files: Arc<dyn Files>,
    /// `--no-builtin-jslib` was not given.
    built_in: bool,
}

impl Libraries {
    pub(super) fn before(files: Arc<dyn Files>, built_in: bool) -> Arc<dyn Files> {
        Arc::new(Self { files, built_in })
    }
}

impl Files for Libraries {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }

    fn look_alike(&self, path: &Path) -> Option<PathBuf> {
        self.files.look_alike(path)
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        if self.built_in
            && let Some(text) = jslib::source(url)
        {
            return Ok(text.into());
        }
        self.files.fetch(url).map_err(|problem| {
            if self.built_in && jslib::is_of_jslib(url) {
                format!("{problem}; built in, without a download, are {}", jslib::known())
            } else {
                problem
            }
        })
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.files.current_dir()
    }
}
