//! Targets as `brunt attack` reads them, as a script: one request an iteration, in turn.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use brunt_attack::{Defaults, Format, Target, TargetReader};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    bounded::{self, BODY_MAX},
    exit::Exit,
    failure::{Failure, Outcome},
    piped::Awaited,
};

/// Where targets come from.
#[derive(Debug)]
pub(crate) struct Targets {
    /// A file, or `stdin`.
    pub(crate) file: String,
    /// `NAME:VALUE`
    pub(crate) headers: Vec<String>,
    /// The file with the body of targets that have none.
    pub(crate) body: Option<String>,
}

/// More targets than this share a name: each name is a series of its own.
const NAMES_MAX: usize = 100;

/// The script. Data stand in a file beside it, which all VUs share.
const SCRIPT: &str = "import http from 'k6/http';
import exec from 'k6/execution';
import encoding from 'k6/encoding';
import { SharedArray } from 'k6/data';

const targets = new SharedArray('targets', () => JSON.parse(open('./targets.json')));

export const options = { discardResponseBodies: true };

export default function () {
  const target = targets[exec.scenario.iterationInTest % targets.length];
  const body = target.body === null ? null : encoding.b64decode(target.body);
  http.request(target.method, target.url, body, { headers: target.headers, tags: { name: target.name } });
}
";

/// The script for these targets, `targets.js` in a folder that goes away with the answer.
///
/// # Errors
/// They can't be read, or are none (255).
pub(crate) fn script(targets: &Targets) -> Outcome<TempDir> {
    let all = read(targets)?;
    let folder = tempfile::Builder::new().prefix("brunt-find-").tempdir()?;
    let data: Vec<Value> = all.iter().map(|target| described(target, all.len())).collect();
    std::fs::write(folder.path().join("targets.json"), Value::Array(data).to_string())?;
    std::fs::write(folder.path().join("targets.js"), SCRIPT)?;
    Ok(folder)
}

fn read(targets: &Targets) -> Outcome<Vec<Target>> {
    let name = targets.file.as_str();
    let unread = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Other, anyhow::anyhow!("--targets {name}: {error}"))
    };
    let mut source: Box<dyn BufRead + Send> = match name {
        "stdin" | "-" => Box::new(BufReader::new(Awaited::new(
            "targets, such as GET http://127.0.0.1:8080/,",
            "--targets FILE reads them from a file",
        ))),
        name => Box::new(BufReader::new(File::open(name).map_err(|error| unread(&error))?)),
    };
    let body = match &targets.body {
        None => Vec::new(),
        Some(path) => bounded::read(Path::new(path), BODY_MAX)
            .map_err(|error| Failure::usage(format!("--body {path}: {error}")))?,
    };
    let headers = targets.headers.iter().map(|text| header(text)).collect::<Outcome<_>>()?;
    let first = source.fill_buf().map_err(|error| unread(&error))?;
    let first = first.iter().find(|byte| !byte.is_ascii_whitespace());
    let format = if first == Some(&b'{') { Format::Json } else { Format::Http };
    // Packed answers are the script's own business.
    let defaults = Defaults { headers, body: body.into(), no_gzip: true, ..Defaults::default() };
    TargetReader::new(source, format, defaults).all().map_err(|error| unread(&error))
}

fn header(text: &str) -> Outcome<(String, String)> {
    let pair = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    let pair = pair.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = pair.ok_or_else(|| {
        Failure::usage(format!("invalid value \"{text}\" for --header"))
            .hint("write a name and a value, such as 'Accept: text/html'")
    })?;
    Ok((name.to_owned(), value.to_owned()))
}

fn described(target: &Target, count: usize) -> Value {
    let mut headers = serde_json::Map::new();
    for (name, value) in target.headers() {
        match headers.get_mut(&name) {
            // An object has each name once.
            Some(Value::String(before)) => *before = format!("{before}, {value}"),
            _ => drop(headers.insert(name, json!(value))),
        }
    }
    let body = (!target.body.is_empty()).then(|| BASE64_STANDARD.encode(&target.body));
    let name = if count > NAMES_MAX { "targets" } else { target.url.as_str() };
    json!({
        "method": target.method, "url": target.url, "headers": headers, "body": body, "name": name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_either_format_are_data_beside_a_script() {
        let folder = tempfile::tempdir().unwrap();
        for (text, body) in [
            ("POST http://127.0.0.1:1/a\nX-A: b\n", "aGk="),
            (
                r#"{"method":"POST","url":"http://127.0.0.1:1/a","header":{"X-A":["b"]},"body":"aG8="}"#,
                "aG8=",
            ),
        ] {
            let (file, default) = (folder.path().join("targets"), folder.path().join("body"));
            std::fs::write(&file, text).unwrap();
            std::fs::write(&default, "hi").unwrap();
            let targets = Targets {
                file: file.display().to_string(),
                headers: vec!["X-C: d".to_owned()],
                body: Some(default.display().to_string()),
            };
            let made = script(&targets).unwrap();
            let data = std::fs::read_to_string(made.path().join("targets.json")).unwrap();
            let data: Value = serde_json::from_str(&data).unwrap();
            assert_eq!((&data[0]["method"], &data[0]["body"]), (&json!("POST"), &json!(body)));
            assert_eq!(
                (&data[0]["headers"]["X-A"], &data[0]["headers"]["X-C"]),
                (&json!("b"), &json!("d"))
            );
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let targets = Targets { file: "/no/such".to_owned(), headers: vec![], body: None };
        let failure = script(&targets).unwrap_err();
        assert!(failure.message().starts_with("--targets /no/such: "), "{}", failure.message());
        assert!(header("x").is_err() && header(": y").is_err());
    }
}
