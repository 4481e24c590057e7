//! `brunt compare --run A.js B.js`: the two scripts run in turn, A B B A …, each in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use brunt_compare::{Side, interleaved};

use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    repeat::Children,
};

/// The folder of the run files: the one of all runs that are given no other.
const FOLDER: &str = "brunt-results";

/// Runs both scripts `repeat` times. The run files of A and of B.
pub(super) fn make(
    context: &Context,
    scripts: [&PathBuf; 2],
    repeat: usize,
    flags: &[String],
) -> Outcome<(Vec<PathBuf>, Vec<PathBuf>)> {
    for script in scripts {
        if script.as_os_str() == "-" {
            return Err(Failure::usage(
                "standard input can be read once, and a script runs more often",
            )
            .hint("give --run two files"));
        }
        if !script.is_file() {
            return Err(Failure::usage(format!("there is no script \"{}\"", script.display()))
                .hint("--run takes two scripts; run files need no --run"));
        }
    }
    if flags.iter().any(|flag| flag.starts_with("--repeat")) {
        return Err(Failure::usage("--repeat belongs before --: it is an option of brunt compare"));
    }
    std::fs::create_dir_all(FOLDER)?;
    let moment = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let children = Children::watch(context.logging.flusher())?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (place, side) in interleaved(repeat).enumerate() {
        let (script, files, letter) = match side {
            Side::A => (scripts[0], &mut a, 'a'),
            Side::B => (scripts[1], &mut b, 'b'),
        };
        let file = free_name(script, &moment, letter, files.len() + 1);
        let told = format!(
            "run {} of {}: {}, {}",
            place + 1,
            repeat * 2,
            letter.to_ascii_uppercase(),
            script.display()
        );
        if !context.global.quiet {
            context.screen.stderr(&format!("{told}\n"));
        }
        let mut command = Children::command();
        command.args(["run", "--quiet", "--no-summary", "--out"]);
        let mut out = std::ffi::OsString::from("run=");
        out.push(&file);
        command.arg(out).args(flags).arg(script).stdout(Stdio::null());
        let exit = children.run(&mut command)?;
        // Thresholds are compared as well: a broken one is no obstacle.
        if !matches!(exit, Exit::Success | Exit::Thresholds | Exit::MarkedAsFailed) {
            let message =
                format!("{told} ended with exit code {}: nothing is compared", exit.code());
            let failure = Failure::new(exit, anyhow::Error::msg(message));
            return Err(if files.is_empty() && place == 0 {
                failure
            } else {
                failure.hint(format!("the runs before it are in {FOLDER}"))
            });
        }
        files.push(file);
    }
    Ok((a, b))
}

/// A name that no file has.
fn free_name(script: &Path, moment: &str, letter: char, number: usize) -> PathBuf {
    let stem = script.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let stem: String = stem.unwrap_or_default().chars().map(plain).collect();
    // Names of files have 255 bytes at most.
    let stem = &stem[..stem.floor_char_boundary(180)];
    let name = |more: usize| {
        let more = if more == 0 { String::new() } else { format!("-{more}") };
        Path::new(FOLDER).join(format!("{stem}-{moment}{more}-{letter}{number}.brunt"))
    };
    (0..1000).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(1000))
}
