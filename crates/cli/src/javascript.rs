//! JavaScript behind the seam of [`run::host`](crate::run::host): `script` loads, `js` runs, `modules` is the
//! k6 API.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use brunt_js::{
    Api, Failure as Thrown, OpenError, OpenedFiles, Program, ProgramError, ScriptRunner, UNHANDLED,
    runner::{Exported, SummaryAnswer},
};
use brunt_modules::{K6, World};
use brunt_script::{ErrorKind, Files, Graph, Loader, ScriptError};
use serde_json::Value;

use crate::{
    archive::Archive,
    diagnostic::Diagnostic,
    exit::Exit,
    failure::{Failure, Outcome},
    run::host::{Answer, Host, Script, Source, TestOptions, TestRunner},
    secrets,
    settings::FileType,
};

mod certificate;
mod config;
pub(crate) mod directives;
mod libraries;
mod origin;
mod place;
mod remote;

use self::libraries::Libraries;
use self::origin::Origin;
pub(crate) use self::origin::Recorder;

/// QuickJS and the k6 API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JavaScript;

/// A script whose init code ran.
pub(crate) struct Loaded {
    k6: Arc<K6>,
    runner: ScriptRunner,
    options: Value,
    exported: Exported,
    env: BTreeMap<String, String>,
    extended: bool,
    /// Its options stand beside the script.
    is_archive: bool,
    /// URLs and texts of its own files.
    sources: Vec<(String, Arc<str>)>,
}

impl Host for JavaScript {
    type Script = Loaded;

    fn load(&self, source: &Source<'_>) -> Outcome<Loaded> {
        let origin = Origin::find(source.name, source.kind, source.remote)?;
        Ok(load(source, origin)?.0)
    }
}

impl JavaScript {
    /// Loads a script, and remembers its modules and the files that it is made of.
    ///
    /// # Errors
    /// The same as [`Host::load`].
    pub(crate) fn load_recorded(source: &Source<'_>) -> Outcome<(Loaded, Graph, Arc<Recorder>)> {
        let mut origin = Origin::find(source.name, source.kind, source.remote)?;
        let recorder = Recorder::new(origin.files);
        origin.files = Arc::clone(&recorder) as Arc<dyn Files>;
        let (loaded, graph) = load(source, origin)?;
        Ok((loaded, graph, recorder))
    }

    /// Loads the script of an archive that has been read.
    ///
    /// # Errors
    /// The same as [`Host::load`].
    pub(crate) fn load_archive(source: &Source<'_>, archive: Archive) -> Outcome<Loaded> {
        Ok(load(source, Origin::archived(archive))?.0)
    }

    /// The modules of a script, which is not run.
    ///
    /// # Errors
    /// It can't be read or parsed, or what it imports can't.
    pub(crate) fn graph(name: &str, kind: FileType) -> Outcome<Graph> {
        let origin = Origin::find(name, kind, true)?;
        let files = Libraries::before(origin.files, true);
        Loader::new(&*files).load(origin.entry).map_err(|error| unloadable(&error))
    }
}

fn load(source: &Source<'_>, origin: Origin) -> Outcome<(Loaded, Graph)> {
    let files = Libraries::before(origin.files, source.libraries);
    let graph = Loader::new(&*files).load(origin.entry).map_err(|error| unloadable(&error))?;
    // Whatever version is wanted, it is this one that there is; but nonsense is told.
    directives::of(&graph).map_err(Failure::usage)?;
    secrets::install_beside(source.name, &graph)?;
    let archive = origin.archive;
    let metadata = archive.as_ref().map(|archive| &archive.metadata);
    let mut env = metadata.map(|metadata| metadata.env.clone()).unwrap_or_default();
    env.extend(source.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    let extended =
        source.extended.or_else(|| metadata.map(|metadata| metadata.extended)).unwrap_or(true);
    let k6 = Arc::new(K6::new(World {
        registry: Arc::clone(&source.registry),
        env: env.clone(),
        extended,
        freeze_env: source.freeze_env,
        seed: source.seed,
        repeats: source.repeats,
    }));
    let program = Program::compile(&graph, &*k6).map_err(uncompilable)?;
    let opened = match &archive {
        Some(archive) => OpenedFiles::sealed(Arc::clone(&archive.files), crate::archive::anonymous),
        None => OpenedFiles::default(),
    };
    let program = program.from_elsewhere(Arc::clone(&files), opened);
    let runner = ScriptRunner::new(Arc::new(program), Arc::clone(&k6) as Arc<dyn Api>);
    let exported = runner.inspect().map_err(|failure| thrown(failure, &*files))?;
    for name in ["setup", "teardown"] {
        if exported.others.iter().any(|other| other == name) {
            return Err(Failure::usage(format!("the exported {name} must be a function")));
        }
    }
    let options = match (metadata, &exported.options) {
        (Some(metadata), _) => {
            // To k6 an archive with wrong options is no archive.
            brunt_options::Options::from_json(&metadata.options, brunt_options::Layer::Script)
                .map_err(|error| {
                    Failure::usage(format!("could not load the test archive: {error}"))
                })?;
            metadata.options.clone()
        }
        (None, Err(problem)) => {
            return Err(Failure::usage(problem.clone())
                .hint("options are plain data: numbers, strings, booleans, lists, objects"));
        }
        (None, Ok(None)) => Value::Null,
        (None, Ok(Some(json))) => serde_json::from_str(json).map_err(|error| {
            Failure::new(
                Exit::Other,
                anyhow::Error::new(error).context("the exported options are no JSON"),
            )
        })?,
    };
    let is_archive = archive.is_some();
    let own = graph.modules.iter().filter(|module| module.url.starts_with("file://"));
    let sources = own.map(|module| (module.url.clone(), Arc::clone(&module.source))).collect();
    let loaded = Loaded { k6, runner, options, exported, env, extended, is_archive, sources };
    certificate::check(&loaded)?;
    Ok((loaded, graph))
}

impl Loaded {
    /// The script, compiled, with the files that it opened.
    pub(crate) fn program(&self) -> &Program {
        self.runner.program()
    }

    /// `__ENV`.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The compatibility mode is `extended`.
    pub(crate) fn is_extended(&self) -> bool {
        self.extended
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

    fn sources(&self) -> Vec<(String, Arc<str>)> {
        self.sources.clone()
    }

    fn url(&self) -> Option<&str> {
        (!self.is_archive).then(|| self.runner.program().entry())
    }

    /// As `open()` reads it: an archive has it, too.
    fn read_file(&self, name: &str) -> Result<String, String> {
        let program = self.runner.program();
        let path = brunt_modules::path_beside(&program.folder(), name);
        let shown = path.display().to_string();
        let bytes = program.files().open(&path, true).map_err(|error| match error {
            OpenError::NotFound(_) => format!("there is no file {shown}"),
            OpenError::Directory(_) => format!("{shown} is a folder"),
            OpenError::Unreadable { reason, .. } => format!("{shown} cannot be read: {reason}"),
            _ => format!("{shown} is too large"),
        })?;
        let text = String::from_utf8(bytes.as_slice().to_vec());
        text.map_err(|_| format!("{shown} is not UTF-8 text"))
    }

    fn into_runner(self, test: &TestOptions) -> Outcome<Arc<ScriptRunner>> {
        if let Some(size) = test.options.max_body_memory {
            brunt_net::budget::BODIES.set_limit(size.bytes());
        }
        if let Some(size) = test.options.vu_memory {
            crate::memory::limit_heaps(size)?;
        }
        self.k6.configure(config::of(test)?);
        Ok(Arc::new(self.runner))
    }
}

impl TestRunner for ScriptRunner {
    fn handle_summary(
        &self,
        data: String,
        limit: Duration,
        changed: Option<&mut Option<Result<String, String>>>,
    ) -> Answer {
        match Self::handle_summary(self, data, limit, changed) {
            SummaryAnswer::Default => Answer::Usual,
            SummaryAnswer::Write(files) => Answer::Write(files),
            SummaryAnswer::Failed(problem) => Answer::Failed(problem),
            SummaryAnswer::Rejected(problem) => Answer::Rejected(problem),
            SummaryAnswer::Unusable(problem) => Answer::Unusable(problem),
        }
    }
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
        ..Diagnostic::default()
    })
}

fn uncompilable(error: ProgramError) -> Failure {
    match error {
        ProgramError::Script(error) => unloadable(&error),
        ProgramError::Import { message, url, line, column, length, source_line } => Failure::new(
            Exit::ScriptException,
            anyhow::anyhow!("{message} ({url}:{line}:{column})"),
        )
        .at(Diagnostic {
            url,
            line,
            column,
            length,
            text: Some(source_line),
            ..Diagnostic::default()
        }),
        other => Failure::new(Exit::ScriptException, other),
    }
}

/// The init code did not come to its end.
fn thrown(failure: Thrown, files: &dyn Files) -> Failure {
    match failure {
        Thrown::Exception(mut text) => {
            let place = place::first(&text, files);
            // A thrown value without a stack has an empty one in k6.
            if !text.ends_with('\n') && !text.starts_with(UNHANDLED) {
                text.push('\n');
            }
            // To k6 an unhandled rejection is no exception of the script.
            let failure = if text.starts_with(UNHANDLED) {
                Failure::new(Exit::Other, anyhow::Error::msg(text))
            } else {
                Failure::new(Exit::ScriptException, anyhow::Error::msg(text))
                    .hint("script exception")
            };
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
