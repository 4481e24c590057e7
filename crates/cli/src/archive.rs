//! Archives: a script, all that it imports and opens, and its options in one tar file, as k6 writes and reads them.
//!
//! ```text
//! metadata.json            options, environment, where the script was
//! data                     the main script
//! file/home/nobody/a.js    every file of the test by its absolute path; the main script's is a link to data
//! https/host/path          modules that came from there
//! ```

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;

mod path;
mod read;
mod write;

pub(crate) use self::{
    path::anonymous,
    read::{Archive, read},
    write::{Contents, entry_of, entry_of_remote, write},
};

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

/// Whether these are the first bytes of a tar file: its mark is at byte 257.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The name of a script that came from standard input.
pub(crate) const STDIN: &str = "file:///-";

/// The path that an address names; archives of long ago have paths in the place of addresses.
fn local_path(address: &str) -> Option<PathBuf> {
    let plain = || address.starts_with('/').then(|| PathBuf::from(address));
    brunt_script::path_of(address).or_else(plain)
}

impl Metadata {
    /// The path of the main script; `None` for one from standard input, or if it was no local file.
    fn main(&self) -> Option<PathBuf> {
        if self.filename == STDIN { None } else { local_path(&self.filename) }
    }

    fn is_remote(&self) -> bool {
        self.filename.starts_with("https://")
    }

    fn folder(&self) -> PathBuf {
        local_path(&self.pwd).unwrap_or_else(|| Path::new("/").to_path_buf())
    }
}
