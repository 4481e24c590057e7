//! Named parameters.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::scan::{Kind, Scanner, Token};
use crate::config::Driver;
use crate::failure::{Failure, Trouble};

/// A statement whose parameters had names, as its database wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The statement with `?` or `$1`.
    pub sql: String,
    /// For each argument of it, in order, the place of its name among those given.
    pub order: Vec<usize>,
}

/// Puts placeholders in the place of `:name` and `@name`. `names` are those of the values at hand. Strings, comments, `::casts` and `:=`
/// are left alone. `@name` is a parameter of MySQL and PostgreSQL only if there is a value of this name: it may be a variable or an
/// operator. The same is true of `:name` in the square brackets of PostgreSQL.
///
/// # Errors
/// [`Trouble::Usage`]: a parameter has no value, a value has no parameter, or the statement has `?` or `$1` besides.
pub fn named(sql: &str, driver: Driver, names: &[&str]) -> Result<Named, Failure> {
    let usage = |text: String| Failure::new(Trouble::Usage, text);
    let known: FxHashMap<&str, usize> =
        names.iter().enumerate().map(|(index, name)| (*name, index)).collect();
    let mut out = String::with_capacity(sql.len() + 16);
    let mut order: Vec<usize> = Vec::new();
    let mut is_used = vec![false; names.len()];
    // The numbers that names have in PostgreSQL.
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    let mut brackets = 0_usize;
    for token in Scanner::new(sql, driver) {
        match token.text {
            "[" => brackets += 1,
            "]" => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        let Some(name) = name_of(&token) else {
            if token.kind == Kind::Place {
                return Err(usage(format!(
                    "the statement has {} besides named parameters: use one or the other",
                    token.text
                )));
            }
            out.push_str(token.text);
            continue;
        };
        let Some(index) = known.get(name).copied() else {
            if token.kind == Kind::Variable || (brackets > 0 && driver == Driver::Postgres) {
                out.push_str(token.text);
                continue;
            }
            return Err(usage(format!(
                "the statement has the parameter {}, and there is no value of this name: {}",
                token.text,
                list(names)
            )));
        };
        is_used[index] = true;
        if driver == Driver::Postgres {
            let number = *numbers.entry(index).or_insert_with(|| {
                order.push(index);
                order.len()
            });
            let _ = write!(out, "${number}");
        } else {
            order.push(index);
            out.push('?');
        }
    }
    if let Some(unused) = is_used.iter().position(|is_used| !is_used) {
        return Err(usage(format!(
            "there is a value named {}, and the statement has no parameter :{0}",
            names[unused]
        )));
    }
    Ok(Named { sql: out, order })
}

/// The name of a parameter, if it has one.
fn name_of<'a>(token: &Token<'a>) -> Option<&'a str> {
    let name = match token.kind {
        Kind::Place | Kind::Variable => token.text.strip_prefix([':', '@', '$'])?,
        _ => return None,
    };
    name.starts_with(|first: char| !first.is_ascii_digit() && first != '@').then_some(name)
}

fn list(names: &[&str]) -> String {
    const SHOWN: usize = 10;
    match names {
        [] => "no value was given".to_owned(),
        _ if names.len() > SHOWN => format!("given are {}, …", names[..SHOWN].join(", ")),
        _ => format!("given are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_places() {
        let sql = "SELECT ':a', a::int, :a, :b -- :c\n, @x := 1, @b, :a";
        let of = |driver| named(sql, driver, &["b", "a"]).unwrap();
        let mysql = of(Driver::MySql);
        assert_eq!(mysql.sql, "SELECT ':a', a::int, ?, ? -- :c\n, @x := 1, ?, ?");
        assert_eq!(mysql.order, [1, 0, 0, 1]);
        let postgres = of(Driver::Postgres);
        assert_eq!(postgres.sql, "SELECT ':a', a::int, $1, $2 -- :c\n, @x := 1, $2, $1");
        assert_eq!(postgres.order, [1, 0]);
        let sqlite = named("SELECT $a, @b, :a", Driver::Sqlite, &["a", "b"]).unwrap();
        assert_eq!((sqlite.sql.as_str(), &sqlite.order[..]), ("SELECT ?, ?, ?", &[0, 1, 0][..]));
        let slice = named("SELECT x[1:y], :a", Driver::Postgres, &["a"]).unwrap();
        assert_eq!(slice.sql, "SELECT x[1:y], $1");
    }

    #[test]
    fn missing_and_unused_names_are_told() {
        let text = |sql, names: &[&str]| named(sql, Driver::Sqlite, names).unwrap_err().to_string();
        assert_eq!(
            text("SELECT :a, :c", &["a", "b"]),
            "the statement has the parameter :c, and there is no value of this name: given are a, b"
        );
        assert_eq!(
            text("SELECT :a", &["a", "b"]),
            "there is a value named b, and the statement has no parameter :b"
        );
        assert_eq!(
            text("SELECT :a, ?", &["a"]),
            "the statement has ? besides named parameters: use one or the other"
        );
        assert_eq!(text("SELECT :a", &[]).rsplit(": ").next(), Some("no value was given"));
    }
}
