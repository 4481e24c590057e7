//! `brunt types`: declarations for editors and `tsc`, as a package of npm.

use std::path::{Path, absolute};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{print, switch};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

/// Names and texts of the files of `types/` in the repository.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../types/", $name)))),*]
    };
}

/// The files of the package.
const FILES: &[(&str, &str)] = files! {
    "README.md"
    "package.json"
    "index.d.ts"
    "brunt-options.d.ts"
    "data.d.ts"
    "dns.d.ts"
    "experimental.d.ts"
    "faker.d.ts"
    "fasthttp.d.ts"
    "globals.d.ts"
    "html.d.ts"
    "http.d.ts"
    "icmp.d.ts"
    "jslib-assertions.d.ts"
    "jslib.d.ts"
    "k6.d.ts"
    "mqtt.d.ts"
    "options.d.ts"
    "redis.d.ts"
    "shared-array.d.ts"
    "sql.d.ts"
    "streams.d.ts"
    "summary.d.ts"
    "tcp.d.ts"
    "web.d.ts"
    "webcrypto.d.ts"
    "websockets.d.ts"
    "x509.d.ts"
};

/// The settings of an editor, which work for `tsc`, too.
const JSCONFIG: &str = include_str!("types/jsconfig.json");

const FOLDER: &str = "brunt-types";

/// The arguments of `brunt types`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    folder: String,
    force: bool,
}

pub(super) fn command() -> Command {
    Command::new("types")
        .about("Write TypeScript declarations, by which editors complete and check scripts")
        .arg(
            Arg::new("folder")
                .value_name("DIR")
                .default_value(FOLDER)
                .action(ArgAction::Set)
                .help("Folder to write"),
        )
        .arg(switch("force", "Overwrite the files in the folder").short('f'))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Self {
        let folder = matches.get_one::<String>("folder").cloned().unwrap_or_default();
        Self { folder, force: matches.get_flag("force") }
    }
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let name = &request.folder;
    let folder = Path::new(name);
    if !request.force && !is_free(folder) {
        return Err(Failure::usage(format!("{name} already exists"))
            .hint("use --force to overwrite the declarations in it, or name another folder"));
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {name}"))?;
    for (file, text) in FILES {
        let path = folder.join(file);
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(context, &told(name))
}

/// Whether there is no such folder, or nothing in it.
fn is_free(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The words at the end: what is there, and what is to be done next.
fn told(name: &str) -> String {
    // npm takes a name without a path for one of its registry.
    let shown = match absolute(name) {
        Ok(path) if Path::new(name).is_absolute() => path.display().to_string(),
        _ if name.starts_with("./") || name.starts_with("../") => name.to_owned(),
        _ => format!("./{name}"),
    };
    format!(
        "Declarations written: {name} ({} files).\n\n\
         1. In the folder of the scripts: npm install --save-dev {shown}\n\
         2. Beside the scripts, jsconfig.json for JavaScript, or tsconfig.json for TypeScript:\n\n{JSCONFIG}",
        FILES.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_the_folder_are_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../types");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut written: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        there.sort();
        written.sort_unstable();
        assert_eq!(there, written);
    }

    #[test]
    fn the_package_has_the_version_of_the_binary() {
        let (_, text) = FILES.iter().find(|(name, _)| *name == "package.json").unwrap();
        let package: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(package["name"], FOLDER);
    }

    #[test]
    fn index_loads_all_declarations() {
        let (_, index) = FILES.iter().find(|(name, _)| *name == "index.d.ts").unwrap();
        for (name, _) in FILES.iter().filter(|(name, _)| name.ends_with(".d.ts")) {
            let short = name.trim_end_matches(".d.ts");
            let is_loaded = index.contains(&format!("path=\"./{name}\""))
                || index.contains(&format!("import './{short}.js'"));
            assert!(is_loaded || short == "index", "index.d.ts does not load {name}");
        }
    }

    #[test]
    fn npm_is_told_a_path() {
        for (name, path) in [
            ("brunt-types", " ./brunt-types\n"),
            ("../types", " ../types\n"),
            ("./types", " ./types\n"),
            ("/tmp/types", " /tmp/types\n"),
        ] {
            assert!(told(name).contains(path), "{name}: {}", told(name));
        }
    }
}
