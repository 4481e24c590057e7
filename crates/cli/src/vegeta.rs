//! vegeta's way: `brunt attack | encode | report | plot`, with flags in Go's syntax.
//!
//! clap can't read `-duration=5m`, so these four are recognised before clap sees the command line ([`split`]), and each
//! reads its own flags ([`flag`]). Failures have vegeta's exit codes: 2 for a wrong flag, 1 for all else.

use self::failure::failure;
use self::flag::FlagSet;
use self::given::flags;
use crate::{Context, exit::Exit, failure::Outcome};

mod attack;
mod encode;
mod failure;
pub(crate) mod flag;
mod given;
mod page;
mod plot;
mod report;
mod stream;
mod threshold;
mod words;

pub(crate) use self::attack::{watch_signals, zone};
pub(crate) use self::failure::keep_from_screen;
pub(crate) use self::page::Facts;
pub(crate) use self::plot::draw;
pub(crate) use self::stream::Output;
pub(crate) use self::threshold::judge;
pub(crate) use self::words::split;

/// Names and purposes, for the list of commands.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("attack", "Send requests to targets at a rate and write a record of each"),
    ("encode", "Convert records of attacks to CSV, gob or JSON"),
    ("report", "Tell what is in a run file, or in records of attacks"),
    ("plot", "Draw attacks over time as a page of HTML"),
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
