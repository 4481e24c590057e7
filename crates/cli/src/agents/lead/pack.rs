//! The archive for the agents.

use std::collections::BTreeMap;

use brunt_cluster::{ARCHIVE_MAX, PlanError};

use crate::Context;
use crate::archive;
use crate::cmd::archive::{Packed, contents};
use crate::failure::{Failure, Outcome};
use crate::flags::Given;
use crate::javascript::Loaded;
use crate::run::plan::Plan;

/// Packs the test, with the variables of `-e` and none else of this machine: they may be secrets, and they would say what is
/// here, not there.
///
/// # Errors
/// A file that can't be told; files of more than 1 GiB together, before any of them is copied.
pub(super) fn archive(
    context: &Context,
    given: &Given,
    packed: &Packed<'_>,
    plan: &Plan,
) -> Outcome<Vec<u8>> {
    let opened = packed.script.program().files().all();
    let size: u64 = opened.values().map(|bytes| bytes.as_slice().len() as u64).sum();
    if size > ARCHIVE_MAX {
        return Err(Failure::config(PlanError::Archive(size)));
    }
    let env = env(context, given, packed.script);
    let contents = contents(packed, plan, env, false)?;
    let mut bytes = Vec::new();
    // A leader that takes its run up again is known by the same bytes.
    archive::write_at(0, &contents, &mut bytes)?;
    log::debug!(bytes = bytes.len(), files = contents.files.len(); "The test is packed");
    Ok(bytes)
}

fn env(context: &Context, given: &Given, script: &Loaded) -> BTreeMap<String, String> {
    let mut env = script.env().clone();
    if given.switch("include-system-env-vars") == Some(true) {
        return env;
    }
    let written: Vec<&str> =
        given.all("env").iter().map(|text| text.split('=').next().unwrap_or_default()).collect();
    env.retain(|name, value| {
        written.contains(&name.as_str()) || context.environment.get(name) != Some(value.as_str())
    });
    env
}

/// Whether the test has this function.
pub(super) fn has(functions: &[String], name: &str) -> bool {
    functions.iter().any(|function| function == name)
}
