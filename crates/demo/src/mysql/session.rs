//! The commands of one connection.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use mysql_common::constants::{CapabilityFlags, Command, StatusFlags};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::args::{self, Type};
use super::bind::{Argument, Value, value};
use super::change::Sweep;
use super::database::Done;
use super::facts::{self, Asker};
use super::login::{Guest, USER, check_database};
use super::parse;
use super::reply::{self, Heading, Manner};
use super::select::{self, Reading};
use super::serve::{Living, Shared};
use super::statement::{Fact, Statement};
use super::trouble::Trouble;
use super::undo::Log;
use super::wire::{Lost, PACKET_MAX, Wire};

/// The most prepared statements of a connection.
const PREPARED_MAX: usize = 1024;
/// The longest SLEEP.
const SLEEP_MAX: Duration = Duration::from_hours(1);
/// Pages that are worked on before others have their turn.
const TURN: u32 = 16;

const COM_QUIT: u8 = Command::COM_QUIT as u8;
const COM_PING: u8 = Command::COM_PING as u8;
const COM_INIT_DB: u8 = Command::COM_INIT_DB as u8;
const COM_QUERY: u8 = Command::COM_QUERY as u8;
const COM_STMT_PREPARE: u8 = Command::COM_STMT_PREPARE as u8;
const COM_STMT_EXECUTE: u8 = Command::COM_STMT_EXECUTE as u8;
const COM_STMT_SEND_LONG_DATA: u8 = Command::COM_STMT_SEND_LONG_DATA as u8;
const COM_STMT_CLOSE: u8 = Command::COM_STMT_CLOSE as u8;
const COM_STMT_RESET: u8 = Command::COM_STMT_RESET as u8;
const COM_RESET_CONNECTION: u8 = Command::COM_RESET_CONNECTION as u8;
const COM_SET_OPTION: u8 = Command::COM_SET_OPTION as u8;

/// A connection's end, which is no answer.
struct Ended;

impl From<std::io::Error> for Ended {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

/// Why a statement has no result.
enum Stopped {
    Refused(Trouble),
    Ended,
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self::Refused(trouble)
    }
}

impl From<std::io::Error> for Stopped {
    fn from(_: std::io::Error) -> Self {
        Self::Ended
    }
}

struct Prepared {
    statement: Statement,
    arguments: usize,
    types: Vec<Type>,
    /// Arguments that come in packets of their own.
    long: Vec<(usize, Vec<u8>)>,
}

/// A connection that is logged in.
pub(crate) struct Session<'a> {
    shared: &'a Shared,
    living: &'a Living,
    number: u32,
    wire: Wire<TcpStream>,
    capabilities: CapabilityFlags,
    database: Option<String>,
    is_autocommit: bool,
    is_in_transaction: bool,
    log: Log,
    last_id: u64,
    prepared: HashMap<u32, Prepared>,
    next_prepared: u32,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        living: &'a Living,
        number: u32,
        guest: Guest,
        wire: Wire<TcpStream>,
    ) -> Self {
        Self {
            shared,
            living,
            number,
            wire,
            capabilities: guest.capabilities,
            database: guest.database,
            is_autocommit: true,
            is_in_transaction: false,
            log: Log::default(),
            last_id: 0,
            prepared: HashMap::new(),
            next_prepared: 1,
        }
    }

    /// Answers until the client or KILL ends it.
    pub(crate) async fn run(mut self) {
        self.ok(Done::default(), false);
        loop {
            if self.wire.flush().await.is_err() {
                break;
            }
            let packet = tokio::select! {
                packet = self.wire.read() => packet,
                () = killed(self.living) => break,
            };
            match packet {
                Ok(packet) => {
                    self.living.is_interrupted.store(false, Relaxed);
                    if self.command(packet).await.is_err() {
                        break;
                    }
                }
                Err(Lost::TooLarge) => {
                    let text = "Got a packet bigger than 'max_allowed_packet' bytes";
                    self.refuse(&Trouble::new(1153, "08S01", text));
                    // The end comes in any case.
                    let _ = self.wire.flush().await;
                    break;
                }
                Err(Lost::Gone) => break,
            }
        }
        self.shared.database().undo(&mut self.log, 0);
    }

    async fn command(&mut self, packet: Vec<u8>) -> Result<(), Ended> {
        let Some((&command, content)) = packet.split_first() else { return Err(Ended) };
        match command {
            COM_QUIT => return Err(Ended),
            COM_PING => self.ok(Done::default(), false),
            COM_INIT_DB => {
                let name = String::from_utf8_lossy(content).into_owned();
                self.choose(&name);
            }
            COM_QUERY => self.query(content).await?,
            COM_STMT_PREPARE => self.prepare(content),
            COM_STMT_EXECUTE => self.execute(content).await?,
            COM_STMT_SEND_LONG_DATA => self.keep_long(content)?,
            COM_STMT_CLOSE => {
                if let Some(id) = content.first_chunk() {
                    self.prepared.remove(&u32::from_le_bytes(*id));
                }
            }
            COM_STMT_RESET => {
                let id = content.first_chunk().map(|id| u32::from_le_bytes(*id));
                match id.and_then(|id| self.prepared.get_mut(&id)) {
                    Some(prepared) => {
                        prepared.long.clear();
                        self.ok(Done::default(), false);
                    }
                    None => self.refuse(&no_prepared("mysqld_stmt_reset")),
                }
            }
            COM_RESET_CONNECTION => {
                self.roll_back();
                self.prepared.clear();
                (self.is_autocommit, self.last_id) = (true, 0);
                self.ok(Done::default(), false);
            }
            COM_SET_OPTION => {
                let flag = CapabilityFlags::CLIENT_MULTI_STATEMENTS;
                self.capabilities.set(flag, content.first() == Some(&0));
                self.manner(false).eof(&mut self.wire.packets);
            }
            _ => self.refuse(&Trouble::new(1047, "08S01", "Unknown command")),
        }
        Ok(())
    }

    fn manner(&self, has_more: bool) -> Manner {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.is_autocommit);
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, self.is_in_transaction);
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, has_more);
        Manner { capabilities: self.capabilities, status }
    }

    fn ok(&mut self, done: Done, has_more: bool) {
        self.manner(has_more).ok(&mut self.wire.packets, done);
    }

    fn refuse(&mut self, trouble: &Trouble) {
        self.shared.counts.errors.fetch_add(1, Relaxed);
        reply::refuse(&mut self.wire.packets, trouble);
    }

    fn choose(&mut self, name: &str) {
        match check_database(name) {
            Ok(()) => {
                self.database = Some(name.to_owned());
                self.ok(Done::default(), false);
            }
            Err(trouble) => self.refuse(&trouble),
        }
    }

    async fn query(&mut self, content: &[u8]) -> Result<(), Ended> {
        let parsed = text_of(content).and_then(parse::statements);
        let (statements, arguments) = match parsed {
            Ok(parsed) => parsed,
            Err(trouble) => {
                self.refuse(&trouble);
                return Ok(());
            }
        };
        let has_many = self.capabilities.contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        if arguments > 0 || statements.len() > 1 && !has_many {
            let part = if arguments > 0 { "? outside a prepared statement" } else { "several statements" };
            self.refuse(&Trouble::unknown(part));
            return Ok(());
        }
        let count = statements.len();
        for (index, statement) in statements.iter().enumerate() {
            if !self.answer(statement, &[], false, index + 1 < count).await? {
                break;
            }
        }
        Ok(())
    }

    fn prepare(&mut self, content: &[u8]) {
        self.shared.counts.prepares.fetch_add(1, Relaxed);
        let made = text_of(content).and_then(parse::statements).and_then(|(mut all, arguments)| {
            let statement = all.pop().filter(|_| all.is_empty());
            let statement = statement.ok_or_else(|| Trouble::unknown("several statements"))?;
            if self.prepared.len() >= PREPARED_MAX {
                let text = format!(
                    "Can't create more than max_prepared_stmt_count statements (current value: {PREPARED_MAX})"
                );
                return Err(Trouble::new(1461, "42000", text));
            }
            let headings = match &statement {
                Statement::Select(select) => select::headings(&self.shared.database(), select)?,
                Statement::Facts(all) => all.iter().map(|(name, fact)| facts::heading(name, fact)).collect(),
                Statement::ShowTables => vec![Heading::text("Tables_in_demo")],
                _ => Vec::new(),
            };
            Ok((statement, arguments, headings))
        });
        match made {
            Ok((statement, arguments, headings)) => {
                let id = self.next_prepared;
                self.next_prepared += 1;
                self.manner(false).prepared(&mut self.wire.packets, id, arguments, &headings);
                let prepared = Prepared { statement, arguments, types: Vec::new(), long: Vec::new() };
                self.prepared.insert(id, prepared);
            }
            Err(trouble) => self.refuse(&trouble),
        }
    }

    fn keep_long(&mut self, content: &[u8]) -> Result<(), Ended> {
        let (Some(id), Some(index), Some(data)) =
            (content.first_chunk::<4>(), content.get(4..6), content.get(6..))
        else {
            return Err(Ended);
        };
        let index = usize::from(index[0]) | usize::from(index[1]) << 8;
        // Nothing is answered here; a statement that is not there is refused when it is executed.
        let Some(prepared) = self.prepared.get_mut(&u32::from_le_bytes(*id)) else { return Ok(()) };
        let held: usize = prepared.long.iter().map(|(_, value)| value.len()).sum();
        if held + data.len() > PACKET_MAX || index >= prepared.arguments {
            return Err(Ended);
        }
        match prepared.long.iter_mut().find(|(at, _)| *at == index) {
            Some((_, value)) => value.extend_from_slice(data),
            None => prepared.long.push((index, data.to_vec())),
        }
        Ok(())
    }

    async fn execute(&mut self, content: &[u8]) -> Result<(), Ended> {
        let id = content.first_chunk().map(|id| u32::from_le_bytes(*id));
        // Statement, flags of a cursor, iterations; then the arguments.
        let given = content.get(9..).unwrap_or_default();
        let Some((id, mut prepared)) = id.and_then(|id| Some((id, self.prepared.remove(&id)?))) else {
            self.refuse(&no_prepared("mysqld_stmt_execute"));
            return Ok(());
        };
        let long = std::mem::take(&mut prepared.long);
        let result = match args::read(given, prepared.arguments, &mut prepared.types, &long) {
            Ok(arguments) => self.answer(&prepared.statement, &arguments, true, false).await,
            Err(trouble) => {
                self.refuse(&trouble);
                Ok(false)
            }
        };
        self.prepared.insert(id, prepared);
        result.map(|_| ())
    }

    /// Does a statement and answers. `false`: it was refused.
    async fn answer(
        &mut self,
        statement: &Statement,
        args: &[Argument],
        is_binary: bool,
        has_more: bool,
    ) -> Result<bool, Ended> {
        let counts = &self.shared.counts;
        let number = counts.statements.fetch_add(1, Relaxed) + 1;
        let every = self.shared.config.kill_every;
        if every > 0 && number.is_multiple_of(every) {
            counts.cut.fetch_add(1, Relaxed);
            return Err(Ended);
        }
        let mark = self.log.len();
        match self.perform(statement, args, is_binary, has_more).await {
            Ok(()) => Ok(true),
            Err(Stopped::Ended) => Err(Ended),
            Err(Stopped::Refused(trouble)) => {
                let mark = if trouble.code == 1213 { 0 } else { mark };
                self.shared.database().undo(&mut self.log, mark);
                self.is_in_transaction &= trouble.code != 1213;
                self.refuse(&trouble);
                Ok(false)
            }
        }
    }

    async fn perform(
        &mut self,
        statement: &Statement,
        args: &[Argument],
        is_binary: bool,
        has_more: bool,
    ) -> Result<(), Stopped> {
        if statement.writes() {
            self.may_write()?;
        }
        let mut done = Done::default();
        match statement {
            Statement::Nothing => {}
            Statement::Lock | Statement::Commit => self.commit().await,
            Statement::Rollback => self.roll_back(),
            Statement::Begin => {
                self.commit().await;
                self.is_in_transaction = true;
            }
            Statement::Autocommit(is_on) => {
                if *is_on {
                    self.commit().await;
                }
                self.is_autocommit = *is_on;
            }
            Statement::Use(name) => {
                check_database(name)?;
                self.database = Some(name.clone());
            }
            Statement::Kill(connection, is_whole) => {
                if !self.shared.kill(*connection, *is_whole) {
                    let text = format!("Unknown thread id: {connection}");
                    return Err(Trouble::new(1094, "HY000", text).into());
                }
            }
            Statement::Schema(change) => {
                self.commit().await;
                done = self.shared.database().change(change)?;
                self.wrote(done).await;
                self.shared.costs.commit().await;
                done.changed = 0;
            }
            Statement::Insert(insert) => {
                done = self.shared.database().insert(insert, args, &mut self.log)?;
                if done.last_id > 0 {
                    self.last_id = done.last_id;
                }
                self.end_write(done).await;
            }
            Statement::Update(update) => {
                let sweep = Sweep::update(&self.shared.database(), update, args)?;
                done = self.sweep(sweep).await?;
            }
            Statement::Joined(joined) => {
                let sweep = Sweep::joined(&self.shared.database(), joined)?;
                done = self.sweep(sweep).await?;
            }
            Statement::Delete(delete) => {
                let sweep = Sweep::delete(&self.shared.database(), delete, args)?;
                done = self.sweep(sweep).await?;
            }
            Statement::Select(select) => {
                let reading = Reading::new(&self.shared.database(), select, args)?;
                return self.send(reading, is_binary, has_more).await;
            }
            Statement::Facts(all) => return self.tell(all, args, is_binary, has_more).await,
            Statement::ShowTables => {
                let names: Vec<_> = self.shared.database().names().map(str::to_owned).collect();
                let headings = [Heading::text("Tables_in_demo")];
                let manner = self.manner(has_more);
                manner.headings(&mut self.wire.packets, &headings);
                for name in names {
                    let cells = [Some(name.as_bytes())];
                    reply::row(&mut self.wire.packets, &headings, &cells, is_binary);
                }
                manner.end(&mut self.wire.packets);
                return Ok(());
            }
        }
        self.ok(done, has_more);
        Ok(())
    }

    /// Whether a statement that writes may begin.
    fn may_write(&self) -> Result<(), Trouble> {
        let (config, counts) = (&self.shared.config, &self.shared.counts);
        if config.read_only {
            let text = "The MySQL server is running with the --read-only option so it cannot execute this statement";
            return Err(Trouble::new(1290, "HY000", text));
        }
        let number = counts.writes.fetch_add(1, Relaxed) + 1;
        if config.deadlock_every > 0 && number.is_multiple_of(config.deadlock_every) {
            counts.deadlocks.fetch_add(1, Relaxed);
            return Err(Trouble::deadlock());
        }
        Ok(())
    }

    /// KILL QUERY, or KILL, was said.
    fn check_interrupted(&self) -> Result<(), Trouble> {
        match self.living.is_interrupted.load(Relaxed) {
            true => Err(Trouble::interrupted()),
            false => Ok(()),
        }
    }

    async fn sweep(&mut self, mut sweep: Sweep) -> Result<Done, Trouble> {
        let mut pages = 0;
        while sweep.step(&mut self.shared.database(), &mut self.log)? {
            self.check_interrupted()?;
            pages += 1;
            if pages % TURN == 0 {
                yield_now().await;
            }
        }
        self.end_write(sweep.done).await;
        Ok(sweep.done)
    }

    async fn wrote(&self, done: Done) {
        self.shared.counts.rows_written.fetch_add(done.written, Relaxed);
        self.shared.costs.rows(done.written, 0).await;
    }

    /// Rows were written; outside a transaction that is a commit.
    async fn end_write(&mut self, done: Done) {
        self.wrote(done).await;
        if self.is_autocommit && !self.is_in_transaction {
            self.log.clear();
            self.shared.counts.commits.fetch_add(1, Relaxed);
            self.shared.costs.commit().await;
        } else {
            self.is_in_transaction = true;
        }
    }

    /// Ends a transaction, if there is one.
    async fn commit(&mut self) {
        if !self.is_in_transaction {
            return;
        }
        let has_written = self.log.len() > 0;
        self.log.clear();
        self.is_in_transaction = false;
        self.shared.counts.commits.fetch_add(1, Relaxed);
        if has_written {
            self.shared.costs.commit().await;
        }
    }

    fn roll_back(&mut self) {
        if self.is_in_transaction {
            self.shared.counts.rollbacks.fetch_add(1, Relaxed);
        }
        self.shared.database().undo(&mut self.log, 0);
        self.is_in_transaction = false;
    }

    /// Sends rows as they are read.
    async fn send(
        &mut self,
        mut reading: Reading,
        is_binary: bool,
        has_more: bool,
    ) -> Result<(), Stopped> {
        let manner = self.manner(has_more);
        manner.headings(&mut self.wire.packets, &reading.headings);
        let (mut pages, mut before) = (0, 0);
        loop {
            let more = reading.step(&self.shared.database(), &mut self.wire.packets, is_binary);
            self.shared.costs.rows(0, reading.read - before).await;
            before = reading.read;
            if self.wire.packets.is_full() {
                self.wire.flush().await?;
            }
            if !more {
                break;
            }
            self.check_interrupted()?;
            pages += 1;
            if pages % TURN == 0 {
                yield_now().await;
            }
        }
        self.shared.counts.rows_read.fetch_add(reading.read, Relaxed);
        self.shared.counts.rows_sent.fetch_add(reading.sent, Relaxed);
        manner.end(&mut self.wire.packets);
        Ok(())
    }

    /// Answers a SELECT without a table.
    async fn tell(
        &mut self,
        all: &[(String, Fact)],
        args: &[Argument],
        is_binary: bool,
        has_more: bool,
    ) -> Result<(), Stopped> {
        let headings: Vec<_> = all.iter().map(|(name, fact)| facts::heading(name, fact)).collect();
        let mut texts = Vec::new();
        for (_, fact) in all {
            let is_interrupted = match fact {
                Fact::Sleep(seconds) => self.sleep(value(seconds, args)?).await?,
                _ => false,
            };
            let asker = Asker {
                connection: self.number,
                last_id: self.last_id,
                user: USER,
                database: self.database.as_deref(),
                is_autocommit: self.is_autocommit,
                is_read_only: self.shared.config.read_only,
            };
            texts.push(if is_interrupted { Some(b"1".to_vec()) } else { facts::text(fact, &asker, args)? });
        }
        let cells: Vec<_> = texts.iter().map(Option::as_deref).collect();
        let manner = self.manner(has_more);
        manner.headings(&mut self.wire.packets, &headings);
        reply::row(&mut self.wire.packets, &headings, &cells, is_binary);
        manner.end(&mut self.wire.packets);
        Ok(())
    }

    /// SLEEP. Returns whether KILL QUERY ended it.
    async fn sleep(&self, seconds: Value<'_>) -> Result<bool, Stopped> {
        let seconds = match seconds {
            Value::Int(seconds) => seconds as f64,
            Value::Text(text) => std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse::<f64>().ok())
                .ok_or_else(|| Trouble::new(1210, "HY000", "Incorrect arguments to sleep"))?,
            Value::Null | Value::Default => 0.0,
        };
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| Trouble::new(1210, "HY000", "Incorrect arguments to sleep"))?;
        let woken = async {
            while !self.living.is_interrupted.load(Relaxed) {
                self.living.wake.notified().await;
            }
        };
        tokio::select! {
            () = sleep(time.min(SLEEP_MAX)) => Ok(false),
            () = woken => match self.living.is_killed.load(Relaxed) {
                true => Err(Stopped::Ended),
                false => Ok(true),
            },
        }
    }
}

/// Returns when KILL ends a connection that waits for its client.
async fn killed(living: &Living) {
    while !living.is_killed.load(Relaxed) {
        living.wake.notified().await;
    }
}

fn text_of(content: &[u8]) -> Result<&str, Trouble> {
    std::str::from_utf8(content)
        .map_err(|_| Trouble::new(1300, "HY000", "Invalid utf8mb4 character string"))
}

fn no_prepared(to: &str) -> Trouble {
    let text = format!("Unknown prepared statement handler given to {to}");
    Trouble::new(1243, "HY000", text)
}
