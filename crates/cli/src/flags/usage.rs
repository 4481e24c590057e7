//! A wrong command line, told in one line.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::failure::Failure;

/// Turns what clap found wrong into one sentence and a hint. Exit code 255, as k6's.
///
/// `command` is the one whose flags were read, if the command line came so far; `flags` are its own and the global ones, with
/// their dashes. `commands` are all there are.
pub(crate) fn usage_failure(
    error: &Error,
    command: Option<&str>,
    flags: &[String],
    commands: &[&str],
) -> Failure {
    let name = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let list = |kind| match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let message = match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = name(ContextKind::InvalidArg).unwrap_or_default();
            if word.starts_with('-') {
                format!("unknown flag: {word}")
            } else {
                format!("unexpected argument \"{word}\"")
            }
        }
        ErrorKind::InvalidSubcommand => {
            let word = name(ContextKind::InvalidSubcommand).unwrap_or_default();
            match command {
                // The commands that have commands of their own.
                Some(own @ ("demo" | "k8s")) => {
                    format!("unknown command \"{word}\" for \"brunt {own}\"")
                }
                _ => format!("unknown command \"{word}\" for \"brunt\""),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            format!("missing argument: {}", list(ContextKind::InvalidArg))
        }
        ErrorKind::InvalidValue if name(ContextKind::InvalidValue).is_none_or(|v| v.is_empty()) => {
            let flag = name(ContextKind::InvalidArg).unwrap_or_default();
            format!("flag needs a value: {flag}")
        }
        _ => first_sentence(error),
    };
    let mut failure = Failure::usage(message);
    let word = name(ContextKind::InvalidArg).or_else(|| name(ContextKind::InvalidSubcommand));
    let word = word.unwrap_or_default();
    // clap finds more alike than people do.
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .into_iter()
        .map(list)
        .find_map(|all| brunt_spelling::nearest(&word, all.split(", ")).map(str::to_owned));
    // `brunt help runn`: clap looks for nothing. Of flags it leaves out those that are much longer, and other cases.
    let similar = similar.or_else(|| {
        let nearest = match error.kind() {
            ErrorKind::InvalidSubcommand => {
                brunt_spelling::nearest(&word, commands.iter().copied())
            }
            ErrorKind::UnknownArgument if word.starts_with("--") => {
                brunt_spelling::nearest(&word, flags.iter().map(String::as_str))
            }
            _ => None,
        };
        nearest.map(str::to_owned)
    });
    let valid = list(ContextKind::ValidValue);
    failure.hint = Some(match similar {
        Some(similar) => format!("did you mean {similar}?"),
        None if !valid.is_empty() => format!("use {valid}"),
        None => match command {
            Some(command) => format!("see brunt {command} --help"),
            None => "see brunt --help".to_owned(),
        },
    });
    failure
}

/// The first line of clap's own text, without `error:`.
fn first_sentence(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
