//! `brunt completion SHELL`

use clap::{Arg, Command, builder::PossibleValuesParser, value_parser};
use clap_complete::Shell;

use crate::print::print;
use crate::{Context, exit::Exit, failure::Outcome, vegeta};

pub(super) fn command() -> Command {
    let command = Command::new("completion").about("Print a completion script for a shell");
    command.override_usage("brunt completion [SHELL]").arg(
        Arg::new("shell")
            .value_name("SHELL")
            .value_parser(value_parser!(Shell))
            .help("Shell: bash, zsh, fish, powershell or elvish"),
    )
}

pub(super) fn perform(context: &Context, shell: Shell) -> Outcome<Exit> {
    print(context, &script(shell))
}

/// The mark in a generated script for vegeta's flags, which have one dash where all others have two.
pub(super) const ONE_DASH: &str = "one-dash-";

/// The values of flags that shells can offer.
const VALUES: &[(&str, &[&str])] = &[
    ("summary-mode", &["compact", "full", "legacy", "disabled"]),
    ("summary-time-unit", &["s", "ms", "us"]),
    ("compatibility-mode", &["extended", "base"]),
    ("type", &["js", "archive"]),
    ("log-format", &["text", "json", "raw"]),
    ("log-output", &["stderr", "stdout", "none", "loki", "file="]),
    ("traces-output", &["none", "otel"]),
];

fn script(shell: Shell) -> String {
    let mut root = super::commands_of_help();
    for name in ["run", "find", "inspect", "archive"] {
        root = root.mut_subcommand(name, with_values);
    }
    root = with_flags_of_attacks(root);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut root, "brunt", &mut script);
    let script = String::from_utf8_lossy(&script);
    with_one_dash(&script.replace(&format!("-l {ONE_DASH}"), "-o "))
}

/// The commands of attacks with the flags that clap does not read, each with a mark.
pub(super) fn with_flags_of_attacks(root: Command) -> Command {
    vegeta::COMMANDS.iter().fold(root, |root, (name, _)| {
        root.mut_subcommand(name, |command| with_flags(command, name))
    })
}

/// A generated text without the marks.
pub(super) fn with_one_dash(text: &str) -> String {
    text.replace(&format!("--{ONE_DASH}"), "-").replace(ONE_DASH, "").replace('\u{a0}', " ")
}

fn with_values(command: Command) -> Command {
    let names: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
    let offer = |command: Command, name: &str, values: Vec<&'static str>| {
        if names.iter().any(|known| known == name) {
            command.mut_arg(name, |arg| arg.value_parser(PossibleValuesParser::new(values)))
        } else {
            command
        }
    };
    let command = offer(command, "out", brunt_outputs::OutputKind::names().collect());
    VALUES.iter().fold(command, |command, (name, values)| offer(command, name, values.to_vec()))
}

/// clap reads none of these flags; here they are only told.
fn with_flags(command: Command, name: &str) -> Command {
    let Some(set) = vegeta::flag_set(name) else { return command };
    let arg = |flag: &'static vegeta::flag::Flag| {
        let arg = Arg::new(flag.name).long(format!("{ONE_DASH}{}", flag.name)).help(flag.help);
        match (flag.takes, flag.name) {
            (vegeta::flag::Takes::Switch, _) => arg.action(clap::ArgAction::SetTrue),
            (_, "to") => arg.value_parser(PossibleValuesParser::new(["csv", "gob", "json"])),
            (_, "format") => arg.value_parser(PossibleValuesParser::new(["http", "json"])),
            (_, "type") => {
                let types = ["text", "json", "hist", "hdrplot", "html"];
                arg.value_parser(PossibleValuesParser::new(types))
            }
            _ => arg.value_name("VALUE"),
        }
    };
    command.args(set.flags.iter().map(arg))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_is_offered_flags_of_attack_and_types_of_outputs_and_nothing_hidden() {
        for (shell, flag) in [
            (Shell::Bash, "-redirects"),
            (Shell::Zsh, "-redirects"),
            (Shell::Fish, "-o redirects"),
            (Shell::PowerShell, "'-redirects'"),
            (Shell::Elvish, "-redirects"),
        ] {
            let script = script(shell);
            assert!(script.contains(flag), "{shell}");
            assert!(!script.contains("--redirects") && !script.contains(ONE_DASH), "{shell}");
            assert!(!script.contains("dump") && !script.contains("login"), "{shell}");
            // These two offer no values.
            if !matches!(shell, Shell::PowerShell | Shell::Elvish) {
                assert!(script.contains("experimental-prometheus-rw"), "{shell}");
            }
        }
    }
}
