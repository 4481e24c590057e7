//! Commands of k6 and vegeta, and of ours, that we don't have: refused by name.

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Their names: the first three are answered by `cloud` and below; the last one is gone from vegeta.
const ABSENT: [&str; 4] = ["cloud", "login", "x", "dump"];

/// Adds them, hidden from help, each with an appetite for any arguments.
pub(super) fn add(root: Command) -> Command {
    ABSENT.iter().fold(root, |root, name| {
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

/// The failure of a call to one of them. Exit code 255; for vegeta's commands, vegeta's code.
pub(super) fn failure(name: &str) -> Failure {
    if name == "dump" {
        let message = anyhow::anyhow!("vegeta dropped the command dump: use brunt encode");
        return Failure::new(Exit::Vegeta, message);
    }
    Failure::usage(format!("brunt {name} is not supported"))
}

/// The replacement for commands that extensions of k6 bring.
const BUILT_IN: &str = "the extensions that Brunt has are built in and add no commands; `brunt help run` lists their modules";

/// `brunt x` alone tells, as in k6, what there is; `brunt x NAME` is an error.
pub(super) fn extension(matches: &ArgMatches) -> Outcome<String> {
    let mut words = matches.get_many::<String>("anything").into_iter().flatten();
    match words.next() {
        Some(name) => {
            let message = format!("unknown command \"{name}\" for \"brunt x\"");
            Err(Failure::usage(message).hint(BUILT_IN))
        }
        None => Ok(format!("No commands: {BUILT_IN}.\n")),
    }
}
