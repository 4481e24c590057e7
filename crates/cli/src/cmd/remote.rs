//! `brunt pause`, `resume`, `scale`, `stats`, `status`: talk to the REST API of a run (`--address`), ours or k6's.

mod exchange;

use std::{fmt::Write as _, net::ToSocketAddrs as _};

use anyhow::{Context as _, bail};
use clap::{Arg, ArgMatches, Command, value_parser};
use hyper::body::Bytes;
use serde_json::{Value, json};

use self::exchange::{Question, exchange};
use super::{print, switch};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    settings::GlobalSettings,
};

/// Where k6 1 had its API.
const USUAL_ADDRESS: &str = "localhost:6565";

/// The arguments of one of these commands.
#[derive(Debug)]
pub(crate) struct Request {
    address: String,
    what: What,
    form: Form,
}

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// For people.
    Words,
    /// As the REST API answers, which is k6's.
    Json,
    /// As the commands of k6 1 print it.
    Yaml,
}

#[derive(Debug)]
enum What {
    Status,
    Stats,
    /// A change of the status.
    Change(Value),
}

pub(super) fn commands() -> Vec<Command> {
    let number = |name: &'static str, letter, help: &'static str| {
        Arg::new(name)
            .long(name)
            .short(letter)
            .value_name("N")
            .value_parser(value_parser!(u64))
            .allow_negative_numbers(true)
            .help(help)
    };
    let commands = vec![
        Command::new("pause").about("Pause a run"),
        Command::new("resume").about("Resume a run, or start one that waits because of --paused"),
        Command::new("scale")
            .about("Change the VUs of a run with an externally-controlled executor")
            .arg(number("vus", 'u', "Number of active VUs"))
            .arg(number("max", 'm', "Number of VUs that are ready to be active")),
        Command::new("stats").about("Print the metrics of a run"),
        Command::new("status").about("Print the state and the progress of a run"),
    ];
    let address = || {
        // In place of the global flag of this name, which is where a run serves its API.
        Arg::new("address").long("address").short('a').value_name("HOST:PORT").help(format!(
            "Ask the run that serves its REST API at this address, the --address of its start \
                 [default: {USUAL_ADDRESS}] [env: K6_ADDRESS]"
        ))
    };
    let add = |command: Command| {
        command
            .arg(address())
            .arg(switch("json", "Print the answer of the REST API, which is k6's"))
            .arg(
                switch("yaml", "Print YAML, as the same command of k6 1 does")
                    .conflicts_with("json"),
            )
    };
    commands.into_iter().map(add).collect()
}

impl Request {
    pub(super) fn read(name: &str, matches: &ArgMatches, global: &GlobalSettings) -> Outcome<Self> {
        let address = global.address.as_ref().map_or(USUAL_ADDRESS, |address| &address.text);
        let what = match name {
            "status" => What::Status,
            "stats" => What::Stats,
            "pause" => What::Change(json!({ "paused": true })),
            "resume" => What::Change(json!({ "paused": false })),
            _ => {
                let mut attributes = serde_json::Map::new();
                for (flag, key) in [("vus", "vus"), ("max", "vus-max")] {
                    if let Some(count) = matches.get_one::<u64>(flag) {
                        attributes.insert(key.to_owned(), (*count).into());
                    }
                }
                if attributes.is_empty() {
                    return Err(Failure::usage("Specify either -u/--vus or -m/--max")
                        .hint("see brunt scale --help"));
                }
                What::Change(attributes.into())
            }
        };
        let form = match (matches.get_flag("json"), matches.get_flag("yaml")) {
            (true, _) => Form::Json,
            (_, true) => Form::Yaml,
            _ => Form::Words,
        };
        Ok(Self { address: address.to_owned(), what, form })
    }
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let address = &request.address;
    let answer = match &request.what {
        What::Status => ask(address, "GET", "/v1/status", "")?,
        What::Stats => ask(address, "GET", "/v1/metrics", "")?,
        What::Change(attributes) => {
            let body = json!({
                "data": { "type": "status", "id": "default", "attributes": attributes },
            });
            ask(address, "PATCH", "/v1/status", &body.to_string())?
        }
    };
    let is_stats = matches!(request.what, What::Stats);
    let text = match request.form {
        Form::Json => {
            let answer = json!({ "data": answer });
            format!("{answer:#}\n")
        }
        Form::Yaml if is_stats => stats(&answer),
        Form::Yaml => status(&answer),
        Form::Words if is_stats => stats_in_words(&answer),
        Form::Words => status_in_words(&answer, address),
    };
    print(context, &text)
}

/// Asks, and gives back the value of `data`.
fn ask(address: &str, method: &str, path: &str, body: &str) -> Outcome<Value> {
    let exchanged = exchange(address, Question { method, path, body }).map_err(|error| {
        let text = format!("no run answers at {address}: {error:#}");
        let failure = Failure::new(Exit::Other, anyhow::Error::msg(text));
        if address.to_socket_addrs().is_err() {
            return failure.hint(format!("write HOST:PORT, such as {USUAL_ADDRESS}"));
        }
        failure.hint(format!(
            "start the run with --address: brunt run --address {address} script.js; a run that serves its REST API \
             elsewhere is asked with --address HOST:PORT"
        ))
    })?;
    Ok(answered(exchanged, address, path)?)
}

fn answered((code, answer): (u16, Bytes), address: &str, path: &str) -> anyhow::Result<Value> {
    let mut json: Value = serde_json::from_slice(&answer)
        .with_context(|| format!("http://{address}{path} did not answer with JSON"))?;
    if let Some(error) = json.pointer("/errors/0") {
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        bail!("{}: {}", text("title"), text("detail"));
    }
    if code != 200 {
        bail!("http://{address}{path} answered with status {code}");
    }
    Ok(json["data"].take())
}

/// In words: `The test runs.`, then lines about VUs and thresholds.
fn status_in_words(data: &Value, address: &str) -> String {
    let attributes = &data["attributes"];
    let is = |key: &str| attributes[key].as_bool().unwrap_or(false);
    let count = |key: &str| attributes[key].as_u64().unwrap_or(0);
    // The numbers are k6's.
    let stage = match attributes["status"].as_u64() {
        Some(9..) => "is over",
        _ if is("stopped") => "is being stopped",
        Some(0..=3) => "is being made ready",
        Some(4 | 5) => "is paused before its start",
        Some(6) => "runs setup()",
        Some(8) => "runs teardown()",
        _ if is("paused") => "is paused",
        _ => "runs",
    };
    let (vus, vus_max) = (count("vus"), count("vus-max"));
    let mut out = format!("The test {stage}.\nVUs         {vus} active of {vus_max}\n");
    if let Some(text) = agents_in_words(&attributes["agents"]) {
        let _ = writeln!(out, "Agents      {text}");
    }
    let thresholds =
        if is("tainted") { "crossed: the test will fail" } else { "none is crossed so far" };
    // Writing to a String can't fail.
    let _ = writeln!(out, "Thresholds  {thresholds}");
    let at = if address == USUAL_ADDRESS { String::new() } else { format!(" --address {address}") };
    if is("paused") && !is("stopped") {
        let _ = writeln!(out, "To let it go on: brunt resume{at}");
    }
    out
}

/// `3 of 4 in touch, 1 lost`, of a test on several machines.
fn agents_in_words(agents: &Value) -> Option<String> {
    let count = |key: &str| agents[key].as_u64();
    let mut out = format!("{} of {} in touch", count("running")?, count("seats")?);
    for key in ["silent", "lost"] {
        if let Some(count) = count(key).filter(|count| *count > 0) {
            // Writing to a String can't fail.
            let _ = write!(out, ", {count} {key}");
        }
    }
    Some(out)
}

/// A line for each metric.
fn stats_in_words(data: &Value) -> String {
    let metrics: Vec<&Value> = data.as_array().into_iter().flatten().collect();
    if metrics.is_empty() {
        return "Nothing has been measured yet.\n".to_owned();
    }
    let name = |metric: &Value| metric["id"].as_str().unwrap_or_default().to_owned();
    let width = metrics.iter().map(|metric| name(metric).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for metric in metrics {
        let attributes = &metric["attributes"];
        let is_time = attributes["contains"] == "time";
        let number = |key: &str, value: &Value| match value.as_f64() {
            Some(value) if is_time && key != "count" => format!("{value:.2}ms"),
            Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
            Some(value) => format!("{value:.2}"),
            None => value.to_string(),
        };
        let sample = attributes["sample"].as_object().into_iter().flatten();
        let values: Vec<String> =
            sample.map(|(key, value)| format!("{key}={}", number(key, value))).collect();
        let mark = if attributes["tainted"] == true { "  ✗ threshold crossed" } else { "" };
        let _ = writeln!(out, "{:<width$}  {}{mark}", name(metric), values.join(" "));
    }
    out
}

/// As k6 prints it: YAML, in which some values happen to be texts.
fn status(data: &Value) -> String {
    let attributes = &data["attributes"];
    let mut out = String::new();
    for (key, is_text) in [
        ("status", false),
        ("paused", true),
        ("vus", true),
        ("vus-max", true),
        ("stopped", false),
        ("running", false),
        ("tainted", false),
    ] {
        let value = &attributes[key];
        // Writing to a String can't fail.
        let _ = if is_text {
            writeln!(out, "{key}: \"{value}\"")
        } else {
            writeln!(out, "{key}: {value}")
        };
    }
    out
}

fn stats(data: &Value) -> String {
    let mut out = String::new();
    for metric in data.as_array().into_iter().flatten() {
        let attributes = &metric["attributes"];
        let text = |key: &str| attributes[key].as_str().unwrap_or_default().to_owned();
        let tainted = match &attributes["tainted"] {
            Value::Bool(tainted) => tainted.to_string(),
            _ => String::new(),
        };
        let name = metric["id"].as_str().unwrap_or_default();
        let name = if name.contains(['{', ':', '\'']) {
            format!("'{}'", name.replace('\'', "''"))
        } else {
            name.to_owned()
        };
        // Writing to a String can't fail.
        let _ = write!(
            out,
            "- name: {name}\n  type:\n    type: {}\n    valid: true\n  contains:\n    type: {}\n    \
             valid: true\n  tainted: \"{tainted}\"\n  sample:\n",
            text("type"),
            text("contains"),
        );
        for (key, value) in attributes["sample"].as_object().into_iter().flatten() {
            let _ = writeln!(out, "    {key}: {value}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_get_words() {
        let data = json!({ "attributes": { "status": 7, "paused": false, "vus": 2, "vus-max": 5,
            "stopped": false, "running": true, "tainted": true } });
        insta::assert_snapshot!(status_in_words(&data, USUAL_ADDRESS), @r"
        The test runs.
        VUs         2 active of 5
        Thresholds  crossed: the test will fail
        ");
        let data = json!({ "attributes": { "status": 7, "paused": false, "vus": 2, "vus-max": 5,
            "stopped": false, "running": true, "tainted": false,
            "agents": { "seats": 4, "running": 2, "silent": 1, "lost": 1 } } });
        insta::assert_snapshot!(status_in_words(&data, USUAL_ADDRESS), @r"
        The test runs.
        VUs         2 active of 5
        Agents      2 of 4 in touch, 1 silent, 1 lost
        Thresholds  none is crossed so far
        ");
        let data = json!({ "attributes": { "status": 5, "paused": true, "vus": 0, "vus-max": 5,
            "stopped": false, "running": false, "tainted": false } });
        insta::assert_snapshot!(status_in_words(&data, "h:1"), @r"
        The test is paused before its start.
        VUs         0 active of 5
        Thresholds  none is crossed so far
        To let it go on: brunt resume --address h:1
        ");
        let data = json!([
            { "id": "http_req_duration", "attributes": { "type": "trend", "contains": "time",
                "tainted": true, "sample": { "avg": 1.234, "p(95)": 2.0 } } },
            { "id": "vus", "attributes": { "type": "gauge", "contains": "default", "tainted": null,
                "sample": { "value": 5 } } },
        ]);
        insta::assert_snapshot!(stats_in_words(&data), @r"
        http_req_duration  avg=1.23ms p(95)=2.00ms  ✗ threshold crossed
        vus                value=5
        ");
        assert_eq!(stats_in_words(&json!([])), "Nothing has been measured yet.\n");
    }

    #[test]
    fn status_and_stats_read_like_k6s() {
        let data = json!({ "attributes": { "status": 7, "paused": false, "vus": 2, "vus-max": 2,
            "stopped": false, "running": true, "tainted": false } });
        insta::assert_snapshot!(status(&data), @r#"
        status: 7
        paused: "false"
        vus: "2"
        vus-max: "2"
        stopped: false
        running: true
        tainted: false
        "#);
        let data = json!([{ "id": "my{a:b}", "attributes": { "type": "rate", "contains": "default",
            "tainted": null, "sample": { "rate": 0.5 } } }]);
        insta::assert_snapshot!(stats(&data), @r#"
        - name: 'my{a:b}'
          type:
            type: rate
            valid: true
          contains:
            type: default
            valid: true
          tainted: ""
          sample:
            rate: 0.5
        "#);
    }
}
