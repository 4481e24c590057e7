//! `brunt report`: what records of attacks say together.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use brunt_records::{GroupBy, Report, Summary, SummaryConfig, report::parse_buckets};

use super::{
    failure,
    flag::{Flag, FlagSet, Takes},
    flags,
    stream::{self, Content, Ending, Output},
    threshold,
};
use crate::{Context, exit::Exit, failure::Outcome};

/// Clears the screen and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[0;0H";

pub(super) static FLAGS: FlagSet = FlagSet {
    command: "report",
    files: "[FILE...]",
    about: "Sums up records of attacks. Without files it reads standard input.",
    examples: &[
        "brunt report result.bin",
        "brunt report -type=json result.bin",
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
            "group-by",
            Takes::Checked { kind: "key", check: group_by },
            "",
            "Report hits by url, method, name or status, too",
        ),
        Flag::new("output", Takes::Text, "stdout", "Write to this file"),
        threshold::FLAG,
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

pub(super) fn perform(context: &Context, words: &[String]) -> Outcome<Exit> {
    let Some(values) = flags(context, &FLAGS, words)? else { return Ok(Exit::Success) };
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
    let mut output = Output::open(values.text("output"))?;
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
