//! `brunt sql`: statements on a database, once or as a load.

mod figures;
mod inputs;
mod load;
mod once;
mod rows;
mod session;

use brunt_attack::Rate;
use brunt_records::{Report, Threshold};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{switch, value};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

const EXAMPLES: &str = "Examples:
  brunt sql sqlite:shop.db 'SELECT * FROM orders LIMIT 5'
  brunt sql postgres://app@127.0.0.1/shop 'SELECT 1' --rate 500/s --duration 30s
  brunt sql mysql://app@127.0.0.1/shop 'SELECT * FROM orders WHERE id = ?' --args ids.csv --rate 0 --max-workers 50 --duration 10s
  brunt sql 'postgres://app:$DB_PASSWORD@db.test/shop' --file mix.sql --args users.jsonl --random --rate 200/s --duration 1m
  brunt sql sqlite:shop.db --file order.sql --transaction --rate 100/s --duration 10s --threshold 'p99<20ms' --output orders.bin";

const AFTER: &str = "Passwords: MYSQL_PWD and PGPASSWORD are read, and $NAME or ${NAME} in the URL is the variable of the environment. One that is \
    written in the URL can be seen by other users of this machine (ps).\n\n\
    Exit codes: 0; 1 if it can't be done (connection, login, statement, file); 99 if a threshold fails; 255 for a wrong command line.";

/// A call of it.
#[derive(Debug)]
pub(crate) struct Request {
    url: String,
    statement: Option<String>,
    file: Option<String>,
    args: Option<String>,
    each_connection: Vec<String>,
    is_transaction: bool,
    is_prepared: bool,
    /// A seed, if statements and arguments are drawn.
    lot: Option<u64>,
    format: Option<String>,
    /// 0: no limit.
    timeout_ns: u64,
    load: Option<LoadRequest>,
}

/// The options of a load.
#[derive(Debug)]
struct LoadRequest {
    rate: Rate,
    /// 0: until it is stopped.
    duration_ns: u64,
    workers: usize,
    max_workers: Option<usize>,
    connections: usize,
    retries: u32,
    name: String,
    output: Option<String>,
    thresholds: Vec<Threshold>,
    report: Form,
}

/// The form of the report.
#[derive(Debug)]
enum Form {
    Html,
    Other(Report, Vec<u64>),
}

/// Options that only a load has.
const OF_LOAD: [&str; 7] =
    ["workers", "max-workers", "connections", "retries", "output", "threshold", "name"];

pub(super) fn command() -> Command {
    let many = |long, name, help| value(long, name, help).action(ArgAction::Append);
    Command::new("sql")
        .about("Run SQL statements on a database, once or as a load")
        .override_usage("brunt sql [OPTIONS] <URL> [STATEMENT]")
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(
            Arg::new("url")
                .value_name("URL")
                .required(true)
                .help("The database: mysql://, mariadb://, postgres://USER@HOST:PORT/NAME, or sqlite:FILE"),
        )
        .arg(
            Arg::new("statement")
                .value_name("STATEMENT")
                .help("The statement, with ?, $1 or :name for arguments; several are parted by ;"),
        )
        .arg(value("file", "FILE", "Read the statements from a file (- is stdin); `-- name: X` and `-- weight: N` stand before one").short('f'))
        .arg(value("args", "FILE", "Take arguments from CSV with a header (`id:int,name`), or from .jsonl or .ndjson with a JSON value a line"))
        .arg(switch("random", "Draw statements and rows of arguments by lot, not in turn"))
        .arg(value("seed", "N", "Draw with this seed [default: 1]"))
        .arg(many("each-connection", "STATEMENT", "Run this on each new connection; repeat it for more"))
        .arg(switch("transaction", "Run all statements, in order, in one transaction: that is a hit"))
        .arg(
            value("prepare", "BOOL", "Have the server keep statements, prepared [default: true]")
                .hide_possible_values(true)
                .value_parser(["true", "false"]),
        )
        .arg(value("timeout", "DURATION", "Give a hit at most this long, with its wait for a connection; 0 is no limit [default: 30s, once 0]"))
        .arg(value(
            "format",
            "FORM",
            "Once: table, csv or json [default: table]. A load: text, json, html, hist[0,1ms,…] or hdrplot [default: text]",
        ))
        .arg(value("rate", "HITS/TIME", "The rate of hits, such as 500/s; 0 is as fast as --max-workers allow [default: 50/s]"))
        .arg(value("duration", "DURATION", "Begin hits for this long; 0 is until stopped [default: 0]").short('d'))
        .arg(value("workers", "N", "Start with this many workers [default: 10]"))
        .arg(value("max-workers", "N", "Use at most this many; each has one hit under way [default: no limit]"))
        .arg(value("connections", "N", "Open at most this many connections; further hits wait for one [default: 10]"))
        .arg(value("retries", "N", "Try a hit again up to N times after a deadlock or a serialization failure [default: 0]"))
        .arg(value("name", "NAME", "Name the attack, in records"))
        .arg(value("output", "FILE", "Write a record of each hit: gob, or JSON or CSV by the name's end; - is stdout, without a report").short('o'))
        .arg(many("threshold", "CONDITION", "Exit with 99 unless this holds, such as p99<50ms or success>99%; repeat it for more"))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let texts = |name: &str| -> Vec<String> {
            matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
        };
        let (statement, file) = (text("statement"), text("file"));
        match (&statement, &file) {
            (None, None) => {
                return Err(Failure::usage("brunt sql has no statement")
                    .hint("write it behind the URL, or name a file with --file"));
            }
            (Some(_), Some(_)) => {
                return Err(Failure::usage(
                    "brunt sql has a statement and --file: give one of them",
                ));
            }
            _ => {}
        }
        let is_load = ["rate", "duration"].into_iter().any(|name| matches.contains_id(name));
        if !is_load && let Some(name) = OF_LOAD.into_iter().find(|name| matches.contains_id(name)) {
            return Err(Failure::usage(format!("--{name} is for a load"))
                .hint("add --rate or --duration; without them the statements run once"));
        }
        let format = text("format");
        let seed: u64 = number(matches, "seed", 1)?;
        if !matches.get_flag("random") && matches.contains_id("seed") {
            return Err(Failure::usage("--seed goes with --random"));
        }
        let load = is_load.then(|| LoadRequest::read(matches, format.as_deref())).transpose()?;
        if load.is_none()
            && let Some(form) = format.as_deref()
            && !rows::FORMS.contains(&form)
        {
            return Err(Failure::usage(format!("there is no format {form:?} of rows"))
                .hint(format!("use {}", rows::FORMS.join(", "))));
        }
        Ok(Self {
            url: text("url").unwrap_or_default(),
            statement,
            file,
            args: text("args"),
            each_connection: texts("each-connection"),
            is_transaction: matches.get_flag("transaction"),
            is_prepared: text("prepare").is_none_or(|text| text == "true"),
            lot: matches.get_flag("random").then_some(seed),
            format,
            timeout_ns: duration(matches, "timeout", if is_load { 30_000_000_000 } else { 0 })?,
            load,
        })
    }
}

impl LoadRequest {
    fn read(matches: &ArgMatches, format: Option<&str>) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let rate = text("rate").unwrap_or_else(|| "50/s".to_owned());
        let rate = Rate::parse(&rate)
            .map_err(|error| Failure::usage(format!("--rate {rate}: {error}")))?;
        let max_workers = matches.contains_id("max-workers");
        let max_workers = max_workers.then(|| number(matches, "max-workers", 1)).transpose()?;
        if max_workers == Some(0) {
            return Err(Failure::usage("--max-workers must be at least 1"));
        }
        if rate.hits == 0 && max_workers.is_none() {
            return Err(Failure::usage("--rate 0 needs --max-workers")
                .hint("without a rate only the number of workers limits the load"));
        }
        let thresholds = matches.get_many::<String>("threshold").into_iter().flatten();
        let thresholds = thresholds.map(|text| {
            let read = text
                .parse::<Threshold>()
                .map_err(|error| Failure::usage(format!("--threshold {text}: {error}")))?;
            if read.timing().is_none() {
                return Ok(read);
            }
            let why = "window, for and the other words are for brunt attack and brunt run";
            Err(Failure::usage(format!("--threshold {text}: {why}")))
        });
        let report = match format.unwrap_or("text") {
            "html" => Form::Html,
            form => {
                let (report, buckets) = Report::parse(form)
                    .map_err(|error| Failure::usage(format!("--format {form}: {error}")))?;
                if report == Report::Histogram && buckets.is_empty() {
                    return Err(Failure::usage("--format hist needs buckets")
                        .hint("write --format 'hist[0,1ms,10ms]'"));
                }
                Form::Other(report, buckets)
            }
        };
        let connections = number(matches, "connections", 10)?;
        if connections == 0 {
            return Err(Failure::usage("--connections must be at least 1"));
        }
        Ok(Self {
            rate,
            duration_ns: duration(matches, "duration", 0)?,
            workers: number::<usize>(matches, "workers", 10)?.min(WORKERS_MOST),
            max_workers,
            connections,
            retries: number(matches, "retries", 0)?,
            name: text("name").unwrap_or_default(),
            output: text("output"),
            thresholds: thresholds.collect::<Outcome<_>>()?,
            report,
        })
    }
}

/// More than these would be memory for nothing: they are made when they are needed.
const WORKERS_MOST: usize = 100_000;

fn number<T: std::str::FromStr>(matches: &ArgMatches, name: &str, default: T) -> Outcome<T> {
    match matches.get_one::<String>(name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| {
            Failure::usage(format!("--{name} {text:?} is not a whole number from 0 on"))
        }),
    }
}

/// Nanoseconds.
fn duration(matches: &ArgMatches, name: &str, default: u64) -> Outcome<u64> {
    let Some(text) = matches.get_one::<String>(name) else { return Ok(default) };
    if text == "0" {
        return Ok(0);
    }
    let ns = brunt_duration::parse(text)
        .map_err(|error| Failure::usage(format!("--{name} {text}: {error}")))?;
    u64::try_from(ns).map_err(|_| Failure::usage(format!("--{name} must not be negative")))
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let queries = inputs::queries(context, request)?;
    match &request.load {
        None => once::perform(context, request, &queries),
        Some(load) => load::perform(context, request, load, queries),
    }
}

/// A failure to do it: exit code 1, as that of an attack.
fn failure(error: impl Into<String>) -> Failure {
    Failure::new(Exit::Vegeta, anyhow::Error::msg(error.into()))
}
