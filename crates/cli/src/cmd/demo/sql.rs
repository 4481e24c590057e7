//! `brunt demo sql`: makes and fills the table `bulktest`, or is a MySQL server that has it.

use std::time::Duration;

use brunt_demo::{FakeMysql, MysqlConfig};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use self::engine::Engine;
use self::fill::{Existing, Filled, Wish};
use super::super::{switch, value};
use super::setting::{address, number};
use crate::print::print;
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod engine;
mod fill;
mod progress;
mod server;
mod sqlite;

const EXAMPLES: &str = "Examples:
  brunt demo sql
  brunt demo sql --rows 10000000 --engine sqlite:big.db
  brunt demo sql --engine mysql://user:password@127.0.0.1:3306/test
  brunt demo sql --engine postgres://user:password@127.0.0.1:5432/test --force
  brunt demo sql --fake mysql --commit-ms 5 --deadlock-every 100";

const AFTER: &str = "The table is bulktest(id, text): ids from 1 on, random texts of 45 characters that --seed repeats. Options from --listen on are \
                     those of --fake mysql, which serves the table from memory until Ctrl-C.";

/// Rows, unless told otherwise.
const ROWS: u64 = 100_000;
/// The most rows: ids are of 32 bits.
const ROWS_MAX: u64 = i32::MAX as u64;
/// The port of MySQL servers.
const PORT: u16 = 3306;

/// The arguments of `brunt demo sql`.
#[derive(Debug)]
pub(crate) struct Request {
    wish: Wish,
    json: bool,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Engine(Engine),
    Fake(Box<MysqlConfig>),
}

/// An option of `--fake mysql`: name, value, help, effect.
struct Setting {
    long: &'static str,
    takes: &'static str,
    help: &'static str,
    apply: fn(&mut MysqlConfig, &str) -> Result<(), String>,
}

static SETTINGS: &[Setting] = &[
    Setting {
        long: "listen",
        takes: "HOST:PORT",
        help: "Listen at this address; port 0 takes a free port [default: 127.0.0.1:3306]",
        apply: |config, text| Ok(config.listen = address(text)?),
    },
    Setting {
        long: "password",
        takes: "TEXT",
        help: "Let the user brunt in with this password alone [default: with any]",
        apply: |config, text| Ok(config.password = Some(text.to_owned())),
    },
    Setting {
        long: "commit-ms",
        takes: "MS",
        help: "Duration of a commit; a statement outside a transaction is one [default: 1]",
        apply: |config, text| Ok(config.commit = duration(text, 1e-3)?),
    },
    Setting {
        long: "row-us",
        takes: "US",
        help: "Duration of a row that is written; rows of all connections queue [default: 2]",
        apply: |config, text| Ok(config.row = duration(text, 1e-6)?),
    },
    Setting {
        long: "read-us",
        takes: "US",
        help: "Duration of a row that is read; they queue, too [default: 0]",
        apply: |config, text| Ok(config.read = duration(text, 1e-6)?),
    },
    Setting {
        long: "workers",
        takes: "N",
        help: "Commit for N connections at the same time [default: 9]",
        apply: |config, text| Ok(config.workers = number(text)?),
    },
    Setting {
        long: "deadlock-every",
        takes: "N",
        help: "Make one statement in N that writes the victim of a deadlock (1213); 0 = none",
        apply: |config, text| Ok(config.deadlock_every = number(text)?),
    },
    Setting {
        long: "kill-every",
        takes: "N",
        help: "Cut the connection of one statement in N; 0 = none",
        apply: |config, text| Ok(config.kill_every = number(text)?),
    },
    Setting {
        long: "max-connections",
        takes: "N",
        help: "Refuse more than N connections at the same time (1040) [default: 2000]",
        apply: |config, text| Ok(config.max_connections = number(text)?),
    },
    Setting {
        long: "max-rows",
        takes: "N",
        help: "Hold at most N rows in all tables (1114) [default: 25000000]",
        apply: |config, text| Ok(config.max_rows = number(text)?),
    },
];

/// The one option of these that takes no value.
const READ_ONLY: &str = "read-only";

pub(super) fn command() -> Command {
    let command = Command::new("sql")
        .about("Make and fill the table of ten million rows, or be a MySQL server that has it")
        .args_override_self(true)
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(value("rows", "N", "Make N rows [default: 100000]"))
        .arg(value(
            "engine",
            "URL",
            "Fill this database: sqlite[:FILE], mysql://… or postgres://… [default: sqlite:bulktest.db]",
        ))
        .arg(value("fake", "NAME", "Be such a server instead: mysql"))
        .arg(value("seed", "N", "Make texts of this seed [default: 1]"))
        .arg(switch("force", "Replace a table that is there already"))
        .arg(switch("json", "Print the outcome as one line of JSON"));
    let command = SETTINGS.iter().fold(command, |command, setting| {
        let arg = Arg::new(setting.long).long(setting.long).help(setting.help);
        command.arg(arg.value_name(setting.takes).allow_hyphen_values(true).action(ArgAction::Set))
    });
    command.arg(switch(READ_ONLY, "Refuse statements that write (1290)"))
}

/// A number of a unit of so many seconds.
fn duration(text: &str, unit: f64) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    Duration::try_from_secs_f64(number * unit)
        .ok()
        .filter(|duration| *duration <= Duration::from_hours(1))
        .ok_or_else(|| "expected a number from 0 on, of at most an hour".to_owned())
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let wrong = |name: &str, text: &str, problem: &str| {
            Failure::usage(format!("invalid value \"{text}\" for --{name}: {problem}"))
        };
        let whole = |name: &str, default: u64| match text(name) {
            Some(text) => number(text).map_err(|problem| wrong(name, text, &problem)),
            None => Ok(default),
        };
        let (rows, seed) = (whole("rows", ROWS)?, whole("seed", 1)?);
        if rows > ROWS_MAX {
            let problem = format!("expected at most {ROWS_MAX}");
            return Err(wrong("rows", &rows.to_string(), &problem));
        }
        let wish = Wish { rows, seed, force: matches.get_flag("force") };
        let fakes = SETTINGS.iter().filter(|setting| text(setting.long).is_some());
        let mut fakes = fakes
            .map(|setting| setting.long)
            .chain(matches.get_flag(READ_ONLY).then_some(READ_ONLY));
        let target = match (text("fake"), text("engine")) {
            (Some(_), Some(_)) => {
                return Err(Failure::usage("--engine and --fake exclude one another")
                    .hint("--fake mysql needs no database"));
            }
            (Some("mysql"), None) => {
                let mut config = MysqlConfig { rows, seed, ..MysqlConfig::default() };
                config.listen.set_port(PORT);
                for setting in SETTINGS {
                    if let Some(text) = text(setting.long) {
                        (setting.apply)(&mut config, text)
                            .map_err(|problem| wrong(setting.long, text, &problem))?;
                    }
                }
                config.read_only = matches.get_flag(READ_ONLY);
                Target::Fake(Box::new(config))
            }
            (Some(other), None) => {
                return Err(wrong("fake", other, "mysql is the only server that can be faked"));
            }
            (None, engine) => {
                if let Some(name) = fakes.next() {
                    return Err(Failure::usage(format!("--{name} is an option of --fake mysql")));
                }
                Target::Engine(Engine::read(engine.unwrap_or("sqlite"))?)
            }
        };
        Ok(Self { wish, json: matches.get_flag("json"), target })
    }
}

pub(super) fn perform(context: &Context, request: Request) -> Outcome<Exit> {
    let Request { wish, json, target } = request;
    match target {
        Target::Engine(engine) => {
            let filled = match &engine {
                Engine::Sqlite { path, .. } => sqlite::fill(context, path, &wish)?,
                Engine::Server(url) => server::fill(context, url, &wish)?,
            };
            print(context, &told(&engine, &wish, &filled, json))
        }
        Target::Fake(config) => serve(context, *config, json),
    }
}

/// The outcome, for people or for programs.
fn told(engine: &Engine, wish: &Wish, filled: &Filled, json: bool) -> String {
    let (url, dsn) = (engine.url(), engine.go_dsn());
    let seconds = filled.took.as_secs_f64();
    let rate = if filled.took.is_zero() { 0.0 } else { wish.rows as f64 / seconds };
    let is_new = filled.existing != Existing::Same;
    if json {
        let line = json!({
            "engine": engine.name(), "url": url, "dsn": dsn, "table": "bulktest", "rows": wish.rows,
            "seed": wish.seed, "made": is_new, "seconds": seconds, "rows_per_second": rate.round(),
        });
        return format!("{line}\n");
    }
    let rows = wish.rows;
    let done = if is_new {
        format!("{rows} rows made in {seconds:.2}s, {rate:.0} rows/s")
    } else {
        format!("{rows} rows, there already (--force makes them anew)")
    };
    format!("bulktest: {done}\n     URL: {url}\n  Go DSN: {dsn}\n  driver: {}\n", engine.name())
}

fn serve(context: &Context, config: MysqlConfig, json: bool) -> Outcome<Exit> {
    crate::limits::raise_open_files();
    // Before the server: a signal from here on is ours.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        crate::run::signal::Signals::new()?
    };
    let rows = config.rows;
    let fake = FakeMysql::start(config).map_err(|error| Failure::new(Exit::Other, error))?;
    let began = brunt_fiber::clock::now_ns();
    fake.fill();
    let seconds = brunt_fiber::clock::now_ns().saturating_sub(began) as f64 / 1e9;
    let addr = fake.addr();
    let (url, dsn) = (format!("mysql://brunt@{addr}/demo"), format!("brunt@tcp({addr})/demo"));
    let text = if json {
        let line = json!({
            "engine": "mysql", "url": url, "dsn": dsn, "table": "bulktest", "rows": rows, "seconds": seconds,
        });
        format!("{line}\n")
    } else {
        format!(
            "bulktest: {rows} rows in memory\n     URL: {url}\n  Go DSN: {dsn}\n  driver: mysql\n"
        )
    };
    print(context, &text)?;
    if !json && !context.global.quiet {
        log::info!("serving until Ctrl-C");
    }
    runtime.block_on(async {
        signals.next().await;
    });
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Outcome<Request> {
        Request::read(&command().no_binary_name(true).get_matches_from(line.split_whitespace()))
    }

    #[test]
    fn every_option_of_the_fake_can_be_set() {
        let line = "--fake mysql --rows 7 --seed 3 --listen 127.0.0.1:9 --password x --commit-ms 0.5 --row-us 3 \
                    --read-us 1 --workers 4 --deadlock-every 5 --kill-every 6 --max-connections 8 --max-rows 9 --read-only";
        let Target::Fake(config) = read(line).unwrap().target else { panic!("{line}") };
        assert_eq!((config.rows, config.seed, config.listen.port()), (7, 3, 9));
        assert_eq!((config.password.as_deref(), config.read_only), (Some("x"), true));
        assert_eq!(config.commit, Duration::from_micros(500));
        let costs = (config.row.as_micros(), config.read.as_micros(), config.workers);
        assert_eq!(costs, (3, 1, 4));
        assert_eq!((config.deadlock_every, config.kill_every), (5, 6));
        assert_eq!((config.max_connections, config.max_rows), (8, 9));
    }

    #[test]
    fn a_wrong_option_is_named() {
        for (line, part) in [
            ("--rows many", "invalid value \"many\" for --rows: expected a number"),
            ("--rows 5000000000", "for --rows: expected at most 2147483647"),
            ("--engine oracle://x", "\"oracle://x\" for --engine: expected sqlite"),
            ("--engine sqlite:", "for --engine: the name of the file is missing"),
            ("--fake postgres", "mysql is the only server that can be faked"),
            ("--fake mysql --engine sqlite", "--engine and --fake exclude one another"),
            ("--commit-ms 5", "--commit-ms is an option of --fake mysql"),
            ("--read-only", "--read-only is an option of --fake mysql"),
            ("--fake mysql --commit-ms -1", "for --commit-ms: expected a number from 0 on"),
            ("--fake mysql --listen nowhere", "\"nowhere\" for --listen"),
        ] {
            let failure = read(line).unwrap_err();
            assert!(failure.message().contains(part), "{line}: {}", failure.message());
        }
    }
}
