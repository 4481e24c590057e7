//! The commands: one file per verb. This file knows their names and flags; [`help`] arranges their pages of help.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command, error::ErrorKind};

use crate::{
    Context, agents,
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
    flags::{self, Given, global, usage_failure},
    logging::Format,
    repeat::{self, Repeat},
    run, secrets,
    settings::{GlobalSettings, RunSettings, ScriptSettings},
    vegeta,
};

mod absent;
mod agent;
pub(crate) mod archive;
mod argument;
mod cloud;
mod compare;
mod completion;
mod convert;
mod correlate;
mod demo;
mod deps;
mod doctor;
mod features;
mod find;
mod help;
mod inspect;
mod k8s;
mod manual;
mod new;
mod record;
mod remote;
mod runs;
mod sql;
mod types;
mod version;
mod view;

use self::argument::{switch, value};
use crate::print::print;

/// The command that the user asked for, checked as far as the command line alone can tell.
#[derive(Debug)]
pub(crate) enum Call {
    Run {
        script: String,
        settings: Box<RunSettings>,
        given: Given,
    },
    /// How much load a system bears.
    Find(Box<find::Call>),
    /// A part of the load of tests that are led elsewhere.
    Agent(Box<agents::follow::Request>),
    Inspect {
        script: String,
        settings: ScriptSettings,
        requirements: bool,
        given: Given,
    },
    Archive {
        request: Box<archive::Request>,
        given: Given,
    },
    /// The objects of a test on many pods.
    Kubernetes(Box<k8s::Request>),
    Deps {
        script: String,
        json: bool,
    },
    Features {
        json: bool,
    },
    /// Limits and settings of this machine that would spoil a test.
    Doctor(doctor::Request),
    /// `pause`, `resume`, `scale`, `stats`, `status`.
    Remote(remote::Request),
    New(new::Request),
    /// Declarations for editors.
    Types(types::Request),
    /// A script of what other tools wrote.
    Convert(Box<convert::Request>),
    /// The pages of run files.
    View(view::Call),
    /// A recorder, or its certificate authority.
    Record(record::Request),
    /// The run files of a folder.
    Runs(runs::Request),
    /// Whether runs are worse than others.
    Compare(Box<compare::Request>),
    /// Where the values of a recorded session come from.
    Correlate(correlate::Request),
    /// Statements on a database, once or as a load.
    Sql(Box<sql::Request>),
    Version {
        json: bool,
    },
    Demo(Box<demo::Request>),
    Completion(clap_complete::Shell),
    /// Pages for `man`, into this folder.
    Manual(String),
    /// `attack`, `encode`, `report`, `plot`.
    Vegeta(vegeta::Call),
    /// A page of help, or clap's version line.
    Print(String),
}

impl Call {
    /// Does it.
    ///
    /// # Errors
    /// It can't be done; the failure says why.
    pub(crate) fn perform(self, context: &Context) -> Outcome<Exit> {
        match self {
            Self::Run { script, settings, given } => {
                if let Some(repeat) =
                    settings.repeat.filter(|repeat: &Repeat| repeat.starts_others())
                {
                    return repeat::perform(context, repeat, &script);
                }
                match &settings.lead {
                    Some(lead) => agents::lead::perform(context, &script, &settings, &given, lead),
                    None => run::perform(context, &script, *settings, &given),
                }
            }
            Self::Find(call) => find::perform(context, *call),
            Self::Agent(request) => agent::perform(context, *request),
            Self::Inspect { script, settings, requirements, given } => {
                inspect::perform(context, &script, &settings, requirements, &given)
            }
            Self::Archive { request, given } => archive::perform(context, &request, &given),
            Self::Kubernetes(request) => k8s::perform(context, *request),
            Self::Deps { script, json } => deps::perform(context, &script, json),
            Self::Features { json } => features::perform(context, json),
            Self::Doctor(request) => doctor::perform(context, &request),
            Self::Remote(request) => remote::perform(context, &request),
            Self::New(request) => new::perform(context, &request),
            Self::Types(request) => types::perform(context, &request),
            Self::Convert(request) => convert::perform(context, &request),
            Self::View(call) => view::perform(context, &call),
            Self::Record(request) => record::perform(context, request),
            Self::Runs(request) => runs::perform(context, &request),
            Self::Compare(request) => compare::perform(context, &request),
            Self::Correlate(request) => correlate::perform(context, &request),
            Self::Sql(request) => sql::perform(context, &request),
            Self::Version { json } => version::perform(context, json),
            Self::Demo(request) => demo::perform(context, *request),
            Self::Completion(shell) => completion::perform(context, shell),
            Self::Manual(folder) => manual::perform(context, &folder),
            Self::Vegeta(call) => call.perform(context),
            Self::Print(text) => print(context, &text),
        }
    }
}

/// The whole command line.
fn command() -> Command {
    absent::add(help::arrange(commands_of_help()))
}

/// The part of it that help and completion show.
fn commands_of_help() -> Command {
    Command::new("brunt")
        .version(crate::version::line())
        .about("Load testing that runs k6 scripts as they are")
        .disable_version_flag(true)
        .arg(
            Arg::new("version")
                .long("version")
                .help("Print the version")
                .action(ArgAction::Version),
        )
        .args_override_self(true)
        .args(global::FLAGS.iter().map(|flag| flag.arg().global(true).help_heading(help::GLOBAL)))
        .subcommand_value_name("COMMAND")
        .subcommand(flags::add(
            Command::new("run")
                .about("Run a test")
                .override_usage("brunt run [OPTIONS] <SCRIPT>")
                .before_help(help::EXAMPLES_OF_RUN)
                .after_help(help::what_scripts_have())
                .arg(script_argument()),
            flags::of_run(),
        ))
        .subcommand(find::command())
        .subcommand(agent::command())
        .subcommand(
            flags::add(
                Command::new("inspect")
                    .about("Print the options of a script as JSON")
                    .override_usage("brunt inspect [OPTIONS] <SCRIPT>")
                    .arg(script_argument()),
                flags::of_inspect(),
            )
            .arg(
                Arg::new("execution-requirements")
                    .long("execution-requirements")
                    .help("Print the scenarios of all layers of options, their duration and their VUs")
                    .action(ArgAction::SetTrue),
            ),
        )
        .subcommand(
            flags::add(
                Command::new("archive")
                    .about("Write a test with all its files into one archive")
                    .override_usage("brunt archive [OPTIONS] <SCRIPT>")
                    .arg(script_argument()),
                flags::of_archive(),
            )
            .args(flags::beside_archive().map(|flag| flag.arg().hide(true)))
            .arg(value("archive-out", "FILE", "Write this file, or - for stdout [default: archive.tar]").short('O'))
            .arg(switch("exclude-env-vars", "Leave the environment out of the archive")),
        )
        .subcommand(k8s::command())
        .subcommand(deps::command())
        .subcommand(features::command())
        .subcommand(doctor::command())
        .subcommands(remote::commands())
        .subcommands(vegeta::COMMANDS.iter().map(|(name, about)| of_vegeta(name, about)))
        .subcommand(view::command())
        .subcommand(runs::command())
        .subcommand(compare::command())
        .subcommand(correlate::command())
        .subcommand(sql::command())
        .subcommand(new::command())
        .subcommand(types::command())
        .subcommand(convert::command())
        .subcommand(record::command())
        .subcommand(demo::command())
        .subcommand(version::command())
        .subcommand(completion::command())
        .subcommand(manual::command())
}

/// Checked by [`one_script`].
fn script_argument() -> Arg {
    Arg::new("script")
        .value_name("SCRIPT")
        .action(ArgAction::Append)
        .help("The script (.js or .ts), an archive (.tar), or - for standard input")
}

/// One of vegeta's commands, for help and completion alone: its flags are no business of clap's.
fn of_vegeta(name: &'static str, about: &'static str) -> Command {
    let command = Command::new(name).about(about).disable_help_flag(true);
    match vegeta::flag_set(name) {
        Some(set) => command.override_help(set.help()),
        None => command.override_usage(format!("brunt {name} -help")),
    }
}

/// Reads the command line.
///
/// # Errors
/// It is wrong (255), or it asks for what we don't have yet.
pub(crate) fn parse(
    arguments: impl Iterator<Item = OsString>,
    environment: &Environment,
) -> Outcome<(GlobalSettings, Call)> {
    let mut arguments: Vec<OsString> = arguments.collect();
    // vegeta's spelling.
    if let Some(first) = arguments.get_mut(1).filter(|first| *first == "-version") {
        *first = "--version".into();
    }
    // `brunt --version --json` is the command's.
    if arguments.len() == 3
        && ["--version", "--json"].iter().all(|flag| arguments[1..].iter().any(|word| word == flag))
    {
        arguments[1] = "version".into();
        arguments[2] = "--json".into();
    }
    let vegeta = vegeta::split(&arguments).transpose()?;
    let vegeta = vegeta.map(|(mut globals, call)| {
        // clap gets the global flags, with a command that takes no others.
        globals.push("version".into());
        arguments = globals;
        call
    });
    let named = named_command(&arguments);
    // clap's command `help` has no flags: `brunt help --help` is `brunt help`.
    if named == Some("help") {
        arguments.retain(|word| word != "-h" && word != "--help");
    }
    if named == Some("find") {
        find::with_two_dashes(&mut arguments);
    }
    if named == Some("compare") {
        arguments = compare::flags_first(arguments);
    }
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                    let global = GlobalSettings::before_flags(environment);
                    Ok((global, Call::Print(help::finished(&error.to_string()))))
                }
                _ => {
                    let shown = commands_of_help();
                    let commands: Vec<&str> =
                        shown.get_subcommands().map(Command::get_name).collect();
                    Err(usage_failure(&error, named, &long_flags(&shown, named), &commands))
                }
            };
        }
    };
    let Some((name, matches)) = matches.subcommand() else {
        let global = GlobalSettings::before_flags(environment);
        return Ok((global, Call::Print(help::short())));
    };
    let globals = || global::FLAGS.iter();
    let given = match name {
        "run" => Given::collect(globals().chain(flags::of_run()), matches, environment)?,
        "find" => Given::collect(globals().chain(flags::of_find()), matches, environment)?,
        "agent" => Given::collect(globals().chain(flags::of_agent()), matches, environment)?,
        "inspect" => Given::collect(globals().chain(flags::of_inspect()), matches, environment)?,
        "archive" => {
            let own = flags::of_archive().chain(flags::beside_archive());
            Given::collect(globals().chain(own), matches, environment)?
        }
        "k8s" => {
            let matches = matches.subcommand_matches("manifest").unwrap_or(matches);
            Given::collect(globals().chain(flags::of_archive()), matches, environment)?
        }
        _ => Given::collect(globals(), matches, environment)?,
    };
    let mut settings = GlobalSettings::new(&given, environment)?;
    settings.log.soft = matches!(name, "archive" | "inspect");
    if name == "archive" {
        // Init code speaks to the log; the file is one of the run's.
        settings.log.console_output = None;
    }
    secrets::install(&given, environment)?;
    if let Some(call) = vegeta {
        if given.last("log-format").is_none() {
            settings.log.format = Format::Dated;
        }
        return Ok((settings, Call::Vegeta(call)));
    }
    let call = match name {
        "run" => Call::Run {
            script: one_script(name, matches)?,
            settings: Box::new(RunSettings::new(&given, environment)?),
            given,
        },
        "agent" => Call::Agent(Box::new(agent::read(matches, &given)?)),
        "find" => Call::Find(Box::new(find::Call::read(matches, given, environment)?)),
        "inspect" => Call::Inspect {
            script: one_script(name, matches)?,
            settings: ScriptSettings::new(&given, environment, false)?,
            requirements: matches.get_flag("execution-requirements"),
            given,
        },
        "archive" => Call::Archive {
            request: Box::new(archive::Request {
                script: one_script(name, matches)?,
                settings: ScriptSettings::new(&given, environment, false)?,
                out: matches
                    .get_one::<String>("archive-out")
                    .map_or_else(|| "archive.tar".to_owned(), String::clone),
                without_env: matches.get_flag("exclude-env-vars"),
            }),
            given,
        },
        "k8s" => {
            let matches = matches.subcommand_matches("manifest").ok_or_else(|| {
                Failure::usage("missing command: brunt k8s manifest")
                    .hint("see brunt k8s manifest --help")
            })?;
            Call::Kubernetes(Box::new(k8s::Request::read(matches, given, environment)?))
        }
        "deps" => Call::Deps {
            script: matches.get_one::<String>("script").cloned().unwrap_or_default(),
            json: matches.get_flag("json"),
        },
        "features" => Call::Features { json: matches.get_flag("json") },
        "doctor" => Call::Doctor(doctor::Request::read(matches)?),
        "pause" | "resume" | "scale" | "stats" | "status" => {
            Call::Remote(remote::Request::read(name, matches, &settings)?)
        }
        "cloud" | "login" => return Err(cloud::failure(name, matches)),
        "x" => Call::Print(absent::extension(matches)?),
        "new" => Call::New(new::Request::read(matches)?),
        "types" => Call::Types(types::Request::read(matches)),
        "convert" => Call::Convert(Box::new(convert::Request::read(matches)?)),
        "record" => Call::Record(record::Request::read(matches)?),
        "view" => Call::View(view::Call::read(matches)?),
        "runs" => Call::Runs(runs::Request::read(matches)?),
        "compare" => Call::Compare(Box::new(compare::Request::read(matches)?)),
        "correlate" => Call::Correlate(correlate::Request::read(matches)),
        "sql" => Call::Sql(Box::new(sql::Request::read(matches)?)),
        "version" => Call::Version { json: matches.get_flag("json") },
        "demo" => Call::Demo(Box::new(demo::Request::read(matches)?)),
        "completion" => match matches.get_one::<clap_complete::Shell>("shell") {
            Some(shell) => Call::Completion(*shell),
            None => Call::Print(completion::command().render_help().to_string()),
        },
        "manual" => Call::Manual(matches.get_one::<String>("dir").cloned().unwrap_or_default()),
        other => return Err(absent::failure(other)),
    };
    Ok((settings, call))
}

/// The flags of a command and the global ones, with their dashes.
fn long_flags(root: &Command, command: Option<&str>) -> Vec<String> {
    let own = command.and_then(|name| root.find_subcommand(name));
    let parts = own.into_iter().flat_map(Command::get_subcommands);
    let all = own.into_iter().chain(parts).chain([root]).flat_map(Command::get_arguments);
    all.filter_map(|arg| arg.get_long().map(|name| format!("--{name}"))).collect()
}

/// The command that the words name, as far as that can be seen without reading them.
fn named_command(words: &[OsString]) -> Option<&'static str> {
    const COMMANDS: [&str; 29] = [
        "run",
        "find",
        "agent",
        "inspect",
        "archive",
        "k8s",
        "deps",
        "features",
        "doctor",
        "pause",
        "resume",
        "scale",
        "stats",
        "status",
        "runs",
        "view",
        "compare",
        "correlate",
        "new",
        "types",
        "convert",
        "record",
        "sql",
        "demo",
        "version",
        "completion",
        "manual",
        "help",
        "x",
    ];
    let words = words.iter().skip(1).filter_map(|word| word.to_str());
    let mut named = words.filter_map(|word| COMMANDS.into_iter().find(|known| *known == word));
    named.next()
}

/// `run` and `inspect` take exactly one script.
fn one_script(command: &str, matches: &ArgMatches) -> Outcome<String> {
    let scripts: Vec<&String> = matches.get_many("script").into_iter().flatten().collect();
    match scripts.as_slice() {
        [script] => Ok((*script).clone()),
        found => Err(Failure::usage(format!(
            "brunt {command} takes one script, not {}: a file, or - for standard input",
            found.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Outcome<(GlobalSettings, Call)> {
        let words = line.split_whitespace().map(OsString::from);
        parse(words, &Environment::default())
    }

    fn message(line: &str) -> String {
        let failure = parsed(line).unwrap_err();
        assert_eq!(failure.exit.code(), 255, "{line}");
        match failure.hint {
            Some(ref hint) => format!("{} ({hint})", failure.message()),
            None => failure.message(),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
        // clap itself looks for these in builds with debug assertions only.
        let root = command();
        let mut names: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
    }

    #[test]
    fn the_version_is_json_in_both_spellings() {
        for line in ["brunt version --json", "brunt --version --json", "brunt --json --version"] {
            assert!(matches!(parsed(line).unwrap().1, Call::Version { json: true }), "{line}");
        }
    }

    #[test]
    fn flags_work_before_and_after_the_script() {
        for line in
            ["brunt run -u 5 s.js -q", "brunt run s.js -u 5 -q", "brunt -q run s.js --vus=5"]
        {
            let (global, call) = parsed(line).unwrap();
            assert!(global.quiet, "{line}");
            let Call::Run { script, given, .. } = call else { panic!("{call:?}") };
            assert_eq!((script.as_str(), given.last("vus")), ("s.js", Some("5")), "{line}");
        }
        let (_, call) = parsed("brunt run -").unwrap();
        assert!(matches!(call, Call::Run { script, .. } if script == "-"));
    }

    #[test]
    fn a_wrong_command_line_is_told_in_one_sentence() {
        for (line, said) in [
            ("brunt foo", "unknown command \"foo\" for \"brunt\" (see brunt --help)"),
            (
                "brunt inspetc x",
                "unknown command \"inspetc\" for \"brunt\" (did you mean inspect?)",
            ),
            ("brunt run --vuss 5 s.js", "unknown flag: --vuss (did you mean --vus?)"),
            ("brunt run --vu 5 s.js", "unknown flag: --vu (did you mean --vus?)"),
            ("brunt run --VUs 5 s.js", "unknown flag: --VUs (did you mean --vus?)"),
            ("brunt run --ou x s.js", "unknown flag: --ou (did you mean --out?)"),
            ("brunt scale --vu 5", "unknown flag: --vu (did you mean --vus?)"),
            ("brunt demo --key 5", "unknown flag: --key (did you mean --key-version?)"),
            ("brunt run --zzz s.js", "unknown flag: --zzz (see brunt run --help)"),
            ("brunt run s.js --vus", "flag needs a value: --vus <N> (see brunt run --help)"),
            ("brunt run", "brunt run takes one script, not 0: a file, or - for standard input"),
            (
                "brunt run a.js b.js",
                "brunt run takes one script, not 2: a file, or - for standard input",
            ),
            ("brunt demo x", "unknown command \"x\" for \"brunt demo\" (see brunt demo --help)"),
            ("brunt demo sqll", "unknown command \"sqll\" for \"brunt demo\" (did you mean sql?)"),
            ("brunt demo sql --row 5", "unknown flag: --row (did you mean --rows?)"),
            (
                "brunt completion tcsh",
                "invalid value 'tcsh' for '[SHELL]' (use bash, elvish, fish, powershell, zsh)",
            ),
        ] {
            assert_eq!(message(line), said);
        }
    }
}
