//! A wrong command line, told in one line.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::failure::Failure;

/// Turns what clap found wrong into one sentence and a hint. Exit code 255, as k6's.
///
/// `command` is the one whose flags were read, if the command line came so far. `commands` are all there are.
pub(crate) fn usage_failure(error: &Error, command: Option<&str>, commands: &[&str]) -> Failure {
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
            format!("unknown command \"{word}\" for \"brunt\"")
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
    // `brunt help runn`: clap looks for nothing.
    let is_command = error.kind() == ErrorKind::InvalidSubcommand;
    let similar = similar.or_else(|| {
        let known = commands.iter().copied().filter(|_| is_command);
        brunt_spelling::nearest(&word, known).map(str::to_owned)
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
