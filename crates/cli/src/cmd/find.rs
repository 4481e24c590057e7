//! `brunt find [SCRIPT]`: the flags of a search.

use std::{ffi::OsString, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::argument::{switch, value};
use crate::{
    Context,
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
    find::{
        Form, Hunt, Request,
        targets::{self, Targets},
    },
    flags::{self, Given},
    memory, run,
    settings::{RunSettings, SummaryMode},
};

const EXAMPLES: &str = "Examples:
  brunt find --goal 'http_req_duration p(95)<200' --goal 'http_req_failed rate<1%' script.js
  brunt find --from 50/s --max 2000/s --hold 30s --report capacity.html script.js
  brunt find --vus --max 500 --goal 'http_req_duration p(95)<1s' script.js
  brunt find --targets urls.txt --goal 'http_req_failed rate<1%' --json";

const EXITS: &str = "Exit codes: 0 the load is known, or even the highest asked for held; 98 no trustworthy answer, because the \
    generator was the limit or the steps did not suffice; 99 no load meets the goals, or the system fell over; 104 a goal that makes no \
    sense; 105 stopped.";

/// The heading of the flags of the search.
const SEARCH: &str = "Search";

/// The heading of the flags for targets.
const TARGETS: &str = "Targets in place of a script";

pub(super) fn command() -> Command {
    let command = Command::new("find")
        .about("Find out how much load a system bears")
        .override_usage(
            "brunt find [OPTIONS] <SCRIPT>\n       brunt find [OPTIONS] --targets <FILE>",
        )
        .before_help(EXAMPLES)
        .after_help(EXITS)
        .arg(
            Arg::new("script")
                .value_name("SCRIPT")
                .action(ArgAction::Append)
                .help("The script (.js or .ts), an archive (.tar), or - for standard input"),
        );
    let own = [
        value("goal", "GOAL", "Search for the highest load that meets this: a metric and a condition as thresholds have them, such as 'http_req_duration p(95)<200' or 'http_req_failed rate<1%'; repeat it for more [default: the script's thresholds]")
            .action(ArgAction::Append)
            .allow_hyphen_values(true),
        value("from", "RATE", "Begin with this rate of iterations [default: 10/s; with --vus 1]"),
        value("max", "RATE", "Try no more than this [default: 10000/s; with --vus 1000]"),
        value("hold", "DURATION", "Hold and measure each load so long, after a quarter of it to settle; twice as long where chance may have decided, and for the confirmation [default: 20s]"),
        switch("vus", "Search for a number of VUs, not for a rate"),
        value("precision", "PERCENT", "Narrow the gap between held and broken to this part of the load [default: 5%]"),
        value("recovery", "DURATION", "Wait at most so long after a step that broke until the system is itself again [default: 1m]"),
        value("max-steps", "N", "Give up after N steps [default: 30]"),
        value("max-vus", "N", "Make no more VUs than this [default: 10000, or as many as half of the memory holds]"),
        value("format", "FORM", "Print terminal or json [default: terminal]")
            .value_parser(["terminal", "json"])
            .hide_possible_values(true),
        switch("json", "Print JSON, as --format json does"),
    ];
    let of_targets = [
        value(
            "targets",
            "FILE",
            "Hit these targets in turn, one a request, in the formats of brunt attack; stdin reads standard input",
        ),
        value("header", "NAME:VALUE", "Send this header with every target; repeat it for more")
            .action(ArgAction::Append),
        value("body", "FILE", "Send this body to targets that have none"),
    ];
    let command = command.args(own.map(|arg| arg.help_heading(SEARCH)));
    let command = command.args(of_targets.map(|arg| arg.help_heading(TARGETS)));
    flags::add(command, flags::of_find())
}

/// `-targets` and its like, as `brunt attack` writes them.
pub(super) fn with_two_dashes(words: &mut [OsString]) {
    const FLAGS: [&str; 3] = ["-targets", "-header", "-body"];
    for word in words.iter_mut().skip(1) {
        let Some(text) = word.to_str() else { continue };
        let name = text.split('=').next().unwrap_or_default();
        if FLAGS.contains(&name) {
            *word = format!("-{text}").into();
        }
    }
}

/// A search, as the command line asks for it.
#[derive(Debug)]
pub(crate) struct Call {
    /// A script, or targets.
    subject: Subject,
    settings: RunSettings,
    given: Given,
    request: Request,
}

#[derive(Debug)]
enum Subject {
    Script(String),
    Targets(Targets),
}

/// The highest rate and number of VUs by default.
const RATE_MAX: f64 = 10_000.0;

/// See [`RATE_MAX`].
const VUS_MAX: f64 = 1000.0;

/// The highest rate that anybody may ask for, per second.
const RATE_LIMIT: f64 = 1e7;

/// The most steps that anybody may ask for.
const STEPS_LIMIT: usize = 200;

/// A step is at least this long: a shorter one sees too little.
const HOLD_MIN: Duration = Duration::from_millis(500);

/// And at most this long.
const HOLD_MAX: Duration = Duration::from_hours(1);

impl Call {
    pub(super) fn read(
        matches: &ArgMatches,
        given: Given,
        environment: &Environment,
    ) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let all = |name: &str| -> Vec<String> {
            matches.get_many(name).into_iter().flatten().cloned().collect()
        };
        let by_vus = matches.get_flag("vus");
        let load = |name: &str, default: f64| match text(name) {
            None => Ok(default),
            Some(text) => read_load(name, text, by_vus),
        };
        let max = load("max", if by_vus { VUS_MAX } else { RATE_MAX })?;
        let from = load("from", (if by_vus { 1.0_f64 } else { 10.0 }).min(max))?;
        if from > max {
            let unit = if by_vus { "" } else { "/s" };
            let problem = format!("--from {from}{unit} is above --max {max}{unit}");
            return Err(Failure::usage(problem).hint("begin below the highest load"));
        }
        let hold = read_time("hold", text("hold"), 20)?;
        if !(HOLD_MIN..=HOLD_MAX).contains(&hold) {
            let problem =
                format!("invalid value \"{}\" for --hold", text("hold").unwrap_or_default());
            return Err(Failure::usage(problem).hint("use 500ms to 1h"));
        }
        let request = Request {
            goals: all("goal"),
            by_vus,
            from,
            max,
            hold,
            recovery: read_time("recovery", text("recovery"), 60)?,
            precision: match text("precision") {
                None => 0.05,
                Some(text) => read_percent(text)?,
            },
            steps_max: match text("max-steps") {
                None => 30,
                Some(text) => {
                    let count = text.parse().ok().filter(|count| (1..=STEPS_LIMIT).contains(count));
                    count.ok_or_else(|| {
                        wrong("max-steps", text, &format!("use 1 to {STEPS_LIMIT}"))
                    })?
                }
            },
            vus_max: match text("max-vus") {
                None => memory::room_for_vus(),
                Some(text) => {
                    let count = text.parse().ok().filter(|count| (1..=1_000_000).contains(count));
                    count.ok_or_else(|| wrong("max-vus", text, "use 1 to 1000000"))?
                }
            },
            form: if matches.get_flag("json") || text("format") == Some("json") {
                Form::Json
            } else {
                Form::Terminal
            },
        };
        let mut settings = RunSettings::new(&given, environment)?;
        // The search has a summary of its own.
        settings.summary_mode = SummaryMode::Disabled;
        let scripts = all("script");
        let subject = match (scripts.as_slice(), text("targets")) {
            ([script], None) => Subject::Script(script.clone()),
            ([], Some(file)) => Subject::Targets(Targets {
                file: file.to_owned(),
                headers: all("header"),
                body: text("body").map(str::to_owned),
            }),
            ([], None) => {
                return Err(Failure::usage("brunt find takes a script, or --targets FILE")
                    .hint("brunt find --goal 'http_req_duration p(95)<200' script.js"));
            }
            ([_], Some(_)) => {
                return Err(Failure::usage(
                    "there is a script and there are --targets: which is it?",
                )
                .hint("leave one of them out"));
            }
            (several, _) => {
                return Err(Failure::usage(format!(
                    "brunt find takes one script, not {}: a file, or - for standard input",
                    several.len()
                )));
            }
        };
        if matches!(subject, Subject::Script(_)) {
            for name in ["header", "body"] {
                if matches.contains_id(name) {
                    return Err(Failure::usage(format!(
                        "--{name} is for --targets, and there is a script"
                    ))
                    .hint("set it in the script"));
                }
            }
        }
        Ok(Self { subject, settings, given, request })
    }
}

pub(super) fn perform(context: &Context, call: Call) -> Outcome<Exit> {
    let Call { subject, settings, given, request } = call;
    let hunt = Hunt::new(request);
    match subject {
        Subject::Script(script) => run::search(context, &script, settings, &given, hunt),
        Subject::Targets(targets) => {
            let script = targets::script(&targets)?;
            let path = script.path().join("targets.js");
            run::search(context, &path.to_string_lossy(), settings, &given, hunt)
        }
    }
}

fn wrong(name: &str, text: &str, hint: &str) -> Failure {
    Failure::usage(format!("invalid value \"{text}\" for --{name}")).hint(hint)
}

/// `50/s`, `600/m`, `50`; VUs are whole numbers.
fn read_load(name: &str, text: &str, by_vus: bool) -> Outcome<f64> {
    if by_vus {
        let vus = text.parse::<u32>().ok().filter(|vus| (1..=1_000_000).contains(vus));
        return vus
            .map(f64::from)
            .ok_or_else(|| wrong(name, text, "with --vus it is a number of VUs, such as 50"));
    }
    let hint = "write iterations per time, such as 50/s or 600/m";
    let (count, per) = text.split_once('/').unwrap_or((text, "1s"));
    let per = if per.starts_with(|c: char| c.is_ascii_digit()) {
        per.to_owned()
    } else {
        format!("1{per}")
    };
    let nanos = brunt_duration::parse(&per).ok().filter(|nanos| *nanos > 0);
    let rate = count.trim().parse::<f64>().ok().zip(nanos);
    let rate = rate.map(|(count, nanos)| count / (nanos as f64 / 1e9));
    rate.filter(|rate| *rate > 0.0 && *rate <= RATE_LIMIT).ok_or_else(|| wrong(name, text, hint))
}

fn read_time(name: &str, text: Option<&str>, seconds: u64) -> Outcome<Duration> {
    let Some(text) = text else { return Ok(Duration::from_secs(seconds)) };
    let nanos = brunt_duration::parse(text).ok().and_then(|nanos| u64::try_from(nanos).ok());
    let time = nanos.map(Duration::from_nanos).filter(|time| *time <= HOLD_MAX);
    time.ok_or_else(|| wrong(name, text, "write a duration, such as 20s or 1m30s, at most 1h"))
}

/// `5`, `5%`, as a share.
fn read_percent(text: &str) -> Outcome<f64> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let share = number.map(|number| number / 100.0).filter(|share| (0.005..=0.5).contains(share));
    share.ok_or_else(|| wrong("precision", text, "write a percentage from 0.5% to 50%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_rates_or_vus() {
        let rate = |text: &str| read_load("from", text, false).ok();
        assert_eq!(
            ["50/s", "600/m", "50", "5/10s", "0.5/s"].map(rate),
            [Some(50.0), Some(10.0), Some(50.0), Some(0.5), Some(0.5)]
        );
        for text in ["0", "-1/s", "x", "5/x", "1/0s", "1e9/s", "", "/s", "NaN"] {
            assert_eq!(rate(text), None, "{text}");
        }
        assert_eq!(read_load("from", "5", true).ok(), Some(5.0));
        for text in ["5/s", "0", "1.5"] {
            assert!(read_load("from", text, true).is_err(), "{text}");
        }
    }

    #[test]
    fn times_and_percentages_have_bounds() {
        assert_eq!(read_time("hold", Some("1m"), 1).ok(), Some(Duration::from_mins(1)));
        assert!(
            read_time("hold", Some("2h"), 1).is_err() && read_time("hold", Some("-1s"), 1).is_err()
        );
        assert_eq!(read_percent("5%").ok(), Some(0.05));
        assert!(read_percent("0").is_err() && read_percent("x").is_err());
    }

    #[test]
    fn flags_of_attack_may_have_one_dash() {
        let mut words: Vec<OsString> =
            ["brunt", "find", "-targets=a", "-header", "A: b", "-t", "js"].map(Into::into).into();
        with_two_dashes(&mut words);
        assert_eq!(words[2..4], ["--targets=a", "--header"].map(OsString::from));
        assert_eq!(words[5], "-t");
    }
}
