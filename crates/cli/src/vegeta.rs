//! vegeta's way: `brunt attack | encode | report | plot`, with flags in Go's syntax.
//!
//! clap can't read `-duration=5m`, so these four are recognised before clap sees the command line ([`split`]), and each
//! reads its own flags ([`flag`]). Failures have vegeta's exit codes: 2 for a wrong flag, 1 for all else.

use self::flag::{FlagError, FlagSet, Values};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod attack;
mod encode;
pub(crate) mod flag;
mod plot;
mod report;
mod stream;
mod threshold;
mod words;

pub(crate) use self::words::split;

/// Names and purposes, for the list of commands.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("attack", "Send requests to targets at a rate and write a record of each"),
    ("encode", "Convert records of attacks to CSV, gob or JSON"),
    ("report", "Sum up records of attacks as text, JSON, histogram or HTML"),
    ("plot", "Draw the latencies of attacks over time as a page of HTML"),
];

/// One call of one of the four.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    command: Command,
    /// `-cpus`: the number of cores at work.
    cpus: Option<usize>,
    /// The words after the command.
    words: Vec<String>,
}

/// Which of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Attack,
    Encode,
    Report,
    Plot,
}

impl Command {
    fn named(name: &str) -> Option<Self> {
        match name {
            "attack" => Some(Self::Attack),
            "encode" => Some(Self::Encode),
            "report" => Some(Self::Report),
            "plot" => Some(Self::Plot),
            _ => None,
        }
    }
}

impl Call {
    /// Does it.
    ///
    /// # Errors
    /// It can't be done; the failure says why, and its exit code is 1 or 2.
    pub(crate) fn perform(&self, context: &Context) -> Outcome<Exit> {
        match self.command {
            Command::Attack => attack::perform(context, &self.words, self.cpus),
            Command::Encode => encode::perform(context, &self.words),
            Command::Plot => plot::perform(context, &self.words),
            Command::Report => report::perform(context, &self.words),
        }
    }
}

/// The flags of one of the four, for `brunt help`.
pub(crate) fn flag_set(command: &str) -> Option<&'static FlagSet> {
    let sets = [&attack::FLAGS, &encode::FLAGS, &report::FLAGS, &plot::FLAGS];
    sets.into_iter().find(|set| set.command == command)
}

/// Records are binary: a screen would show nonsense, and obey it.
///
/// # Errors
/// The output is a screen (exit code 1).
fn keep_from_screen(command: &str, output: &str) -> Outcome<()> {
    if !crate::piped::is_screen(output) {
        return Ok(());
    }
    let message = format!("brunt {command} writes binary records, and its output is a terminal");
    Err(failure(message)
        .hint("add -output=FILE, or pipe it into brunt report, or into brunt encode, which makes JSON of them"))
}

/// A failure of one of the four: exit code 1.
pub(crate) fn failure(error: impl Into<String>) -> Failure {
    Failure::new(Exit::Vegeta, anyhow::Error::msg(error.into()))
}

/// Reads flags. Nothing if help was asked for, which has been printed on stdout.
///
/// # Errors
/// They are wrong (exit code 2): stderr has the mistake, the flag that was perhaps meant and the page of help.
pub(crate) fn flags(context: &Context, set: &FlagSet, words: &[String]) -> Outcome<Option<Values>> {
    match set.parse(words) {
        Ok(values) => Ok(Some(values)),
        Err(FlagError::Help) => {
            crate::cmd::print(context, &set.help())?;
            Ok(None)
        }
        Err(FlagError::Wrong(message)) => {
            let meant = message
                .strip_prefix(flag::UNDEFINED)
                .and_then(|name| brunt_spelling::nearest(name, set.flags.iter().map(|f| f.name)));
            let tip = meant.map_or_else(String::new, |name| format!("did you mean -{name}? "));
            context.screen.stderr(&format!("{message}\n{tip}See brunt {} -help\n", set.command));
            let mut failure = Failure::new(Exit::WrongFlag, anyhow::Error::msg(message));
            failure.told = true;
            Err(failure)
        }
    }
}
