//! Arguments of the commands that k6's tables don't describe.

use clap::{Arg, ArgAction, value_parser};

/// An argument with a value.
pub(super) fn value(long: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(long)
        .long(long)
        .value_name(name)
        .help(help)
        .value_parser(value_parser!(String))
        .action(ArgAction::Set)
}

/// A switch.
pub(super) fn switch(long: &'static str, help: &'static str) -> Arg {
    Arg::new(long).long(long).help(help).action(ArgAction::SetTrue)
}
