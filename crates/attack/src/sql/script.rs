//! A file of statements: `;` between them, comments that name and weigh them.

use brunt_sql::Driver;
use brunt_sql::statement::scan::{Kind, Scanner};

use super::statement::Statement;

/// The statements of a file.
pub type Script = Vec<Statement>;

/// The most statements of one file.
pub const STATEMENTS_MAX: usize = 1000;

/// A place in a file of statements, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub struct ScriptError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The fault.
    pub what: String,
}

/// Reads statements. `-- name: NAME` and `-- weight: N` in front of a statement are its name and its weight.
///
/// # Errors
/// A quote or comment that does not end, a weight that is no number.
pub fn read(text: &str, driver: Driver) -> Result<Script, ScriptError> {
    let wrong = |at: usize, what: String| {
        let (line, column) = place(text, at);
        ScriptError { line, column, what }
    };
    let mut all = Script::new();
    let mut next = Next::default();
    for token in Scanner::new(text, driver) {
        // SQLite's comments may end with the text.
        if token.is_open && (token.kind != Kind::Comment || driver != Driver::Sqlite) {
            let what = match token.kind {
                Kind::Comment => "a comment",
                Kind::Quoted => "a name in quotes",
                _ => "a text in quotes",
            };
            return Err(wrong(token.from, format!("{what} begins here and does not end")));
        }
        match token.kind {
            Kind::Comment if next.from.is_none() => {
                next.comment(token.text).map_err(|what| wrong(token.from, what))?;
            }
            Kind::Space | Kind::Comment => {}
            _ if token.is_symbol(";") => {
                all.extend(std::mem::take(&mut next).finish(text));
                if all.len() > STATEMENTS_MAX {
                    let what = format!("there are more than {STATEMENTS_MAX} statements");
                    return Err(wrong(token.from, what));
                }
            }
            _ => next.take(token.from, token.from + token.text.len()),
        }
    }
    all.extend(next.finish(text));
    Ok(all)
}

/// The statement that is being read.
#[derive(Default)]
struct Next {
    name: Option<String>,
    weight: Option<u64>,
    from: Option<usize>,
    to: usize,
}

impl Next {
    fn take(&mut self, from: usize, to: usize) {
        self.from.get_or_insert(from);
        self.to = to;
    }

    fn comment(&mut self, comment: &str) -> Result<(), String> {
        let text = comment.trim_start_matches(['-', '#', '/', '*']).trim_end_matches(['/', '*']);
        let Some((key, value)) = text.split_once(':') else { return Ok(()) };
        let value = value.trim();
        match key.trim() {
            "name" if value.is_empty() => Err("the name is empty".to_owned()),
            "name" => {
                self.name = Some(value.to_owned());
                Ok(())
            }
            "weight" => match value.parse() {
                Ok(weight) if weight > 0 => {
                    self.weight = Some(weight);
                    Ok(())
                }
                _ => Err(format!("the weight {value:?} is not a whole number above 0")),
            },
            _ => Ok(()),
        }
    }

    fn finish(self, text: &str) -> Option<Statement> {
        let sql = text[self.from?..self.to].to_owned();
        Some(Statement { name: self.name, weight: self.weight.unwrap_or(1), sql })
    }
}

/// Line and column of a byte.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_parted_named_and_weighed() {
        let text = "-- name: by id\n-- weight: 3\nSELECT ';' FROM t -- ; not here\nWHERE id = ?;\n;\n\
                    /* name: all */ SELECT 1 ;  -- the end\n";
        let script = read(text, Driver::MySql).unwrap();
        let told: Vec<_> =
            script.iter().map(|one| (one.name.as_deref(), one.weight, one.sql.as_str())).collect();
        let first = "SELECT ';' FROM t -- ; not here\nWHERE id = ?";
        assert_eq!(told, [(Some("by id"), 3, first), (Some("all"), 1, "SELECT 1")]);
        assert!(read("-- nothing\n", Driver::Sqlite).unwrap().is_empty());
    }

    #[test]
    fn faults_have_their_place() {
        let fault = |text| read(text, Driver::Postgres).unwrap_err().to_string();
        assert_eq!(
            fault("SELECT 1;\nSELECT é 'x"),
            "2:10: a text in quotes begins here and does not end"
        );
        assert_eq!(
            fault("-- weight: two\nSELECT 1"),
            "1:1: the weight \"two\" is not a whole number above 0"
        );
    }
}
