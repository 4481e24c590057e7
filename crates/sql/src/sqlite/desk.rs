//! The thread's half: the file, the statement, and the parcels that go back.

use std::fmt::Write;
use std::io;

use jiff::tz::TimeZone;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Error, ErrorCode, OpenFlags, Statement, StatementStatus, ToSql};
use tokio::sync::mpsc;

use super::code::failure;
use super::row::Packed;
use super::{threads, time};
use crate::args::Args;
use crate::cell::Cell;
use crate::chunk::ROOM;
use crate::column::{Column, Kind};
use crate::config::sqlite::Settings;
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// The numbers of [`Kind::Own`]: how the values of a column are read.
pub(super) const PLAIN: u8 = 0;
const BOOLEAN: u8 = 1;
const TIMES: u8 = 2;

/// The prepared statements that a connection keeps; the one that was not used for the longest time goes.
const KEPT_MAX: usize = 32;

/// A statement that is longer is kept only if it is asked for.
const KEPT_LENGTH_MAX: usize = 4096;

/// A reader that waits gets the rows at hand with the first row after this time, though the chunk is not full.
const PATIENCE_NS: u64 = 1_000_000;

/// The parameters of one statement, as SQLite is built.
const PARAMETERS_MAX: usize = 32_766;

/// The rows of one `INSERT`: more are slower again, as measured.
const ROWS_MAX: usize = 64;

/// A message from the thread to the core.
#[derive(Default)]
pub(super) struct Parcel {
    /// A result begins here.
    pub(super) heading: Option<Heading>,
    pub(super) rows: Packed,
    /// The result is over.
    pub(super) end: Option<Result<Outcome, Failure>>,
    /// The statement did not come to a result.
    pub(super) fault: Option<Failure>,
    /// All is over.
    pub(super) home: Option<Box<Desk>>,
}

/// The columns of a result.
pub(super) enum Heading {
    /// The columns of the result before.
    Same,
    /// Others.
    New(Vec<Column>),
}

/// A piece of work.
pub(super) enum Task {
    /// The statement, once.
    Run,
    /// The statement once for each row of arguments.
    Batch { width: usize },
    /// Rows into a table.
    Insert { table: String, columns: Vec<String>, batch: Option<usize> },
}

/// A file, and all that its thread needs. It lies at the core while no statement runs, and goes to a thread and back.
pub(super) struct Desk {
    pub(super) db: rusqlite::Connection,
    pub(super) sql: String,
    pub(super) args: Args,
    pub(super) is_prepared: bool,
    pub(super) post: Post,
}

/// The way back.
pub(super) struct Post {
    sender: mpsc::Sender<Parcel>,
    parcel: Parcel,
    /// The columns that the core knows.
    known: Vec<Column>,
    zone: Option<TimeZone>,
    now_ns: fn() -> u64,
}

/// A text of statements goes no further. The reason is in the parcel.
struct Stop;

/// Opens a file.
pub(super) fn open(settings: &Settings, sender: mpsc::Sender<Parcel>) -> Result<Desk, Failure> {
    if let Some(fault) = &settings.fault {
        return Err(fault.clone());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = rusqlite::Connection::open_with_flags(&settings.path, flags)
        .map_err(|error| not_opened(error, &settings.path))?;
    let wait = u64::try_from(settings.busy_timeout_ms).unwrap_or(0);
    db.busy_timeout(std::time::Duration::from_millis(wait)).map_err(failure)?;
    db.set_prepared_statement_cache_capacity(KEPT_MAX);
    for pragma in &settings.pragmas {
        db.execute_batch(pragma).map_err(failure)?;
    }
    let post = Post {
        sender,
        parcel: Parcel::default(),
        known: Vec::new(),
        zone: settings.zone.clone(),
        now_ns: brunt_fiber::clock::now_ns,
    };
    Ok(Desk { db, sql: String::new(), args: Args::new(), is_prepared: false, post })
}

/// The failure to open a file. The Go driver appends the system's word for it, which SQLite does not hand out: the file is asked again.
fn not_opened(error: Error, path: &str) -> Failure {
    let is_missing = matches!(
        &error,
        Error::SqliteFailure(code, _) if code.code == ErrorCode::CannotOpen
    );
    let of_sqlite = failure(error);
    let text = if is_missing {
        let plain = path.strip_prefix("file:").unwrap_or(path);
        let plain = plain.split('?').next().unwrap_or_default();
        let why = match std::fs::metadata(plain) {
            Ok(found) if found.is_dir() => "is a directory".to_owned(),
            Ok(_) => {
                std::fs::File::open(plain).err().map_or_else(String::new, |error| of_system(&error))
            }
            Err(error) => of_system(&error),
        };
        let mut text = "unable to open database file".to_owned();
        if !why.is_empty() {
            let _ = write!(text, ": {why}");
        }
        text
    } else {
        of_sqlite.text().to_owned()
    };
    Failure::new(Trouble::Connect, text).with_code(of_sqlite.code(), of_sqlite.number())
}

/// The text of the system's error in small letters, without its number.
fn of_system(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Whether there is but one statement in a text, as far as that is seen at a glance.
fn is_single(sql: &str) -> bool {
    let sql = sql.trim_end_matches(|end: char| end == ';' || end.is_ascii_whitespace());
    memchr::memchr(b';', sql.as_bytes()).is_none()
}

impl Desk {
    /// Does a task, and goes back with the last parcel.
    pub(super) fn work(mut self: Box<Self>, task: &Task) {
        if self.post.sender.is_closed() {
            return;
        }
        let _ = match task {
            Task::Run => self.run(),
            Task::Batch { width } => self.in_transaction(|desk| desk.batch(*width)),
            Task::Insert { table, columns, batch } => {
                self.in_transaction(|desk| desk.insert(table, columns, *batch))
            }
        };
        self.sql.clear();
        self.args.clear();
        let mut parcel = std::mem::take(&mut self.post.parcel);
        let sender = self.post.sender.clone();
        parcel.home = Some(self);
        // The last parcel, too, may find the one before it still there.
        let _ = post(&sender, parcel);
    }

    fn run(&mut self) -> Result<(), Stop> {
        let Self { db, sql, args, is_prepared, post } = self;
        let is_kept = *is_prepared || (sql.len() <= KEPT_LENGTH_MAX && is_single(sql));
        let mut taken = 0;
        if is_kept {
            match db.prepare_cached(sql) {
                Ok(mut statement) => return step(db, &mut statement, args, &mut taken, post),
                Err(Error::Empty) => {
                    post.begin(Vec::new())?;
                    post.parcel.end = Some(Ok(outcome(db, 0)));
                    return Ok(());
                }
                Err(Error::MultipleStatement) => {}
                Err(error) => return post.fail(failure(error)),
            }
        }
        let mut statements = Batch::new(db, sql);
        let mut is_empty = true;
        loop {
            match statements.next() {
                Ok(Some(mut statement)) => step(db, &mut statement, args, &mut taken, post)?,
                Ok(None) => break,
                Err(error) => return post.fail(failure(error)),
            }
            is_empty = false;
        }
        if is_empty {
            post.begin(Vec::new())?;
            post.parcel.end = Some(Ok(outcome(db, 0)));
        }
        Ok(())
    }

    /// Does many rows' work in one transaction, unless one is open already, and all of it or nothing.
    fn in_transaction(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<u64, Failure>,
    ) -> Result<(), Stop> {
        let is_ours = self.db.is_autocommit();
        let result = if is_ours {
            self.db.execute_batch("BEGIN IMMEDIATE").map_err(failure)
        } else {
            Ok(())
        };
        let result = result.and_then(|()| work(self)).and_then(|changes| {
            if is_ours {
                self.db.execute_batch("COMMIT").map_err(failure)?;
            }
            Ok(changes)
        });
        if result.is_err() && is_ours && !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
        match result {
            Ok(changes) => {
                let mut outcome = outcome(&self.db, 0);
                outcome.rows_affected = Some(changes);
                self.post.parcel.end = Some(Ok(outcome));
                Ok(())
            }
            Err(failure) => self.post.fail(failure),
        }
    }

    fn batch(&mut self, width: usize) -> Result<u64, Failure> {
        let Self { db, sql, args, post, .. } = self;
        let mut statement = db.prepare_cached(sql).map_err(failure)?;
        let wanted = statement.parameter_count();
        if wanted > width {
            return Err(too_few(wanted, width));
        }
        let mut changes = 0;
        // Rows without a value are none.
        for row in 0..args.len().checked_div(width).unwrap_or(0) {
            if post.sender.is_closed() {
                return Err(Failure::new(Trouble::Broken, "the batch was given up"));
            }
            changes += once(db, &mut statement, args, row * width, wanted)?;
        }
        Ok(changes)
    }

    fn insert(
        &mut self,
        table: &str,
        columns: &[String],
        batch: Option<usize>,
    ) -> Result<u64, Failure> {
        let Self { db, args, post, .. } = self;
        let width = columns.len();
        let rows = args.len() / width;
        let each =
            (PARAMETERS_MAX / width).clamp(1, ROWS_MAX).min(batch.unwrap_or(usize::MAX).max(1));
        let (mut from, mut changes) = (0, 0);
        while from < rows {
            let count = each.min(rows - from);
            let sql = insert_of(table, columns, count);
            let mut statement = db.prepare_cached(&sql).map_err(failure)?;
            while rows - from >= count {
                if post.sender.is_closed() {
                    return Err(Failure::new(Trouble::Broken, "the insert was given up"));
                }
                changes += once(db, &mut statement, args, from * width, count * width)?;
                from += count;
            }
        }
        Ok(changes)
    }
}

/// `INSERT INTO "table" ("a", "b") VALUES (?, ?), …` with this many rows.
fn insert_of(table: &str, columns: &[String], rows: usize) -> String {
    let mut sql = String::from("INSERT INTO ");
    for (index, part) in table.split('.').enumerate() {
        sql.push_str(if index == 0 { "" } else { "." });
        quote(&mut sql, part);
    }
    let mut tuple = String::from("(");
    sql.push_str(" (");
    for (index, column) in columns.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        sql.push_str(comma);
        quote(&mut sql, column);
        tuple.push_str(comma);
        tuple.push('?');
    }
    tuple.push(')');
    sql.push_str(") VALUES ");
    for row in 0..rows {
        sql.push_str(if row == 0 { "" } else { ", " });
        sql.push_str(&tuple);
    }
    sql
}

fn quote(out: &mut String, name: &str) {
    out.push('"');
    for (index, part) in name.split('"').enumerate() {
        out.push_str(if index == 0 { "" } else { "\"\"" });
        out.push_str(part);
    }
    out.push('"');
}

fn too_few(wanted: usize, got: usize) -> Failure {
    let text = format!("not enough args to execute query: want {wanted} got {got}");
    Failure::new(Trouble::Usage, text)
}

fn outcome(db: &rusqlite::Connection, rows: u64) -> Outcome {
    Outcome {
        rows_affected: Some(db.changes()),
        last_insert_id: Some(db.last_insert_rowid()),
        rows,
        warnings: 0,
    }
}

/// An argument on its way to SQLite.
struct Bound<'a>(Cell<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let borrowed = |value| Ok(ToSqlOutput::Borrowed(value));
        match self.0 {
            Cell::Null => borrowed(ValueRef::Null),
            Cell::Bool(value) => borrowed(ValueRef::Integer(value.into())),
            Cell::Int(value) => borrowed(ValueRef::Integer(value)),
            // Larger ones were refused before.
            Cell::UInt(value) => {
                borrowed(ValueRef::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
            }
            Cell::Float(value) => borrowed(ValueRef::Real(value)),
            Cell::Single(value) => borrowed(ValueRef::Real(value.into())),
            Cell::Text(text) | Cell::Raw(text) => borrowed(ValueRef::Text(text)),
            Cell::Bytes(bytes) => borrowed(ValueRef::Blob(bytes)),
            Cell::Time(moment) => Ok(ToSqlOutput::Owned(Value::Text(time::write(moment)))),
        }
    }
}

/// Binds arguments to a statement from its first parameter on.
fn bind(
    statement: &mut Statement<'_>,
    args: &Args,
    from: usize,
    count: usize,
) -> Result<(), Failure> {
    for (index, cell) in args.range(from, from + count).enumerate() {
        if let Cell::UInt(value) = cell
            && i64::try_from(value).is_err()
        {
            return Err(Failure::new(
                Trouble::Usage,
                format!(
                    "sql: converting argument ${} type: uint64 values with high bit set are not supported",
                    from + index + 1
                ),
            ));
        }
        statement.raw_bind_parameter(index + 1, Bound(cell)).map_err(failure)?;
    }
    Ok(())
}

/// Runs a statement to its end and says how many rows it changed. Rows that it returns are left out.
fn once(
    db: &rusqlite::Connection,
    statement: &mut Statement<'_>,
    args: &Args,
    from: usize,
    count: usize,
) -> Result<u64, Failure> {
    bind(statement, args, from, count)?;
    let mut rows = statement.raw_query();
    while rows.next().map_err(failure)?.is_some() {}
    Ok(db.changes())
}

/// Runs one statement of a text and sends its rows.
fn step(
    db: &rusqlite::Connection,
    statement: &mut Statement<'_>,
    args: &Args,
    taken: &mut usize,
    post: &mut Post,
) -> Result<(), Stop> {
    let wanted = statement.parameter_count();
    let have = args.len() - *taken;
    if have < wanted {
        return post.fail(too_few(wanted, have));
    }
    if let Err(failure) = bind(statement, args, *taken, wanted) {
        return post.fail(failure);
    }
    *taken += wanted;
    post.begin_of(statement)?;
    let prepared = statement.get_status(StatementStatus::RePrepare);
    let mut columns = statement.column_count();
    let mut watch = Watch::new(post.now_ns);
    let mut count = 0;
    let mut rows = statement.raw_query();
    let end = loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break Ok(()),
            Err(error) => break Err(failure(error)),
        };
        if count == 0 {
            let statement: &Statement<'_> = row.as_ref();
            // The table may have changed since the statement was prepared.
            if statement.get_status(StatementStatus::RePrepare) != prepared {
                columns = statement.column_count();
                // Those that it had before may be news to the core.
                if let new @ Heading::New(_) = post.heading(statement) {
                    post.parcel.heading = Some(new);
                }
            }
        }
        let from = post.parcel.rows.bytes.len();
        for index in 0..columns {
            let value = row.get_ref(index).unwrap_or(ValueRef::Null);
            let kind = post.known.get(index).map_or(Kind::Own(PLAIN), |column| column.kind);
            post.parcel.rows.push(cell(value, kind, post.zone.as_ref()));
        }
        let to = post.parcel.rows.bytes.len();
        post.parcel.rows.rows.push((from, to));
        count += 1;
        if to >= ROOM || (watch.is_due() && post.has_hungry_reader()) {
            post.send()?;
            watch.begin();
        }
    };
    drop(rows);
    let is_over = end.is_err();
    post.parcel.end = Some(end.map(|()| outcome(db, count)));
    if is_over { Err(Stop) } else { Ok(()) }
}

/// A value as the Go driver hands it over: by the declared type of its column.
#[inline]
fn cell<'a>(value: ValueRef<'a>, kind: Kind, zone: Option<&TimeZone>) -> Cell<'a> {
    match (value, kind) {
        (ValueRef::Null, _) => Cell::Null,
        (ValueRef::Integer(value), Kind::Own(BOOLEAN)) => Cell::Bool(value > 0),
        (ValueRef::Integer(value), Kind::Own(TIMES)) => Cell::Time(time::of_number(value, zone)),
        (ValueRef::Integer(value), _) => Cell::Int(value),
        (ValueRef::Real(value), _) => Cell::Float(value),
        (ValueRef::Text(text), Kind::Own(TIMES)) => Cell::Time(time::of_text(text, zone)),
        (ValueRef::Text(text), _) => Cell::Text(text),
        (ValueRef::Blob(bytes), _) => Cell::Bytes(bytes),
    }
}

fn kind(declared: &str) -> Kind {
    let is = |name: &str| declared.eq_ignore_ascii_case(name);
    Kind::Own(if is("boolean") {
        BOOLEAN
    } else if is("date") || is("datetime") || is("timestamp") {
        TIMES
    } else {
        PLAIN
    })
}

impl Post {
    /// Begins a result with these columns; the one before goes.
    fn begin(&mut self, columns: Vec<Column>) -> Result<(), Stop> {
        if self.parcel.heading.is_some() || self.parcel.end.is_some() {
            self.send()?;
        }
        self.parcel.heading = Some(if columns == self.known {
            Heading::Same
        } else {
            self.known.clone_from(&columns);
            Heading::New(columns)
        });
        Ok(())
    }

    /// Begins the result of a statement; the one before goes.
    fn begin_of(&mut self, statement: &Statement<'_>) -> Result<(), Stop> {
        if self.parcel.heading.is_some() || self.parcel.end.is_some() {
            self.send()?;
        }
        self.parcel.heading = Some(self.heading(statement));
        Ok(())
    }

    /// The columns of a statement. Nothing is allocated for those that are known.
    fn heading(&mut self, statement: &Statement<'_>) -> Heading {
        let columns = statement.columns();
        let is_known = columns.len() == self.known.len()
            && columns.zip(&self.known).all(|(column, known)| {
                known.name == column.name() && known.type_name == column.decl_type().unwrap_or("")
            });
        if is_known {
            return Heading::Same;
        }
        let columns = statement.columns();
        let columns: Vec<Column> = columns
            .map(|column| {
                let declared = column.decl_type().unwrap_or("");
                Column {
                    name: column.name().to_owned(),
                    type_name: declared.to_owned(),
                    kind: kind(declared),
                    nullable: None,
                    length: None,
                    decimals: None,
                    table: String::new(),
                }
            })
            .collect();
        self.known.clone_from(&columns);
        Heading::New(columns)
    }

    fn fail(&mut self, failure: Failure) -> Result<(), Stop> {
        if self.parcel.heading.is_some() || self.parcel.end.is_some() {
            self.send()?;
        }
        self.parcel.fault = Some(failure);
        Err(Stop)
    }

    /// Whether the reader has nothing to read.
    fn has_hungry_reader(&self) -> bool {
        self.sender.capacity() == self.sender.max_capacity()
    }

    fn send(&mut self) -> Result<(), Stop> {
        post(&self.sender, std::mem::take(&mut self.parcel))
    }
}

/// Sends a parcel. The thread waits while the one before lies there.
fn post(sender: &mpsc::Sender<Parcel>, parcel: Parcel) -> Result<(), Stop> {
    match sender.try_send(parcel) {
        Ok(()) => Ok(()),
        Err(mpsc::error::TrySendError::Closed(_)) => Err(Stop),
        Err(mpsc::error::TrySendError::Full(parcel)) => {
            threads::wait(|| sender.blocking_send(parcel).map_err(|_| Stop))
        }
    }
}

/// Looks at the clock after each row while rows are slow, and seldom while they are fast.
struct Watch {
    now_ns: fn() -> u64,
    since: u64,
    rows: u32,
    next: u32,
}

impl Watch {
    fn new(now_ns: fn() -> u64) -> Self {
        Self { now_ns, since: now_ns(), rows: 0, next: 1 }
    }

    fn begin(&mut self) {
        (self.since, self.rows, self.next) = ((self.now_ns)(), 0, 1);
    }

    /// Whether the reader was to wait for long enough.
    fn is_due(&mut self) -> bool {
        self.rows += 1;
        if self.rows < self.next {
            return false;
        }
        let spent = (self.now_ns)().saturating_sub(self.since);
        // As many rows again before the next look, if these took no time.
        self.next = self.rows + if spent < PATIENCE_NS / 4 { self.rows.min(64) } else { 1 };
        spent >= PATIENCE_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insert_quotes_its_names() {
        let columns = ["a".to_owned(), "b\"c".to_owned()];
        let expected = r#"INSERT INTO "main"."t" ("a", "b""c") VALUES (?, ?), (?, ?)"#;
        assert_eq!(insert_of("main.t", &columns, 2), expected);
    }

    #[test]
    fn a_semicolon_at_the_end_makes_no_second_statement() {
        assert!(is_single("SELECT 1") && is_single("SELECT 1 ; \n;"));
        assert!(!is_single("SELECT 1; SELECT 2") && !is_single("SELECT ';'"));
    }
}
