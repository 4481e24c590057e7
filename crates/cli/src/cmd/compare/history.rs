//! Earlier runs of the same test in the same folders: they show how far runs differ when nothing has changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use brunt_compare::{Aspect, Run, Settings, differences};
use brunt_runfile::State;

use super::fill::{self, Grain};
use super::opened::{Names, Opened};

/// At most this many runs count, the newest ones.
const RUNS_MAX: usize = 30;
/// At most this many files are looked at, the newest ones.
const FILES_MAX: usize = 500;

/// The finished runs beside those that are compared, of the same script, options and target as A.
pub(super) fn runs(
    sides: &[Vec<Opened>; 2],
    filled: &[Vec<Run>],
    names: Names,
    settings: &Settings,
) -> Vec<Run> {
    let compared = || sides.iter().flatten();
    let known: BTreeSet<&str> = compared().map(|one| one.about().id.as_str()).collect();
    let folders: BTreeSet<PathBuf> = compared().filter_map(|one| folder(one.file.path())).collect();
    let Some(model) = filled.first().and_then(|side| side.first()) else { return Vec::new() };
    let mut found: Vec<Run> = Vec::new();
    let mut seen: BTreeSet<String> = known.iter().map(|id| (*id).to_owned()).collect();
    for path in newest(&folders) {
        // A file that can't be read is no history; whoever wants to know why looks at `brunt runs`.
        let Ok(opened) = Opened::open(&path) else { continue };
        let about = opened.about();
        if about.state != State::Finished || !seen.insert(about.id.clone()) {
            continue;
        }
        let bare = Run { identity: opened.identity(names), ..Run::default() };
        let is_like = differences(std::slice::from_ref(model), &[bare])
            .iter()
            .all(|difference| difference.aspect == Aspect::Version);
        if is_like && let Ok(run) = fill::run(&opened, names, settings, Grain::Whole) {
            found.push(run);
        }
        if found.len() == RUNS_MAX {
            break;
        }
    }
    found
}

fn folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
}

/// The run files of the folders, the newest first.
fn newest(folders: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in
        folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "brunt")
            && let Ok(about) = entry.metadata()
            && about.is_file()
        {
            files.push((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), path));
        }
    }
    files.sort_by(|a, b| b.cmp(a));
    files.truncate(FILES_MAX);
    files.into_iter().map(|(_, path)| path).collect()
}
