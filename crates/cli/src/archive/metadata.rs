//! The metadata of a test in an archive.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// The content of `metadata.json`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metadata {
    /// The URL of the main script.
    pub(crate) filename: String,
    /// The URL of the working directory; scripts from standard input import from there.
    pub(crate) pwd: String,
    /// `__ENV` as it was given.
    pub(crate) env: BTreeMap<String, String>,
    /// All layers together, not derived.
    pub(crate) options: Value,
    /// The compatibility mode is `extended`.
    pub(crate) extended: bool,
}

/// The name of a script that came from standard input.
pub(crate) const STDIN: &str = "file:///-";

impl Metadata {
    /// The path of the main script; `None` for one from standard input, or if it was no local file.
    pub(super) fn main(&self) -> Option<PathBuf> {
        if self.filename == STDIN { None } else { local_path(&self.filename) }
    }

    pub(super) fn is_remote(&self) -> bool {
        self.filename.starts_with("https://")
    }

    pub(super) fn folder(&self) -> PathBuf {
        local_path(&self.pwd).unwrap_or_else(|| Path::new("/").to_path_buf())
    }
}

/// The path that an address names; archives of long ago have paths in the place of addresses.
fn local_path(address: &str) -> Option<PathBuf> {
    let plain = || address.starts_with('/').then(|| PathBuf::from(address));
    brunt_script::path_of(address).or_else(plain)
}
