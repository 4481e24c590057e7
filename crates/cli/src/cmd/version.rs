//! `brunt version`

use clap::Command;

use super::{print, switch};
use crate::{
    Context,
    exit::Exit,
    failure::Outcome,
    version::{K6_VERSION, line},
};

pub(super) fn command() -> Command {
    Command::new("version").about("Print the version").arg(switch("json", "Print JSON"))
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
