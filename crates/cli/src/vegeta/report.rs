//! `brunt report`: what records of attacks say together, or a run file.

mod run_file;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use brunt_records::{
    GroupBy, Report, Sheet, SheetConfig, Summary, SummaryConfig, report::parse_buckets,
};

use super::{
    failure,
    flag::{Flag, FlagSet, Takes},
    flags, page, plot,
    stream::{self, Content, Ending, Output},
    threshold,
};
use crate::{Context, exit::Exit, failure::Outcome};

/// Clears the screen and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[0;0H";

pub(super) static FLAGS: FlagSet = FlagSet {
    command: "report",
    files: "[FILE...]",
    about: "Sums up records of attacks, or tells what is in a run file. Without files it reads records from standard input; - is standard input, too, also with a run file in it.",
    examples: &[
        "brunt report result.bin",
        "brunt report -type=json result.bin",
        "brunt report --format html -o run.html run.brunt",
        "brunt report --format junit -o junit.xml run.brunt",
        "brunt report --from 1m --to 3m run.brunt",
        "brunt report -type='hist[0,10ms,50ms,100ms]' a.bin b.bin",
        "brunt attack -targets=urls.txt -duration=10s | brunt report -threshold='p99<50ms'",
    ],
    flags: &[
        Flag::new(
            "buckets",
            Takes::Text,
            "",
            "Buckets of latencies for -type=hist, such as [0,1ms,10ms]",
        ),
        Flag::new(
            "every",
            Takes::Duration,
            "0s",
            "Report again and again while reading, each time this much later [0 = only at the end]",
        ),
        Flag::new(
            "format",
            Takes::Checked { kind: "format", check: format },
            "text",
            "Format of the report of a run file: text, html, json, markdown, junit or csv",
        ),
        Flag::new(
            "from",
            Takes::Duration,
            "0s",
            "Of a run file: from this moment after its start on",
        ),
        Flag::new(
            "group-by",
            Takes::Checked { kind: "key", check: group_by },
            "",
            "Report hits by url, method, name or status, too; the rows of a page are these",
        ),
        Flag::new("o", Takes::Text, "", "The same as -output"),
        Flag::new("output", Takes::Text, "stdout", "Write to this file"),
        threshold::FLAG,
        Flag::new("to", Takes::Duration, "0s", "Of a run file: up to this moment after its start"),
        Flag::new(
            "type",
            Takes::Text,
            "text",
            "Format of the report: text, json, hist[BUCKETS], hdrplot or html",
        ),
    ],
};

fn group_by(text: &str) -> Result<(), String> {
    let known = text.is_empty() || GroupBy::named(text).is_some();
    if known { Ok(()) } else { Err("use url, method, name or status".to_owned()) }
}

fn format(text: &str) -> Result<(), String> {
    let known = run_file::FORMATS;
    if known.contains(&text) { Ok(()) } else { Err(format!("use {}", known.join(", "))) }
}

pub(super) fn perform(context: &Context, words: &[String]) -> Outcome<Exit> {
    let (flags_first, mut files) = run_file::apart(words);
    let copied = if files.iter().any(|file| file == "-") { run_file::of_stdin()? } else { None };
    if let Some(copy) = &copied {
        let path = copy.path().to_string_lossy().into_owned();
        files.iter_mut().filter(|file| *file == "-").for_each(|file| file.clone_from(&path));
    }
    let is_run = files.iter().any(|file| run_file::is_one(file));
    let sorted = is_run.then(|| [flags_first, vec!["--".to_owned()], files].concat());
    let words = sorted.as_deref().unwrap_or(words);
    let Some(values) = flags(context, &FLAGS, words)? else { return Ok(Exit::Success) };
    if is_run {
        return run_file::perform(context, &values);
    }
    for name in ["format", "from", "to"] {
        if values.is_written(name) {
            return Err(failure(format!("-{name} is for run files, and there is none"))
                .hint("records of attacks have -type"));
        }
    }
    if values.text("type") == "html" {
        return as_page(context, &values);
    }
    let (report, mut buckets) =
        Report::parse(values.text("type")).map_err(|error| failure(error.to_string()))?;
    let list = values.text("buckets");
    if (report == Report::Histogram && buckets.is_empty())
        || (report == Report::Json && !list.is_empty())
    {
        buckets = parse_buckets(list).map_err(|error| failure(error.to_string()))?;
    }
    let every = Duration::from_nanos(u64::try_from(values.duration("every")).unwrap_or(0));
    let every = Some(every).filter(|every| !every.is_zero());
    let thresholds = threshold::read(&values);
    threshold::as_a_whole(&thresholds)?;
    let mut output = Output::open(output_of(&values))?;
    let config = SummaryConfig { buckets, group_by: GroupBy::named(values.text("group-by")) };
    let summary = Arc::new(Mutex::new(Summary::new(config)));
    let counted = Arc::clone(&summary);
    let lock = || summary.lock().unwrap_or_else(PoisonError::into_inner);
    let is_live =
        every.is_some() && matches!(output, Output::Stdout) && context.screen.stdout_is_terminal();
    let mut tell = || {
        let mut text = Vec::new();
        if is_live {
            text.extend(CLEAR.as_bytes());
        }
        report.write(&lock(), &mut text)?;
        output.write(&text)
    };
    let each = move |_, record: &_| {
        counted.lock().unwrap_or_else(PoisonError::into_inner).add(record);
        Ok(())
    };
    let ending =
        stream::read(values.files.clone(), Content::LeftOut, each, every, || tell().map(drop))?;
    // Hits that were read count, however the reading ended; but an input without a hit gives no report.
    let requests = lock().requests();
    if let Ending::Failed(failure) = ending {
        if requests > 0 {
            tell()?;
        }
        return Err(failure);
    }
    tell()?;
    Ok(threshold::judge(context, &thresholds, &lock()))
}

/// `-type=html`: the page.
fn as_page(context: &Context, values: &super::flag::Values) -> Outcome<Exit> {
    for (name, instead) in [
        ("every", "a page is written once, at the end"),
        ("buckets", "the page has its own distribution; buckets are for hist and json"),
    ] {
        if values.is_written(name) {
            return Err(failure(format!("-{name} does not go with -type=html")).hint(instead));
        }
    }
    let thresholds = threshold::read(values);
    threshold::as_a_whole(&thresholds)?;
    let group_by = GroupBy::named(values.text("group-by"));
    let config = SheetConfig {
        slices: 0,
        rows: group_by.unwrap_or(GroupBy::Url),
        is_apart: false,
        inputs: values.files.clone(),
    };
    let output = Output::open(output_of(values))?;
    let summary = Summary::new(SummaryConfig::default());
    let both = Arc::new(Mutex::new(Some((summary, Sheet::new(config)))));
    let counted = Arc::clone(&both);
    let each = move |input, record: &_| {
        if let Some((summary, sheet)) = &mut *counted.lock().unwrap_or_else(PoisonError::into_inner)
        {
            summary.add(record);
            sheet.add(input, record);
        }
        Ok(())
    };
    let ending = stream::read(values.files.clone(), Content::LeftOut, each, None, || Ok(()))?;
    let both = both.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((summary, sheet)) = both else { return Ok(Exit::Success) };
    let is_told = !matches!(ending, Ending::Failed(_)) || !sheet.is_empty();
    if is_told {
        let name = match &values.files[..] {
            [] => "Attack".to_owned(),
            files => files.join(", "),
        };
        let facts = page::Facts { name: &name, thresholds: &thresholds, summary: Some(&summary) };
        let document = page::document(&sheet.finish(), &facts);
        plot::write(output, &brunt_page::title(&name), &document)?;
    }
    match ending {
        Ending::Failed(failure) => Err(failure),
        _ => Ok(threshold::judge(context, &thresholds, &summary)),
    }
}

/// Where the report goes.
fn output_of(values: &super::flag::Values) -> &str {
    let name = match values.text("o") {
        "" => values.text("output"),
        name => name,
    };
    if name == "-" { "stdout" } else { name }
}
