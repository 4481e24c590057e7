//! The pages of help: examples, groups of commands, and global options on one page alone.

use std::fmt::Write as _;

use clap::Command;

use crate::{
    flags::global,
    page::{self, wrapped},
    vegeta,
};

/// The heading of the global options.
pub(super) const GLOBAL: &str = "Global options";

const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The same for the root, whose commands are listed before the options.
const TEMPLATE_OF_ROOT: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}\
    Global options:\n{options}{after-help}";

/// Commands by purpose, most used first.
const COMMANDS: &[(&str, &[&str])] = &[
    ("Tests", &["run", "agent", "find", "new", "types", "inspect", "archive", "deps", "features"]),
    ("Sessions", &["record", "convert", "correlate"]),
    ("Results", &["view", "runs", "compare"]),
    ("A run that serves its REST API", &["status", "stats", "pause", "resume", "scale"]),
    ("Attacks, in vegeta's place", &["attack", "report", "plot", "encode"]),
    ("Databases", &["sql"]),
    ("Many machines", &["k8s"]),
    ("More", &["demo", "doctor", "completion", "manual", "version", "help"]),
];

/// The column of what a command does, in their list.
const ABOUT: usize = 14;

/// On narrower terminals the help of an option goes below its name.
const NARROW: usize = 60;

/// Calls of `brunt`, most used first.
const EXAMPLES: &str = "Examples:
  brunt run script.js
  brunt run --vus 50 --duration 1m script.js
  echo 'GET http://127.0.0.1:8080/' | brunt attack -duration=10s | brunt report";

/// The whole answer to a call without any word.
const SHORT: &str = "Brunt finds out how much a system can bear, with k6 scripts as they are.

  brunt new script.js            Write a first script
  brunt run --demo script.js     Run it, with a demo target in the same process
  brunt record --browser chromium https://shop.test/
                                 Record a browser's session as a script
  brunt find script.js --goal 'http_req_duration p(95)<200'
                                 Find the highest load at which a goal holds
  brunt run --report run.html script.js
                                 Run, and write a page with plots

`brunt --help` lists all commands, `brunt doctor` says whether this machine is fit for a test.";

/// The end of the root's page, with vegeta's global flags.
const AFTER_ROOT: &str = "`brunt COMMAND --help` lists the options of a command.

Before attack, report, plot and encode, -cpus=N limits the cores to N. vegeta's -profile is refused: perf and samply \
    profile brunt as it is.";

/// Calls of `brunt run`, most used first.
pub(super) const EXAMPLES_OF_RUN: &str = "Examples:
  brunt run script.js
  brunt run -u 50 -d 1m script.js
  brunt run -s 30s:100 -s 5m:100 -s 10s:0 script.js
  brunt run -e HOST=test.example --once script.js
  brunt run -o json=samples.json.gz -o web-dashboard script.js
  brunt run --demo examples/caching.js
  brunt run --agents 4 script.js";

/// The commands that matter first.
pub(super) fn short() -> String {
    page::fitted(SHORT, page::width())
}

/// Arranges the pages: the root lists commands by purpose, and only its page explains the global options.
pub(super) fn arrange(root: Command) -> Command {
    let width = page::width();
    let mut list = String::new();
    for (heading, names) in COMMANDS {
        // Writing to a String can't fail.
        let _ = writeln!(list, "{heading}:");
        for name in *names {
            let about = root.find_subcommand(name).and_then(Command::get_about);
            let about =
                about.map_or_else(|| "Print the help of a command".to_owned(), ToString::to_string);
            let lines = wrapped(&about, &" ".repeat(ABOUT), width);
            let cell = format!("  {name}");
            let _ = write!(list, "{cell:<ABOUT$}{}", lines.trim_start());
        }
        list.push('\n');
    }
    let root = root
        .before_help(format!("{EXAMPLES}\n\n{}", list.trim_end()))
        .after_help(AFTER_ROOT)
        .next_line_help(width < NARROW)
        .help_template(TEMPLATE_OF_ROOT);
    let names: Vec<String> =
        root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(root, |root, name| root.mut_subcommand(name, of_command))
}

/// The page of one command: examples before its options; global options only by name.
fn of_command(command: Command) -> Command {
    if vegeta::flag_set(command.get_name()).is_some() {
        return command;
    }
    let parts: Vec<String> =
        command.get_subcommands().map(|part| part.get_name().to_owned()).collect();
    let command =
        parts.into_iter().fold(command, |command, name| command.mut_subcommand(name, of_command));
    let hidden = global::FLAGS.iter().filter(|flag| {
        let own = command.get_arguments().any(|arg| arg.get_id() == flag.long);
        !own
    });
    let hidden: Vec<_> = hidden.map(|flag| flag.arg().hide(true)).collect();
    let names: Vec<String> =
        hidden.iter().filter_map(|arg| arg.get_long()).map(|name| format!("--{name}")).collect();
    let globals = format!("{GLOBAL}, which `brunt --help` explains: {}.", names.join(" "));
    let after = match command.get_after_help() {
        Some(own) => format!("{globals}\n\n{own}"),
        None => globals,
    };
    command.args(hidden).after_help(after).help_template(TEMPLATE)
}

/// Below the flags of `run`: the modules and globals of scripts.
pub(super) fn what_scripts_have() -> String {
    let modules: Vec<_> = brunt_modules::K6::modules().collect();
    format!(
        "Modules that scripts can import: {}.\n\nGlobals beyond k6's: fetch, Headers, Request, Response, FormData, Blob, \
         File, ReadableStream, WritableStream, AbortController, EventTarget, EventSource, URL, URLSearchParams, \
         structuredClone, atob, btoa.",
        modules.join(", ")
    )
}

/// A page of clap's for people: without the `[=<BOOL>]` behind each switch, and with plain blanks. Columns stay in place.
pub(super) fn finished(page: &str) -> String {
    const BOOL: &str = "[=<BOOL>]";
    let page = page.replace(BOOL, &" ".repeat(BOOL.len())).replace('\u{a0}', " ");
    let page: String = page.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    page::fitted(&page, page::width())
}
