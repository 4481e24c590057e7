//! Any bytes as an archive; or, if the first byte says so, any names and contents in a sound tar file.
//!
//! Nothing may lead out of it or cost more than it is long, and an archive is the same after it was written and read again.
#![no_main]
#![allow(dead_code, reason = "of these files only the reader and the writer are tried")]

use std::collections::BTreeMap;
use std::path::{Component, PathBuf};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;

// The files of `cli` that read and write archives, and of the crates that they name no more than they need: the others
// would bring a JavaScript compiler into this build.
extern crate self as brunt_js;
extern crate self as brunt_script;

pub use brunt_quickjs::CommonBytes;
pub type FileMap = BTreeMap<PathBuf, Arc<CommonBytes>>;
pub use files::Files;

pub enum Entry {
    Path(PathBuf),
    Remote(String),
    Stdin(Vec<u8>),
}

pub fn path_of(url: &str) -> Option<PathBuf> {
    url::Url::parse(url).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

mod version {
    pub(crate) const K6_VERSION: &str = "2.2.0";
}

#[path = "../../crates/script/src/files.rs"]
mod files;
#[path = "../../crates/cli/src/archive/metadata.rs"]
mod metadata;
#[path = "../../crates/cli/src/archive/path.rs"]
mod path;
#[path = "../../crates/cli/src/archive/read.rs"]
mod read;
#[path = "../../crates/cli/src/archive/write.rs"]
mod write;

use metadata::{Metadata, STDIN};
use path::anonymous;
use read::Archive;

/// A tar file of what the bytes name: each entry is its kind, its name and its content, with their lengths before them.
fn packed(mut rest: &[u8]) -> Vec<u8> {
    fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
        let (&size, after) = rest.split_first()?;
        let (text, after) = after.split_at_checked(usize::from(size))?;
        *rest = after;
        Some(text)
    }
    let mut tar = tar::Builder::new(Vec::new());
    while let Some((&kind, after)) = rest.split_first() {
        rest = after;
        let (Some(name), Some(content)) = (text(&mut rest), text(&mut rest)) else { break };
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::new(if kind < 32 { b'0' } else { kind }));
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let name = &name[..name.len().min(100)];
        let fields = header.as_gnu_mut().expect("as it was made");
        fields.name[..name.len()].copy_from_slice(name);
        let link = &content[..content.len().min(100)];
        fields.linkname[..link.len()].copy_from_slice(link);
        header.set_cksum();
        tar.append(&header, content).expect("memory takes all");
    }
    tar.into_inner().expect("memory takes all")
}

fn held(archive: &Archive) -> usize {
    let files = archive.files.values().chain(archive.remote.values());
    files.map(|bytes| bytes.as_slice().len()).sum()
}

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let tar = if control & 1 == 1 { packed(bytes) } else { bytes.to_vec() };
    let Ok(archive) = read::read(&tar[..]) else { return };
    // A link costs a block, and holds what it links to once more.
    assert!(held(&archive) <= tar.len() * (2 + tar.len() / 512), "files out of nothing");
    for path in archive.files.keys() {
        assert!(path.components().all(|part| part != Component::ParentDir), "{path:?}");
    }
    let mut files = BTreeMap::new();
    for (path, bytes) in &*archive.files {
        files.insert(write::entry_of(path), bytes.as_slice().to_vec());
    }
    for (url, bytes) in &*archive.remote {
        files.insert(write::entry_of_remote(url), bytes.as_slice().to_vec());
    }
    let contents = write::Contents {
        metadata: archive.metadata.clone(),
        without_env: false,
        dependencies: BTreeMap::new(),
        data: archive.data.as_slice().to_vec(),
        files,
    };
    // A main script without a name, such as `file:///`, has no entry.
    let is_nameless = archive.metadata.main().is_some_and(|path| path.file_name().is_none());
    let mut written = Vec::new();
    if is_nameless || write::write(&contents, &mut written).is_err() {
        return;
    }
    let again = read::read(&written[..]).expect("what we wrote can be read");
    assert_eq!(again.metadata, archive.metadata);
    assert_eq!(again.data.as_slice(), archive.data.as_slice());
    for (path, bytes) in &*archive.files {
        // A script from standard input has an entry of its own, once it is written.
        if path.as_os_str() != "/-" {
            let same = again.files.get(path).map(|bytes| bytes.as_slice());
            assert_eq!(same, Some(bytes.as_slice()), "{path:?}");
        }
    }
    // The main script is written under its name as an entry. A name with a backslash, or one that is not UTF-8, is another name there.
    let added = again.files.iter().filter(|(path, _)| !archive.files.contains_key(*path));
    let added: Vec<_> = added.map(|(path, bytes)| (path, bytes.as_slice())).collect();
    assert!(
        added.len() <= 1 && added.iter().all(|(_, bytes)| *bytes == archive.data.as_slice()),
        "{added:?}"
    );
});
