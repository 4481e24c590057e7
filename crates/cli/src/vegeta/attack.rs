//! `brunt attack`: targets in, records out.

mod flags;
mod judge;
mod planning;
mod recording;
mod value;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use brunt_attack::{
    Attack, AttackError, Control, Defaults, Exporter, Several, Stream, TargetReader, TargetStream,
    Targets,
};
use brunt_records::Format;

pub(super) use self::flags::FLAGS;
use self::judge::Judge;
pub(crate) use self::planning::zone;
use self::recording::Recording;
use super::{failure, flag::Values, threshold};
use crate::{
    Context,
    bounded::{self, BODY_MAX},
    exit::Exit,
    failure::{Failure, Outcome},
    generator::{Guard, Looks},
    limits,
    piped::{Awaited, is_screen},
    run::signal::Signals,
};

/// Attacks, as the words behind the command say.
///
/// # Errors
/// It can't be done, or not to its end.
pub(super) fn perform(context: &Context, words: &[String], cpus: Option<usize>) -> Outcome<Exit> {
    let Some(values) = super::flags(context, &FLAGS, words)? else {
        return Ok(Exit::Success);
    };
    if let Some(word) = values.files.first() {
        return Err(failure(format!(
            "brunt attack takes no files, but got {word:?}; use -targets"
        )));
    }
    let name = values.text("output");
    // With a run file the records may be left out.
    let no_records =
        !values.text("run").is_empty() && !values.is_written("output") && is_screen(name);
    if !no_records {
        super::keep_from_screen("attack", name)?;
    }
    if !no_records && is_same_file(values.text("run"), name) {
        return Err(failure(format!("-run and -output both name \"{name}\""))
            .hint("the run file and the records of hits are two files"));
    }
    let plan = planning::plan(context, &values, cpus)?;
    limits::raise_open_files();
    if plan.pacer == brunt_attack::Pacer::Unlimited && plan.max_workers.is_none() {
        return Err(told(AttackError::NoLimit));
    }
    let targets = targets(&values)?;
    threshold::fit(&threshold::read(&values), plan.duration)?;
    let judge = Judge::new(&values);
    let exporter = exporter(values.text("prometheus-addr"))?;
    let output = if no_records { Box::new(io::sink()) } else { output(name)? };
    let attack = Attack::new(plan.clone(), targets.clone()).map_err(told)?;
    let looks = Looks::new();
    let recording = Recording::prepare(context, &values, (&plan, &targets), &looks)?;
    let control = Control::new();
    let stopper = recording.as_ref().map(Recording::stopper);
    watch(&control, values.text("timeout"), move |why| {
        if let Some(stopper) = &stopper {
            stopper(why);
        }
    })?;
    let stream = Stream::start(output, Format::Gob, control.clone())?;
    if let Some(recording) = &recording {
        recording.start();
    }
    let guard = Guard::start(looks)?;
    let outcome = attack.run(&control, |core| {
        let recording = recording.as_ref().map(|recording| recording.sink(core));
        let others =
            [judge.as_ref().map(Judge::sink), exporter.as_ref().map(Exporter::sink), recording];
        let all = others.into_iter().flatten().chain([guard.sink(core), stream.sink()]);
        Box::new(Several::new(all.collect()))
    });
    let written = stream.finish();
    let is_whole = outcome.is_ok() && written.is_ok();
    let judged = judge.as_ref().filter(|_| is_whole).map(Judge::find);
    let exit = judged.as_ref().map(|all| threshold::tell(context, all));
    let verdict = guard.end(context, outcome.as_ref().ok());
    if let Some(recording) = recording {
        let ended = outcome.as_ref().cloned().map_err(ToString::to_string);
        let exit = if is_whole { exit.unwrap_or(Exit::Success) } else { Exit::Vegeta };
        recording.end(&ended, judged.as_deref(), (exit, verdict));
    }
    let outcome = outcome.map_err(told)?;
    written.map_err(|error| failure(format!("can't write the results to {name}: {error}")))?;
    if outcome.has_missed() {
        log::warn!("{outcome}");
    } else {
        log::debug!("{outcome}");
    }
    Ok(exit.unwrap_or(Exit::Success))
}

fn exporter(address: &str) -> Outcome<Option<Exporter>> {
    if address.is_empty() {
        return Ok(None);
    }
    let started = Exporter::start(address);
    started.map(Some).map_err(|error| failure(format!("-prometheus-addr {address}: {error}")))
}

fn told(error: AttackError) -> Failure {
    Failure::new(Exit::Vegeta, error)
}

/// Where targets come from, read whole unless that shall be done meanwhile.
fn targets(values: &Values) -> Outcome<Targets> {
    let format = values.text("format").parse().map_err(failure)?;
    let name = values.text("targets");
    let source: Box<dyn BufRead + Send> = match name {
        "stdin" => Box::new(BufReader::new(Awaited::new(
            "targets, such as GET http://127.0.0.1:8080/,",
            "-targets=FILE reads them from a file",
        ))),
        name => Box::new(BufReader::new(open(name)?)),
    };
    let body = match values.text("body") {
        "" => Vec::new(),
        "stdin" => {
            let instead = "-body=FILE reads it from a file";
            bounded::read_all(Awaited::new("the body", instead), BODY_MAX)
                .map_err(|error| failure(format!("read the body: {error}")))?
        }
        name => bounded::read(Path::new(name), BODY_MAX)
            .map_err(|error| failure(format!("open {name}: {error}")))?,
    };
    let keep = value::size(values.text("max-body")).map_err(failure)?;
    let headers = values.texts("header").into_iter().map(value::header);
    let defaults = Defaults {
        headers: headers.collect::<Result<_, _>>().map_err(failure)?,
        body: body.into(),
        attack: values.text("name").to_owned(),
        // The beginning of a packed body can't be unpacked.
        no_gzip: (1..u64::MAX).contains(&keep),
    };
    let reader = TargetReader::new(source, format, defaults);
    if values.switch("lazy") {
        return Ok(Targets::Stream(TargetStream::read(reader)?));
    }
    let all = reader.all().map_err(|error| Failure::new(Exit::Vegeta, error))?;
    Ok(all.into())
}

fn open(name: &str) -> Outcome<File> {
    File::open(name).map_err(|error| failure(format!("open {name}: {error}")))
}

/// Whether two names, of which any may be empty, lead to one file. It need not be there yet.
fn is_same_file(one: &str, other: &str) -> bool {
    let place = |name: &str| {
        let path = std::path::absolute(name).ok()?;
        std::fs::canonicalize(&path).ok().or_else(|| {
            let folder = std::fs::canonicalize(path.parent()?).ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    !one.is_empty() && !other.is_empty() && place(one).is_some_and(|one| Some(one) == place(other))
}

/// Standard output without the buffer that looks for ends of lines, or a file.
fn output(name: &str) -> Outcome<Box<dyn Write + Send>> {
    if name == "stdout" {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd as _;
            let stdout = io::stdout().as_fd().try_clone_to_owned()?;
            return Ok(Box::new(File::from(stdout)));
        }
        #[cfg(not(unix))]
        return Ok(Box::new(io::stdout()));
    }
    let file = File::create(name);
    Ok(Box::new(file.map_err(|error| failure(format!("open {name}: {error}")))?))
}

/// The first signal lets what is under way end; the second gives it up; the third ends the process.
///
/// # Errors
/// The system refuses.
pub(crate) fn watch_signals(control: &Control, timeout: &str) -> io::Result<()> {
    watch(control, timeout, |_| ())
}

/// The same; `tell` hears what they do.
fn watch(control: &Control, timeout: &str, tell: impl Fn(&str) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    let control = control.clone();
    let at_most = match timeout.trim_start_matches('0') {
        "" | "s" => String::new(),
        _ => format!(" for at most {timeout} (-timeout)"),
    };
    std::thread::Builder::new().name("brunt-signal".to_owned()).spawn(move || {
        runtime.block_on(async {
            signals.next().await;
            log::warn!(
                "stopping: no more hits begin, those under way go on{at_most}; press Ctrl-C again to give them up"
            );
            tell("a signal stopped it");
            control.stop();
            signals.next().await;
            tell("a second signal gave up the hits under way");
            log::warn!("the hits under way are given up; press Ctrl-C again to end at once");
            control.abort();
            signals.next().await;
            std::process::exit(i32::from(Exit::Success.code()));
        });
    })?;
    Ok(())
}
