//! One statement: as its author wrote it, and bound to the columns of the arguments.

use brunt_sql::{Args, Driver, statement};

use super::placeholder::{self, Placeholders};
use super::rows::Rows;

/// A statement as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name in records and reports. `None`: the statement itself, without its literals.
    pub name: Option<String>,
    /// How often its turn comes, beside the others.
    pub weight: u64,
    /// The text, with `?`, `$1` or `:name` for arguments.
    pub sql: String,
}

/// Why the arguments don't fit a statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{statement}: {what}")]
pub struct Unbound {
    /// Its label.
    pub statement: String,
    /// The fault.
    pub what: String,
}

/// A statement that can be run.
#[derive(Clone, Debug)]
pub struct Prepared {
    label: String,
    verb: String,
    sql: String,
    weight: u64,
    /// The column of each argument.
    columns: Vec<usize>,
}

/// Verbs of statements that every database prepares.
const PREPARABLE: [&str; 8] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES", "MERGE"];

/// Verbs of statements that end transactions, or change what no transaction gives back. A word that is not known is perhaps a slip.
const UNTRIED: [&str; 64] = [
    "ABORT",
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "CALL",
    "CHANGE",
    "CHECKPOINT",
    "CLOSE",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DECLARE",
    "DETACH",
    "DISCARD",
    "DO",
    "DROP",
    "END",
    "EXECUTE",
    "FETCH",
    "FLUSH",
    "GRANT",
    "HANDLER",
    "IMPORT",
    "INSTALL",
    "KILL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MOVE",
    "NOTIFY",
    "OPTIMIZE",
    "PRAGMA",
    "PREPARE",
    "PURGE",
    "REASSIGN",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "RENAME",
    "REPAIR",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SECURITY",
    "SET",
    "SHUTDOWN",
    "SIGNAL",
    "START",
    "STOP",
    "TRUNCATE",
    "UNINSTALL",
    "UNLISTEN",
    "UNLOCK",
    "USE",
    "VACUUM",
    "XA",
    "CACHE",
    "RESIGNAL",
    "BACKUP",
];

impl Statement {
    /// One without a name.
    pub fn new(sql: impl Into<String>) -> Self {
        Self { name: None, weight: 1, sql: sql.into() }
    }

    /// Binds it to the columns of the arguments.
    pub(super) fn bind(
        self,
        index: usize,
        driver: Driver,
        rows: &Rows,
    ) -> Result<Prepared, Unbound> {
        let label = self.name.unwrap_or_else(|| {
            let folded = statement::folded(&self.sql, driver);
            if folded.is_empty() { format!("statement {}", index + 1) } else { folded }
        });
        let unbound = |what| Unbound { statement: label.clone(), what };
        let (sql, placeholders) = placeholder::read(&self.sql, driver).map_err(unbound)?;
        let columns = match placeholders {
            Placeholders::InOrder(count) if count > 0 && rows.is_empty() => {
                return Err(unbound(format!("it wants arguments ({count}), and there are none")));
            }
            Placeholders::InOrder(count) if count > rows.columns().len() => {
                let columns = rows.columns().len();
                return Err(unbound(format!(
                    "it wants arguments ({count}), and the rows have another number of columns ({columns})"
                )));
            }
            Placeholders::InOrder(count) => (0..count).collect(),
            Placeholders::Named(names) if rows.is_empty() => {
                return Err(unbound(format!("it wants :{}, and there are no arguments", names[0])));
            }
            Placeholders::Named(names) => {
                let column = |name: &String| {
                    let known = rows.columns();
                    known.iter().position(|column| column == name).ok_or_else(|| {
                        let known = known.join(", ");
                        unbound(format!("it wants :{name}, and the columns are {known}"))
                    })
                };
                names.iter().map(column).collect::<Result<_, _>>()?
            }
        };
        let verb = verb(&sql);
        Ok(Prepared { label, verb, sql, weight: self.weight, columns })
    }
}

/// The first word.
fn verb(sql: &str) -> String {
    let start = sql.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(sql.len());
    let word = &sql[start..];
    let end = word.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(word.len());
    word[..end.min(32)].to_ascii_uppercase()
}

impl Prepared {
    /// Its name, or itself without its literals.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its first word: `SELECT`.
    pub fn verb(&self) -> &str {
        &self.verb
    }

    /// The text that is sent.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// How often its turn comes, beside the others.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Whether it may be prepared: it has arguments, or its verb is one that every database prepares.
    pub fn is_preparable(&self) -> bool {
        !self.columns.is_empty() || PREPARABLE.contains(&self.verb.as_str())
    }

    /// Whether it can be tried inside a transaction that is rolled back.
    pub fn is_triable(&self) -> bool {
        !UNTRIED.contains(&self.verb.as_str())
    }

    /// Puts the arguments of a row into `args`.
    pub fn arguments(&self, rows: &Rows, row: usize, args: &mut Args) {
        args.clear();
        for column in &self.columns {
            args.push(rows.cell(row, *column));
        }
    }
}

#[cfg(test)]
mod tests {
    use brunt_sql::Cell;

    use super::*;

    fn bound(sql: &str, rows: &Rows) -> Result<Prepared, String> {
        let statement = Statement { name: Some("s".to_owned()), ..Statement::new(sql) };
        statement.bind(0, Driver::Sqlite, rows).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_bound_in_order_or_by_name() {
        let rows = Rows::csv("id:int,name\n1,a\n2,b\n").unwrap();
        let mut args = Args::new();
        bound("SELECT :name, :id, :name", &rows).unwrap().arguments(&rows, 1, &mut args);
        let expected = [Cell::Text(b"b"), Cell::Int(2), Cell::Text(b"b")];
        assert_eq!(args.iter().collect::<Vec<_>>(), expected);
        bound("SELECT ?", &rows).unwrap().arguments(&rows, 0, &mut args);
        assert_eq!(args.iter().collect::<Vec<_>>(), [Cell::Int(1)]);
    }

    #[test]
    fn missing_arguments_are_told() {
        let rows = Rows::csv("id\n1\n").unwrap();
        let none = Rows::default();
        let fault = |sql, rows| bound(sql, rows).unwrap_err();
        assert_eq!(fault("SELECT ?", &none), "s: it wants arguments (1), and there are none");
        assert_eq!(
            fault("SELECT ?, ?", &rows),
            "s: it wants arguments (2), and the rows have another number of columns (1)"
        );
        assert_eq!(fault("SELECT :x", &rows), "s: it wants :x, and the columns are id");
        assert_eq!(fault("SELECT :x", &none), "s: it wants :x, and there are no arguments");
    }

    #[test]
    fn statements_that_a_rollback_undoes_are_tried_and_slips_too() {
        let is_triable = |sql| bound(sql, &Rows::default()).unwrap().is_triable();
        assert!(["SELECT 1", "insert into t values (1)", "SELEC 1"].into_iter().all(is_triable));
        assert!(!["DROP TABLE t", "vacuum", "COMMIT", "CALL p()"].into_iter().any(is_triable));
    }

    #[test]
    fn the_verb_is_the_first_word() {
        assert_eq!((verb("(select 1)"), verb("")), ("SELECT".to_owned(), String::new()));
    }
}
