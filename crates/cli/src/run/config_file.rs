//! Finds and reads the configuration file.

use std::{io, path::PathBuf};

use crate::{
    Context,
    bounded::{self, SETTINGS_MAX},
    environment::Environment,
    failure::{Failure, Outcome},
};

/// The text of the file and its name; `None` if there is none and none was asked for.
///
/// # Errors
/// The file of `--config` is not there, or a file can't be read (104).
pub(crate) fn read(context: &Context) -> Outcome<Option<(PathBuf, String)>> {
    if let Some(path) = &context.global.config {
        return match bounded::read_text(path, SETTINGS_MAX) {
            Ok(text) => Ok(Some((path.clone(), text))),
            Err(error) => {
                Err(unreadable(path, &error).hint("the path comes from --config or K6_CONFIG"))
            }
        };
    }
    for path in usual_places(&context.environment) {
        match bounded::read_text(&path, SETTINGS_MAX) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(None)
}

fn unreadable(path: &std::path::Path, error: &io::Error) -> Failure {
    Failure::config(format!("cannot read the configuration file {}: {error}", path.display()))
}

/// Ours, then k6's.
fn usual_places(environment: &Environment) -> Vec<PathBuf> {
    let absolute =
        |name| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    base.iter()
        .flat_map(|base| ["brunt", "k6"].map(|name| base.join(name).join("config.json")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(pairs: &[(&str, &str)]) -> Vec<String> {
        let environment = pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        usual_places(&environment).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn ours_comes_before_k6s() {
        assert_eq!(
            places(&[("HOME", "/h")]),
            ["/h/.config/brunt/config.json", "/h/.config/k6/config.json"]
        );
        assert_eq!(
            places(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]),
            ["/c/brunt/config.json", "/c/k6/config.json"]
        );
        assert!(places(&[]).is_empty());
    }
}
