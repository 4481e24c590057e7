//! `brunt report FILE` where the file is that of a run.

use std::fs::File;
use std::io::{BufRead as _, BufWriter, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use brunt_page::{PageError, Stretch};
use brunt_runfile::{About, RunFile, State};
use brunt_summary::{
    csv,
    humanize::Unit,
    json::{self, machine, own},
    junit, markdown,
    text::{self, Mode, TextOptions},
};
use brunt_verdict::Verdict;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::super::{failure, flag::Values, stream::Output};
use crate::{
    Context, agents::lead::agents::Agents, exit::Exit, failure::Outcome, version::K6_VERSION,
};

/// The formats, as they are written.
pub(super) const FORMATS: [&str; 6] = ["text", "html", "json", "markdown", "junit", "csv"];

/// Whether a file is that of a run. Pipes are not looked into: bytes that are read from one are gone.
pub(super) fn is_one(path: &str) -> bool {
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return false;
    }
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut first));
    // A database of something else, and an empty file of that name, get a sentence of their own.
    let is_called_so = Path::new(path).extension().is_some_and(|ending| ending == "brunt");
    read.is_ok()
        && (RunFile::is_one(&first)
            || first.starts_with(b"SQLite format 3\0")
            || (first.is_empty() && is_called_so))
}

/// Standard input, if a run file comes from there: as a file, for only files can be looked into. Records stay where they are.
pub(super) fn of_stdin() -> Outcome<Option<NamedTempFile>> {
    let mut stdin = std::io::stdin().lock();
    if !RunFile::is_one(stdin.fill_buf()?) {
        return Ok(None);
    }
    let mut copy = NamedTempFile::new()?;
    std::io::copy(&mut stdin, &mut copy)?;
    Ok(Some(copy))
}

/// Flags with their values, and the words that belong to no flag: with run files, flags may come last.
pub(super) fn apart(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut flags, mut files) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            files.extend(words.by_ref().cloned());
        } else if word.starts_with('-') && word.len() > 1 {
            flags.push(word.clone());
            // Each flag takes a value.
            if !word.contains('=') && !matches!(word.trim_start_matches('-'), "h" | "help") {
                flags.extend(words.next().cloned());
            }
        } else {
            files.push(word.clone());
        }
    }
    (flags, files)
}

/// Tells what is in the file.
pub(super) fn perform(context: &Context, values: &Values) -> Outcome<Exit> {
    let [path] = &values.files[..] else {
        return Err(failure("one run file at a time")
            .hint("brunt compare puts several side by side; records of attacks may be many"));
    };
    for name in ["type", "every", "group-by", "buckets", "threshold"] {
        if values.is_written(name) {
            return Err(failure(format!(
                "-{name} is for records of attacks, and \"{path}\" is a run file"
            ))
            .hint("use -format, -from and -to"));
        }
    }
    let file = RunFile::open(Path::new(path)).map_err(|error| failure(error.to_string()))?;
    let stretch = ["from", "to"].map(|name| {
        let nanos = values.duration(name);
        values.is_written(name).then(|| u64::try_from(nanos).unwrap_or_default())
    });
    let [from, to] = stretch.map(|nanos| nanos.map(Duration::from_nanos));
    let slices = file.slices(from, to);
    let is_part = from.is_some() || to.is_some();
    if is_part && slices.is_empty() {
        let length = file.about().duration;
        return Err(failure(format!(
            "there is nothing between these moments: the run took {:.1} s",
            length.as_secs_f64()
        )));
    }
    let output = super::output_of(values);
    let place = |path: &str| std::fs::canonicalize(path).ok();
    if output != "stdout" && place(output).is_some_and(|place_of| Some(place_of) == place(path)) {
        return Err(failure(format!("-output would overwrite \"{path}\" itself")));
    }
    if values.text("format") == "html" {
        return page(&file, Stretch { from, to }, output);
    }
    let mut summary = file.summary(&slices, true).map_err(|error| failure(error.to_string()))?;
    let examples = file.examples().map_err(|error| failure(error.to_string()))?;
    for kind in &mut summary.failures {
        kind.example = examples.of(kind).map(str::to_owned);
    }
    let agents = Agents::of_rows(file.agents().map_err(|error| failure(error.to_string()))?);
    let about = file.about();
    let started = utc(about.started);
    let facts = junit::About {
        script: &about.name,
        started: Some(&started[..19]),
        host: about.host.as_deref(),
        aborted: match about.state {
            State::Aborted => Some(about.reason.as_deref().unwrap_or("it was cut short")),
            State::Died => Some(about.reason.as_deref().unwrap_or("its process died")),
            State::Running | State::Finished => None,
        },
        verdict: about.verdict.as_ref(),
    };
    let text = match values.text("format") {
        "json" => told_json(about, &summary, agents.as_ref(), is_part),
        "markdown" => {
            let agents = agents.as_ref().map(Agents::markdown);
            markdown::markdown(&summary, &facts) + &agents.unwrap_or_default()
        }
        "junit" => junit::junit(&summary, &facts),
        "csv" => csv::render(&summary),
        _ => {
            let colour = context.global.color
                && context.screen.stdout_is_terminal()
                && matches!(super::output_of(values), "" | "stdout");
            let unit = about.summary.time_unit.as_deref().and_then(Unit::parse);
            let options = TextOptions {
                mode: Mode::Compact,
                colour,
                time_unit: unit,
                routes: about.summary.routes,
                failures: about.summary.failures,
            };
            let words = about.verdict.as_ref().map(|verdict| verdict.text(colour));
            let agents = agents.as_ref().map(Agents::text).unwrap_or_default();
            let summary = text::surrounded(&(text::render(&summary, &options) + &agents));
            format!("{}{summary}{}", head(about), words.unwrap_or_default())
        }
    };
    Output::open(output)?.write(text.as_bytes())?;
    Ok(Exit::Success)
}

/// The page, which begins with the stretch if there is one.
fn page(file: &RunFile, stretch: Stretch, output: &str) -> Outcome<Exit> {
    let mut out = BufWriter::new(Output::open(output)?.into_writer());
    let written = brunt_page::saved(file, stretch, &mut out);
    match written.and_then(|()| Ok(out.flush()?)) {
        // The reader of the pipe has gone away.
        Err(PageError::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(failure(format!("the page can't be written: {error}"))),
        Ok(()) => Ok(Exit::Success),
    }
}

/// A line about a run that did not come to its end; nothing about others.
fn head(about: &About) -> String {
    let lost = about.lost["slices"].as_u64().filter(|lost| *lost > 0);
    let lost = lost.map(|lost| {
        format!("\n  {lost} slices of the run could not be written: what was measured in them is missing here.\n")
    });
    state(about) + &lost.unwrap_or_default()
}

fn state(about: &About) -> String {
    match about.state {
        State::Finished => String::new(),
        State::Running => "\n  The run is still going on.\n".to_owned(),
        State::Died => {
            let reason = about.reason.as_ref().map(|reason| format!(" {reason}."));
            format!(
                "\n  The run died: its process is gone without a word.{}\n",
                reason.unwrap_or_default()
            )
        }
        State::Aborted => {
            format!("\n  The run was cut short: {}\n", about.reason.as_deref().unwrap_or("unknown"))
        }
    }
}

/// Both shapes of k6's summary, and what is known of the run.
fn told_json(
    about: &About,
    summary: &brunt_metrics::Summary,
    agents: Option<&Agents>,
    is_part: bool,
) -> String {
    let legacy: Value =
        serde_json::from_str(&json::summary_export(summary, None)).unwrap_or_default();
    let started = utc(about.started);
    let machine = machine::summary_data(
        summary,
        &machine::MachineContext {
            script: about.script.as_deref().unwrap_or_default(),
            execution: "local",
            generated_at: &started,
            k6_version: K6_VERSION,
            full: true,
        },
    );
    let mut all = json!({
        "run": {
            "id": about.id, "name": about.name, "kind": about.kind, "state": about.state.text(), "started": started,
            "ended": about.ended.map(utc), "duration": about.duration.as_secs_f64(), "passed": about.passed,
            "exit": about.exit, "reason": about.reason, "brunt": about.brunt, "script": about.script,
            "host": about.host, "commit": about.commit, "branch": about.branch, "build": about.build,
            "labels": about.labels, "seed": about.seed, "lost": about.lost, "part": is_part,
        },
        "verdict": about.verdict.as_ref().map(Verdict::json),
        "summary": legacy,
        "machine": machine,
        "planned": own::planned(summary),
        "routes": own::routes(summary),
        "failures": own::failures(summary, usize::MAX),
    });
    if let Some(agents) = agents {
        all["agents"] = agents.json();
    }
    json::pretty(&all)
}

/// Microseconds since 1970 as `2026-11-23T16:40:46.123456Z`.
pub(crate) fn utc(micros: i64) -> String {
    let moment = jiff::Timestamp::from_microsecond(micros).unwrap_or_default();
    format!("{moment:.6}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn flags_may_come_behind_the_file() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (flags, files) = super::apart(&words("a.brunt --format json -from=1m -o - -- -b"));
        assert_eq!(
            (flags.join(" "), files.join(" ")),
            ("--format json -from=1m -o -".into(), "a.brunt -b".into())
        );
    }

    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(super::utc(1_700_000_000_000_001), "2023-11-14T22:13:20.000001Z");
    }
}
