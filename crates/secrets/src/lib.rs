//! Secrets: values that scripts ask for by name and that no log line shows.
//!
//! [`Secrets`] are the sources of `--secret-source`: `mock` and `file` know all their values, `url` asks a server, once for
//! each name. [`Redactor`] knows each value that was given out and takes it out of texts. A process has one set of
//! sources and one log, so that both are found by [`of_process`].
//!
//! Absent: flags, JavaScript, the log itself.
#![forbid(unsafe_code)]

mod pairs;
mod redactor;
mod spec;
mod url;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use thiserror::Error;
use tokio::sync::oneshot;

pub use redactor::{REDACTED, Redactor, TooMany};
pub use spec::SpecError;

use url::Asker;

/// The sources of a run.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: Vec<Named>,
    /// The name of the one that is asked if none is named.
    default: Option<String>,
    redactor: Redactor,
}

#[derive(Debug)]
struct Named {
    name: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// All values, by their names.
    Known(Vec<(String, String)>),
    /// A server.
    Server(Asker),
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SecretError {
    /// `--secret-source` was not given.
    #[error("no secret sources are configured")]
    NoSources,
    /// None of them is called so.
    #[error("no secret source with name \"{0}\" is configured")]
    UnknownSource(String),
    /// The source knows no such name.
    #[error("no value")]
    NoValue,
    /// The server refused to tell.
    #[error("status code {0}: failed to get secret")]
    Status(u16),
    /// The server did not tell.
    #[error("failed to get secret: {0}")]
    Refused(String),
    /// It could not be kept out of the log.
    #[error(
        "failed to get secret: too many different secrets were given out, or too long ones; a further one could not be kept \
         out of the log"
    )]
    TooMany,
}

/// The answer of a source.
#[derive(Debug)]
pub enum Answer {
    /// At once.
    Known(Result<String, SecretError>),
    /// Later. A sender that goes away without a word means that the process ends.
    Later(oneshot::Receiver<Result<String, SecretError>>),
}

impl Secrets {
    /// Reads the values of `--secret-source`. `env`: the environment.
    ///
    /// # Errors
    /// A value that is wrong, or a file that cannot be read.
    pub fn parse(specs: &[String], env: &BTreeMap<String, String>) -> Result<Self, SpecError> {
        spec::parse(specs, env)
    }

    /// The values of a file, `name=value` on each line, as the one source and the default one.
    ///
    /// # Errors
    /// A line without `=`, or a file that cannot be read.
    pub fn of_file(path: &std::path::Path) -> Result<Self, SpecError> {
        let source = Source::Known(spec::file(path.to_owned())?);
        let name = "file".to_owned();
        Ok(Self {
            sources: vec![Named { name: name.clone(), source }],
            default: Some(name),
            redactor: Redactor::default(),
        })
    }

    /// Asks a source for a value; the default one, if none is named.
    pub fn ask(&self, source: Option<&str>, name: &str) -> Answer {
        match self.find(source) {
            Err(error) => Answer::Known(Err(error)),
            Ok(Source::Known(values)) => {
                let found = values.iter().rfind(|(known, _)| known == name);
                Answer::Known(found.map(|(_, value)| value.clone()).ok_or(SecretError::NoValue))
            }
            Ok(Source::Server(asker)) => Answer::Later(asker.ask(name)),
        }
    }

    fn find(&self, name: Option<&str>) -> Result<&Source, SecretError> {
        if self.sources.is_empty() {
            return Err(SecretError::NoSources);
        }
        // Without a default one, k6 looks for one of this name; the default one can be named so, too.
        let name = match name {
            None | Some("default") => self.default.as_deref().unwrap_or("default"),
            Some(name) => name,
        };
        let found = self.sources.iter().find(|source| source.name == name);
        found.map(|found| &found.source).ok_or_else(|| SecretError::UnknownSource(name.to_owned()))
    }

    /// The redactor, whose texts lose the values that were given out.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }
}

static PROCESS: OnceLock<Arc<Secrets>> = OnceLock::new();

/// Makes these the process's; the first ones stay.
pub fn install(secrets: Secrets) {
    let _ = PROCESS.set(Arc::new(secrets));
}

/// The process's, if there are any.
pub fn of_process() -> Option<&'static Arc<Secrets>> {
    PROCESS.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(specs: &[&str]) -> Result<Secrets, SpecError> {
        let specs: Vec<_> = specs.iter().map(|&spec| spec.to_owned()).collect();
        Secrets::parse(&specs, &BTreeMap::new())
    }

    fn ask(secrets: &Secrets, source: Option<&str>, name: &str) -> String {
        match secrets.ask(source, name) {
            Answer::Known(Ok(value)) => value,
            Answer::Known(Err(error)) => error.to_string(),
            Answer::Later(_) => panic!("these sources know all"),
        }
    }

    #[test]
    fn a_single_source_is_the_default_one() {
        let secrets = parse(&["mock=a=1,b=x=y"]).unwrap();
        assert_eq!(ask(&secrets, None, "a"), "1");
        assert_eq!(ask(&secrets, None, "b"), "x=y");
        assert_eq!(ask(&secrets, Some("mock"), "a"), "1");
        assert_eq!(ask(&secrets, Some("default"), "a"), "1");
        assert_eq!(ask(&secrets, None, "c"), "no value");
        let none = parse(&[]).unwrap();
        assert_eq!(ask(&none, None, "a"), "no secret sources are configured");
    }

    #[test]
    fn of_several_one_is_marked_or_none_is_the_default() {
        let secrets = parse(&["mock=name=other,default,a=1", "mock=a=2"]).unwrap();
        assert_eq!(ask(&secrets, None, "a"), "1");
        assert_eq!(ask(&secrets, Some("mock"), "a"), "2");
        let secrets = parse(&["mock=a=1", "mock=name=b,a=2"]).unwrap();
        let unknown = "no secret source with name \"default\" is configured";
        assert_eq!(ask(&secrets, None, "a"), unknown);
        assert_eq!(ask(&secrets, Some("b"), "a"), "2");
    }

    #[test]
    fn a_file_has_a_value_on_each_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        std::fs::write(&path, "a=1\n#c=2\nb = 3\n").unwrap();
        for spec in ["file=", "file=filename="] {
            let secrets = parse(&[&format!("{spec}{}", path.display())]).unwrap();
            assert_eq!(ask(&secrets, None, "a"), "1");
            assert_eq!(ask(&secrets, None, "#c"), "2");
            assert_eq!(ask(&secrets, None, "b "), " 3");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (specs, part) in [
            (&["bogus=1"][..], "no secret source for type \"bogus\""),
            (&["mock"], "needs ="),
            (&["mock=a=1", "mock=a=2"], "already registered"),
            (&["mock=default,a=1", "mock=name=b,default,a=2"], "can't have two"),
            (&["cloud"], "cloud"),
            (&["file=/no/such/file"], "/no/such/file"),
            (&["url=bogus=1"], "unknown configuration key: \"bogus\""),
            (&["url"], "urlTemplate is required"),
            (&["url=urlTemplate=http://h/x"], "{key}"),
            (&["url=urlTemplate=http://h/{key},timeout=x"], "invalid timeout"),
        ] {
            let error = parse(specs).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
