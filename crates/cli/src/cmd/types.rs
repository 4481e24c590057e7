//! `brunt types`: declarations for editors and `tsc`, as a package of npm.

use std::path::Path;

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
        &[$(($name, include_str!(concat!("../../types/", $name)))),*]
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
    if folder.is_file() {
        return Err(
            Failure::usage(format!("{name} is a file, not a folder")).hint("name another folder")
        );
    }
    if !request.force
        && is_used(folder).with_context(|| format!("cannot read the folder {name}"))?
    {
        return Err(Failure::usage(format!("{name} already exists"))
            .hint("use --force to overwrite the declarations in it, or name another folder"));
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {name}"))?;
    for (file, text) in FILES {
        let path = folder.join(file);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(context, &told(name))
}

/// Whether there is such a folder, with something in it.
fn is_used(folder: &Path) -> std::io::Result<bool> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The words at the end: what is there, and what is to be done next.
fn told(name: &str) -> String {
    // npm takes a name without a path for one of its registry.
    let is_path =
        Path::new(name).is_absolute() || name.starts_with("./") || name.starts_with("../");
    let shown = if is_path { name.to_owned() } else { format!("./{name}") };
    format!(
        "Declarations written: {name} ({} files).\n\n\
         1. In the folder of the scripts: npm install --save-dev {shown}\n\
         2. Beside the scripts, jsconfig.json for JavaScript, or tsconfig.json for TypeScript:\n\n{JSCONFIG}",
        FILES.len()
    )
}
