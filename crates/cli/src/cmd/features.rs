//! `brunt features`: the feature flags that `--features` takes.

use std::fmt::Write as _;

use clap::Command;

use super::{print, switch};
use crate::{Context, exit::Exit, failure::Outcome, features::ALL};

pub(super) fn command() -> Command {
    Command::new("features")
        .about("List the feature flags for --features")
        .arg(switch("json", "Print JSON"))
}

pub(super) fn perform(context: &Context, json: bool) -> Outcome<Exit> {
    if json {
        let list: Vec<_> = ALL
            .iter()
            .map(
                |feature| serde_json::json!({ "name": feature.name, "description": feature.about }),
            )
            .collect();
        let text = serde_json::to_string_pretty(&list).expect("a JSON value can be printed");
        return print(context, &format!("{text}\n"));
    }
    let mut text = String::new();
    for feature in ALL {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{:<18} {}", feature.name, feature.about);
    }
    print(context, &text)
}
