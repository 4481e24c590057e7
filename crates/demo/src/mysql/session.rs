//! The commands of one connection.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

use mysql_common::constants::{CapabilityFlags, Command, StatusFlags};
use tokio::net::TcpStream;

use super::args::{self, Type};
use super::database::Done;
use super::facts;
use super::login::{Guest, check_database};
use super::parse;
use super::reply::{self, Heading, Manner};
use super::select;
use super::serve::{Living, Shared};
use super::statement::Statement;
use super::trouble::Trouble;
use super::undo::Log;
use super::wire::{Lost, PACKET_MAX, Wire};

mod perform;

/// The most prepared statements of a connection.
const PREPARED_MAX: usize = 1024;
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
            let part =
                if arguments > 0 { "? outside a prepared statement" } else { "several statements" };
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
                let prepared =
                    Prepared { statement, arguments, types: Vec::new(), long: Vec::new() };
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
        let Some((id, mut prepared)) = id.and_then(|id| Some((id, self.prepared.remove(&id)?)))
        else {
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
