//! `brunt convert`: a script from what other tools wrote.

use std::path::PathBuf;
use std::time::Duration;

use brunt_imports::access_log::{self, Options};
use brunt_imports::{Session, Surroundings, openapi};
use brunt_scribe::{Content, Resources};
use brunt_traffic::filter::{Filter, HostPattern, PatternError, UrlPattern};
use brunt_traffic::{Recording, har};
use clap::{Arg, ArgAction, ArgMatches, Command};

use url::Url;

use self::format::Format;
use self::source::Source;
use super::{switch, value};
use crate::print::print;
use crate::session::{self, Wish};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod format;
mod log;
mod source;

const EXAMPLES: &str = "Examples:
  brunt convert shop.har --out shop
  brunt convert shop.har --only shop.test --no-resources --replay
  pbpaste | brunt convert - --out order
  brunt convert shop.postman_collection.json --environment test.json --out shop
  brunt convert openapi.yaml --base http://127.0.0.1:8080 --out client
  brunt convert access.log --base https://test.shop.test --out attack";

const AFTER: &str = "FILE is a HAR file (of Chrome, Edge, Firefox, Safari, Playwright, Charles, mitmproxy, k6 Studio and others), curl commands, a \
                     Postman collection, an OpenAPI 3 document (it becomes a typed client) or an access log (common, combined, JSON, W3C such as \
                     CloudFront, ALB: it becomes targets of `brunt attack` with the timing that they had); `-` is standard input. Passwords and tokens go to a file of their own beside the script, which only its owner \
                     can read.";

/// The arguments of `brunt convert`.
#[derive(Debug)]
pub(crate) struct Request {
    file: String,
    from: Option<Format>,
    environments: Vec<PathBuf>,
    filter: Filter,
    base: Option<Url>,
    /// Whether a log becomes a script.
    is_script: bool,
    methods: Vec<String>,
    wish: Wish,
}

pub(super) fn command() -> Command {
    let many = |arg: Arg| arg.action(ArgAction::Append);
    Command::new("convert")
        .about("Turn a HAR file, curl commands, collections, OpenAPI or logs into a test")
        .override_usage("brunt convert [OPTIONS] <FILE>")
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(Arg::new("file").value_name("FILE").help("The file, or - for standard input"))
        .arg(value("out", "DIR", "Write the script into this folder [default: converted]"))
        .arg(value(
            "from",
            "FORMAT",
            "Read the file as har, curl, postman, openapi or log, instead of looking what it is",
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
        .arg(value(
            "base",
            "URL",
            "Send to this server, in place of the hosts of a log or of an OpenAPI document",
        ))
        .arg(many(value(
            "method",
            "NAME",
            "Of a log: take requests with this method; repeat it for more [default: GET, HEAD]",
        )))
        .arg(switch("script", "Of a log: write a script of its first clients, in place of targets"))
        .arg(many(value(
            "environment",
            "FILE",
            "Take values of variables from this Postman environment; repeat it for more",
        )))
}

impl Request {
    /// Refuses flags that say nothing about this format.
    fn check(&self, format: Format) -> Outcome<()> {
        let is_log = format == Format::Log;
        let filter = &self.filter;
        let is_filtered = filter.noise
            || [filter.only.len(), filter.allow.len(), filter.deny.len()].iter().any(|n| *n > 0);
        let wrong = [
            (
                is_filtered && format != Format::Har,
                "--only, --allow, --deny and --keep-noise belong to HAR files",
            ),
            (
                !self.environments.is_empty() && format != Format::Postman,
                "--environment belongs to Postman collections",
            ),
            (
                self.base.is_some() && !is_log && format != Format::OpenApi,
                "--base belongs to access logs and OpenAPI documents",
            ),
            (!self.methods.is_empty() && !is_log, "--method belongs to access logs"),
            (
                self.is_script && !is_log,
                "--script belongs to access logs: all else becomes a script anyway",
            ),
            (
                self.wish.replay && is_log && !self.is_script,
                "--replay runs scripts: add --script for one of a log",
            ),
            (
                self.wish.replay && format == Format::OpenApi,
                "--replay belongs to recorded sessions",
            ),
        ];
        match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, message)) => Err(Failure::usage(message)),
            None => Ok(()),
        }
    }

    fn log_options(&self) -> Options {
        let mut options = Options { base: self.base.clone(), ..Options::default() };
        if !self.methods.is_empty() {
            options.methods.clone_from(&self.methods);
        }
        options
    }

    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let many = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
        let Some(file) = text("file") else {
            return Err(Failure::usage("brunt convert takes a file, or - for standard input")
                .hint("brunt convert shop.har --out shop"));
        };
        let from = text("from").map(|name| {
            let wrong = || Failure::usage(format!("invalid value \"{name}\" for --from"));
            Format::named(&name)
                .ok_or_else(|| wrong().hint("use har, curl, postman, openapi or log"))
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
        let base = text("base").map(|text| {
            let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            url.ok_or_else(|| {
                Failure::usage(format!("invalid value \"{text}\" for --base"))
                    .hint("write a URL such as http://127.0.0.1:8080")
            })
        });
        let environments = many("environment").map(PathBuf::from).collect();
        Ok(Self {
            file,
            from: from.transpose()?,
            environments,
            filter,
            base: base.transpose()?,
            is_script: matches.get_flag("script"),
            methods: many("method").map(|name| name.to_ascii_uppercase()).collect(),
            wish,
        })
    }
}

fn pause(text: &str) -> Outcome<Duration> {
    brunt_duration::wait::parse_millis(text).map_err(|error| {
        Failure::usage(format!("invalid value \"{text}\" for --pause-threshold: {error}"))
            .hint("write a duration such as 100ms or 2s")
    })
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let (out, force) = (&request.wish.out, request.wish.force);
    let mut source = Source::open(&request.file)?;
    if source.head().is_empty() {
        return Err(Failure::usage(format!("{} is empty", source.name())));
    }
    let format = match request.from {
        Some(format) => format,
        None => Format::of(source.head(), source.name()).ok_or_else(|| {
            let message = format!("{} is in no format that brunt knows", source.name());
            Failure::usage(message)
                .hint("say which one it is: --from har, curl, postman, openapi or log")
        })?,
    };
    request.check(format)?;
    match format {
        Format::Log if !request.is_script => {
            let options = request.log_options();
            let name = source.name().to_owned();
            return log::write(context, &name, source.stream(), &options, out, force);
        }
        Format::OpenApi => return client(context, request, &mut source),
        _ => session::check_folder(out, force)?,
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

/// The typed client of an OpenAPI document.
fn client(context: &Context, request: &Request, source: &mut Source) -> Outcome<Exit> {
    let base_url = request.base.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned());
    let client = openapi::client(&source.all()?, &openapi::Options { base_url })
        .map_err(|error| Failure::usage(format!("{}: {error}", source.name())))?;
    let files = client.files.into_iter().map(|(path, bytes)| {
        let is_secret = path.extension().is_some_and(|end| end == "env");
        (path, if is_secret { Content::Secret(bytes) } else { Content::Bytes(bytes) })
    });
    let files: Vec<_> = files.collect();
    let out = &request.wish.out;
    let names: Vec<_> =
        files.iter().map(|(path, _)| out.join(path).display().to_string()).collect();
    session::write_files(out, request.wish.force, files)?;
    let mut told = names.join("\n");
    told.push('\n');
    for note in &client.notes {
        told.push_str("  ");
        told.push_str(note);
        told.push('\n');
    }
    print(context, &told)
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
    if format == Format::Log {
        let read = access_log::session(source.stream(), &request.log_options());
        let (session, _) =
            read.map_err(|error| Failure::usage(format!("{}: {error}", source.name())))?;
        return Ok(Read::Planned(Box::new(session)));
    }
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
        Format::OpenApi | Format::Log => unreachable!("these are no sessions"),
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
        ::log::info!("left out or changed: {count} {why}");
    }
}
