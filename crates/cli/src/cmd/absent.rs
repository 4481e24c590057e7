//! Commands of k6, and of ours, that we don't have yet: refused by name.

use clap::{Arg, ArgAction, Command};

use crate::failure::Failure;

/// Names, and what to do instead.
const ABSENT: &[(&str, &str)] = &[
    ("archive", "archives come later; copy the script and what it imports"),
    ("cloud", "there is no cloud behind Brunt; run the test here with brunt run"),
    ("deps", "read the import lines of the script"),
    ("features", "k6's feature flags come later"),
    ("stats", "there is no REST API yet"),
    ("x", "there are no extensions yet"),
    // Gone from k6 2, still in old CI scripts.
    ("login", "there is no cloud behind Brunt"),
    ("pause", "there is no REST API yet"),
    ("resume", "there is no REST API yet"),
    ("scale", "there is no REST API yet; use ramping-vus"),
    ("status", "there is no REST API yet"),
    // Ours, later.
    ("compare", "give several files to brunt report or brunt plot"),
    ("record", "write the script by hand, or convert a HAR file with other tools"),
    ("dump", "use brunt encode"),
    ("agent", "one machine runs the whole test for now; use --execution-segment on each"),
];

/// Adds them, hidden from help, each with an appetite for any arguments.
pub(super) fn add(root: Command) -> Command {
    ABSENT.iter().fold(root, |root, (name, _)| {
        root.subcommand(
            Command::new(*name).hide(true).disable_help_flag(true).arg(
                Arg::new("anything")
                    .action(ArgAction::Append)
                    .trailing_var_arg(true)
                    .allow_hyphen_values(true)
                    .num_args(0..),
            ),
        )
    })
}

/// What is said when one is called. Exit code 255.
pub(super) fn failure(name: &str) -> Failure {
    let instead = ABSENT.iter().find(|(absent, _)| *absent == name).map_or("", |(_, text)| text);
    Failure::usage(format!("brunt {name} is not supported yet: {instead}"))
}
