//! `brunt doctor`: what of this machine would spoil a test, and how to change it.

mod tries;

use std::fmt::Write as _;

use brunt_doctor::{Check, Level, Machine, examine, worst};
use clap::{ArgMatches, Command};
use serde_json::json;

use super::{print, switch, value};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    page::wrapped,
};

/// A call of it.
#[derive(Debug)]
pub(crate) struct Request {
    json: bool,
    /// `--vus`
    vus: Option<u64>,
}

/// The column of what was found.
const FOUND: usize = 20;

const AFTER: &str = "Exit codes: 0 if nothing, or only some tests, would be spoiled; 98 if most would be; 255 for a wrong command line.";

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Say what of this machine would spoil a test, and how to change it")
        .override_usage("brunt doctor [OPTIONS]")
        .arg(value("vus", "N", "Judge files, ports and memory for a test with N VUs"))
        .arg(switch("json", "Print JSON"))
        .after_help(AFTER)
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let vus = matches.get_one::<String>("vus").map(|text| {
            text.parse().ok().filter(|vus| *vus > 0).ok_or_else(|| {
                Failure::usage(format!("invalid value \"{text}\" for --vus"))
                    .hint("write a number of VUs, such as --vus 20000")
            })
        });
        Ok(Self { json: matches.get_flag("json"), vus: vus.transpose()? })
    }
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let machine = Machine::of_this_process(cpus);
    let checks = examine(&machine, &tries::tried(context, request.vus));
    let text = if request.json {
        format!("{:#}\n", json(&checks))
    } else {
        let color = context.global.color && context.screen.stdout_is_terminal();
        text(&checks, color, crate::page::width())
    };
    print(context, &text)?;
    Ok(if worst(&checks) == Level::Problem { Exit::Untrusted } else { Exit::Success })
}

/// `{"level": "fine", "checks": [{"name", "level", "found", "spoils", "remedy"}]}`
fn json(checks: &[Check]) -> serde_json::Value {
    let one = |check: &Check| {
        json!({
            "name": check.name,
            "level": check.level.name(),
            "found": check.found,
            "spoils": check.spoils,
            "remedy": check.remedy,
        })
    };
    json!({ "level": worst(checks).name(), "checks": checks.iter().map(one).collect::<Vec<_>>() })
}

/// A line for each check, and below those that are not fine what they spoil and what to do; a sentence at the end.
fn text(checks: &[Check], color: bool, width: usize) -> String {
    let mut out = String::new();
    for check in checks {
        let (mark, paint) = match check.level {
            Level::Fine => ("✓", "\x1b[32m"),
            Level::Note => ("·", "\x1b[36m"),
            Level::Warning => ("!", "\x1b[33m"),
            Level::Problem => ("✗", "\x1b[31m"),
        };
        let (paint, reset) = if color { (paint, "\x1b[0m") } else { ("", "") };
        let indent = " ".repeat(FOUND);
        let found = wrapped(&check.found, &indent, width);
        // Writing to a String can't fail.
        let _ = write!(out, "  {paint}{mark}{reset} {:<16}{}", check.name, found.trim_start());
        for (label, said) in [("spoils", &check.spoils), ("try", &check.remedy)] {
            if !said.is_empty() {
                out.push_str(&wrapped(&format!("{label}: {said}"), &indent, width));
            }
        }
    }
    let count = |level: Level| checks.iter().filter(|check| check.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    let said = match (problems, warnings) {
        (0, 0) => "Nothing here would spoil a test.".to_owned(),
        (0, some) => format!("{} that would spoil some tests.", counted(some, "thing")),
        (some, 0) => format!("{} that would spoil most tests.", counted(some, "thing")),
        (some, others) => {
            format!(
                "{} that would spoil most tests, {others} that would spoil some.",
                counted(some, "thing")
            )
        }
    };
    let _ = write!(out, "\n{said}\n");
    out
}

/// `1 thing`, `2 things`
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_comes_with_what_it_spoils_and_what_to_do() {
        let check = |level, spoils: &str, remedy: &str| Check {
            name: "ports",
            level,
            found: "12 local ports".to_owned(),
            spoils: spoils.to_owned(),
            remedy: remedy.to_owned(),
        };
        let fine = check(Level::Fine, "", "");
        let bad = check(Level::Problem, "all", "more ports");
        assert_eq!(
            text(&[fine.clone(), bad.clone()], false, 80),
            "  ✓ ports           12 local ports\n  ✗ ports           12 local ports\n                    spoils: all\n                    try: more ports\n\n\
             1 thing that would spoil most tests.\n"
        );
        assert_eq!(json(std::slice::from_ref(&fine))["level"], "fine");
        assert_eq!(json(&[fine, bad])["checks"][1]["remedy"], "more ports");
    }
}
