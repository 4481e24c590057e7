//! A SQLite file, filled.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use brunt_fiber::clock::now_ns;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::fill::{Existing, Facts, Filled, Wish};
use super::progress::Progress;
use crate::Context;
use crate::failure::Outcome;

const CREATE: &str =
    "CREATE TABLE bulktest (id INTEGER PRIMARY KEY AUTOINCREMENT, text VARCHAR(45))";

/// Rows between two looks at the bar.
const STEP: u64 = 10_000;

pub(super) fn fill(context: &Context, path: &Path, wish: &Wish) -> Outcome<Filled> {
    let shown = path.display().to_string();
    let mut connection = Connection::open(path)
        .with_context(|| format!("cannot open {shown} as a SQLite database"))?;
    let facts = facts(&connection).with_context(|| format!("cannot read {shown}"))?;
    let existing = match facts {
        None => Existing::None,
        Some(facts) => wish.judge(&shown, &facts)?,
    };
    let began = now_ns();
    if existing != Existing::Same {
        let is_there = existing == Existing::Other;
        make(context, &mut connection, wish, is_there)
            .with_context(|| format!("cannot fill {shown}"))?;
    }
    Ok(Filled { existing, took: Duration::from_nanos(now_ns().saturating_sub(began)) })
}

/// The facts of the table, if there is one.
fn facts(connection: &Connection) -> rusqlite::Result<Option<Facts>> {
    let table = "SELECT 1 FROM sqlite_master WHERE name = 'bulktest'";
    if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let all = "SELECT COUNT(*), COALESCE(MAX(id), 0) FROM bulktest";
    let counts =
        connection.query_row(all, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    // Without the columns it is another table.
    let Ok((count, highest)) = counts else { return Ok(Some(Facts::default())) };
    let text = |id: i64| {
        let one = "SELECT text FROM bulktest WHERE id = ?";
        connection.query_row(one, [id], |row| row.get(0)).ok()
    };
    Ok(Some(Facts {
        count: count.cast_unsigned(),
        highest: highest.cast_unsigned(),
        first: text(1),
        last: text(highest),
    }))
}

fn make(
    context: &Context,
    connection: &mut Connection,
    wish: &Wish,
    is_there: bool,
) -> rusqlite::Result<()> {
    // All or nothing for whoever looks; a power cut may take the file, which can be made again.
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.transaction()?;
    if is_there {
        transaction.execute("DROP TABLE bulktest", [])?;
    }
    transaction.execute(CREATE, [])?;
    let mut progress = Progress::new(context, wish.rows);
    {
        let mut insert = transaction.prepare("INSERT INTO bulktest (id, text) VALUES (?, ?)")?;
        for id in 1..=wish.rows {
            let text = wish.text(id);
            insert.execute(params![id.cast_signed(), std::str::from_utf8(&text)?])?;
            if id % STEP == 0 {
                progress.at(id);
            }
        }
    }
    transaction.commit()
}
