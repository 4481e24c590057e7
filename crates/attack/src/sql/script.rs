//! A file of statements: `;` between them, comments that name and weigh them.

use brunt_sql::Driver;
use brunt_sql::statement::scan::{Kind, Scanner, Token};

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
            _ if token.is_symbol(";") && next.body.depth == 0 => {
                all.extend(std::mem::take(&mut next).finish(text));
                if all.len() > STATEMENTS_MAX {
                    let what = format!("there are more than {STATEMENTS_MAX} statements");
                    return Err(wrong(token.from, what));
                }
            }
            _ => {
                next.take(token.from, token.from + token.text.len());
                next.body.take(&token);
            }
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
    body: Body,
}

/// The body of a trigger, procedure, function or event: `BEGIN … END`, with statements of its own that end with `;`.
#[derive(Default)]
struct Body {
    /// The statement makes such a thing; `None`: its first words do not tell yet.
    has_one: Option<bool>,
    /// Words so far.
    words: usize,
    /// How many `BEGIN` and `CASE` are open.
    depth: usize,
    /// The last word was an `END` that may be the one of an `IF` or a loop.
    has_ended: bool,
}

/// A statement that makes a thing with a body says so within these words: `CREATE OR REPLACE DEFINER = a @ b SQL SECURITY …`.
const HEAD_MAX: usize = 16;

impl Body {
    fn take(&mut self, token: &Token<'_>) {
        if std::mem::take(&mut self.has_ended) {
            if token.is_word("CASE") {
                return;
            }
            // The `END` was not the one of a `BEGIN`.
            if ["IF", "LOOP", "WHILE", "REPEAT", "FOR"].iter().any(|word| token.is_word(word)) {
                self.depth += 1;
                return;
            }
        }
        if token.kind != Kind::Word {
            return;
        }
        self.words += 1;
        match self.has_one {
            Some(true) => {}
            None if self.words == 1 => {
                self.has_one = (!token.is_word("CREATE")).then_some(false);
                return;
            }
            None if ["TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE"]
                .iter()
                .any(|word| token.is_word(word)) =>
            {
                self.has_one = Some(true);
            }
            None if self.words > HEAD_MAX
                || ["TABLE", "VIEW", "INDEX", "AS"].iter().any(|word| token.is_word(word)) =>
            {
                self.has_one = Some(false);
                return;
            }
            Some(false) | None => return,
        }
        if token.is_word("BEGIN") || token.is_word("CASE") {
            self.depth += 1;
        } else if token.is_word("END") {
            self.depth = self.depth.saturating_sub(1);
            self.has_ended = true;
        }
    }
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
    fn a_body_keeps_its_statements() {
        let count = |text, driver| read(text, driver).unwrap().len();
        let trigger = "CREATE TRIGGER IF NOT EXISTS kept AFTER INSERT ON t BEGIN
            INSERT INTO log VALUES (new.id); SELECT CASE new.id WHEN 1 THEN 'end' END; END; SELECT 1;";
        assert_eq!(count(trigger, Driver::Sqlite), 2);
        let procedure = "CREATE OR REPLACE DEFINER=root@localhost PROCEDURE p() BEGIN
            IF 1 THEN SELECT 1; END IF; WHILE 0 DO SELECT 2; END WHILE;
            CASE 1 WHEN 1 THEN SELECT 3; ELSE SELECT 4; END CASE; BEGIN SELECT 5; END; END; CALL p();";
        assert_eq!(count(procedure, Driver::MySql), 2);
        // No body: a transaction, and words that look like one.
        assert_eq!(count("BEGIN; SELECT 1; END; SELECT 2", Driver::Sqlite), 4);
        assert_eq!(count("CREATE TABLE trigger_begin (a INT); SELECT 1", Driver::MySql), 2);
        assert_eq!(
            count("CREATE TABLE t AS SELECT event, begin FROM u; SELECT 1", Driver::MySql),
            2
        );
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
