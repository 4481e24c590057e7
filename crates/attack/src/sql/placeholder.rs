//! Placeholders of statements: `?`, `$1` and `:name`, and what a database takes in their place.

use std::fmt::Write as _;

use brunt_sql::Driver;

use super::scan::{self, Kind};

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
/// A quote does not end; `?` and `:name` are mixed.
pub(super) fn read(sql: &str, driver: Driver) -> Result<(String, Placeholders), String> {
    let pieces = scan::pieces(sql, driver).map_err(|open| format!("{} does not end", open.what))?;
    let mut own = 0;
    let mut marks = 0;
    let mut names: Vec<String> = Vec::new();
    let mut text = String::with_capacity(sql.len());
    for (kind, range) in pieces {
        if kind != Kind::Code {
            text.push_str(&sql[range]);
            continue;
        }
        let (mut from, mut at) = (range.start, range.start);
        let bytes = sql.as_bytes();
        while at < range.end {
            match bytes[at] {
                b'?' if driver != Driver::Postgres => {
                    let number = digits(bytes, at + 1, range.end);
                    match number {
                        Some((number, end)) if driver == Driver::Sqlite => {
                            own = own.max(number);
                            at = end;
                        }
                        _ => {
                            marks += 1;
                            at += 1;
                        }
                    }
                }
                b'$' if driver != Driver::MySql && !is_word_before(bytes, at) => {
                    match digits(bytes, at + 1, range.end) {
                        Some((number, end)) => {
                            own = own.max(number);
                            at = end;
                        }
                        None => at += 1,
                    }
                }
                b':' => match name(bytes, at, range.end) {
                    Some(end) => {
                        let name = &sql[at + 1..end];
                        text.push_str(&sql[from..at]);
                        put(name, driver, &mut names, &mut text);
                        (from, at) = (end, end);
                    }
                    None => at += 1,
                },
                _ => at += 1,
            }
        }
        text.push_str(&sql[from..range.end]);
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

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_word_before(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| is_word(bytes[before]))
}

/// A number and its end. One that is larger than any database allows stays large.
fn digits(bytes: &[u8], from: usize, end: usize) -> Option<(usize, usize)> {
    let length = bytes[from..end].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = bytes[from..from + length].iter().fold(0_usize, |number, byte| {
        number.saturating_mul(10).saturating_add((byte - b'0').into())
    });
    (length > 0).then_some((number, from + length))
}

/// The end of `:name`. `::type`, `:=` and slices (`a[1:n]`) are none.
fn name(bytes: &[u8], at: usize, end: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    if before.is_some_and(|byte| is_word(byte) || matches!(byte, b':' | b')' | b']')) {
        return None;
    }
    let length = bytes[at + 1..end].iter().take_while(|byte| is_word(**byte)).count();
    let is_name = length > 0 && !bytes[at + 1].is_ascii_digit();
    is_name.then_some(at + 1 + length)
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
