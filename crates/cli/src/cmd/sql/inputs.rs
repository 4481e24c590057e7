//! The URL, the statements and the arguments.

use std::io;
use std::path::Path;

use brunt_attack::sql::{Queries, QueriesError, Rows, Settings, Statement, script};
use brunt_sql::config::Outside;
use brunt_sql::{Config, Failure as Refusal};
use url::form_urlencoded;

use super::{Request, failure};
use crate::{
    Context,
    bounded::{self, BODY_MAX, SETTINGS_MAX},
    environment::Environment,
    failure::{Failure, Outcome},
    piped::Awaited,
};

/// The environment and the files that a URL may refer to.
struct Machine<'a>(&'a Environment);

impl Outside for Machine<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(str::to_owned)
    }

    fn file(&self, path: &str) -> io::Result<String> {
        bounded::read_text(Path::new(path), SETTINGS_MAX)
    }
}

/// All that the command line names, read and bound together.
///
/// # Errors
/// The first thing that is wrong.
pub(super) fn queries(context: &Context, request: &Request) -> Outcome<Queries> {
    let url = with_variables(&request.url, &context.environment)?;
    let config = Config::of_url(&url, &Machine(&context.environment))
        .map_err(|refusal| wrong_url(&refusal))?;
    let statements = statements(request, &config)?;
    let rows = match &request.args {
        None => Rows::default(),
        Some(name) => rows(name)?,
    };
    let settings = Settings {
        each_connection: request.each_connection.clone(),
        is_transaction: request.is_transaction,
        is_prepared: request.is_prepared,
        lot: request.lot,
        retries: request.load.as_ref().map_or(0, |load| load.retries),
        keeps_details: request.load.as_ref().is_some_and(|load| load.output.is_some()),
    };
    Queries::new(config, settings, statements, rows).map_err(|error| match error {
        QueriesError::Unbound(unbound) if request.args.is_none() => {
            failure(unbound.to_string()).hint("--args FILE gives them, a row of CSV or JSON a hit")
        }
        error => failure(error.to_string()),
    })
}

fn wrong_url(refusal: &Refusal) -> Failure {
    failure(format!("wrong URL: {refusal}")).hint(
        "such as mysql://user@127.0.0.1:3306/shop, postgres://user@127.0.0.1/shop, sqlite:shop.db",
    )
}

/// The URL with variables of the environment in the place of `$NAME` and `${NAME}`, escaped. Names of files keep their dollars.
fn with_variables(url: &str, environment: &Environment) -> Outcome<String> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if matches!(scheme.to_ascii_lowercase().as_str(), "sqlite" | "sqlite3" | "file") {
        return Ok(url.to_owned());
    }
    let mut whole = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((before, behind)) = rest.split_once('$') {
        whole.push_str(before);
        let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let (name, after) = match behind.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(parts) => parts,
            None => behind.split_at(behind.find(|char| !is_word(char)).unwrap_or(behind.len())),
        };
        let is_name = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.chars().all(is_word);
        if !is_name {
            whole.push('$');
            rest = behind;
            continue;
        }
        let Some(value) = environment.get(name) else {
            // The rest of a password with a dollar in it may look like a name: it is not repeated.
            return Err(failure("a variable that the URL names is not set in the environment")
                .hint(
                    "$NAME is a variable of the environment; a dollar sign itself is written %24",
                ));
        };
        let escaped: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
        whole.push_str(&escaped.replace('+', "%20"));
        rest = after;
    }
    whole.push_str(rest);
    Ok(whole)
}

fn statements(request: &Request, config: &Config) -> Outcome<Vec<Statement>> {
    let (name, text) = match (&request.statement, &request.file) {
        (Some(statement), _) => (None, statement.clone()),
        (None, Some(name)) if name == "-" => {
            let instead = "--file FILE reads them from a file";
            let bytes = bounded::read_all(Awaited::new("statements", instead), SETTINGS_MAX);
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (
                Some("stdin".to_owned()),
                text.map_err(|error| failure(format!("read stdin: {error}")))?,
            )
        }
        (None, name) => {
            let name = name.clone().unwrap_or_default();
            let text = bounded::read_text(Path::new(&name), SETTINGS_MAX);
            let text = text.map_err(|error| failure(format!("cannot read {name}: {error}")))?;
            (Some(name), text)
        }
    };
    let place = name.clone().map_or_else(|| "statement ".to_owned(), |name| format!("{name}:"));
    let all =
        script::read(&text, config.driver()).map_err(|error| failure(format!("{place}{error}")))?;
    if all.is_empty() {
        let place = name.unwrap_or_else(|| "the statement".to_owned());
        return Err(failure(format!("{place} has no statement: it is empty, or all is comment")));
    }
    Ok(all)
}

fn rows(name: &str) -> Outcome<Rows> {
    let text = bounded::read_text(Path::new(name), BODY_MAX)
        .map_err(|error| failure(format!("cannot read {name}: {error}")))?;
    let end = Path::new(name).extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let is_json = end.is_some_and(|end| end == "jsonl" || end == "ndjson" || end == "json");
    let rows = if is_json { Rows::json_lines(&text) } else { Rows::csv(&text) };
    rows.map_err(|error| failure(format!("{name}:{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(url: &str) -> String {
        let variables = [("PW", "a b/@:%$X"), ("HOST", "h")];
        let variables =
            variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        with_variables(url, &variables.collect()).unwrap_or_else(|failure| failure.message())
    }

    #[test]
    fn variables_are_escaped_and_their_dollars_are_no_names() {
        let escaped = "a%20b%2F%40%3A%25%24X";
        assert_eq!(filled("mysql://u:$PW@${HOST}:1/d"), format!("mysql://u:{escaped}@h:1/d"));
        assert_eq!(filled("mysql://u:a$@h/d?x=$1"), "mysql://u:a$@h/d?x=$1");
        assert_eq!(filled("sqlite:$PW.db"), "sqlite:$PW.db");
        let missing = filled("mysql://u:$SECRET@h/d");
        assert!(missing.contains("not set") && !missing.contains("SECRET"), "{missing}");
    }
}
