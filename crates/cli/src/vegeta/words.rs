//! The command line, before clap sees it: is it one of vegeta's four commands?

use std::ffi::OsString;

use super::{Call, Command};
use crate::{
    failure::{Failure, Outcome},
    flags::{Takes, global},
};

/// Looks for one of the four commands behind the program's name and global flags.
///
/// Gives the words that are clap's (the program's name and Brunt's own global flags) and the call; nothing if the command
/// is another one.
///
/// # Errors
/// vegeta's global flags are wrong.
pub(crate) fn split(words: &[OsString]) -> Option<Outcome<(Vec<OsString>, Call)>> {
    let mut clap: Vec<OsString> = words.first().into_iter().cloned().collect();
    let mut cpus = None;
    let mut profile = false;
    let mut rest = words.get(1..)?;
    let command = loop {
        let [word, behind @ ..] = rest else { return None };
        rest = behind;
        let text = word.to_str()?;
        let Some(flag) = text.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            break Command::named(text)?;
        };
        let long = flag.strip_prefix('-').unwrap_or(flag);
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        if matches!(name, "cpus" | "profile") {
            let value = match (value, rest) {
                (Some(value), _) => value,
                (None, [value, behind @ ..]) => {
                    rest = behind;
                    value.to_str()?
                }
                (None, []) => return None,
            };
            if name == "cpus" {
                cpus = Some(value.to_owned());
            } else {
                profile = !value.is_empty();
            }
            continue;
        }
        clap.push(word.clone());
        // Ours: the next word may be its value.
        let ours = global::FLAGS.iter().find(|known| match flag.strip_prefix('-') {
            Some(_) => known.long == name,
            None => known.short.is_some_and(|letter| flag.strip_prefix(letter) == Some("")),
        })?;
        if value.is_none()
            && !matches!(ours.takes, Takes::Nothing)
            && let [value, behind @ ..] = rest
        {
            clap.push(value.clone());
            rest = behind;
        }
    };
    if profile {
        return Some(Err(Failure::usage("-profile is not supported: use perf or samply")));
    }
    let cpus = match cpus.map(|text| (text.parse::<usize>(), text)) {
        None => None,
        Some((Ok(count), _)) if count > 0 => Some(count),
        Some((_, text)) => {
            let message = format!("invalid value {text:?} for flag -cpus: expected 1 or more");
            return Some(Err(Failure::new(
                crate::exit::Exit::WrongFlag,
                anyhow::Error::msg(message),
            )));
        }
    };
    let words = rest.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Some(Ok((clap, Call { command, cpus, words })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_line(line: &str) -> Option<Outcome<(Vec<OsString>, Call)>> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        split(&words)
    }

    #[test]
    fn the_four_commands_keep_their_words() {
        let (clap, call) = split_line("brunt attack -duration=5m -rate 5 -q").unwrap().unwrap();
        assert_eq!(clap, ["brunt"]);
        assert_eq!(call.command, Command::Attack);
        assert_eq!(call.words, ["-duration=5m", "-rate", "5", "-q"]);
    }

    #[test]
    fn global_flags_stand_in_front() {
        let line = "brunt -cpus=2 -q --log-format json --no-color --cpus 3 report x.bin";
        let (clap, call) = split_line(line).unwrap().unwrap();
        assert_eq!(clap, ["brunt", "-q", "--log-format", "json", "--no-color"]);
        assert_eq!((call.command, call.cpus), (Command::Report, Some(3)));
        assert_eq!(call.words, ["x.bin"]);
    }

    #[test]
    fn other_commands_are_claps() {
        for line in ["brunt", "brunt run report", "brunt --version", "brunt -x report", "brunt - x"]
        {
            assert!(split_line(line).is_none(), "{line}");
        }
    }

    #[test]
    fn wrong_global_flags_are_told() {
        let failure = split_line("brunt -cpus=x plot").unwrap().unwrap_err();
        assert!(failure.message().contains("-cpus"), "{}", failure.message());
        let failure = split_line("brunt -profile=cpu plot").unwrap().unwrap_err();
        assert!(failure.message().contains("-profile is not supported"));
        assert!(split_line("brunt -profile= plot").unwrap().is_ok());
    }
}
