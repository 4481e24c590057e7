//! A session with a server: messages out, results in. One statement runs at a time.

use std::rc::Rc;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustc_hash::FxHashMap;

use super::wire::{Wire, gone, malformed};
use super::{describe, fault, literal};
use crate::args::Args;
use crate::cell::Cell;
use crate::chunk::{Chunk, Format};
use crate::column::Columns;
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// The most statements that a connection keeps; of more, the one that was used least lately is let go.
const KEPT_MAX: usize = 64;

/// The most parameters of the protocol.
pub(super) const PARAMETERS_MAX: usize = 65_535;

/// The longest description of columns that is remembered.
const DESCRIBED_MAX: usize = 16 * 1024;

/// Bytes of `COPY … TO STDOUT` that are read and dropped before the connection is given up.
const COPIED_MAX: usize = 1 << 20;

/// A buffer that grew beyond this is given back.
const OUT_KEEP: usize = 64 * 1024;

/// Where the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The next statement may come.
    Idle,
    /// Rows are read.
    Rows,
    /// A result has ended; another may follow.
    Between,
    /// A future was dropped in the middle of this.
    Busy,
    /// The connection is of no more use.
    Broken,
}

/// A statement that the server keeps.
#[derive(Debug)]
struct Kept {
    name: String,
    columns: Columns,
    used: u64,
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) wire: Wire,
    /// The messages that are written. Empty between statements.
    pub(super) out: BytesMut,
    pub(super) state: State,
    /// `I`, `T`, `E`: outside of a transaction, in one, in one that failed.
    pub(super) transaction: u8,
    pub(super) columns: Columns,
    pub(super) outcome: Outcome,
    /// The number of the server's process and its secret, with which its statement can be stopped.
    pub(super) key: (i32, i32),
    kept: FxHashMap<Box<str>, Kept>,
    /// A statement that the server has kept, perhaps, though it failed: the next one has it dropped.
    failed: Option<String>,
    /// The last description of columns, and its columns: the same statement mostly comes again.
    described: (Vec<u8>, Columns),
    /// No columns.
    nothing: Columns,
    /// Notices since the last result.
    notices: u32,
    /// The statement that runs is one with arguments: the server waits for `Sync` after an error.
    is_extended: bool,
    /// Counts statements: the time of [`Kept::used`], and names.
    time: u64,
    /// The server's word behind rows that are handed over first.
    ending: Option<Result<(), Failure>>,
    /// The statement that runs, for the place of an error in it.
    sql: String,
    value: Vec<u8>,
}

impl Session {
    /// A session that has not said anything yet.
    pub(super) fn new(wire: Wire) -> Self {
        let nothing: Columns = Rc::new([]);
        Self {
            wire,
            out: BytesMut::new(),
            state: State::Busy,
            transaction: b'I',
            columns: Rc::clone(&nothing),
            outcome: Outcome::default(),
            key: (0, 0),
            kept: FxHashMap::default(),
            failed: None,
            described: (Vec::new(), Rc::clone(&nothing)),
            nothing,
            notices: 0,
            is_extended: false,
            time: 0,
            ending: None,
            sql: String::new(),
            value: Vec::new(),
        }
    }

    /// Before each statement: nothing may be left of the last.
    pub(super) fn take_up(&mut self) -> Result<(), Failure> {
        match self.state {
            State::Idle => {
                self.state = State::Busy;
                self.out.clear();
                self.outcome = Outcome::default();
                self.notices = 0;
                self.forget_columns();
                Ok(())
            }
            State::Broken => Err(gone()),
            State::Rows | State::Between | State::Busy => {
                let why = "pq: the rows of the last statement were not read to their end";
                Err(Failure::new(Trouble::Usage, why))
            }
        }
    }

    /// After each step: an error that the connection does not survive ends it.
    pub(super) fn settle<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(failure) = &result {
            self.forget_columns();
            if failure.is_fatal() {
                self.state = State::Broken;
            } else {
                self.rest();
            }
        }
        result
    }

    /// The result has no columns.
    pub(super) fn forget_columns(&mut self) {
        self.columns = Rc::clone(&self.nothing);
    }

    /// A statement is over.
    pub(super) fn rest(&mut self) {
        self.state = State::Idle;
        self.wire.shed_ahead(false);
        self.wire.rest();
        if self.out.capacity() > OUT_KEEP {
            self.out = BytesMut::new();
        }
    }

    pub(super) async fn send(&mut self) -> Result<(), Failure> {
        self.wire.send(&self.out).await?;
        self.out.clear();
        Ok(())
    }

    fn remember(&mut self, sql: &str) {
        self.sql.clear();
        self.sql.push_str(sql);
    }

    /// A refusal: all is read up to the point where the next statement may come, unless the server leaves.
    pub(super) async fn refused(&mut self, failure: Failure) -> Failure {
        if !failure.is_fatal() && self.until_ready().await.is_err() {
            let text = failure.text().to_owned();
            return Failure::new(Trouble::Broken, text).with_code(failure.code(), 0);
        }
        failure
    }

    /// Reads up to `ReadyForQuery`.
    pub(super) async fn until_ready(&mut self) -> Result<(), Failure> {
        loop {
            let (tag, from, to) = self.wire.message().await?;
            if tag == b'Z' {
                self.ready(from, to);
                return Ok(());
            }
        }
    }

    fn ready(&mut self, from: usize, to: usize) {
        self.transaction = self.wire.bytes()[from..to].first().copied().unwrap_or(b'I');
    }

    /// Sends a statement as a text and reads the head of its answer.
    pub(super) async fn query(&mut self, sql: &str) -> Result<(), Failure> {
        self.remember(sql);
        self.is_extended = false;
        frontend::query(sql, &mut self.out).map_err(|_| has_nul())?;
        self.send().await?;
        self.head().await.map(drop)
    }

    /// Runs a statement of our own, whose rows are of no interest.
    pub(super) async fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.query(sql).await?;
        self.drain().await
    }

    /// Sends a statement with arguments in one flight and reads the head of its answer.
    pub(super) async fn ask(
        &mut self,
        sql: &str,
        args: &Args,
        is_kept: bool,
    ) -> Result<(), Failure> {
        if args.len() > PARAMETERS_MAX {
            let count = args.len();
            let why = format!(
                "pq: got {count} parameters but PostgreSQL only supports {PARAMETERS_MAX} parameters"
            );
            return Err(Failure::new(Trouble::Usage, why));
        }
        self.remember(sql);
        self.is_extended = true;
        if !is_kept {
            self.parse("", sql)?;
            self.bind("", args.iter())?;
            self.describe_and_run();
            self.send().await?;
            return self.head().await.map(drop);
        }
        if let Some(name) = self.failed.take() {
            frontend::close(b'S', &name, &mut self.out).map_err(|_| has_nul())?;
        }
        if let Some(columns) = self.find_kept(sql) {
            let name = self.kept[sql].name.clone();
            self.bind(&name, args.iter())?;
            frontend::execute("", 0, &mut self.out).map_err(|_| has_nul())?;
            frontend::sync(&mut self.out);
            self.columns = columns;
            self.send().await?;
            match self.head().await {
                // The table has changed meanwhile, or somebody said DISCARD ALL: once more from the beginning.
                Err(failure)
                    if matches!(failure.code(), "0A000" | "26000") && self.transaction == b'I' =>
                {
                    self.forget(sql)?;
                }
                other => return other.map(drop),
            }
        }
        self.make_room()?;
        let name = format!("b{}", self.time);
        self.parse(&name, sql)?;
        self.bind(&name, args.iter())?;
        self.describe_and_run();
        self.send().await?;
        self.forget_columns();
        if let Err(failure) = self.head().await {
            self.failed = Some(name);
            return Err(failure);
        }
        let kept = Kept { name, columns: Rc::clone(&self.columns), used: self.time };
        self.kept.insert(sql.into(), kept);
        Ok(())
    }

    fn find_kept(&mut self, sql: &str) -> Option<Columns> {
        self.time += 1;
        let kept = self.kept.get_mut(sql)?;
        kept.used = self.time;
        Some(Rc::clone(&kept.columns))
    }

    fn make_room(&mut self) -> Result<(), Failure> {
        if self.kept.len() >= KEPT_MAX {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used);
            if let Some(sql) = oldest.map(|(sql, _)| sql.clone()) {
                self.forget(&sql)?;
            }
        }
        Ok(())
    }

    /// Has the server forget a statement, with the messages that go next.
    fn forget(&mut self, sql: &str) -> Result<(), Failure> {
        if let Some(kept) = self.kept.remove(sql) {
            frontend::close(b'S', &kept.name, &mut self.out).map_err(|_| has_nul())?;
        }
        Ok(())
    }

    pub(super) fn parse(&mut self, name: &str, sql: &str) -> Result<(), Failure> {
        frontend::parse(name, sql, [], &mut self.out).map_err(|_| has_nul())
    }

    /// `Bind`: values as texts, bytes as they are; results as texts.
    pub(super) fn bind<'a>(
        &mut self,
        name: &str,
        cells: impl ExactSizeIterator<Item = Cell<'a>> + Clone,
    ) -> Result<(), Failure> {
        use postgres_protocol::IsNull;
        let has_bytes = cells.clone().any(|cell| matches!(cell, Cell::Bytes(_)));
        let formats = cells.clone().take(if has_bytes { usize::MAX } else { 0 });
        let formats = formats.map(|cell| i16::from(matches!(cell, Cell::Bytes(_))));
        let value = &mut self.value;
        let write = |cell: Cell<'a>, out: &mut BytesMut| {
            value.clear();
            if !literal::push_text(value, cell) {
                return Ok(IsNull::Yes);
            }
            out.extend_from_slice(value);
            Ok(IsNull::No)
        };
        let bound = frontend::bind("", name, formats, cells, write, [], &mut self.out);
        bound.map_err(|_| Failure::new(Trouble::Usage, "pq: a parameter is longer than 2 GiB"))
    }

    fn describe_and_run(&mut self) {
        // Empty names have no zero byte in them.
        let _ = frontend::describe(b'P', "", &mut self.out);
        let _ = frontend::execute("", 0, &mut self.out);
        frontend::sync(&mut self.out);
    }

    /// Reads the head of an answer: its columns, or its end. `false`: the statement has no more results.
    pub(super) async fn head(&mut self) -> Result<bool, Failure> {
        loop {
            let (tag, from, to) = self.wire.message().await?;
            let body = &self.wire.bytes()[from..to];
            match tag {
                b'T' => {
                    if self.described.0 != body {
                        let columns =
                            describe::columns(body).ok_or_else(|| malformed("columns"))?;
                        let is_kept = body.len() <= DESCRIBED_MAX;
                        let bytes = if is_kept { body.to_vec() } else { Vec::new() };
                        self.described = (bytes, columns.into());
                    }
                    self.columns = Rc::clone(&self.described.1);
                    self.outcome = Outcome::default();
                    self.state = State::Rows;
                    return Ok(true);
                }
                // Of a statement that is kept the columns are known.
                b'2' if !self.columns.is_empty() => {
                    self.state = State::Rows;
                    return Ok(true);
                }
                b'C' => {
                    self.outcome = completed(body);
                    self.forget_columns();
                    self.after_result().await?;
                    return Ok(true);
                }
                b'I' => {
                    self.outcome = Outcome::default();
                    self.forget_columns();
                    self.after_result().await?;
                    return Ok(true);
                }
                b'E' => {
                    let failure = fault::refusal(body, &self.sql);
                    return Err(self.refused(failure).await);
                }
                b'Z' => {
                    self.ready(from, to);
                    self.rest();
                    return Ok(false);
                }
                b'N' => self.notices = self.notices.saturating_add(1),
                b'1' | b'2' | b'3' | b'n' | b'S' | b'A' | b't' => {}
                b'G' => return Err(self.refuse_copy_in().await),
                b'H' | b'W' => return Err(self.refuse_copy_out().await),
                _ => return Err(malformed("an answer to a statement")),
            }
        }
    }

    /// `COPY … FROM STDIN` as an ordinary statement.
    async fn refuse_copy_in(&mut self) -> Failure {
        // A text without a zero byte.
        let _ = frontend::copy_fail("COPY as an ordinary statement", &mut self.out);
        if self.is_extended {
            frontend::sync(&mut self.out);
        }
        match self.send().await {
            Ok(()) => self.refused(copying("(G) CopyInResponse")).await,
            Err(failure) => failure,
        }
    }

    /// `COPY … TO STDOUT` as an ordinary statement.
    async fn refuse_copy_out(&mut self) -> Failure {
        let refusal = copying("(H) CopyOutResponse");
        let mut left = COPIED_MAX;
        loop {
            match self.wire.message().await {
                Ok((b'Z', from, to)) => {
                    self.ready(from, to);
                    return refusal;
                }
                Ok((_, from, to)) if to - from <= left => left -= to - from,
                Ok(_) => return Failure::new(Trouble::Protocol, refusal.text()),
                Err(failure) => return failure,
            }
        }
    }

    /// A result has ended. Where the end of the statement came with it, the session is idle.
    async fn after_result(&mut self) -> Result<(), Failure> {
        self.state = State::Between;
        self.outcome.warnings = std::mem::take(&mut self.notices);
        while let Some(tag @ (b'Z' | b'N' | b'S' | b'A')) = self.wire.next_tag()? {
            let (_, from, to) = self.wire.message().await?;
            if tag == b'N' {
                self.notices = self.notices.saturating_add(1);
            } else if tag == b'Z' {
                self.ready(from, to);
                self.rest();
                break;
            }
        }
        Ok(())
    }

    /// Fills the chunk with the next rows.
    pub(super) async fn rows(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        chunk.begin(Format::Postgres);
        if self.state != State::Rows {
            return Ok(false);
        }
        self.state = State::Busy;
        let (bytes, rows) = chunk.parts();
        loop {
            let mut end = 0;
            while self.ending.is_none() {
                let Some((tag, from, to)) = self.wire.whole()? else { break };
                match tag {
                    b'D' => {
                        rows.push((from, to));
                        end = to;
                    }
                    b'C' => {
                        let rows = self.outcome.rows + rows.len() as u64;
                        self.outcome = completed(&self.wire.bytes()[from..to]);
                        self.outcome.rows = rows;
                        self.ending = Some(Ok(()));
                    }
                    b'E' => {
                        let body = &self.wire.bytes()[from..to];
                        self.ending = Some(Err(fault::refusal(body, &self.sql)));
                    }
                    b'N' => self.notices = self.notices.saturating_add(1),
                    b'2' | b'S' | b'A' => {}
                    _ => return Err(malformed("a row")),
                }
            }
            if !rows.is_empty() {
                if self.ending.is_none() {
                    self.outcome.rows += rows.len() as u64;
                }
                self.wire.swap(bytes, end);
                self.state = State::Rows;
                return Ok(true);
            }
            match self.ending.take() {
                Some(Ok(())) => {
                    self.after_result().await?;
                    return Ok(false);
                }
                Some(Err(failure)) => return Err(self.refused(failure).await),
                None => self.wire.fill().await?,
            }
        }
    }

    /// Goes on to the next result. `false`: there is none.
    pub(super) async fn next_result(&mut self) -> Result<bool, Failure> {
        if self.state != State::Between {
            return Ok(false);
        }
        self.state = State::Busy;
        self.head().await
    }

    /// Reads all that is left of a statement and drops its rows. The outcome is that of all its results.
    pub(super) async fn drain(&mut self) -> Result<(), Failure> {
        let (mut chunk, mut all) = (Chunk::default(), Outcome::default());
        loop {
            while self.rows(&mut chunk).await? {}
            all.add(&self.outcome);
            if self.state == State::Idle {
                break;
            }
            self.outcome = Outcome::default();
            if !self.next_result().await? {
                break;
            }
        }
        self.outcome = all;
        Ok(())
    }
}

/// A statement or a name with a zero byte in it.
pub(super) fn has_nul() -> Failure {
    let why = "pq: a statement cannot have a character with the number 0 in it";
    Failure::new(Trouble::Usage, why)
}

/// `COPY` as an ordinary statement, in the Go driver's words.
fn copying(what: &str) -> Failure {
    Failure::new(Trouble::Usage, format!("pq: unknown response for simple query: {what:?}"))
}

/// The outcome by the tag of `CommandComplete`: `INSERT 0 5`, `SELECT 3`, `CREATE TABLE`.
pub(super) fn completed(body: &[u8]) -> Outcome {
    let tag = body.strip_suffix(b"\0").unwrap_or(body);
    let last = tag.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let count = std::str::from_utf8(last).ok().and_then(|count| count.parse().ok());
    Outcome { rows_affected: Some(count.unwrap_or(0)), ..Outcome::default() }
}
