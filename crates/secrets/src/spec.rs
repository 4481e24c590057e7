//! `--secret-source=TYPE[=CONFIG]`: CONFIG is divided by commas; `name=X` and `default` are for all types.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use thiserror::Error;

use crate::url::{Asker, config};
use crate::{Named, Secrets, Source, pairs};

/// The most bytes of a file of secrets.
const FILE_MAX: u64 = 16 << 20;

/// The fault of a `--secret-source`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no such type.
    #[error(
        "no secret source for type \"{kind}\" for configuration \"{spec}\"; the known types are file, mock and url"
    )]
    UnknownType {
        /// The type.
        kind: String,
        /// All of it.
        spec: String,
    },
    /// It is Grafana's.
    #[error(
        "the 'cloud' secret source needs k6's cloud, which is not behind Brunt; use file, mock or url"
    )]
    Cloud,
    /// Two of the same name.
    #[error("secret source for name \"{name}\" already registered before configuration \"{spec}\"")]
    Twice {
        /// The name.
        name: String,
        /// The second.
        spec: String,
    },
    /// Two that are to be asked if none is named.
    #[error("can't have two secret sources that are default ones, second one was \"{0}\"")]
    TwoDefaults(String),
    /// A line without `=`.
    #[error("parsing \"{0}\", needs =")]
    NoPair(String),
    /// A file that cannot be read.
    #[error("open {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The settings of a `url` source.
    #[error("missing or invalid config: {0}")]
    Url(String),
}

pub(crate) fn parse(
    specs: &[String],
    env: &BTreeMap<String, String>,
) -> Result<Secrets, SpecError> {
    let mut secrets = Secrets::default();
    for spec in specs {
        let (kind, text) = spec.split_once('=').unwrap_or((spec, ""));
        let mut name = kind.to_owned();
        let mut rest = Vec::new();
        for part in text.split(',') {
            if let Some(given) = part.strip_prefix("name=") {
                given.clone_into(&mut name);
            } else if part != "default" {
                rest.push(part);
            }
        }
        let is_default = text.split(',').any(|part| part == "default");
        let source = match kind {
            "mock" => Source::Known(pairs::parse(rest.into_iter())?),
            "file" => {
                let text = rest.join(",");
                let path = text.strip_prefix("filename=").unwrap_or(&text);
                Source::Known(file(PathBuf::from(path))?)
            }
            "url" => Source::Server(Asker::new(config::parse(&rest, env)?)),
            "cloud" => return Err(SpecError::Cloud),
            _ => {
                return Err(SpecError::UnknownType { kind: kind.to_owned(), spec: spec.clone() });
            }
        };
        if secrets.sources.iter().any(|known| known.name == name) {
            return Err(SpecError::Twice { name, spec: spec.clone() });
        }
        if is_default && secrets.default.is_some() {
            return Err(SpecError::TwoDefaults(text.to_owned()));
        }
        if is_default {
            secrets.default = Some(name.clone());
        }
        secrets.sources.push(Named { name, source });
    }
    if let ([only], None) = (secrets.sources.as_slice(), &secrets.default) {
        secrets.default = Some(only.name.clone());
    }
    Ok(secrets)
}

/// The values of a file.
pub(crate) fn file(path: PathBuf) -> Result<Vec<(String, String)>, SpecError> {
    let text = read(&path).map_err(|source| SpecError::File { path, source })?;
    pairs::parse(text.lines())
}

/// A small file of text.
pub(crate) fn read(path: &std::path::Path) -> io::Result<String> {
    // A device has no length, and no end.
    let mut text = String::new();
    File::open(path)?.take(FILE_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_MAX {
        return Err(io::Error::other("it is too long for a file of secrets"));
    }
    Ok(text)
}
