//! `--secret-source`: hands the sources to whoever asks, and keeps their values out of log lines and tags.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use brunt_metrics::Registry;
use brunt_script::Graph;
use brunt_secrets::{Redactor, Secrets, SpecError};

use crate::{
    environment::Environment,
    failure::{Failure, Outcome},
    flags::Given,
};

/// Reads the flags.
///
/// # Errors
/// A source that cannot be.
pub(crate) fn install(given: &Given, environment: &Environment) -> Outcome<()> {
    let specs = given.all("secret-source");
    if specs.is_empty() {
        return Ok(());
    }
    let secrets =
        Secrets::parse(specs, &environment.with_aliases()).map_err(|error| match error {
            // k6's numbers.
            SpecError::Cloud => Failure::config(error.to_string()),
            error => Failure::usage(error.to_string()),
        })?;
    brunt_secrets::install(secrets);
    Ok(())
}

/// The file of secrets that a script gets if no flag names one and it lies in the script's folder.
pub(crate) const BESIDE: &str = "secrets.env";

/// Where it was found.
static FOUND: OnceLock<PathBuf> = OnceLock::new();

/// Reads the file beside the script, as the user named that (an archive is one, too), if the script imports `k6/secrets` and
/// there is no other source.
///
/// # Errors
/// The file is there and can't be read.
pub(crate) fn install_beside(script: &str, graph: &Graph) -> Outcome<()> {
    let mut imports = graph.modules.iter().flat_map(|module| &module.imports);
    let is_local = script != "-" && !script.starts_with("https://");
    if !is_local
        || brunt_secrets::of_process().is_some()
        || !imports.any(|import| import.specifier == "k6/secrets")
    {
        return Ok(());
    }
    let path = Path::new(script).with_file_name(BESIDE);
    if !path.is_file() {
        return Ok(());
    }
    let secrets = Secrets::of_file(&path).map_err(|error| {
        let place = path.display();
        let error = match error {
            SpecError::File { source, .. } => source.to_string(),
            error => error.to_string(),
        };
        Failure::usage(format!("the secrets beside the script, {place}: {error}"))
            .hint("each line is name=value; --secret-source names another source")
    })?;
    brunt_secrets::install(secrets);
    let _ = FOUND.set(path);
    Ok(())
}

/// The file beside the script whose secrets it gets.
pub(crate) fn beside() -> Option<&'static Path> {
    FOUND.get().map(PathBuf::as_path)
}

/// Keeps the values out of what outputs and the summary show of tags.
pub(crate) fn keep_out_of_tags(registry: &Registry) {
    if brunt_secrets::of_process().is_some() {
        registry.veil_tags(|value| match redactor()?.redact(value) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        });
    }
}

/// The redactor of log lines, if any secret was given out.
pub(crate) fn redactor() -> Option<&'static Redactor> {
    let redactor = brunt_secrets::of_process()?.redactor();
    redactor.is_needed().then_some(redactor)
}

/// Takes the secrets out of a text.
pub(crate) fn redact(redactor: &Redactor, text: &mut String) {
    if let Cow::Owned(clean) = redactor.redact(text) {
        *text = clean;
    }
}
