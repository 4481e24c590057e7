//! The database to fill.

use std::path::PathBuf;

use url::Url;

use crate::failure::{Failure, Outcome};

/// The file of a SQLite database, unless told otherwise.
const FILE: &str = "bulktest.db";

#[derive(Debug, PartialEq)]
pub(super) enum Engine {
    Sqlite {
        path: PathBuf,
    },
    /// MySQL, MariaDB or PostgreSQL.
    Server(Url),
}

impl Engine {
    /// Reads the value of `--engine`.
    pub(super) fn read(text: &str) -> Outcome<Self> {
        // The text may have a password.
        let wrong = |problem: &str| {
            let shown = Url::parse(text)
                .map_or_else(|_| text.to_owned(), |url| without_password(&url).into());
            Failure::usage(format!("invalid value \"{shown}\" for --engine: {problem}"))
        };
        let (scheme, rest) = text.split_once(':').unwrap_or((text, FILE));
        match scheme {
            "sqlite" | "sqlite3" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                match path {
                    "" => Err(wrong("the name of the file is missing")),
                    path => Ok(Self::Sqlite { path: path.into() }),
                }
            }
            "mysql" | "mariadb" | "postgres" | "postgresql" => {
                let url = Url::parse(text).map_err(|error| {
                    Failure::usage(format!("the URL of --engine cannot be read: {error}"))
                })?;
                if url.host().is_none() || url.path().trim_matches('/').is_empty() {
                    let example = format!("expected {scheme}://USER:PASSWORD@HOST/DATABASE");
                    return Err(wrong(&example));
                }
                Ok(Self::Server(url))
            }
            _ => Err(wrong("expected sqlite, sqlite:FILE, mysql://… or postgres://…")),
        }
    }

    /// The name of its driver in scripts.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "sqlite3",
            Self::Server(url) if url.scheme().starts_with("postgres") => "postgres",
            Self::Server(_) => "mysql",
        }
    }

    /// The URL, without its password.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Sqlite { path } => format!("sqlite:{}", path.display()),
            Self::Server(url) => without_password(url).into(),
        }
    }

    /// The DSN of Go's driver, without its password.
    pub(super) fn go_dsn(&self) -> String {
        match self {
            Self::Sqlite { path } => path.display().to_string(),
            Self::Server(url) if self.name() == "postgres" => without_password(url).into(),
            Self::Server(url) => {
                let password = url.password().map_or("", |_| ":****");
                let user = match url.username() {
                    "" => String::new(),
                    user => format!("{user}{password}@"),
                };
                let (host, port) =
                    (url.host_str().unwrap_or("127.0.0.1"), url.port().unwrap_or(3306));
                format!("{user}tcp({host}:{port}){}", url.path())
            }
        }
    }
}

fn without_password(url: &Url) -> Url {
    let mut url = url.clone();
    if url.password().is_some() {
        // Only URLs without a host have no place for it.
        let _ = url.set_password(Some("****"));
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dsn_has_two_forms_and_no_password() {
        for (text, name, url, dsn) in [
            ("sqlite", "sqlite3", "sqlite:bulktest.db", "bulktest.db"),
            ("sqlite:a/b.db", "sqlite3", "sqlite:a/b.db", "a/b.db"),
            ("sqlite:///tmp/b.db", "sqlite3", "sqlite:/tmp/b.db", "/tmp/b.db"),
            ("mysql://u:p@h/d", "mysql", "mysql://u:****@h/d", "u:****@tcp(h:3306)/d"),
            ("mariadb://h:5/d", "mysql", "mariadb://h:5/d", "tcp(h:5)/d"),
            ("postgres://u:p@h/d", "postgres", "postgres://u:****@h/d", "postgres://u:****@h/d"),
        ] {
            let engine = Engine::read(text).unwrap();
            assert_eq!(
                (engine.name(), engine.url(), engine.go_dsn()),
                (name, url.into(), dsn.into())
            );
        }
        let failure = Engine::read("mysql://u:sesame@h").unwrap_err().message();
        assert!(failure.contains("mysql://USER:PASSWORD@HOST/DATABASE"), "{failure}");
        assert!(!failure.contains("sesame"), "{failure}");
    }
}
