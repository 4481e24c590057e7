//! `brunt deps`: the imports of a script, listed without running it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use brunt_modules::K6;
use brunt_script::{Graph, ImportKind, Resolved};
use clap::{Arg, Command};

use super::{print, switch};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    javascript::{JavaScript, directives},
    settings::FileType,
};

pub(super) fn command() -> Command {
    Command::new("deps")
        .about("List the imports of a script and the extensions that it needs")
        .arg(
            Arg::new("script")
                .value_name("SCRIPT")
                .required(true)
                .help("The script, an archive, or - for standard input"),
        )
        .arg(switch("json", "Print JSON"))
}

pub(super) fn perform(context: &Context, script: &str, json: bool) -> Outcome<Exit> {
    let graph = JavaScript::graph(script, FileType::Auto)?;
    let dependencies = of(&graph)?;
    let imports = imports(&graph);
    let missing = dependencies.keys().any(|name| is_missing(name));
    if json {
        let value = serde_json::json!({
            "buildDependencies": dependencies,
            "imports": imports,
            "customBuildRequired": missing,
        });
        let text = serde_json::to_string_pretty(&value).expect("a JSON value can be printed");
        return print(context, &format!("{text}\n"));
    }
    let mut text = "Build Dependencies:\n".to_owned();
    for (name, version) in &dependencies {
        // Writing to a String can't fail.
        let _ = writeln!(text, "  {name}: {version}");
    }
    text.push_str("\nImports:\n");
    for import in &imports {
        let _ = writeln!(text, "  {import}");
    }
    let _ = write!(text, "\nCustom Build Required: {}\n", if missing { "yes" } else { "no" });
    print(context, &text)
}

/// Whether it is an extension that is not built in.
fn is_missing(name: &str) -> bool {
    name.starts_with("k6/x/") && !K6::modules().any(|known| known == name)
}

/// `k6` and the extensions that a script asks for, with the versions it wants (`*` for any): by `import`, and by
/// directives such as `"use k6 with k6/x/faker >= 0.4"`.
///
/// # Errors
/// A directive that can't be read (255).
pub(super) fn of(graph: &Graph) -> Outcome<BTreeMap<String, String>> {
    let mut found = directives::of(graph).map_err(Failure::usage)?;
    found.entry("k6".to_owned()).or_insert_with(|| "*".to_owned());
    for name in imports(graph) {
        if name.starts_with("k6/x/") {
            found.entry(name).or_insert_with(|| "*".to_owned());
        }
    }
    Ok(found)
}

/// The URLs of files and the names of modules. Modules that only `require()` asks for are not in it, as in k6.
fn imports(graph: &Graph) -> BTreeSet<String> {
    let mut found = BTreeSet::from([graph.entry.clone()]);
    for import in graph.modules.iter().flat_map(|module| &module.imports) {
        if import.kind == ImportKind::Require {
            continue;
        }
        // Imports of libraries that are built in are not the script's.
        if let Resolved::Builtin(name) | Resolved::Local(name) = &import.resolved
            && !name.starts_with("k6/jslib/")
        {
            found.insert(name.clone());
        }
    }
    found
}
