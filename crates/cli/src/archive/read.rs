//! Reads an archive whole into memory; nothing is ever unpacked to the disk.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use brunt_js::{CommonBytes, FileMap};
use brunt_script::Files;
use serde_json::Value;

use super::{Metadata, anonymous};

/// The maximum number of bytes of an archive; it is kept in memory.
const MOST_BYTES: u64 = 1 << 30;
/// The maximum number of entries of an archive.
const MOST_ENTRIES: usize = 100_000;

/// An archive, read.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    pub(crate) metadata: Metadata,
    /// The main script.
    pub(crate) data: Arc<CommonBytes>,
    /// Local files by their paths, without the names of people.
    pub(crate) files: Arc<FileMap>,
    /// Modules from elsewhere, by URL.
    pub(crate) remote: Arc<BTreeMap<String, Arc<CommonBytes>>>,
}

/// Why an archive can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the entry \"{0}\" leads out of the archive")]
    Outside(String),
    #[error("the entry \"{name}\" is a {kind}, which no archive of a test has")]
    Kind { name: String, kind: &'static str },
    #[error("the entry \"{name}\" is a link to \"{to}\", which is not in the archive before it")]
    Link { name: String, to: String },
    #[error("it holds more than {MOST_ENTRIES} entries")]
    Entries,
    #[error("it holds more than {} MiB", MOST_BYTES >> 20)]
    Size,
    #[error("the entry \"{0}\" belongs to no file of a test")]
    Stray(String),
    #[error("it has no {0}")]
    Missing(&'static str),
    #[error("its metadata.json is wrong: {0}")]
    Metadata(String),
}

/// Reads an archive to its end.
///
/// # Errors
/// It is no tar file, is cut short, has entries that would lead out of it, or lacks what a test needs.
pub(crate) fn read(bytes: impl Read) -> Result<Archive, ReadError> {
    let mut tar = tar::Archive::new(bytes.take(MOST_BYTES));
    let mut entries: BTreeMap<String, Arc<CommonBytes>> = BTreeMap::new();
    let mut total = 0_u64;
    for (count, entry) in tar.entries()?.enumerate() {
        if count >= MOST_ENTRIES {
            return Err(ReadError::Entries);
        }
        let mut entry = entry.map_err(cut)?;
        let name = sound_name(&entry.path_bytes())?;
        let bytes = match entry.header().entry_type() {
            tar::EntryType::Regular | tar::EntryType::Continuous => {
                total = total.saturating_add(entry.size());
                if total >= MOST_BYTES {
                    return Err(ReadError::Size);
                }
                let size = entry.size();
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).map_err(cut)?;
                if (bytes.len() as u64) < size {
                    return Err(cut_short());
                }
                Arc::new(CommonBytes::from(bytes))
            }
            tar::EntryType::Link => {
                let to = entry.link_name_bytes().unwrap_or_default();
                let to = String::from_utf8_lossy(&to).into_owned();
                match entries.get(&to) {
                    Some(bytes) => Arc::clone(bytes),
                    None => return Err(ReadError::Link { name, to }),
                }
            }
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader => continue,
            tar::EntryType::Symlink => {
                return Err(ReadError::Kind { name, kind: "symbolic link" });
            }
            _ => return Err(ReadError::Kind { name, kind: "special file" }),
        };
        entries.insert(name, bytes);
    }
    let metadata = entries.remove("metadata.json").ok_or(ReadError::Missing("metadata.json"))?;
    let metadata = parse(metadata.as_slice())?;
    let data = entries.remove("data").ok_or(ReadError::Missing("script (the entry data)"))?;
    let mut files = FileMap::new();
    let mut remote = BTreeMap::new();
    for (name, bytes) in entries {
        if let Some(path) = name.strip_prefix("file/") {
            files.insert(anonymous(&Path::new("/").join(path)), bytes);
        } else if let Some(rest) = name.strip_prefix("https/").filter(|rest| has_host(rest)) {
            remote.insert(format!("https://{rest}"), bytes);
        } else {
            return Err(ReadError::Stray(name));
        }
    }
    if let Some(main) = metadata.main() {
        files.insert(anonymous(&main), Arc::clone(&data));
    }
    if metadata.is_remote() {
        let address = without_suffix(&metadata.filename).to_owned();
        remote.insert(address, Arc::clone(&data));
    }
    Ok(Archive { metadata, data, files: Arc::new(files), remote: Arc::new(remote) })
}

/// The error of the reader of tar files, in words that help.
fn cut(error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_short(),
        io::ErrorKind::Other if error.to_string().contains("entire block") => cut_short(),
        io::ErrorKind::Other => {
            log::debug!(error = error.to_string().as_str(); "reading a tar file");
            ReadError::Io(io::Error::other("it is not a tar file, or a damaged one"))
        }
        _ => ReadError::Io(error),
    }
}

fn cut_short() -> ReadError {
    ReadError::Io(io::Error::new(io::ErrorKind::UnexpectedEof, "unexpected EOF"))
}

/// The name of an entry, `/` between its parts, none of which leads upward.
fn sound_name(bytes: &[u8]) -> Result<String, ReadError> {
    let name = String::from_utf8_lossy(bytes).replace('\\', "/");
    let is_outside = name.starts_with('/') || name.split('/').any(|part| part == "..");
    if is_outside || name.contains('\0') {
        return Err(ReadError::Outside(name));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Ok(parts.join("/"))
}

fn parse(bytes: &[u8]) -> Result<Metadata, ReadError> {
    let wrong = |text: &str| ReadError::Metadata(text.to_owned());
    let json: Value =
        serde_json::from_slice(bytes).map_err(|error| ReadError::Metadata(error.to_string()))?;
    let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if text("type") != "js" {
        return Err(wrong(&format!("the type \"{}\" is not js", text("type"))));
    }
    let filename = text("filename");
    if filename.is_empty() {
        return Err(wrong("it has no filename"));
    }
    if filename.strip_prefix("https://").is_some_and(|rest| !has_host(rest)) {
        return Err(wrong("its filename is an address without a host"));
    }
    let mut env = BTreeMap::new();
    let pairs = match json.get("env") {
        None | Some(Value::Null) => None,
        Some(env) => Some(env.as_object().ok_or_else(|| wrong("env is not an object"))?),
    };
    for (name, value) in pairs.into_iter().flatten() {
        let value = value.as_str().ok_or_else(|| wrong("env has a value that is not text"))?;
        env.insert(name.clone(), value.to_owned());
    }
    Ok(Metadata {
        filename,
        pwd: text("pwd"),
        env,
        options: json.get("options").cloned().unwrap_or(Value::Null),
        extended: text("compatibilityMode") != "base",
    })
}

/// Whether an address, without its `https://`, names a host.
fn has_host(rest: &str) -> bool {
    !rest.starts_with(['/', '?', '#']) && !rest.is_empty()
}

/// Where the test's files are, for whoever loads scripts.
impl Files for Archive {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let key = anonymous(path);
        if let Some(bytes) = self.files.get(&key) {
            return Ok(bytes.as_slice().to_vec());
        }
        let is_directory = self.files.keys().any(|file| file.starts_with(&key));
        Err(if is_directory { io::ErrorKind::IsADirectory } else { io::ErrorKind::NotFound }.into())
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let found = self.remote.get(without_suffix(url));
        let found = found.map(|bytes| bytes.as_slice().to_vec());
        found.ok_or_else(|| format!("\"{url}\" is not in the archive"))
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.metadata.folder())
    }
}

/// An address without query and fragment: so the entries of archives are named.
pub(super) fn without_suffix(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

impl Archive {
    /// How the loader is told of the main script.
    pub(crate) fn entry(&self) -> brunt_script::Entry {
        match self.metadata.main() {
            Some(path) => brunt_script::Entry::Path(path),
            None if self.metadata.is_remote() => {
                brunt_script::Entry::Remote(self.metadata.filename.clone())
            }
            None => brunt_script::Entry::Stdin(self.data.as_slice().to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            // `set_path` would refuse what the tests want.
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    const META: &str = r#"{"type":"js","filename":"file:///t/a.js","pwd":"file:///t","env":{"A":"b"},"options":{"vus":2}}"#;

    #[test]
    fn an_archive_is_read() {
        let bytes = tar(&[("metadata.json", META), ("data", "x"), ("file/t/b.txt", "hi")]);
        let archive = read(&bytes[..]).unwrap();
        assert_eq!(archive.metadata.env["A"], "b");
        assert_eq!(archive.metadata.options["vus"], 2);
        assert_eq!(Files::read(&archive, Path::new("/t/a.js")).unwrap(), b"x");
        assert_eq!(Files::read(&archive, Path::new("/t/b.txt")).unwrap(), b"hi");
        let error = Files::read(&archive, Path::new("/proc/version")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_main_script_is_the_entry_data_even_if_a_file_differs() {
        let bytes = tar(&[("metadata.json", META), ("data", "x"), ("file/t/a.js", "y")]);
        assert_eq!(Files::read(&read(&bytes[..]).unwrap(), Path::new("/t/a.js")).unwrap(), b"x");
    }

    #[test]
    fn paths_in_the_place_of_addresses_are_read() {
        let meta = META.replace("file://", "");
        let bytes = tar(&[("metadata.json", &meta), ("data", "x"), ("file/t/b.txt", "hi")]);
        let archive = read(&bytes[..]).unwrap();
        assert_eq!(Files::read(&archive, Path::new("/t/a.js")).unwrap(), b"x");
        assert_eq!(archive.metadata.folder(), Path::new("/t"));
    }

    #[test]
    fn entries_and_metadata_that_no_test_has_are_refused() {
        let stray = tar(&[("metadata.json", META), ("data", "x"), ("foo/bar", "hi")]);
        let error = read(&stray[..]).unwrap_err().to_string();
        assert_eq!(error, "the entry \"foo/bar\" belongs to no file of a test");
        for name in ["https/?a=b", "https/#x"] {
            let stray = tar(&[("metadata.json", META), ("data", "x"), (name, "hi")]);
            let error = read(&stray[..]).unwrap_err().to_string();
            assert_eq!(error, format!("the entry \"{name}\" belongs to no file of a test"));
        }
        let nowhere = META.replace("file:///t/a.js", "https://?a=b");
        let bytes = tar(&[("metadata.json", &nowhere), ("data", "x")]);
        let error = read(&bytes[..]).unwrap_err().to_string();
        assert!(error.ends_with("its filename is an address without a host"), "{error}");
        for (good, bad) in [(r#""type":"js","#, ""), (r#"{"A":"b"}"#, "[]"), (r#""b""#, "1")] {
            let bytes = tar(&[("metadata.json", &META.replace(good, bad)), ("data", "x")]);
            let error = read(&bytes[..]).unwrap_err().to_string();
            assert!(error.starts_with("its metadata.json is wrong"), "{error}");
        }
    }

    #[test]
    fn what_leads_out_of_it_is_refused() {
        for name in ["file/../../etc/passwd", "../x", "/etc/passwd", "file/a/..", "..\\x"] {
            let bytes = tar(&[("metadata.json", META), ("data", "x"), (name, "boo")]);
            let error = read(&bytes[..]).unwrap_err().to_string();
            assert!(error.contains("leads out of the archive"), "{name}: {error}");
        }
    }

    #[test]
    fn cut_and_wrong_archives_are_refused_and_nothing_panics() {
        let whole = tar(&[("metadata.json", META), ("data", "x"), ("file/t/b.txt", "hi")]);
        for length in 0..whole.len() - 1024 {
            // Cut between entries, all that a test needs may be there.
            let _ = read(&whole[..length]);
        }
        let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(error(&whole[..600]), "unexpected EOF");
        assert_eq!(error(b""), "it has no metadata.json");
        assert_eq!(error(&tar(&[("metadata.json", META)])), "it has no script (the entry data)");
        let error = error(&tar(&[("metadata.json", "{"), ("data", "")]));
        assert!(error.starts_with("its metadata.json is wrong"), "{error}");
    }
}
