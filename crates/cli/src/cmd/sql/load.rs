//! The statements as a load: an attack on the database, and its report.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brunt_attack::sql::{Prepared, Queries};
use brunt_attack::{Attack, Control, Outcome as Attacked, Pacer, Plan, Several, Sink, Stream};
use brunt_records::{Format, GroupBy, Record, Sheet, SheetConfig, Summary, SummaryConfig};
use brunt_sql::{Args, Ask, Connection};

use super::{Form, LoadRequest, Request, failure, figures, session};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    generator::{Guard, Looks},
    limits,
    print::print,
    vegeta::{self, Facts, Output},
};

/// All records together, for the report.
type Gathered = Arc<Mutex<(Summary, Option<Sheet>)>>;

/// Tries the statements, attacks, reports.
///
/// # Errors
/// The first try fails, or the attack can't be carried out.
pub(super) fn perform(
    context: &Context,
    request: &Request,
    load: &LoadRequest,
    queries: Queries,
) -> Outcome<Exit> {
    let output = load.output.as_deref().map(output).transpose()?;
    let reports = load.output.as_deref() != Some("-");
    session::with(&queries, request.timeout_ns, async |connection| {
        try_all(connection, &queries, request.timeout_ns).await
    })?;
    limits::raise_open_files();
    let several = queries.statements().len() > 1 && !request.is_transaction;
    let queries = Arc::new(queries);
    let attack = Attack::of_queries(plan(request, load), Arc::clone(&queries))
        .map_err(|error| Failure::new(Exit::Vegeta, error))?;
    let control = Control::new();
    let timeout = Some(request.timeout_ns).filter(|ns| *ns > 0);
    let timeout = timeout.map_or_else(String::new, |ns| {
        brunt_duration::format_rounded(i64::try_from(ns).unwrap_or(i64::MAX))
    });
    vegeta::watch_signals(&control, &timeout)?;
    let gathered = gathered(load, several);
    let stream = match output {
        None => None,
        Some((to, format)) => Some(Stream::start(to, format, control.clone())?),
    };
    let guard = Guard::start(Looks::new())?;
    let outcome = attack.run(&control, |core| {
        let gathered = Arc::clone(&gathered);
        let count = move |record: &Record| {
            let mut both = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            both.0.add(record);
            if let Some(sheet) = &mut both.1 {
                sheet.add(0, record);
            }
        };
        let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(count), guard.sink(core)];
        sinks.extend(stream.as_ref().map(Stream::sink));
        Box::new(Several::new(sinks))
    });
    let written = stream.map_or(Ok(()), Stream::finish);
    let outcome = outcome.map_err(|error| Failure::new(Exit::Vegeta, error))?;
    written.map_err(|error| failure(format!("cannot write the records: {error}")))?;
    tell(&outcome);
    let mut both = gathered.lock().unwrap_or_else(PoisonError::into_inner);
    let sheet = both.1.take();
    let summary = &both.0;
    if reports && summary.requests() > 0 {
        report(context, load, &queries, summary, sheet)?;
    }
    guard.end(context, Some(&outcome));
    Ok(vegeta::judge(context, &load.thresholds, summary))
}

fn tell(outcome: &Attacked) {
    if outcome.has_missed() {
        log::warn!("{outcome}");
    } else {
        log::debug!("{outcome}");
    }
}

fn plan(request: &Request, load: &LoadRequest) -> Plan {
    let time = |ns: u64| (ns > 0).then(|| Duration::from_nanos(ns));
    let mut plan = Plan {
        name: load.name.clone(),
        pacer: Pacer::of_rate(load.rate),
        duration: time(load.duration_ns),
        workers: load.workers,
        max_workers: load.max_workers,
        timeout: time(request.timeout_ns),
        zone_minutes: vegeta::zone(),
        ..Plan::default()
    };
    plan.network.per_host_max = load.connections;
    plan
}

fn gathered(load: &LoadRequest, several: bool) -> Gathered {
    let (buckets, is_page) = match &load.report {
        Form::Html => (Vec::new(), true),
        Form::Other(_, buckets) => (buckets.clone(), false),
    };
    let config = SummaryConfig { buckets, group_by: several.then_some(GroupBy::Url) };
    let sheet = is_page.then(|| {
        let rows = GroupBy::Url;
        Sheet::new(SheetConfig { slices: 0, rows, is_apart: false, inputs: Vec::new() })
    });
    Arc::new(Mutex::new((Summary::new(config), sheet)))
}

/// Where records go, and their format.
fn output(name: &str) -> Outcome<(Box<dyn io::Write + Send>, Format)> {
    if name == "-" {
        vegeta::keep_from_screen("sql", "stdout")?;
        return Ok((Box::new(io::stdout()), Format::Gob));
    }
    let end = std::path::Path::new(name).extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let format = match end.as_deref().and_then(|end| end.to_str()) {
        Some("json" | "jsonl" | "ndjson") => Format::Json,
        Some("csv") => Format::Csv,
        _ => Format::Gob,
    };
    let file = std::fs::File::create(name);
    let file = file.map_err(|error| failure(format!("cannot write {name}: {error}")))?;
    Ok((Box::new(file), format))
}

/// Runs the statements that can be rolled back once, each in a transaction that is; those of a transaction together, as one may need
/// the work of another.
async fn try_all(connection: &mut Connection, queries: &Queries, timeout_ns: u64) -> Outcome<()> {
    let all = queries.statements();
    let length = if queries.settings().is_transaction { all.len() } else { 1 };
    let mut args = Args::new();
    for together in all.chunks(length) {
        if !together.iter().all(Prepared::is_triable) {
            continue;
        }
        let mut label = "BEGIN";
        let tried = session::within(timeout_ns, async {
            session::plain(connection, "BEGIN").await?;
            let mut done = Ok(());
            for statement in together {
                label = statement.label();
                statement.arguments(queries.rows(), 0, &mut args);
                let is_prepared = queries.settings().is_prepared && statement.is_preparable();
                let ask = Ask { sql: statement.sql(), args: &args, is_prepared };
                done = session::run(connection, &ask).await;
                if done.is_err() {
                    break;
                }
            }
            let is_idle = connection.is_idle();
            let undone =
                if is_idle { session::plain(connection, "ROLLBACK").await } else { Ok(()) };
            // A database may have rolled back by itself: the first failure is the one to tell.
            done.and(undone)
        });
        tried.await.map_err(|refusal| {
            session::refused(label, &refusal)
                .hint("the statement failed when it was tried once: no load was begun")
        })?;
    }
    Ok(())
}

/// Prints the report of the attack and the figures that only statements have.
fn report(
    context: &Context,
    load: &LoadRequest,
    queries: &Queries,
    summary: &Summary,
    sheet: Option<Sheet>,
) -> Outcome<()> {
    let lasted = summary.duration().saturating_add(summary.wait());
    let seconds = Duration::from_nanos(lasted).as_secs_f64();
    let all = queries.figures();
    let (report, is_json) = match &load.report {
        Form::Html => {
            let name = if load.name.is_empty() { "Statements" } else { &load.name };
            let Some(sheet) = sheet else { return Ok(()) };
            let facts = Facts { name, thresholds: &load.thresholds, summary: Some(summary) };
            return vegeta::draw(Output::Stdout, &sheet.finish(), &facts);
        }
        Form::Other(report, _) => (report, *report == brunt_records::Report::Json),
    };
    let mut text = Vec::new();
    report.write(summary, &mut text)?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if is_json {
        // Keys of an attack first, in vegeta's order; ours come last.
        let figures = figures::json(&all, seconds);
        let end = text.trim_end().len().saturating_sub(1);
        text.truncate(end);
        // Writing to a String can't fail.
        let _ = writeln!(text, ",\"sql\":{figures}}}");
    } else if *report == brunt_records::Report::Text {
        text.push_str(&figures::text(&all, seconds));
    }
    print(context, &text).map(drop)
}
