//! `brunt archive`: a test and all that it needs in one file.

use std::{collections::BTreeMap, fs::File, io::BufWriter, path::Path, sync::Arc};

use anyhow::Context as _;
use brunt_metrics::Registry;
use brunt_script::Graph;

use super::deps;
use crate::{
    Context,
    archive::{self, Contents, Metadata, anonymous, entry_of, entry_of_remote},
    exit::Exit,
    failure::{Failure, Outcome},
    flags::{self, Given},
    javascript::{JavaScript, Loaded, Recorder},
    piped,
    run::{
        host::{Script as _, Source},
        plan::{Outer, Plan},
    },
    settings::ScriptSettings,
};

/// The arguments of `brunt archive`.
#[derive(Debug)]
pub(crate) struct Request {
    pub(super) script: String,
    pub(super) settings: ScriptSettings,
    /// The file to write; `-` is stdout.
    pub(super) out: String,
    /// `__ENV` stays out of it.
    pub(super) without_env: bool,
}

/// A test that was loaded in order to be packed.
pub(crate) struct Packed<'a> {
    pub(crate) script: &'a Loaded,
    pub(crate) graph: &'a Graph,
    pub(crate) recorder: &'a Recorder,
}

pub(super) fn perform(context: &Context, request: &Request, given: &Given) -> Outcome<Exit> {
    if request.out == "-" && piped::is_screen("stdout") {
        let told = "an archive is a binary file, and standard output is a terminal";
        return Err(Failure::usage(told).hint("add -O FILE, or pipe it into a file or a command"));
    }
    let is_given = |name| given.get(name).is_some_and(|value| value.on_command_line);
    for flag in flags::beside_archive().filter(|flag| is_given(flag.long)) {
        log::warn!("--{} is a flag of brunt run: the archive does not hold it", flag.long);
    }
    let contents = pack(context, request, given)?;
    if request.out == "-" {
        let mut bytes = Vec::new();
        archive::write(&contents, &mut bytes)?;
        context.screen.stdout_bytes(&bytes)?;
    } else {
        let told = || format!("cannot write the archive {}", request.out);
        let file = File::create(&request.out).with_context(told)?;
        archive::write(&contents, BufWriter::new(file)).with_context(told)?;
    }
    Ok(Exit::Success)
}

/// The content of the archive of a test.
///
/// # Errors
/// The script can't be loaded, or its options are wrong.
pub(super) fn pack(context: &Context, request: &Request, given: &Given) -> Outcome<Contents> {
    let outer = Outer::read(context, given)?;
    let settings = &request.settings;
    let registry = Arc::new(Registry::new());
    let loaded = JavaScript::load_recorded(&Source::of(&request.script, settings, &registry))?;
    let (script, graph, recorder) = loaded;
    crate::run::offer_own(&registry, true);
    let plan = Plan::make(outer, &script, &registry, settings.thresholds)?;
    let packed = Packed { script: &script, graph: &graph, recorder: &recorder };
    contents(&packed, &plan, script.env().clone(), request.without_env)
}

/// All that an archive of the test holds; `env` is its `__ENV`.
///
/// # Errors
/// A dependency that can't be told.
pub(crate) fn contents(
    packed: &Packed<'_>,
    plan: &Plan,
    env: BTreeMap<String, String>,
    without_env: bool,
) -> Outcome<Contents> {
    let Packed { script, graph, recorder } = *packed;
    let main = brunt_script::path_of(script.program().entry()).unwrap_or_default();
    let entry = script.program().entry().to_owned();
    let is_remote = entry.starts_with("https://");
    let from_stdin = main.file_name().is_some_and(|name| name == "-");
    let url = |path: &Path| {
        let path = anonymous(path);
        brunt_script::url_of(&path)
    };
    let mut files = recorder.take();
    let data = match files.remove(&main) {
        Some(bytes) => bytes,
        None => script.text().as_bytes().to_vec(),
    };
    let opened = script.program().files().all();
    files.extend(opened.into_iter().map(|(path, bytes)| (path, bytes.as_slice().to_vec())));
    files.remove(&main);
    let files = files.into_iter().map(|(path, bytes)| (entry_of(&path), bytes));
    let mut fetched = recorder.take_fetched();
    fetched.remove(&entry);
    let fetched = fetched.into_iter().map(|(url, bytes)| (entry_of_remote(&url), bytes));
    Ok(Contents {
        metadata: Metadata {
            filename: if is_remote {
                entry.clone()
            } else if from_stdin {
                archive::STDIN.to_owned()
            } else {
                url(&main)
            },
            pwd: if is_remote {
                entry.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
            } else {
                url(main.parent().unwrap_or(Path::new("/")))
            },
            env,
            options: plan.consolidated.to_archive_json(),
            extended: script.is_extended(),
        },
        without_env,
        dependencies: deps::of(graph)?,
        data,
        files: files.chain(fetched).collect(),
    })
}
