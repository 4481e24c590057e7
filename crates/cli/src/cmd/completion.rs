//! `brunt completion SHELL`

use clap::{Arg, Command, value_parser};
use clap_complete::Shell;

use super::print;
use crate::{Context, exit::Exit, failure::Outcome};

pub(super) fn command() -> Command {
    Command::new("completion").about("Print a completion script for a shell").arg(
        Arg::new("shell")
            .value_name("SHELL")
            .value_parser(value_parser!(Shell))
            .help("bash, zsh, fish, powershell or elvish"),
    )
}

pub(super) fn perform(context: &Context, shell: Shell) -> Outcome<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "brunt", &mut script);
    print(context, &String::from_utf8_lossy(&script))
}
