//! OpenAPI documents (3.0, 3.1; JSON or YAML) as a typed client and an example of its use.
//!
//! ```text
//! bytes ──▶ yaml ──▶ Document ──▶ Operations ──┬─▶ class   client.ts, with Types
//!                                              ├─▶ sample  data.json
//!                                              └─▶ script  script.ts
//! ```

mod class;
mod document;
mod identifier;
mod operation;
mod sample;
mod script;
mod text;
mod types;
mod yaml;

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::error::Error;
use document::Document;
use types::Types;

/// The choices of the user.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The server to send to. `None`: the first of the document.
    pub base_url: Option<String>,
}

/// The files of a client.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// `client.ts`, `script.ts`, `data.json`, `tsconfig.json`, and `secrets.env` if there are credentials.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// For the user, a line each.
    pub notes: Vec<String>,
}

/// Writes the client of a document.
///
/// # Errors
/// The document is neither JSON nor YAML, is of another version, refers to other files or to nothing, or has no operations. Each
/// error has the place as a JSON pointer, or line and column.
pub fn client(document: &[u8], options: &Options) -> Result<Client, Error> {
    let root = parse(document)?;
    let document = Document::new(root)?;
    let mut notes = Vec::new();
    let schemes = operation::schemes(&document, &mut notes);
    let operations = operation::all(&document, &schemes, &mut notes)?;
    if operations.is_empty() {
        return Err(Document::fault("/paths", "it has no operations"));
    }
    let types = Types::new(&document);
    let base_url = match &options.base_url {
        Some(base_url) => base_url.clone(),
        None => document.server(&mut notes),
    };
    let used: Vec<_> = schemes
        .iter()
        .filter(|scheme| operations.iter().any(|own| own.security.contains(&scheme.key)))
        .cloned()
        .collect();
    let data = sample::data(&document, &operations);
    let client = class::write(&document, &types, &operations, &used)?;
    let script = script::write(&document, &operations, &used, &base_url, &data);
    let mut files = vec![
        (PathBuf::from("client.ts"), client.into_bytes()),
        (PathBuf::from("script.ts"), script.into_bytes()),
        (PathBuf::from("data.json"), format!("{:#}\n", Json::Object(data)).into_bytes()),
        (PathBuf::from("tsconfig.json"), script::TSCONFIG.as_bytes().to_vec()),
    ];
    if !used.is_empty() {
        let lines = used.iter().map(|scheme| format!("{}={}\n", scheme.name, scheme.stand_in()));
        files.push((PathBuf::from("secrets.env"), lines.collect::<String>().into_bytes()));
        notes.push(
            "write the credentials into secrets.env, and run with --secret-source=file=secrets.env"
                .to_owned(),
        );
    }
    Ok(Client { files, notes })
}

/// JSON, or YAML.
fn parse(bytes: &[u8]) -> Result<Json, Error> {
    let fault = |place: String, what: String| Error::OpenApi { place, what };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let what = "it is not UTF-8; save it as UTF-8".to_owned();
        fault(format!("byte {}", error.valid_up_to()), what)
    })?;
    let text = text.trim_start_matches('\u{FEFF}');
    if text.trim_start().starts_with('{') {
        match serde_json::from_str(text) {
            Ok(json) => return Ok(json),
            // An object of YAML's flow style begins with a brace, too.
            Err(error) => {
                return yaml::read(text).map_err(|_| {
                    let place = format!("line {} column {}", error.line(), error.column());
                    let why = error.to_string();
                    let why = why.split(" at line ").next().unwrap_or_default();
                    fault(place, format!("it is no JSON: {why}"))
                });
            }
        }
    }
    yaml::read(text)
}

#[cfg(test)]
mod tests;
