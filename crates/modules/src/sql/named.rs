//! Names such as `:id` in statements, and the placeholders of the database in their place.

use brunt_sql::Driver;

/// A statement whose parameters have names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The statement with placeholders.
    pub(super) sql: String,
    /// The names in the order of their values.
    pub(super) names: Vec<String>,
}

impl Named {
    /// Reads the names of a statement. `None` if it has none.
    pub(super) fn read(sql: &str, driver: Driver) -> Option<Self> {
        let bytes = sql.as_bytes();
        let (mut out, mut names) = (String::new(), Vec::<String>::new());
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            if let Some(end) = passed_over(sql, at, driver) {
                at = end;
                continue;
            }
            let is_name = bytes[at] == b':'
                && bytes
                    .get(at + 1)
                    .is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_')
                && !at.checked_sub(1).is_some_and(|before| {
                    bytes[before].is_ascii_alphanumeric()
                        || matches!(bytes[before], b'_' | b':' | b']')
                });
            if !is_name {
                at += 1;
                continue;
            }
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let length = bytes[at + 1..].iter().take_while(|byte| is_part(byte)).count();
            let (name, end) = (&sql[at + 1..at + 1 + length], at + 1 + length);
            out.push_str(&sql[copied..at]);
            if driver == Driver::Postgres {
                let known = names.iter().position(|known| known == name);
                let index = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                out.push_str(&format!("${}", index + 1));
            } else {
                names.push(name.to_owned());
                out.push('?');
            }
            (at, copied) = (end, end);
        }
        if names.is_empty() {
            return None;
        }
        out.push_str(&sql[copied..]);
        Some(Self { sql: out, names })
    }
}

/// The end of the text, the quoted name or the comment that begins here.
fn passed_over(sql: &str, at: usize, driver: Driver) -> Option<usize> {
    let rest = &sql.as_bytes()[at..];
    let end_of = |mark: &str, from: usize| {
        let found = memchr::memmem::find(rest.get(from..)?, mark.as_bytes());
        Some(found.map_or(sql.len(), |found| at + from + found + mark.len()))
    };
    match rest[0] {
        quote @ (b'\'' | b'"' | b'`') => {
            let has_escapes = driver == Driver::MySql && quote != b'`';
            let mut index = 1;
            while index < rest.len() {
                if has_escapes && rest[index] == b'\\' {
                    index += 1;
                } else if rest[index] == quote {
                    return Some(at + index + 1);
                }
                index += 1;
            }
            Some(sql.len())
        }
        b'-' if rest.starts_with(b"--") => end_of("\n", 2),
        b'#' if driver == Driver::MySql => end_of("\n", 1),
        b'/' if rest.starts_with(b"/*") => end_of("*/", 2),
        b'$' if driver == Driver::Postgres => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let length = rest[1..].iter().take_while(|byte| is_part(byte)).count();
            if rest.get(1 + length) != Some(&b'$') || rest[1].is_ascii_digit() {
                return None;
            }
            let mark = &sql[at..at + length + 2];
            end_of(mark, length + 2)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str, driver: Driver) -> (String, String) {
        let named = Named::read(sql, driver).unwrap();
        (named.sql, named.names.join(" "))
    }

    #[test]
    fn names_become_the_placeholders_of_the_database() {
        let sql = "SELECT :a, :b_2 FROM t WHERE x = :a";
        let told = |sql: &str, names: &str| (sql.to_owned(), names.to_owned());
        assert_eq!(read(sql, Driver::MySql), told("SELECT ?, ? FROM t WHERE x = ?", "a b_2 a"));
        assert_eq!(read(sql, Driver::Postgres), told("SELECT $1, $2 FROM t WHERE x = $1", "a b_2"));
    }

    #[test]
    fn texts_comments_casts_and_slices_have_no_names() {
        for sql in [
            "SELECT ':a', \":a\", `:a`",
            "SELECT 'it''s :a' -- :a",
            "SELECT 1 /* :a */",
            "SELECT x::text, a[1:n]",
            "SELECT $$ :a $$, $x$ :a $x$",
            "SELECT ':a",
            "SELECT 1 :",
            "",
        ] {
            assert_eq!(Named::read(sql, Driver::Postgres), None, "{sql}");
        }
        assert_eq!(Named::read("SELECT 'a\\' :b' # :c", Driver::MySql), None);
        assert_eq!(read("SELECT 'a\\', :b", Driver::Postgres).1, "b");
        assert_eq!(read("SELECT 'é', :b", Driver::Sqlite).0, "SELECT 'é', ?");
    }
}
