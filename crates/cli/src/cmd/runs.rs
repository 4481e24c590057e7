//! `brunt runs`: the run files of a folder, one in a line.

use std::path::{Path, PathBuf};

use brunt_metrics::Summary;
use brunt_runfile::{About, RunFile, RunFileError, State};
use brunt_summary::humanize;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use super::{print, switch, value};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

/// The folder of run files without a given name.
const FOLDER: &str = "brunt-results";

/// A call of it.
#[derive(Debug)]
pub(crate) struct Request {
    folder: String,
    json: bool,
    /// `--script`
    script: Option<String>,
    /// `--label`
    labels: Vec<(String, String)>,
    /// `--state`
    state: Option<String>,
}

pub(super) fn command() -> Command {
    Command::new("runs")
        .about("List the run files of a folder")
        .override_usage("brunt runs [OPTIONS] [DIR]")
        .arg(Arg::new("dir").value_name("DIR").help("The folder [default: brunt-results]"))
        .arg(value("script", "TEXT", "List runs whose script has this in its name"))
        .arg(
            value("label", "KEY=VALUE", "List runs with this label; repeat it for more labels")
                .action(ArgAction::Append),
        )
        .arg(value(
            "state",
            "STATE",
            "List runs that are so: running, finished, aborted, died, passed or failed",
        ))
        .arg(switch("json", "Print JSON"))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        const STATES: [&str; 6] = ["running", "finished", "aborted", "died", "passed", "failed"];
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let state = text("state");
        if let Some(state) = state.as_deref().filter(|state| !STATES.contains(state)) {
            return Err(Failure::usage(format!("invalid value \"{state}\" for --state"))
                .hint(format!("use {}", STATES.join(", "))));
        }
        let labels = matches.get_many::<String>("label").into_iter().flatten().map(|text| {
            let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
            let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
            pair.ok_or_else(|| {
                Failure::usage(format!("invalid value \"{text}\" for --label"))
                    .hint("write a key and a value, such as --label team=search")
            })
        });
        Ok(Self {
            folder: text("dir").unwrap_or_else(|| FOLDER.to_owned()),
            json: matches.get_flag("json"),
            script: text("script"),
            labels: labels.collect::<Outcome<_>>()?,
            state,
        })
    }

    fn wants(&self, about: &About) -> bool {
        let script = about.script.as_deref().unwrap_or_default();
        let script = script.rsplit('/').next().unwrap_or_default();
        let is_so = match self.state.as_deref() {
            None => true,
            Some("passed") => about.passed == Some(true),
            Some("failed") => about.passed == Some(false),
            Some(state) => state == about.state.text(),
        };
        is_so
            && self.script.as_ref().is_none_or(|text| script.contains(text.as_str()))
            && self.labels.iter().all(|(key, value)| about.labels.get(key) == Some(value))
    }
}

/// A run of the list.
struct Row {
    path: PathBuf,
    about: About,
    requests: f64,
    p95: Option<f64>,
    failed: Option<f64>,
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let folder = Path::new(&request.folder);
    let entries = std::fs::read_dir(folder).map_err(|error| {
        Failure::usage(format!("\"{}\" can't be read: {error}", folder.display()))
            .hint("`brunt run --out run` writes run files into brunt-results")
    })?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "brunt"))
        .collect();
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        match row(&path, request) {
            Ok(row) => rows.extend(row),
            Err(error) => log::warn!("{error}"),
        }
    }
    rows.sort_by_key(|row| row.about.started);
    let text = if request.json { as_json(&rows) } else { as_table(&rows, &request.folder) };
    print(context, &text)
}

/// Nothing if it is not wanted.
fn row(path: &Path, request: &Request) -> Result<Option<Row>, RunFileError> {
    let file = RunFile::open(path)?;
    if !request.wants(file.about()) {
        return Ok(None);
    }
    let summary = file.summary(&file.slices(None, None), false)?;
    let number = |metric: &str, name: &str| observed(&summary, metric)?.values.get(name);
    Ok(Some(Row {
        path: path.to_owned(),
        about: file.about().clone(),
        requests: number("http_reqs", "count").unwrap_or_default(),
        p95: number("http_req_duration", "p(95)"),
        failed: number("http_req_failed", "rate"),
    }))
}

fn observed<'a>(summary: &'a Summary, name: &str) -> Option<&'a brunt_metrics::MetricSummary> {
    summary.metric(name).filter(|metric| metric.observed)
}

/// `passed`, `failed` (with its state, if it was cut short), or the state if no threshold decides.
fn verdict(about: &About) -> &'static str {
    match (about.state, about.passed) {
        (State::Finished, Some(true)) => "passed",
        (State::Finished, Some(false)) => "failed",
        (State::Aborted, Some(false)) => "failed, aborted",
        (state, _) => state.text(),
    }
}

/// Whether its numbers can be trusted: `ok`, `doubtful`, `invalid`; none if nothing looked at the generator.
fn trust(about: &About) -> Option<&'static str> {
    about.verdict.as_ref().map(|verdict| verdict.level().text())
}

fn started(about: &About) -> String {
    let moment = jiff::Timestamp::from_microsecond(about.started).unwrap_or_default();
    format!("{moment:.0}")
}

fn as_json(rows: &[Row]) -> String {
    let row = |row: &Row| {
        let about = &row.about;
        json!({
            "file": row.path.to_string_lossy(), "id": about.id, "started": started(about), "name": about.name,
            "script": about.script, "state": about.state.text(), "passed": about.passed, "verdict": verdict(about),
            "duration": about.duration.as_secs_f64(), "requests": row.requests, "p95": row.p95, "failed": row.failed,
            "labels": about.labels, "commit": about.commit, "branch": about.branch, "trust": trust(about),
        })
    };
    let all: Vec<Value> = rows.iter().map(row).collect();
    let text = serde_json::to_string_pretty(&all).expect("a JSON value can be printed");
    format!("{text}\n")
}

fn as_table(rows: &[Row], folder: &str) -> String {
    if rows.is_empty() {
        return format!("no run files in {folder}\n");
    }
    let head =
        ["started", "name", "duration", "requests", "p(95)", "failed", "verdict", "labels", "file"];
    let mut table = vec![head.map(str::to_owned)];
    for row in rows {
        let about = &row.about;
        let labels: Vec<String> =
            about.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let file = row.path.file_name().map(|name| name.to_string_lossy().into_owned());
        table.push(
            [
                started(about).replace('T', " "),
                about.name.clone(),
                humanize::duration(about.duration.as_secs_f64() * 1000.0, None),
                humanize::trimmed(row.requests, 0),
                row.p95.map_or_else(|| "–".to_owned(), |p95| humanize::duration(p95, None)),
                row.failed.map_or_else(|| "–".to_owned(), humanize::percent),
                match trust(about).filter(|trust| *trust != "ok") {
                    Some(trust) => format!("{}, {trust}", verdict(about)),
                    None => verdict(about).to_owned(),
                },
                labels.join(","),
                file.unwrap_or_default(),
            ]
            .map(|cell| {
                cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
            }),
        );
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|place| table.iter().map(|row| row[place].chars().count()).max().unwrap_or_default())
        .collect();
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    table.iter().map(line).collect()
}
