//! A session with a server: commands out, results in. One command runs at a time.

use std::rc::Rc;

use super::definition::Reading;
use super::packet::{
    self, Done, Fields, IN_TRANSACTION, MORE_RESULTS, NO_BACKSLASH_ESCAPES, malformed,
};
use super::shapes::Shapes;
use super::wire::Wire;
use crate::chunk::{Chunk, Format};
use crate::column::Columns;
use crate::config::mysql::Options;
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// The first bytes of commands.
pub(super) mod command {
    pub(in super::super) const QUIT: u8 = 0x01;
    pub(in super::super) const QUERY: u8 = 0x03;
    pub(in super::super) const PREPARE: u8 = 0x16;
    pub(in super::super) const EXECUTE: u8 = 0x17;
    pub(in super::super) const CLOSE: u8 = 0x19;
    /// MariaDB's: run a prepared statement for many rows of arguments.
    pub(in super::super) const BULK: u8 = 0xfa;
}

/// The most columns of a result; MySQL itself has 4096.
const COLUMNS_MAX: u64 = 65_535;

/// A command's buffer that grew beyond this is given back.
const OUT_KEEP: usize = 32 * 1024;

/// A deadlock: the server has rolled the transaction back.
const DEADLOCK: i64 = 1213;

/// Refusals after which the server closes the connection: it shuts down, the packet was too long, somebody killed the connection, it was idle
/// for too long.
const LAST_WORDS: [i64; 4] = [1053, 1153, 1927, 4031];

/// Where the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The next command may come.
    Idle,
    /// Rows are read.
    Rows(Format),
    /// A result has ended, and another follows.
    Between(Format),
    /// A future was dropped in the middle of this.
    Busy,
    /// The connection is of no more use.
    Broken,
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) wire: Wire,
    /// The command that is written. Empty between commands.
    pub(super) out: Vec<u8>,
    pub(super) options: Options,
    pub(super) state: State,
    pub(super) status: u16,
    /// The server's number of this connection.
    pub(super) id: u32,
    pub(super) is_mariadb: bool,
    /// The end of rows is a packet `OK`.
    pub(super) has_new_end: bool,
    /// One command may run a prepared statement for many rows of arguments.
    pub(super) has_bulk: bool,
    pub(super) reading: Reading,
    pub(super) columns: Columns,
    pub(super) outcome: Outcome,
    /// The end that came behind rows which are handed over first.
    ending: Option<Result<Done, Failure>>,
    shapes: Shapes,
    /// The longest packet that the server takes, once it was asked.
    pub(super) packet_max: Option<usize>,
    /// Prepared statements that the server is told to forget with the next command.
    pub(super) forgotten: Vec<u32>,
}

impl Session {
    /// A session that has not said anything yet.
    pub(super) fn new(wire: Wire, options: Options, reading: Reading) -> Self {
        Self {
            wire,
            out: Vec::new(),
            options,
            state: State::Busy,
            status: 0,
            id: 0,
            is_mariadb: false,
            has_new_end: false,
            has_bulk: false,
            reading,
            columns: Rc::new([]),
            outcome: Outcome::default(),
            ending: None,
            shapes: Shapes::default(),
            packet_max: None,
            forgotten: Vec::new(),
        }
    }

    /// Whether the server says that a backslash in a literal is a backslash.
    pub(super) fn has_plain_backslashes(&self) -> bool {
        self.status & NO_BACKSLASH_ESCAPES != 0
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        self.status & IN_TRANSACTION != 0
    }

    /// Before each statement: nothing may be left of the last.
    pub(super) fn take_up(&mut self) -> Result<(), Failure> {
        match self.state {
            State::Idle => {
                self.state = State::Busy;
                Ok(())
            }
            State::Broken => Err(Failure::new(Trouble::Broken, "invalid connection")),
            State::Rows(_) | State::Between(_) | State::Busy => {
                let why = "busy buffer: the rows of the last statement were not read to their end";
                Err(Failure::new(Trouble::Usage, why))
            }
        }
    }

    /// After each step: an error ends the statement, and the connection with it if it is fatal.
    pub(super) fn settle<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        let failure = match result {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        self.columns = Rc::new([]);
        // The server is about to become one that only reads: the pool shall find another.
        if self.options.reject_read_only && matches!(failure.number(), 1290 | 1792 | 1836) {
            self.state = State::Broken;
            return Err(Failure::new(Trouble::Broken, "driver: bad connection"));
        }
        if failure.number() == DEADLOCK {
            self.status &= !IN_TRANSACTION;
        }
        if failure.is_fatal() || LAST_WORDS.contains(&failure.number()) {
            self.state = State::Broken;
        } else {
            self.rest();
        }
        Err(failure)
    }

    /// A statement is over.
    pub(super) fn rest(&mut self) {
        self.state = State::Idle;
        self.wire.rest();
        self.out.clear();
        if self.out.capacity() > OUT_KEEP {
            self.out = Vec::new();
        }
    }

    /// Begins a command; the statements to be forgotten go before it, in the same packet of TCP.
    pub(super) async fn begin(&mut self, command: u8) -> Result<usize, Failure> {
        self.out.clear();
        if !self.forgotten.is_empty() {
            for id in self.forgotten.drain(..) {
                let start = packet::begin(&mut self.out);
                self.out.push(command::CLOSE);
                self.out.extend_from_slice(&id.to_le_bytes());
                packet::end(&mut self.out, start, 0);
            }
            if self.options.compress {
                // Each compressed command is counted anew.
                self.wire.begin();
                self.wire.send(&self.out).await?;
                self.out.clear();
            }
        }
        Ok(self.begin_more(command))
    }

    /// Begins a command behind others.
    pub(super) fn begin_more(&mut self, command: u8) -> usize {
        let start = packet::begin(&mut self.out);
        self.out.push(command);
        start
    }

    /// Ends the command that began at `start`.
    ///
    /// # Errors
    /// It is longer than the DSN or the server allows. Nothing was sent then.
    pub(super) fn end(&mut self, start: usize) -> Result<u8, Failure> {
        let size = self.out.len() - start - packet::HEAD;
        let limit = match (self.options.max_allowed_packet, self.packet_max) {
            (0, None) => usize::MAX,
            (0, Some(limit)) | (limit, None) => limit,
            (one, Some(other)) => one.min(other),
        };
        if size > limit {
            self.out.truncate(start);
            return Err(too_large());
        }
        Ok(packet::end(&mut self.out, start, 0))
    }

    /// Sends the commands that were written; the first packet of the answer has this number.
    pub(super) async fn send(&mut self, answer: u8) -> Result<(), Failure> {
        self.wire.begin();
        self.wire.expect(answer);
        self.wire.send(&self.out).await
    }

    /// Sends a statement as a text and reads the head of its answer.
    pub(super) async fn query(&mut self, sql: &[u8]) -> Result<(), Failure> {
        let start = self.begin(command::QUERY).await?;
        self.out.extend_from_slice(sql);
        let answer = self.end(start)?;
        self.send(answer).await?;
        self.head(Format::MySqlText).await
    }

    /// Runs a statement of our own, whose rows are of no interest.
    pub(super) async fn run(&mut self, sql: &[u8]) -> Result<(), Failure> {
        self.query(sql).await?;
        self.drain().await
    }

    /// Reads the head of an answer: columns, or its end.
    pub(super) async fn head(&mut self, format: Format) -> Result<(), Failure> {
        let (from, to) = self.wire.packet().await?;
        let packet = &self.wire.bytes()[from..to];
        match *packet.first().ok_or_else(malformed)? {
            0x00 => {
                let done = Done::read(packet).ok_or_else(malformed)?;
                self.columns = Rc::new([]);
                self.outcome = Outcome::default();
                self.finish(done, format);
                Ok(())
            }
            0xff => Err(packet::refusal(packet)),
            0xfb => {
                let name = String::from_utf8_lossy(&packet[1..]).into_owned();
                self.refuse_file(&name).await
            }
            _ => {
                let count = Fields(packet).number().ok_or_else(malformed)?;
                if count > COLUMNS_MAX {
                    return Err(malformed());
                }
                self.outcome = Outcome::default();
                self.columns = self.shape(count, format).await?;
                self.state = State::Rows(format);
                Ok(())
            }
        }
    }

    /// The server asks for a file of this machine that we did not offer: it gets nothing.
    async fn refuse_file(&mut self, name: &str) -> Result<(), Failure> {
        self.send_empty().await?;
        let (from, to) = self.wire.packet().await?;
        let answer = &self.wire.bytes()[from..to];
        let refusal = (answer.first() == Some(&0xff)).then(|| packet::refusal(answer));
        let why = format!("local file '{name}' is not registered");
        Err(Failure::new(
            Trouble::Usage,
            match refusal {
                Some(refusal) => format!("{why} ({refusal})"),
                None => why,
            },
        ))
    }

    /// Sends an empty packet: the end of a file.
    pub(super) async fn send_empty(&mut self) -> Result<(), Failure> {
        let sequence = self.wire.sequence();
        self.out.clear();
        let start = packet::begin(&mut self.out);
        let answer = packet::end(&mut self.out, start, sequence);
        self.wire.expect(answer);
        self.wire.send(&self.out).await
    }

    /// Reads the definitions of a result's columns.
    async fn shape(&mut self, count: u64, format: Format) -> Result<Columns, Failure> {
        self.shapes.begin();
        for _ in 0..count {
            let (from, to) = self.wire.packet().await?;
            let packet = &self.wire.bytes()[from..to];
            if packet.first() == Some(&0xff) {
                return Err(packet::refusal(packet));
            }
            self.shapes.push(packet)?;
        }
        if !self.has_new_end {
            self.wire.packet().await?;
        }
        self.shapes.end(format, self.reading)
    }

    /// A result has ended.
    fn finish(&mut self, done: Done, format: Format) {
        self.status = done.status;
        self.outcome.rows_affected = Some(done.affected);
        self.outcome.last_insert_id = Some(done.last_insert_id as i64);
        self.outcome.warnings = u32::from(done.warnings);
        if done.status & MORE_RESULTS != 0 {
            self.state = State::Between(format);
        } else {
            self.rest();
        }
    }

    /// Fills the chunk with the rows that have come, at least one. `false`: there are no more.
    pub(super) async fn rows(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        let State::Rows(format) = self.state else {
            chunk.begin(Format::MySqlText);
            return Ok(false);
        };
        chunk.begin(format);
        self.state = State::Busy;
        let (bytes, rows) = chunk.parts();
        loop {
            let mut end = 0;
            while self.ending.is_none() {
                let place = match self.wire.whole() {
                    Ok(Some(place)) => place,
                    Ok(None) => break,
                    Err(failure) => {
                        self.ending = Some(Err(failure));
                        break;
                    }
                };
                let packet = &self.wire.bytes()[place.0..place.1];
                match packet.first() {
                    Some(0xfe) if packet.len() < packet::PART_MAX => {
                        let done = if self.has_new_end {
                            Done::read(packet)
                        } else {
                            Done::read_old(packet)
                        };
                        self.ending = Some(done.ok_or_else(malformed));
                    }
                    Some(0xff) => self.ending = Some(Err(packet::refusal(packet))),
                    None => self.ending = Some(Err(malformed())),
                    Some(_) => {
                        rows.push(place);
                        end = place.1;
                    }
                }
            }
            if !rows.is_empty() {
                self.outcome.rows += rows.len() as u64;
                self.wire.swap(bytes, end);
                self.state = State::Rows(format);
                return Ok(true);
            }
            match self.ending.take() {
                Some(Ok(done)) => {
                    self.finish(done, format);
                    return Ok(false);
                }
                Some(Err(failure)) => return Err(failure),
                None => self.wire.fill().await?,
            }
        }
    }

    /// Goes on to the next result. `false`: there is none.
    pub(super) async fn next_result(&mut self) -> Result<bool, Failure> {
        let State::Between(format) = self.state else { return Ok(false) };
        self.state = State::Busy;
        self.head(format).await?;
        Ok(true)
    }

    /// Reads all that is left of a statement and drops its rows. The outcome is that of all its results.
    pub(super) async fn drain(&mut self) -> Result<(), Failure> {
        let (mut chunk, mut all) = (Chunk::default(), Outcome::default());
        loop {
            while self.rows(&mut chunk).await? {}
            all.add(&self.outcome);
            if !self.next_result().await? {
                self.outcome = all;
                return Ok(());
            }
        }
    }

    /// The longest packet that the server takes, which is asked once.
    pub(super) async fn packet_max(&mut self) -> Result<usize, Failure> {
        if let Some(limit) = self.packet_max {
            return Ok(limit);
        }
        self.query(b"SELECT @@max_allowed_packet").await?;
        let (mut chunk, mut limit) = (Chunk::default(), None);
        while self.rows(&mut chunk).await? {
            let sink = |_, cell: crate::cell::Cell<'_>| {
                limit = match cell {
                    crate::cell::Cell::Int(value) => usize::try_from(value).ok(),
                    crate::cell::Cell::UInt(value) => usize::try_from(value).ok(),
                    _ => None,
                };
                Ok::<(), ()>(())
            };
            chunk.read(0, &self.columns, sink).map_err(|_| malformed())?;
        }
        self.state = State::Busy;
        let limit = limit.ok_or_else(malformed)?;
        self.packet_max = Some(limit);
        Ok(limit)
    }
}

/// A statement is longer than it may be: the Go driver's words.
pub(super) fn too_large() -> Failure {
    let why = "packet for query is too large. Try adjusting the `Config.MaxAllowedPacket`";
    Failure::new(Trouble::TooLarge, why)
}
