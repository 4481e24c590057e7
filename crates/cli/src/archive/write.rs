//! Writes an archive.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::Path,
};

use serde_json::{Value, json};

use super::{Metadata, anonymous, read::without_suffix};
use crate::version::K6_VERSION;

/// The content of an archive to write.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) metadata: Metadata,
    /// The environment is left out.
    pub(crate) without_env: bool,
    /// `k6` and extensions, with their versions.
    pub(crate) dependencies: BTreeMap<String, String>,
    /// The main script.
    pub(crate) data: Vec<u8>,
    /// All files but it, by entry name: `file/home/nobody/b.js`.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// Writes it, in the order and with the modes that k6 uses.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn write(contents: &Contents, out: impl Write) -> io::Result<()> {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    write_at(now, contents, out)
}

/// The same, as if it were written at this moment, in seconds since the Unix epoch: the same contents are the same bytes.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn write_at(now: u64, contents: &Contents, out: impl Write) -> io::Result<()> {
    let mut tar = tar::Builder::new(out);
    let metadata = serde_json::to_vec_pretty(&metadata(contents))?;
    add(&mut tar, "metadata.json", &metadata, now)?;
    add(&mut tar, "data", &contents.data, now)?;
    let main = main_entry(&contents.metadata);
    let names: BTreeSet<&str> =
        contents.files.keys().map(String::as_str).chain(main.as_deref()).collect();
    let folders: BTreeSet<&str> = names.iter().flat_map(|name| folders_of(name)).collect();
    for folder in folders {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_mode(0o755);
        header.set_mtime(now);
        header.set_size(0);
        tar.append_data(&mut header, folder, io::empty())?;
    }
    for name in names {
        match contents.files.get(name) {
            Some(bytes) if Some(name) != main.as_deref() => add(&mut tar, name, bytes, now)?,
            _ => {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(tar::EntryType::Link);
                header.set_mode(0);
                header.set_mtime(0);
                header.set_size(0);
                tar.append_link(&mut header, name, "data")?;
            }
        }
    }
    tar.into_inner()?.flush()
}

fn add<W: Write>(tar: &mut tar::Builder<W>, name: &str, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o644);
    header.set_mtime(at);
    header.set_size(bytes.len() as u64);
    tar.append_data(&mut header, name, bytes)
}

/// The entry of the main script: `file/-` for one from standard input.
fn main_entry(metadata: &Metadata) -> Option<String> {
    match metadata.main() {
        Some(path) => Some(entry_of(&path)),
        None if metadata.filename == super::STDIN => Some("file/-".to_owned()),
        None if metadata.is_remote() => Some(entry_of_remote(&metadata.filename)),
        None => None,
    }
}

/// The entry of a local file.
pub(crate) fn entry_of(path: &Path) -> String {
    format!("file{}", anonymous(path).display())
}

/// The entry of a module that came from an `https://` address.
pub(crate) fn entry_of_remote(url: &str) -> String {
    without_suffix(url).replacen("https://", "https/", 1)
}

fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(end, _)| &name[..end])
}

fn metadata(contents: &Contents) -> Value {
    let Metadata { filename, pwd, env, options, extended } = &contents.metadata;
    json!({
        "type": "js",
        "options": options,
        "filename": filename,
        "pwd": pwd,
        "env": if contents.without_env { Value::Null } else { json!(env) },
        "compatibilityMode": if *extended { "extended" } else { "base" },
        "k6version": K6_VERSION,
        "goos": if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS },
        "dependencies": contents.dependencies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::read;

    #[test]
    fn what_is_written_is_read_again() {
        let metadata = Metadata {
            filename: "file:///home/me/a%20b.js".to_owned(),
            pwd: "file:///home/me".to_owned(),
            env: BTreeMap::from([("A".to_owned(), "<b>".to_owned())]),
            options: json!({ "vus": 3 }),
            extended: false,
        };
        let long = format!("file/home/nobody/{}/x.js", "long/".repeat(60));
        let contents = Contents {
            metadata: metadata.clone(),
            without_env: false,
            dependencies: BTreeMap::new(),
            data: b"export default 1".to_vec(),
            files: BTreeMap::from([(long, b"deep".to_vec())]),
        };
        let mut bytes = Vec::new();
        write(&contents, &mut bytes).unwrap();
        assert!(crate::archive::is_archive(&bytes));
        let archive = read(&bytes[..]).unwrap();
        assert_eq!(archive.metadata, metadata);
        assert_eq!(archive.data.as_slice(), b"export default 1");
        let script = brunt_script::Files::read(&archive, Path::new("/home/you/a b.js"));
        assert_eq!(script.unwrap(), b"export default 1");
        assert_eq!(archive.files.len(), 2);
    }
}
