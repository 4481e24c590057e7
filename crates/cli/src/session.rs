//! From a recorded session to a script in a folder: values are correlated, the script is written, a replay proves it.
//!
//! ```text
//! Recording ─▶ correlate ─▶ scribe ─▶ files ─▶ proof (replay, compare, other candidates, replay …) ─▶ report
//! ```

mod child;
mod files;
mod proof;
mod report;

use std::path::{Path, PathBuf};

use brunt_traffic::Recording;

use crate::{Context, exit::Exit, failure::Outcome};

/// The wishes of the user.
#[derive(Debug)]
pub(crate) struct Wish {
    /// The folder of the script.
    pub(crate) out: PathBuf,
    /// A script that is there may be replaced.
    pub(crate) force: bool,
    /// Whether the script is run to prove it.
    pub(crate) replay: bool,
    /// How the script is written.
    pub(crate) scribe: brunt_scribe::Options,
}

/// Refuses a folder that has a script already: to be asked before a long recording begins, too.
///
/// # Errors
/// There is a script, and `force` is not set; the folder is a file.
pub(crate) fn check_folder(out: &Path, force: bool) -> Outcome<()> {
    files::check(out, force)
}

/// Finds where the values of a recording come from, writes its script, proves it if that is wished, and tells about it on stdout.
///
/// # Errors
/// A file cannot be written; a signal ends it.
pub(crate) fn finish(context: &Context, recording: &Recording, wish: &Wish) -> Outcome<Exit> {
    let plan = brunt_correlate::correlate(recording);
    conclude(context, recording, plan, &[], wish)
}

/// The same for a session that has its plan already.
///
/// # Errors
/// As [`finish`].
pub(crate) fn finish_planned(
    context: &Context,
    session: brunt_imports::Session,
    wish: &Wish,
) -> Outcome<Exit> {
    conclude(context, &session.recording, session.plan, &session.notes, wish)
}

/// Writes files that are no recorded session: the client of an interface. Their first one tells whether they are there already.
///
/// # Errors
/// They are there and `force` is not set; a file cannot be written.
pub(crate) fn write_files(
    out: &Path,
    force: bool,
    files: Vec<(PathBuf, brunt_scribe::Content)>,
) -> Outcome<()> {
    if let Some((first, _)) = files.first() {
        files::check_file(out, first, force)?;
    }
    files::write(out, &brunt_scribe::Script { files, ..brunt_scribe::Script::default() })
}

fn conclude(
    context: &Context,
    recording: &Recording,
    mut plan: brunt_correlate::Plan,
    notes: &[String],
    wish: &Wish,
) -> Outcome<Exit> {
    files::check(&wish.out, wish.force)?;
    let mut script = brunt_scribe::write(recording, &plan, &wish.scribe);
    script.notes.extend_from_slice(notes);
    files::write(&wish.out, &script)?;
    let verdict = if wish.replay {
        let mut proof = proof::Proof::new(context, recording, wish)?;
        Some(proof.run(&mut plan, &mut script)?)
    } else {
        None
    };
    let color = context.global.color && context.screen.stdout_is_terminal();
    let told = report::Told { recording, plan: &plan, script: &script, verdict: verdict.as_ref() };
    crate::print::print(context, &told.text(&wish.out, color))?;
    Ok(match verdict {
        None => Exit::Success,
        Some(verdict) if verdict.is_interrupted => Exit::Signal,
        Some(verdict) if verdict.is_proven() => Exit::Success,
        Some(_) => Exit::Thresholds,
    })
}
