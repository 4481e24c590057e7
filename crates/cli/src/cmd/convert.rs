//! `brunt convert`: a script from what other tools wrote.

use std::path::PathBuf;
use std::time::Duration;

use brunt_imports::{Session, Surroundings};
use brunt_scribe::Resources;
use brunt_traffic::filter::{Filter, HostPattern, PatternError, UrlPattern};
use brunt_traffic::{Recording, har};
use clap::{Arg, ArgAction, ArgMatches, Command};

use self::format::Format;
use self::source::Source;
use super::{switch, value};
use crate::session::{self, Wish};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod format;
mod source;

const EXAMPLES: &str = "Examples:
  brunt convert shop.har --out shop
  brunt convert shop.har --only shop.test --no-resources --replay
  pbpaste | brunt convert - --from curl --out order
  brunt convert shop.postman_collection.json --environment test.json --out shop";

const AFTER: &str = "FILE is a HAR file (of Chrome, Edge, Firefox, Safari, Playwright, Charles, mitmproxy, k6 Studio and others), curl commands, or a \
                     Postman collection; `-` is standard input. Passwords and tokens go to a file of their own beside the script, which only its owner \
                     can read.";

/// The arguments of `brunt convert`.
#[derive(Debug)]
pub(crate) struct Request {
    file: String,
    from: Option<Format>,
    environments: Vec<PathBuf>,
    filter: Filter,
    wish: Wish,
}

pub(super) fn command() -> Command {
    let many = |arg: Arg| arg.action(ArgAction::Append);
    Command::new("convert")
        .about("Turn a HAR file, curl commands or a Postman collection into a script")
        .override_usage("brunt convert [OPTIONS] <FILE>")
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(Arg::new("file").value_name("FILE").help("The file, or - for standard input"))
        .arg(value("out", "DIR", "Write the script into this folder [default: converted]"))
        .arg(value(
            "from",
            "FORMAT",
            "Read the file as har, curl or postman, instead of looking what it is",
        ))
        .arg(switch("force", "Overwrite a script that is in the folder already"))
        .arg(switch("replay", "Run the script as one user, then as two, to prove it"))
        .arg(many(value(
            "only",
            "HOST",
            "Keep requests to this host alone: HOST, *.HOST or HOST:PORT; repeat it for more",
        )))
        .arg(many(value(
            "allow",
            "REGEX",
            "Keep URLs alone that this expression matches as a whole; repeat it for more",
        )))
        .arg(many(value(
            "deny",
            "REGEX",
            "Leave out URLs that this expression matches as a whole, before --allow is asked",
        )))
        .arg(switch("no-resources", "Leave pictures, styles, scripts and fonts out of the script"))
        .arg(switch(
            "keep-noise",
            "Keep requests that the browser made for itself, and those to trackers",
        ))
        .arg(value(
            "pause-threshold",
            "DURATION",
            "Make no pause of gaps that are shorter [default: 100ms]",
        ))
        .arg(many(value(
            "environment",
            "FILE",
            "Take values of variables from this Postman environment; repeat it for more",
        )))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let many = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
        let Some(file) = text("file") else {
            return Err(Failure::usage("brunt convert takes a file, or - for standard input")
                .hint("brunt convert shop.har --out shop"));
        };
        let from = text("from").map(|name| {
            let wrong = || Failure::usage(format!("invalid value \"{name}\" for --from"));
            Format::named(&name).ok_or_else(|| wrong().hint("use har, curl or postman"))
        });
        let wrong = |error: PatternError| Failure::usage(error);
        let hosts = many("only").map(|text| text.parse::<HostPattern>().map_err(wrong));
        let urls = |name: &str| {
            let all = many(name).map(|text| text.parse::<UrlPattern>().map_err(wrong));
            all.collect::<Outcome<Vec<_>>>()
        };
        let filter = Filter {
            only: hosts.collect::<Outcome<_>>()?,
            allow: urls("allow")?,
            deny: urls("deny")?,
            noise: matches.get_flag("keep-noise"),
            ..Filter::default()
        };
        let mut scribe = brunt_scribe::Options::default();
        if matches.get_flag("no-resources") {
            scribe.resources = Resources::LeftOut;
        }
        if let Some(text) = text("pause-threshold") {
            scribe.shortest_pause = pause(&text)?;
        }
        let wish = Wish {
            out: text("out").map_or_else(|| PathBuf::from("converted"), PathBuf::from),
            force: matches.get_flag("force"),
            replay: matches.get_flag("replay"),
            scribe,
        };
        let environments = many("environment").map(PathBuf::from).collect();
        Ok(Self { file, from: from.transpose()?, environments, filter, wish })
    }
}

fn pause(text: &str) -> Outcome<Duration> {
    brunt_duration::wait::parse_millis(text).map_err(|error| {
        Failure::usage(format!("invalid value \"{text}\" for --pause-threshold: {error}"))
            .hint("write a duration such as 100ms or 2s")
    })
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    session::check_folder(&request.wish.out, request.wish.force)?;
    let mut source = Source::open(&request.file)?;
    let format = match request.from {
        Some(format) => format,
        None => Format::of(source.head(), source.name()).ok_or_else(|| {
            let message = format!("{} is in no format that brunt knows", source.name());
            Failure::usage(message).hint("say which one it is: --from har, curl or postman")
        })?,
    };
    if format != Format::Postman && !request.environments.is_empty() {
        return Err(Failure::usage("--environment belongs to Postman collections"));
    }
    source.show(context, "Reading");
    let read = convert(context, request, &mut source, format);
    context.screen.draw(String::new());
    match read? {
        Read::Session(recording) => {
            tell_left_out(&recording);
            session::finish(context, &recording, &request.wish)
        }
        Read::Planned(planned) => session::finish_planned(context, *planned, &request.wish),
    }
}

/// A session, with a plan if the source has one.
enum Read {
    Session(Recording),
    Planned(Box<Session>),
}

fn convert(
    context: &Context,
    request: &Request,
    source: &mut Source,
    format: Format,
) -> Outcome<Read> {
    let bytes = source.all()?;
    let folder = source.folder();
    let variable = |name: &str| context.environment.get(name).map(str::to_owned);
    let surroundings = Surroundings { folder: &folder, variable: &variable };
    let planned = match format {
        Format::Har => {
            let recording = har::read_beside(&bytes, Some(&folder)).map_err(|error| {
                let place = if error.has_place() { "" } else { " " };
                Failure::usage(format!("{}:{place}{error}", source.name()))
            })?;
            drop(bytes);
            return filtered(recording, &request.filter, source.name()).map(Read::Session);
        }
        Format::Curl => {
            let text = String::from_utf8(bytes).map_err(|_| {
                Failure::usage(format!("{} is no UTF-8 text, as curl commands are", source.name()))
            })?;
            brunt_imports::curl::read(&text, &surroundings)
        }
        Format::Postman => {
            let environments = request.environments.iter().map(|path| source::read(path));
            let environments = environments.collect::<Outcome<Vec<_>>>()?;
            let environments: Vec<&[u8]> = environments.iter().map(Vec::as_slice).collect();
            brunt_imports::postman::read(&bytes, &environments, &surroundings)
        }
    };
    let planned = planned.map_err(|error| Failure::usage(format!("{}: {error}", source.name())))?;
    Ok(Read::Planned(Box::new(planned)))
}

/// The part of a recording that the user wants.
fn filtered(mut recording: Recording, filter: &Filter, name: &str) -> Outcome<Recording> {
    filter.apply(&mut recording);
    if recording.exchanges.is_empty() {
        let left_out = recording.left_out.iter().map(|(why, count)| format!("{count} {why}"));
        let left_out = left_out.collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("{name}: no request is left; left out: {left_out}"))
            .hint("look at --only, --allow and --deny"));
    }
    Ok(recording)
}

fn tell_left_out(recording: &Recording) {
    for (why, count) in &recording.left_out {
        log::info!("left out or changed: {count} {why}");
    }
}
