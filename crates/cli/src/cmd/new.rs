//! `brunt new`: a script to start from.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};

use self::template::Values;
use super::{print, switch, value};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod template;

const MINIMAL: &str = include_str!("new/minimal.js");
const PROTOCOL: &str = include_str!("new/protocol.js");
const BROWSER: &str = include_str!("new/browser.js");

/// The arguments of `brunt new`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    file: String,
    template: String,
    force: bool,
    project: Option<String>,
}

pub(super) fn command() -> Command {
    Command::new("new")
        .about("Write a first script")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .default_value("script.js")
                .action(ArgAction::Set)
                .help("File to write"),
        )
        .arg(switch("force", "Overwrite the file").short('f'))
        .arg(value("template", "NAME", "Template: minimal, protocol, browser or a path such as ./my-template.js [default: minimal]"))
        .arg(value("project-id", "ID", "Put this project ID into the options of the script"))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name| matches.get_one::<String>(name).cloned();
        let project = text("project-id");
        if let Some(id) = &project
            && id.parse::<u64>().is_err()
        {
            return Err(Failure::usage(format!(
                "invalid value \"{id}\" for --project-id: expected a number"
            )));
        }
        Ok(Self {
            file: text("file").unwrap_or_default(),
            template: text("template").unwrap_or_else(|| "minimal".to_owned()),
            force: matches.get_flag("force"),
            project,
        })
    }
}

pub(super) fn perform(context: &Context, request: &Request) -> Outcome<Exit> {
    let template = load(&request.template)?;
    let script = fill(&template, &request.file, request.project.as_deref())?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !request.force {
        options.create_new(true);
    }
    let name = &request.file;
    let mut file = match options.open(name) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Failure::usage(format!("{name} already exists"))
                .hint("use --force to overwrite it"));
        }
        Err(error) => {
            return Err(anyhow::Error::new(error).context(format!("cannot write {name}")).into());
        }
    };
    file.write_all(script.as_bytes()).with_context(|| format!("cannot write {name}"))?;
    print(context, &format!("New script created: {name} ({} template).\n", request.template))
}

fn load(name: &str) -> Outcome<String> {
    match name {
        "minimal" => Ok(MINIMAL.to_owned()),
        "protocol" => Ok(PROTOCOL.to_owned()),
        "browser" => {
            log::warn!("brunt has no browser module yet: k6 runs this script");
            Ok(BROWSER.to_owned())
        }
        path if path.contains(['/', '\\']) => {
            let text = std::fs::read_to_string(Path::new(path))
                .with_context(|| format!("cannot read the template {path}"))?;
            Ok(text)
        }
        _ => Err(Failure::usage(format!("unknown template \"{name}\""))
            .hint("use minimal, protocol, browser, or a path such as ./my-template.js")),
    }
}

/// Puts the values in.
fn fill(template: &str, file: &str, project: Option<&str>) -> Outcome<String> {
    let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    let values = Values { script_name: &name, project_id: project.unwrap_or_default() };
    let mut out = template::fill(template, &values)?;
    if let Some(id) = project
        && !out.contains("projectID")
    {
        let cloud = format!("export const options = {{\n  cloud: {{ projectID: {id} }},");
        out = out.replacen("export const options = {", &cloud, 1);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_gets_its_name_and_project() {
        let filled = fill("// {{ .ScriptName }} {{.ProjectID}}", "dir/x.js", Some("7")).unwrap();
        assert_eq!(filled, "// x.js 7");
        let filled = fill(MINIMAL, "x.js", Some("7")).unwrap();
        assert!(filled.contains("cloud: { projectID: 7 },"), "{filled}");
        assert!(!fill(MINIMAL, "x.js", None).unwrap().contains("{{"));
    }

    #[test]
    fn templates_that_dont_exist_are_named() {
        assert!(load("nope").unwrap_err().message().contains("\"nope\""));
        assert!(load("./nope.js").unwrap_err().message().contains("./nope.js"));
    }
}
