//! `brunt compare`: is B worse than A, by how much, how sure?
//!
//! ```text
//! files, or scripts run in turn ─▶ opened ─▶ filled (slices, stages, thresholds) ─▶ brunt_compare ─▶ a table
//!                 turns            opened      fill                  history
//! ```

mod fill;
mod history;
mod opened;
mod turns;

use std::ffi::OsString;
use std::path::PathBuf;

use brunt_compare::{Comparison, Refusal, Run, Settings, Verdict, show};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

use self::opened::Opened;
use super::{switch, value};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    flags::{Flag, Takes, global},
    logging::{Format as LogFormat, Output as LogOutput},
    page,
    print::print,
};

/// Lines are this wide where there is no terminal.
const COLUMNS: usize = 100;

/// More runs a side tell no more, and would take days.
const REPEAT_MAX: usize = 1000;

/// A call of it.
#[derive(Debug)]
pub(crate) struct Request {
    /// Run files, or with `--run` scripts.
    a: Vec<PathBuf>,
    b: Vec<PathBuf>,
    /// With `--run`: how often each script is run, and the flags of the runs.
    turns: Option<(usize, Vec<String>)>,
    settings: Settings,
    form: Form,
    fail_on: Option<FailOn>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Terminal,
    Json,
    Markdown,
    Html,
}

/// The verdict from which on the exit code is 99.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailOn {
    Worse,
    Unclear,
}

const EXAMPLES: &str = "Examples:
  brunt compare before.brunt after.brunt
  brunt compare a1.brunt a2.brunt a3.brunt -- b1.brunt b2.brunt b3.brunt
  brunt compare --run before.js after.js --repeat 5 -- --vus 20 --duration 30s
  brunt compare --format markdown --fail-on worse before/*.brunt -- after/*.brunt";

const AFTER: &str = "Runs of a side count as one witness each: give three or more. `brunt run --out run` writes run files. \
    Exit codes: 0, or 99 by --fail-on; 255 if the runs are unlike or can't be read.";

pub(super) fn command() -> Command {
    let words = |arg: Arg, words: &'static [&'static str]| {
        arg.value_parser(PossibleValuesParser::new(words))
    };
    Command::new("compare")
        .about("Say whether the runs of B are worse than those of A")
        .override_usage(
            "brunt compare [OPTIONS] <A> <B>\n       \
             brunt compare [OPTIONS] <A>... -- <B>...\n       \
             brunt compare --run [OPTIONS] <A.js> <B.js> [-- OPTIONS OF BRUNT RUN]",
        )
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(
            Arg::new("a")
                .value_name("FILE")
                .action(ArgAction::Append)
                .num_args(1..)
                .value_parser(clap::value_parser!(PathBuf))
                .help("The run files of A; two without -- are A and B. With --run: two scripts"),
        )
        .arg(
            Arg::new("b")
                .value_name("MORE")
                .last(true)
                .action(ArgAction::Append)
                .num_args(1..)
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString))
                .help("Behind --: the run files of B. With --run: options of the runs"),
        )
        .arg(value(
            "tolerance",
            "PERCENT",
            "Take changes up to this for none; of failures and checks a fiftieth of it, in percentage points [default: 5%]",
        ))
        .arg(value("from", "DURATION", "Compare only from this time of each run on [default: without ramps]"))
        .arg(value("to", "DURATION", "Compare only up to this time of each run"))
        .arg(words(
            value("format", "FORM", "Print terminal, json, markdown or html [default: terminal]")
                .hide_possible_values(true),
            &["terminal", "json", "markdown", "html"],
        ))
        .arg(words(
            value("fail-on", "VERDICT", "Exit with 99 if B is worse; unclear: also if it is unclear")
                .hide_possible_values(true),
            &["worse", "unclear"],
        ))
        .arg(switch("force", "Compare unlike runs (script, options, target, version) all the same"))
        .arg(value("seed", "N", "Draw with this seed, with one run a side [default: 1]"))
        .arg(switch("run", "Run two scripts in turn, A B B A …, and compare these runs"))
        .arg(value("repeat", "N", "Run each script N times; with --run [default: 5]"))
}

/// The words of a call with the flags that stand among the files of B before the divider: people write them last. With
/// `--run` they are those of the runs, and stay.
pub(super) fn flags_first(words: Vec<OsString>) -> Vec<OsString> {
    let divider = words.iter().position(|word| word == "--");
    let Some(divider) = divider.filter(|at| !words[..*at].iter().any(|word| word == "--run"))
    else {
        return words;
    };
    let (mut first, mut files) = (words[..divider].to_vec(), Vec::new());
    let mut rest = words[divider + 1..].iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        if !text.starts_with('-') || text == "-" || text == "--" {
            files.push(word.clone());
            continue;
        }
        first.push(word.clone());
        if text.strip_prefix("--").is_some_and(takes_a_word) {
            first.extend(rest.next().cloned());
        }
    }
    first.push("--".into());
    first.extend(files);
    first
}

/// Whether a flag has its value in the word behind it.
fn takes_a_word(flag: &str) -> bool {
    let own = ["tolerance", "from", "to", "format", "fail-on", "seed", "repeat"];
    let is_global =
        |known: &Flag| known.long == flag && matches!(known.takes, Takes::One(_) | Takes::Many(_));
    own.contains(&flag) || global::FLAGS.iter().any(is_global)
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let wrong = |name: &str, hint: &str| {
            let text = text(name).unwrap_or_default();
            Failure::usage(format!("invalid value \"{text}\" for --{name}")).hint(hint)
        };
        let a: Vec<PathBuf> = matches.get_many("a").into_iter().flatten().cloned().collect();
        let behind = matches.get_many::<OsString>("b").into_iter().flatten();
        let behind: Vec<OsString> = behind.cloned().collect();
        let moment = |name: &str| match text(name).map(brunt_duration::parse) {
            None => Ok(None),
            Some(Ok(nanos)) if nanos >= 0 => Ok(Some(nanos as f64 / 1e9)),
            Some(_) => Err(wrong(name, "write a time of the run, such as 30s or 1m30s")),
        };
        let settings = Settings {
            tolerance: text("tolerance").map_or(Some(0.05), percent).ok_or_else(|| {
                wrong("tolerance", "write a percentage above 0 and below 100, such as 5% or 0.5%")
            })?,
            from_s: moment("from")?,
            to_s: moment("to")?,
            force: matches.get_flag("force"),
            two_scripts: matches.get_flag("run"),
            seed: match text("seed").map(str::parse) {
                None => 1,
                Some(Ok(seed)) => seed,
                Some(Err(_)) => return Err(wrong("seed", "write a whole number, such as 1")),
            },
            ..Settings::default()
        };
        let repeat = match text("repeat").map(str::parse::<usize>) {
            Some(_) if !settings.two_scripts => {
                return Err(Failure::usage("--repeat runs scripts, and there is no --run")
                    .hint("brunt compare --run A.js B.js --repeat 5"));
            }
            None => 5,
            Some(Ok(count @ 1..=REPEAT_MAX)) => count,
            Some(_) => return Err(wrong("repeat", &format!("use 1 to {REPEAT_MAX}"))),
        };
        let Sides { a, b, turns } = sides(a, behind, settings.two_scripts.then_some(repeat))?;
        Ok(Self {
            a,
            b,
            turns,
            settings,
            form: match text("format") {
                Some("json") => Form::Json,
                Some("markdown") => Form::Markdown,
                Some("html") => Form::Html,
                _ => Form::Terminal,
            },
            fail_on: text("fail-on").map(|word| match word {
                "unclear" => FailOn::Unclear,
                _ => FailOn::Worse,
            }),
        })
    }
}

/// The files of either side, or two scripts with the number of their runs and the flags of these.
struct Sides {
    a: Vec<PathBuf>,
    b: Vec<PathBuf>,
    turns: Option<(usize, Vec<String>)>,
}

/// Tells the words before the divider and behind it apart. `repeat`: they are scripts.
fn sides(mut a: Vec<PathBuf>, behind: Vec<OsString>, repeat: Option<usize>) -> Outcome<Sides> {
    let both = "brunt compare A.brunt B.brunt, or brunt compare A1 A2 A3 -- B1 B2 B3";
    if let Some(repeat) = repeat {
        let [_, second] = &a[..] else {
            return Err(Failure::usage(format!("--run takes two scripts, not {}", a.len()))
                .hint("brunt compare --run A.js B.js; options of the runs stand behind --"));
        };
        let b = vec![second.clone()];
        a.truncate(1);
        let flags = behind.into_iter().map(|word| word.to_string_lossy().into_owned());
        return Ok(Sides { a, b, turns: Some((repeat, flags.collect())) });
    }
    if !behind.is_empty() {
        if a.is_empty() {
            return Err(Failure::usage("there are no run files of A before --").hint(both));
        }
        let b = behind.into_iter().map(PathBuf::from).collect();
        return Ok(Sides { a, b, turns: None });
    }
    let [_, second] = &a[..] else {
        return Err(Failure::usage(match a.len() {
            0 => "there are no run files to compare".to_owned(),
            1 => "there is one run file, and nothing to compare it with".to_owned(),
            count => format!("of {count} run files it is not clear which are A's and which B's"),
        })
        .hint(both));
    };
    let b = vec![second.clone()];
    a.truncate(1);
    Ok(Sides { a, b, turns: None })
}

/// `5`, `5%`, `0.5 %` as a share.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().trim_end_matches('%').trim_end().parse().ok()?;
    let share = number / 100.0;
    (share > 0.0 && share < 1.0).then_some(share)
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let (a, b) = match &request.turns {
        Some((repeat, flags)) => {
            turns::make(context, [&request.a[0], &request.b[0]], *repeat, flags)?
        }
        None => (request.a.clone(), request.b.clone()),
    };
    let sides = [opened::side(&a)?, opened::side(&b)?];
    let comparison =
        compared(&sides, &request.settings).map_err(|obstacle| told(context, obstacle))?;
    let exit = match (request.fail_on, comparison.verdict) {
        (Some(_), Verdict::Worse) | (Some(FailOn::Unclear), Verdict::Unclear) => Exit::Thresholds,
        _ => Exit::Success,
    };
    print(context, &shown(context, &comparison, request.form))?;
    Ok(exit)
}

/// Why there is no comparison.
enum Obstacle {
    Unreadable(Failure),
    Refused(Refusal),
}

impl From<Failure> for Obstacle {
    fn from(failure: Failure) -> Self {
        Self::Unreadable(failure)
    }
}

fn compared(sides: &[Vec<Opened>; 2], settings: &Settings) -> Result<Comparison, Obstacle> {
    let names = opened::Names::of(sides.iter().flatten());
    let is_single = sides.iter().all(|side| side.len() == 1);
    let grain = if is_single { fill::Grain::Fine } else { fill::Grain::Whole };
    let mut filled: Vec<Vec<Run>> = Vec::new();
    for side in sides {
        let runs = side.iter().map(|one| fill::run(one, names, settings, grain));
        filled.push(runs.collect::<Outcome<_>>()?);
    }
    let earlier =
        if is_single { history::runs(sides, &filled, names, settings) } else { Vec::new() };
    brunt_compare::compare(&filled[0], &filled[1], &earlier, settings).map_err(Obstacle::Refused)
}

/// The failure for a refusal. Differences are a list below a line for people, one message for programs.
fn told(context: &Context, obstacle: Obstacle) -> Failure {
    let refusal = match obstacle {
        Obstacle::Unreadable(failure) => return failure,
        Obstacle::Refused(refusal) => refusal,
    };
    let Refusal::Unlike(differences) = &refusal else {
        return Failure::usage(refusal.to_string());
    };
    let count = match differences.len() {
        1 => "the runs are unlike in one thing".to_owned(),
        count => format!("the runs are unlike in {count} things"),
    };
    let lines: Vec<String> =
        differences.iter().map(|one| brunt_summary::escape::plain(&one.to_string())).collect();
    let log = &context.global.log;
    let is_for_people = log.format != LogFormat::Json && log.output == LogOutput::Stderr;
    let message = if is_for_people {
        context.screen.stderr(&format!("  {}\n", lines.join("\n  ")));
        count
    } else {
        format!("{count}: {}", lines.join("; "))
    };
    Failure::usage(message).hint("--force compares them all the same")
}

fn shown(context: &Context, comparison: &Comparison, form: Form) -> String {
    match form {
        Form::Terminal => {
            let is_terminal = context.screen.stdout_is_terminal();
            let columns = if is_terminal { page::width() } else { COLUMNS };
            show::terminal(comparison, columns, is_terminal && context.global.color)
        }
        Form::Json => {
            let text = serde_json::to_string_pretty(&show::json(comparison));
            text.expect("a JSON value can be printed") + "\n"
        }
        Form::Markdown => show::markdown(comparison),
        Form::Html => format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>brunt compare</title>\
             <meta name=\"viewport\" content=\"width=device-width\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
             </head>\n<body>\n{}</body>\n</html>\n",
            show::html(comparison)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Outcome<Request> {
        let command = command().no_binary_name(true).args_override_self(true);
        Request::read(&command.try_get_matches_from(line.split_whitespace()).expect("a line"))
    }

    fn message(line: &str) -> String {
        read(line).expect_err("it is wrong").message()
    }

    #[test]
    fn two_files_are_a_and_b_and_more_need_a_divider() {
        let told = |line| {
            let request = read(line).expect("it is right");
            let names = |files: &[PathBuf]| {
                files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ")
            };
            (names(&request.a), names(&request.b))
        };
        assert_eq!(told("x y"), ("x".into(), "y".into()));
        assert_eq!(told("x y -- z"), ("x y".into(), "z".into()));
        assert_eq!(told("x --force -- y z"), ("x".into(), "y z".into()));
        assert!(message("x y z").contains("3 run files"));
        assert!(message("x").contains("nothing to compare it with"));
        assert!(message("").contains("no run files"));
        assert!(message("-- y").contains("no run files of A"));
    }

    #[test]
    fn flags_may_stand_behind_the_files_of_b() {
        let sorted = |line: &str| {
            let words = flags_first(line.split(' ').map(OsString::from).collect());
            words
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        for (line, wanted) in [
            ("compare a -- b --format json c --force", "compare a --format json --force -- b c"),
            (
                "compare a -- b --seed=3 -q --log-format json",
                "compare a --seed=3 -q --log-format json -- b",
            ),
            ("compare --run a b -- --vus 5", "compare --run a b -- --vus 5"),
            ("compare a b --force", "compare a b --force"),
        ] {
            assert_eq!(sorted(line), wanted);
        }
    }

    #[test]
    fn scripts_take_turns_with_flags_behind_the_divider() {
        let request = read("--run a.js b.js -- -u 5").expect("it is right");
        assert_eq!(request.turns, Some((5, vec!["-u".to_owned(), "5".to_owned()])));
        assert!(request.settings.two_scripts);
        assert_eq!(request.a, [PathBuf::from("a.js")]);
        assert!(message("--run a.js").contains("two scripts, not 1"));
        assert!(message("--repeat 3 a b").contains("there is no --run"));
        assert!(message("--run --repeat 0 a b").contains("invalid value \"0\" for --repeat"));
    }

    #[test]
    fn values_are_read_and_wrong_ones_named() {
        let settings =
            read("--tolerance 2.5% --from 10s --to 1m x y").expect("it is right").settings;
        assert_eq!(
            (settings.tolerance, settings.from_s, settings.to_s),
            (0.025, Some(10.0), Some(60.0))
        );
        assert_eq!(["5", "5%", "0.5 %"].map(percent), [Some(0.05), Some(0.05), Some(0.005)]);
        for text in ["0", "-1", "100", "x", "NaN", "inf"] {
            assert_eq!(percent(text), None, "{text}");
        }
        assert!(message("--from x a b").contains("for --from"));
        assert!(message("--seed=-x a b").contains("for --seed"));
        assert!(message("--tolerance 0 a b").contains("for --tolerance"));
    }
}
