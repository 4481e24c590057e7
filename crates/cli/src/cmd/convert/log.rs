//! Access logs as targets of `brunt attack`, with the timing that they had.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write as _};
use std::path::Path;

use brunt_imports::access_log::{self, Options};

use crate::failure::{Failure, Outcome};
use crate::print::print;
use crate::{Context, exit::Exit};

/// The requests.
const TARGETS: &str = "targets.txt";
/// Their rate over time.
const PACE: &str = "pace.txt";

/// Writes both files, and tells how they are used.
pub(super) fn write(
    context: &Context,
    name: &str,
    log: impl Read,
    options: &Options,
    out: &Path,
    force: bool,
) -> Outcome<Exit> {
    let unwritable =
        |error: io::Error| Failure::usage(format!("{} can't be written: {error}", out.display()));
    fs::create_dir_all(out).map_err(unwritable)?;
    // Before a draft of one of them is made.
    for path in [TARGETS, PACE].map(|file| out.join(file)) {
        if !force && path.symlink_metadata().is_ok() {
            let message = format!("{} is there already", path.display());
            return Err(Failure::usage(message)
                .hint("name another folder with --out, or replace the file with --force"));
        }
    }
    let open = |file: &str| {
        let path = out.join(file);
        let draft = out.join(format!(".{file}.{}", std::process::id()));
        File::create(&draft).map(|open| (BufWriter::new(open), draft, path)).map_err(unwritable)
    };
    let (mut targets, draft_of_targets, path) = open(TARGETS)?;
    let (mut pace, draft_of_pace, path_of_pace) = open(PACE)?;
    let read = access_log::targets(log, options, &mut targets, &mut pace);
    let done = read.map_err(|error| Failure::usage(format!("{name}: {error}"))).and_then(|tally| {
        let ended = targets.flush().and_then(|()| pace.flush());
        let ended = ended.and_then(|()| fs::rename(&draft_of_targets, &path));
        ended.and_then(|()| fs::rename(&draft_of_pace, &path_of_pace)).map_err(unwritable)?;
        Ok(tally)
    });
    if done.is_err() {
        // They may be gone already: then there is nothing to take away.
        let _ = fs::remove_file(&draft_of_targets);
        let _ = fs::remove_file(&draft_of_pace);
    }
    let tally = done?;
    for note in tally.notes() {
        ::log::info!("{note}");
    }
    let (requests, seconds, format) = (tally.requests, tally.seconds, tally.format);
    let (targets, pace) = (path.display(), path_of_pace.display());
    print(
        context,
        &format!(
            "{targets}: {requests} requests of {seconds} s of a {format} log\n{pace}: their rate over time\n\n\
             brunt attack -targets={targets} -pacer=file:{pace} | brunt report\n"
        ),
    )
}
