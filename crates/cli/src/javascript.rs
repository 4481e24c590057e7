//! JavaScript behind the seam of [`run::host`](crate::run::host): `script` loads, `js` runs, `modules` is the
//! k6 API.

use std::{io::Read as _, sync::Arc, time::Duration};

use brunt_js::{
    Api, Failure as Thrown, Program, ProgramError, ScriptRunner,
    runner::{Exported, SummaryAnswer},
};
use brunt_modules::{K6, World};
use brunt_script::{Entry, ErrorKind, Loader, MAX_FILE, ScriptError};
use serde_json::Value;

use crate::{
    diagnostic::Diagnostic,
    exit::Exit,
    failure::{Failure, Outcome},
    run::host::{Answer, Host, Script, Source, TestOptions, TestRunner},
};

mod config;
mod place;
mod remote;

use remote::Remote;

/// QuickJS and the k6 API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JavaScript;

/// A script whose init code ran.
pub(crate) struct Loaded {
    k6: Arc<K6>,
    runner: ScriptRunner,
    options: Value,
    exported: Exported,
}

impl Host for JavaScript {
    type Script = Loaded;

    fn load(&self, source: &Source<'_>) -> Outcome<Loaded> {
        let entry = match source.name {
            "-" => Entry::Stdin(standard_input()?),
            url if url.starts_with("https://") => Entry::Remote(url.to_owned()),
            path => {
                refuse_others(path)?;
                Entry::Path(path.into())
            }
        };
        let graph = Loader::new(&Remote::new(source.remote))
            .load(entry)
            .map_err(|error| unloadable(&error))?;
        let k6 = Arc::new(K6::new(World {
            registry: Arc::clone(&source.registry),
            env: source.env.clone(),
            extended: source.extended,
        }));
        let program = Program::compile(&graph, &*k6).map_err(uncompilable)?;
        let runner = ScriptRunner::new(Arc::new(program), Arc::clone(&k6) as Arc<dyn Api>);
        let exported = runner.inspect().map_err(thrown)?;
        for name in ["setup", "teardown"] {
            if exported.others.iter().any(|other| other == name) {
                return Err(Failure::usage(format!("the exported {name} must be a function")));
            }
        }
        let options = match &exported.options {
            Err(problem) => {
                return Err(Failure::usage(problem.clone())
                    .hint("options are plain data: numbers, strings, booleans, lists, objects"));
            }
            Ok(None) => Value::Null,
            Ok(Some(json)) => serde_json::from_str(json).map_err(|error| {
                Failure::new(
                    Exit::Other,
                    anyhow::Error::new(error).context("the exported options are no JSON"),
                )
            })?,
        };
        Ok(Loaded { k6, runner, options, exported })
    }
}

impl Script for Loaded {
    type Runner = ScriptRunner;

    fn options(&self) -> &Value {
        &self.options
    }

    fn functions(&self) -> &[String] {
        &self.exported.functions
    }

    fn others(&self) -> &[String] {
        &self.exported.others
    }

    fn text(&self) -> &str {
        self.runner.program().source()
    }

    fn into_runner(self, test: &TestOptions) -> Outcome<Arc<ScriptRunner>> {
        self.k6.configure(config::of(test)?);
        Ok(Arc::new(self.runner))
    }
}

impl TestRunner for ScriptRunner {
    fn handle_summary(&self, data: String, limit: Duration) -> Answer {
        match Self::handle_summary(self, data, limit) {
            SummaryAnswer::Default => Answer::Usual,
            SummaryAnswer::Write(files) => Answer::Write(files),
            SummaryAnswer::Failed(problem) => Answer::Failed(problem),
            SummaryAnswer::Unusable(problem) => Answer::Unusable(problem),
        }
    }
}

/// Refuses by name what we don't run: scripts without TLS, and archives, yet.
fn refuse_others(path: &str) -> Outcome<()> {
    if path.starts_with("http://") {
        return Err(Failure::usage(format!("the script {path} is remote: that needs https"))
            .hint("download it and run the file"));
    }
    // The mark of a tar file stands at byte 257. What cannot be read is told by whoever loads it.
    let mut head = [0; 262];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if read.is_ok() && head.ends_with(b"ustar") {
        return Err(Failure::usage(format!("{path} is an archive, which is not supported yet"))
            .hint("unpack it (tar -xf) and run the script in it"));
    }
    Ok(())
}

/// A script that comes through a pipe.
fn standard_input() -> Outcome<Vec<u8>> {
    let mut text = Vec::new();
    std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(Failure::usage(format!(
            "the script on standard input is longer than {MAX_FILE} bytes"
        )));
    }
    Ok(text)
}

fn unloadable(error: &ScriptError) -> Failure {
    // k6's numbers: a script that can't be read is a wrong command line, all else is the script's fault.
    // An import that can't be read has a line.
    let exit = match error.kind {
        ErrorKind::EntryMissing => Exit::Other,
        ErrorKind::Directory | ErrorKind::Unreadable | ErrorKind::Remote if error.line == 0 => {
            Exit::Other
        }
        _ => Exit::ScriptException,
    };
    let failure = Failure::new(exit, anyhow::anyhow!("{error}"));
    if error.line == 0 {
        return match &error.help {
            Some(help) => failure.hint(help.clone()),
            None => failure,
        };
    }
    failure.at(Diagnostic {
        url: error.url.clone(),
        line: error.line,
        column: error.column,
        length: error.length,
        text: Some(error.source_line.clone()),
        help: error.help.clone(),
    })
}

fn uncompilable(error: ProgramError) -> Failure {
    match error {
        ProgramError::Script(error) => unloadable(&error),
        ProgramError::Import { message, url, line, column, length, source_line } => Failure::new(
            Exit::ScriptException,
            anyhow::anyhow!("{message} ({url}:{line}:{column})"),
        )
        .at(Diagnostic { url, line, column, length, text: Some(source_line), help: None }),
        other => Failure::new(Exit::ScriptException, other),
    }
}

/// The init code did not come to its end.
fn thrown(failure: Thrown) -> Failure {
    match failure {
        Thrown::Exception(text) => {
            let place = place::first(&text);
            let failure = Failure::new(Exit::ScriptException, anyhow::Error::msg(text))
                .hint("script exception");
            match place {
                Some(place) => failure.at(place),
                None => failure,
            }
        }
        Thrown::Aborted(text) => Failure::new(Exit::ScriptAborted, anyhow::Error::msg(text)),
        Thrown::Interrupted => {
            Failure::new(Exit::Signal, anyhow::anyhow!("the init code was stopped"))
        }
        Thrown::Panic(text) => Failure::new(Exit::Panic, anyhow::Error::msg(text)),
    }
}
