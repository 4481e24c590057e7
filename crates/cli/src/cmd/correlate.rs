//! `brunt correlate`: where the values of a recorded session come from; of two sessions, what differs between their users.

mod pair;
mod plan;

use std::path::{Path, PathBuf};

use brunt_traffic::Recording;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::switch;
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    print::print,
};

/// A larger file is no recording of a session.
const FILE_MAX: u64 = 2 << 30;

const EXAMPLES: &str = "Examples:
  brunt correlate session.har
  brunt correlate anna.har bert.har
  brunt correlate --json anna.har bert.har";

const AFTER: &str = "Two recordings should be of one journey, by two users. Values of tokens are never shown. \
    Exit codes: 0; 99 if nothing explains a value that looks like a token, or that differs; 255 if a file can't be read.";

/// A call of it.
#[derive(Debug)]
pub(crate) struct Request {
    files: Vec<PathBuf>,
    json: bool,
}

pub(super) fn command() -> Command {
    Command::new("correlate")
        .about("Tell where the values of a recorded session come from")
        .override_usage("brunt correlate [OPTIONS] <A.har> [B.har]")
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .action(ArgAction::Append)
                .value_parser(clap::value_parser!(PathBuf))
                .num_args(1..=2)
                .required(true)
                .help("A HAR file; a second one of the same journey, by another user"),
        )
        .arg(switch("json", "Print JSON"))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Self {
        let files = matches.get_many::<PathBuf>("file").into_iter().flatten().cloned().collect();
        Self { files, json: matches.get_flag("json") }
    }
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let recordings: Vec<Recording> =
        request.files.iter().map(|file| recording(file)).collect::<Outcome<_>>()?;
    let Some(first) = recordings.first() else { return Ok(Exit::Success) };
    let plan = brunt_correlate::correlate(first);
    let told = plan::Told { recording: first, plan: &plan };
    let color = context.global.color && context.screen.stdout_is_terminal();
    let (text, is_explained) = if let Some(second) = recordings.get(1) {
        let differences = brunt_correlate::compare(first, second);
        let pair = pair::Pair { told: &told, second, differences: &differences };
        let is_explained = differences.iter().all(|one| one.explained.is_some());
        (if request.json { pair.json() } else { pair.text(color) }, is_explained)
    } else {
        let text = if request.json { told.json() } else { told.text(color) };
        (text, plan.suspects.is_empty())
    };
    print(context, &text)?;
    Ok(if is_explained { Exit::Success } else { Exit::Thresholds })
}

/// Reads a HAR file.
fn recording(path: &Path) -> Outcome<Recording> {
    let shown = path.display();
    let unread = |why: String| {
        Failure::usage(format!("{shown}: {why}"))
            .hint("brunt correlate reads HAR files: a browser's network panel exports them, brunt record --har writes them")
    };
    let size = std::fs::metadata(path).map_err(|error| unread(error.to_string()))?.len();
    if size > FILE_MAX {
        return Err(unread(format!("the file has {size} bytes, more than {FILE_MAX}")));
    }
    let bytes = std::fs::read(path).map_err(|error| unread(error.to_string()))?;
    brunt_traffic::har::read_beside(&bytes, path.parent())
        .map_err(|error| unread(error.to_string()))
}
