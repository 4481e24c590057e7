//! `--secret-source`: hands the sources to whoever asks, and keeps their values out of log lines and tags.

use std::borrow::Cow;

use brunt_metrics::Registry;
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
