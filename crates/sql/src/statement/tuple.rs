//! The one tuple of an `INSERT`.

use std::ops::Range;

use super::scan::{Kind, Scanner};
use crate::config::Driver;

/// The tuple of `INSERT … VALUES (?, …)`: written several times, it makes one statement of many rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuple {
    /// Where it lies in the statement, with its brackets.
    pub range: Range<usize>,
    /// Where its placeholders lie in the statement, in order.
    pub places: Vec<Range<usize>>,
}

/// The tuple of a statement, if the statement is an `INSERT` or `REPLACE` of one tuple, all its placeholders are in the tuple, and
/// each takes the next argument. Such a statement does the same with the tuple written twice and the arguments of two rows.
pub fn tuple(sql: &str, driver: Driver) -> Option<Tuple> {
    let mut tokens = Scanner::new(sql, driver).filter(|token| !token.is_blank());
    let first = tokens.next()?;
    if !first.is_word("insert") && !first.is_word("replace") {
        return None;
    }
    let mut depth = 0_usize;
    let mut found: Option<Tuple> = None;
    let mut from = None;
    let mut places = Vec::new();
    let mut is_after_values = false;
    let mut is_just_after = false;
    for token in tokens {
        if token.is_open {
            return None;
        }
        let end = token.from + token.text.len();
        if token.is_symbol("(") {
            if is_after_values && depth == 0 && found.is_none() && from.is_none() {
                from = Some(token.from);
            } else if is_just_after {
                return None;
            }
            depth += 1;
        } else if token.is_symbol(")") {
            depth = depth.checked_sub(1)?;
            if depth == 0
                && let Some(from) = from.take()
            {
                found = Some(Tuple { range: from..end, places: std::mem::take(&mut places) });
                is_just_after = true;
                continue;
            }
        } else if token.is_symbol(";") {
            // Whatever follows is another statement, or nothing.
            return found.filter(|_| sql[end..].trim().is_empty()).filter(|_| depth == 0);
        } else if token.kind == Kind::Place {
            let number = token.text[1..].parse::<usize>().ok();
            let is_next = match driver {
                Driver::Postgres => number == Some(places.len() + 1),
                Driver::MySql | Driver::Sqlite => token.text == "?",
            };
            if from.is_none() || !is_next {
                return None;
            }
            places.push(token.from..end);
        } else if is_just_after && token.is_symbol(",")
            || token.is_word("returning")
            || (token.is_word("select") && found.is_none())
        {
            return None;
        } else if from.is_none() && found.is_none() {
            is_after_values = depth == 0 && (token.is_word("values") || token.is_word("value"));
        }
        is_just_after = false;
    }
    found
}

impl Tuple {
    /// How many arguments a row has.
    pub fn width(&self) -> usize {
        self.places.len()
    }

    /// The statement with this many rows.
    pub fn repeated(&self, sql: &str, driver: Driver, rows: usize) -> String {
        use std::fmt::Write;
        let (head, body) = (&sql[..self.range.start], &sql[self.range.clone()]);
        let mut out = String::with_capacity(sql.len() + rows * (body.len() + 8));
        out.push_str(head);
        for row in 0..rows {
            if row > 0 {
                out.push_str(", ");
            }
            if driver != Driver::Postgres || row == 0 {
                out.push_str(body);
                continue;
            }
            let mut at = self.range.start;
            for (index, place) in self.places.iter().enumerate() {
                out.push_str(&sql[at..place.start]);
                let _ = write!(out, "${}", row * self.places.len() + index + 1);
                at = place.end;
            }
            out.push_str(&sql[at..self.range.end]);
        }
        out.push_str(&sql[self.range.end..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice(sql: &str, driver: Driver) -> Option<String> {
        tuple(sql, driver).map(|tuple| tuple.repeated(sql, driver, 2))
    }

    #[test]
    fn an_insert_of_one_tuple_can_be_repeated() {
        for (sql, expected) in [
            ("INSERT INTO t (a, b) VALUES (?, ?)", "INSERT INTO t (a, b) VALUES (?, ?), (?, ?)"),
            (
                "insert into t values (?, f(1, ?)) -- x",
                "insert into t values (?, f(1, ?)), (?, f(1, ?)) -- x",
            ),
            (
                "INSERT INTO t VALUES(?) ON CONFLICT (a) DO UPDATE SET b = 1;",
                "INSERT INTO t VALUES(?), (?) ON CONFLICT (a) DO UPDATE SET b = 1;",
            ),
        ] {
            assert_eq!(twice(sql, Driver::Sqlite).as_deref(), Some(expected));
        }
        assert_eq!(
            twice("INSERT INTO t VALUES ($1, now(), $2)", Driver::Postgres).unwrap(),
            "INSERT INTO t VALUES ($1, now(), $2), ($3, now(), $4)"
        );
        let update = "INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = VALUES(a)";
        assert_eq!(
            twice(update, Driver::MySql).unwrap(),
            "INSERT INTO t VALUES (?), (?) ON DUPLICATE KEY UPDATE a = VALUES(a)"
        );
    }

    #[test]
    fn others_cannot() {
        for sql in [
            "UPDATE t SET a = ?",
            "SELECT 1",
            "INSERT INTO t VALUES (?), (?)",
            "INSERT INTO t SELECT ? FROM (VALUES (1))",
            "INSERT INTO t VALUES (?) ON CONFLICT DO UPDATE SET a = ?",
            "INSERT INTO t VALUES (?) RETURNING a",
            "INSERT INTO t VALUES (?); DELETE FROM t",
            "INSERT INTO t VALUES (?2, ?1)",
            "INSERT INTO t VALUES (?",
            "INSERT INTO t VALUES ('a",
            "",
        ] {
            assert_eq!(tuple(sql, Driver::Sqlite), None, "{sql}");
        }
        assert_eq!(tuple("INSERT INTO t VALUES ($2, $1)", Driver::Postgres), None);
        assert_eq!(tuple("INSERT INTO t VALUES ($1, $1)", Driver::Postgres), None);
    }
}
