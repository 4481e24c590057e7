//! Placeholders of statements: `?`, `$1` and `:name`, and what a database takes in their place.

use std::fmt::Write as _;

use brunt_sql::Driver;
use brunt_sql::statement::scan::{Kind, Scanner};

/// The placeholders of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Placeholders {
    /// As many arguments in order; none if it is 0.
    InOrder(usize),
    /// A name for each argument.
    Named(Vec<String>),
}

/// The statement as its database takes it, and its placeholders.
///
/// # Errors
/// `?` and `:name` are mixed; it wants more arguments than any database takes.
pub(super) fn read(sql: &str, driver: Driver) -> Result<(String, Placeholders), String> {
    let mut own = 0;
    let mut marks = 0;
    let mut names: Vec<String> = Vec::new();
    let mut text = String::with_capacity(sql.len());
    // Behind a value a colon is that of a slice: `a[1:n]`.
    let mut is_behind_value = false;
    for token in Scanner::new(sql, driver) {
        let name = token.text.strip_prefix(':');
        match (token.kind, name) {
            (Kind::Place, Some(name)) if !is_behind_value => {
                put(name, driver, &mut names, &mut text);
            }
            (Kind::Place, None) => {
                text.push_str(token.text);
                match token.text[1..].parse::<usize>() {
                    Ok(number) => own = own.max(number),
                    Err(_) if token.text.len() == 1 => marks += 1,
                    // `@name` and `$name` of SQLite take their turn; too large a number is refused below.
                    Err(_) if token.text[1..].starts_with(|first: char| first.is_ascii_digit()) => {
                        own = usize::MAX;
                    }
                    Err(_) => marks += 1,
                }
            }
            _ => text.push_str(token.text),
        }
        is_behind_value = match token.kind {
            Kind::Space | Kind::Comment => false,
            Kind::Symbol => matches!(token.text, ")" | "]"),
            _ => true,
        };
    }
    let in_order = own.max(marks);
    if in_order > 0 && !names.is_empty() {
        let sign = if driver == Driver::Postgres { "$1" } else { "?" };
        return Err(format!("it has :{} and {sign}: use one of them", names[0]));
    }
    if in_order > ARGUMENTS_MAX {
        return Err(format!("it wants {in_order} arguments, more than {ARGUMENTS_MAX}"));
    }
    let all =
        if names.is_empty() { Placeholders::InOrder(in_order) } else { Placeholders::Named(names) };
    Ok((text, all))
}

/// No database takes more.
const ARGUMENTS_MAX: usize = 65_535;

fn put(name: &str, driver: Driver, names: &mut Vec<String>, text: &mut String) {
    if driver != Driver::Postgres {
        names.push(name.to_owned());
        text.push('?');
        return;
    }
    let known = names.iter().position(|known| known == name);
    let index = known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    // Writing to a String can't fail.
    let _ = write!(text, "${}", index + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sql: &str, driver: Driver) -> (String, Placeholders) {
        read(sql, driver).unwrap()
    }

    #[test]
    fn placeholders_are_counted_outside_of_quotes() {
        use Driver::{MySql, Postgres, Sqlite};
        for (driver, sql, count) in [
            (MySql, "SELECT ?, '?', `?` -- ?\n, ?", 2),
            (Postgres, "SELECT $2, $1, '$9', a ? 'b'", 2),
            (Sqlite, "SELECT ?, ?", 2),
            (Sqlite, "SELECT ?3, $1", 3),
            (Postgres, "SELECT 1::int, a[1:n], $$ $1 $$", 0),
        ] {
            assert_eq!(told(sql, driver), (sql.to_owned(), Placeholders::InOrder(count)), "{sql}");
        }
    }

    #[test]
    fn names_become_what_the_database_takes() {
        let sql = "UPDATE t SET a = :a::int, b = ':b' WHERE c = :a AND d=:d";
        let names = |names: &[&str]| {
            Placeholders::Named(names.iter().map(|&name| name.to_owned()).collect())
        };
        assert_eq!(
            told(sql, Driver::Postgres),
            (
                "UPDATE t SET a = $1::int, b = ':b' WHERE c = $1 AND d=$2".to_owned(),
                names(&["a", "d"])
            )
        );
        assert_eq!(
            told("SELECT :a, :b, :a", Driver::MySql),
            ("SELECT ?, ?, ?".to_owned(), names(&["a", "b", "a"]))
        );
        assert!(read("SELECT :a, ?", Driver::Sqlite).unwrap_err().contains(":a and ?"));
        assert!(read("SELECT $99999999999999999999", Driver::Postgres).is_err());
    }
}
