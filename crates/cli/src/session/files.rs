//! The files of a script, written into its folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use brunt_scribe::{Content, Script};

use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
};

/// The name of the script itself.
pub(super) const SCRIPT: &str = "script.js";

/// Refuses a folder that has a script already.
pub(super) fn check(out: &Path, force: bool) -> Outcome<()> {
    check_file(out, Path::new(SCRIPT), force)
}

/// Refuses a folder that has this file already.
pub(super) fn check_file(out: &Path, file: &Path, force: bool) -> Outcome<()> {
    if out.exists() && !out.is_dir() {
        let message = format!("{} is a file: the script needs a folder", out.display());
        return Err(Failure::usage(message).hint("name another one with --out"));
    }
    let path = out.join(file);
    if !force && path.symlink_metadata().is_ok() {
        let message = format!("{} is there already", path.display());
        return Err(Failure::usage(message)
            .hint("name another folder with --out, or replace the script with --force"));
    }
    Ok(())
}

/// Writes them all. Each file appears as a whole or not at all; the script comes last.
pub(super) fn write(out: &Path, script: &Script) -> Outcome<()> {
    for (path, content) in script.files.iter().rev() {
        let place = out.join(safe(path)?);
        put(&place, content).map_err(|error| {
            let told =
                anyhow::Error::new(error).context(format!("{} can't be written", place.display()));
            Failure::new(Exit::Other, told)
        })?;
    }
    Ok(())
}

/// A path below the folder.
fn safe(path: &Path) -> Outcome<&Path> {
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_below && path.components().next().is_some() {
        return Ok(path);
    }
    let message =
        format!("the script wants a file {}, which is not below its folder", path.display());
    Err(Failure::new(Exit::Other, anyhow::Error::msg(message)))
}

fn put(place: &Path, content: &Content) -> io::Result<()> {
    let folder = place.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = draft(place);
    let written = fill(&draft, content).and_then(|()| fs::rename(&draft, place));
    if written.is_err() {
        // The draft may not be there: then there is nothing to take away.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// The file that becomes the wanted one.
fn draft(place: &Path) -> PathBuf {
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned());
    place.with_file_name(format!(".{}.{}", name.unwrap_or_default(), std::process::id()))
}

fn fill(draft: &Path, content: &Content) -> io::Result<()> {
    let open = |mode: u32| -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(mode).open(draft)
    };
    match content {
        Content::Bytes(bytes) => open(0o666)?.write_all(bytes),
        Content::Secret(bytes) => open(0o600)?.write_all(bytes),
        Content::Copy(from) => {
            let mut from = File::open(from)?;
            io::copy(&mut from, &mut open(0o666)?).map(drop)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn script(path: &str, content: Content) -> Script {
        let main = (PathBuf::from(SCRIPT), Content::Bytes(b"1".to_vec()));
        Script { files: vec![main, (path.into(), content)], ..Script::default() }
    }

    #[test]
    fn files_are_written_below_the_folder_and_secrets_are_for_the_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("a/b");
        check(&out, false).expect("nothing is there");
        write(&out, &script("files/x.bin", Content::Bytes(vec![7]))).expect("it is written");
        write(&out, &script("secrets.env", Content::Secret(b"a=1".to_vec()))).expect("again");
        assert_eq!(fs::read(out.join("files/x.bin")).expect("it is there"), [7]);
        let mode = fs::metadata(out.join("secrets.env")).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let refused = check(&out, false).expect_err("a script is there");
        assert!(refused.message().contains("is there already"), "{}", refused.message());
        check(&out, true).expect("it may be replaced");
        assert_eq!(fs::read_dir(&out).expect("a folder").count(), 3);
    }

    #[test]
    fn a_path_that_leads_out_of_the_folder_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in ["../x", "/etc/x", "a/../../x", ""] {
            let out = folder.path().join("out");
            assert!(write(&out, &script(path, Content::Bytes(Vec::new()))).is_err(), "{path}");
        }
        assert!(check(&folder.path().join("none"), false).is_ok());
        fs::write(folder.path().join("file"), "").expect("a file");
        assert!(check(&folder.path().join("file"), true).is_err());
    }
}
