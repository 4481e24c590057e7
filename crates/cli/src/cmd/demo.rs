//! `brunt demo`: the server that examples, tests and README aim at.

use brunt_demo::{Demo, DemoConfig};
use clap::{Arg, ArgAction, ArgMatches, Command};

use self::setting::{SETTINGS, Takes};
use crate::print::print;
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod setting;
mod sql;

/// The arguments of `brunt demo`.
#[derive(Debug)]
pub(crate) enum Request {
    /// The demo target.
    Serve(Box<Served>),
    /// `brunt demo sql`.
    Sql(Box<sql::Request>),
}

/// The demo target to serve.
#[derive(Debug)]
pub(crate) struct Served {
    config: DemoConfig,
    json: bool,
}

pub(super) fn command() -> Command {
    let command = Command::new("demo")
        .about("Serve the demo target until Ctrl-C")
        .args_override_self(true)
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .override_usage("brunt demo [OPTIONS]\n       brunt demo sql [OPTIONS]")
        .after_help("`brunt demo sql --help` explains the table of ten million rows.")
        .subcommand(sql::command())
        .arg(super::switch("json", "Print the addresses as one line of JSON"));
    SETTINGS.iter().fold(command, |command, setting| {
        let arg = Arg::new(setting.long).long(setting.long).help(setting.help);
        command.arg(match setting.takes {
            Takes::Nothing => arg.action(ArgAction::SetTrue),
            Takes::One(name) => {
                arg.value_name(name).allow_hyphen_values(true).action(ArgAction::Set)
            }
        })
    })
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        if let Some(("sql", matches)) = matches.subcommand() {
            return Ok(Self::Sql(Box::new(sql::Request::read(matches)?)));
        }
        let mut config = DemoConfig::default();
        for setting in SETTINGS {
            let text = match setting.takes {
                Takes::Nothing if matches.get_flag(setting.long) => "",
                Takes::Nothing => continue,
                Takes::One(_) => match matches.get_one::<String>(setting.long) {
                    Some(text) => text.as_str(),
                    None => continue,
                },
            };
            (setting.apply)(&mut config, text).map_err(|problem| {
                let name = setting.long;
                Failure::usage(if text.is_empty() {
                    format!("--{name} {problem}")
                } else {
                    format!("invalid value \"{text}\" for --{name}: {problem}")
                })
            })?;
        }
        Ok(Self::Serve(Box::new(Served { config, json: matches.get_flag("json") })))
    }
}

pub(super) fn perform(context: &Context, request: Request) -> Outcome<Exit> {
    match request {
        Request::Serve(served) => serve(context, *served),
        Request::Sql(request) => sql::perform(context, *request),
    }
}

fn serve(context: &Context, request: Served) -> Outcome<Exit> {
    crate::limits::raise_open_files();
    // Before the server: a signal from here on is ours.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        crate::run::signal::Signals::new()?
    };
    let server = Demo::start(request.config).map_err(|error| Failure::new(Exit::Other, error))?;
    let faults = server.faults_addr().map(|addr| format!("http://{addr}"));
    let text = if request.json {
        let line = serde_json::json!({
            "url": server.url(), "faults": faults, "grpc": server.grpc_addr(),
            "redis": server.redis_url(), "mysql": server.mysql_dsn(),
        });
        format!("{line}\n")
    } else {
        let faults = faults.unwrap_or_else(|| "-".to_owned());
        let grpc = server.grpc_addr().map_or_else(|| "-".to_owned(), |addr| addr.to_string());
        format!(
            "demo target: {}\n     faults: {faults}\n       gRPC: {grpc}\n      redis: {}\n      MySQL: {}\n",
            server.url(),
            without_password(server.redis_url()),
            server.mysql_dsn().unwrap_or_else(|| "-".to_owned())
        )
    };
    print(context, &text)?;
    if !request.json && !context.global.quiet {
        log::info!("serving until Ctrl-C");
    }
    runtime.block_on(async {
        let mut signals = signals;
        signals.next().await;
    });
    server.stop();
    Ok(Exit::Success)
}

/// A URL as it may be shown.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.find('/').map_or(rest, |end| &rest[..end]);
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://****{}", &rest[at..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn read(line: &str) -> Outcome<Served> {
        let matches = command().no_binary_name(true).get_matches_from(line.split_whitespace());
        match Request::read(&matches)? {
            Request::Serve(served) => Ok(*served),
            Request::Sql(request) => panic!("{request:?}"),
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("redis://:sesame@host:1/2", "redis://****@host:1/2"),
            ("redis://127.0.0.1:6379/", "redis://127.0.0.1:6379/"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn every_setting_can_be_set() {
        let config = read(
            "--listen 127.0.0.1:0 --tls --seed 7 --rtt 40ms --origin-ms 20 --max-body 1MiB \
             --memory-max-bytes 5MB --redis-fallback fail --faults-listen none --event-loss 0.5 \
             --redis-latency 2ms --instances 3 --threads 4 --queue-limit 5 --retry-after 6 \
             --no-cache --cache-ttl 7s --cache-max-items 8 --cache-max-bytes 9kB --single-flight \
             --synthetic --cpu 11ms --example-size 640x480 --allow-original --image-secret x \
             --viewstate client --jakarta --html-entities --views 3 --soft-errors --one-time \
             --session-timeout 5s --mysql-listen 127.0.0.1:8 --listen 127.0.0.1:9",
        )
        .unwrap()
        .config;
        assert_eq!(config.listen.port(), 9);
        assert_eq!(config.mysql.unwrap().listen.port(), 8);
        assert!(read("--mysql-listen none").unwrap().config.mysql.is_none());
        assert!(config.tls && !config.h2c);
        assert!(read("--h2c").unwrap().config.h2c);
        assert_eq!(config.seed, Some(7));
        assert_eq!(config.rtt, Duration::from_millis(40));
        assert_eq!(config.origin_latency, Duration::from_millis(20));
        assert_eq!((config.max_body, config.memory_max_bytes), (1 << 20, 5_000_000));
        assert_eq!(config.faults_listen, None);
        assert_eq!(config.redis_latency, Some(Duration::from_millis(2)));
        let image = &config.image;
        assert_eq!((config.instances, image.instances, image.threads), (3, 3, 4));
        assert_eq!((image.queue_limit, image.retry_after), (5, Some(6)));
        assert_eq!((image.cache_ttl, image.cache_max_items), (Duration::from_secs(7), 8));
        assert_eq!((image.cache_max_bytes, image.cost), (9000, Duration::from_millis(11)));
        assert!(image.no_cache && image.single_flight && image.synthetic && image.allow_original);
        assert_eq!((image.example_size, image.secret.as_str()), ((640, 480), "x"));
        let forms = &config.forms;
        assert!(forms.client_state && forms.jakarta && forms.html_entities);
        assert!(forms.soft_errors && forms.one_time);
        assert_eq!((forms.views, forms.session_timeout), (3, Duration::from_secs(5)));
        assert!(!read("--viewstate client --viewstate server").unwrap().config.forms.client_state);
    }

    #[test]
    fn a_wrong_value_is_named_with_its_flag() {
        for (line, part) in [
            ("--listen nowhere", "\"nowhere\" for --listen"),
            ("--rtt 5", "the unit is missing"),
            ("--max-body 3XB", "\"3XB\" for --max-body"),
            ("--example-size 640", "\"640\" for --example-size"),
            ("--viewstate both", "\"both\" for --viewstate: expected server or client"),
            ("--workers many", "\"many\" for --workers"),
        ] {
            let failure = read(line).unwrap_err();
            assert!(failure.message().contains(part), "{}", failure.message());
        }
    }
}
