//! `brunt version`

use clap::Command;

use super::{print, switch};
use crate::{Context, exit::Exit, failure::Outcome};

/// Whose scripts we run, and whose behaviour we check ours against.
pub(crate) const K6_VERSION: &str = "2.2.0";

pub(super) fn command() -> Command {
    Command::new("version").about("Print the version").arg(switch("json", "Print JSON"))
}

/// `v0.1.0 (linux/x86_64, k6 2.2.0)`
pub(crate) fn line() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("v{} ({os}/{arch}, k6 {K6_VERSION})", env!("CARGO_PKG_VERSION"))
}

pub(super) fn perform(context: &Context, json: bool) -> Outcome<Exit> {
    if !json {
        return print(context, &format!("brunt {}\n", line()));
    }
    let version = serde_json::json!({
        "version": format!("v{}", env!("CARGO_PKG_VERSION")),
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "k6_version": K6_VERSION,
    });
    print(context, &format!("{version}\n"))
}
