//! Prepared statements: kept on the server under a number, run with arguments in binary.

use rustc_hash::FxHashMap;

use super::lexer;
use super::literal::Literals;
use super::packet::{self, Fields, malformed, push_text};
use super::session::{Session, command};
use super::zone;
use crate::args::Args;
use crate::cell::Cell;
use crate::chunk::Format;
use crate::failure::{Failure, Trouble};

/// The most statements that a connection keeps; of more, the one that was used least lately is let go.
const KEPT_MAX: usize = 64;

/// MariaDB's number of the statement that was prepared last.
const LAST: u32 = u32::MAX;

/// `max_prepared_stmt_count` is reached.
const TOO_MANY: i64 = 1461;

/// A statement on the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared {
    pub(super) id: u32,
    pub(super) params: u16,
}

/// The statements that a connection keeps.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// By their texts, with the time of their last use.
    statements: FxHashMap<Box<str>, (Prepared, u64)>,
    time: u64,
}

impl Kept {
    fn find(&mut self, sql: &str) -> Option<Prepared> {
        self.time += 1;
        let (prepared, used) = self.statements.get_mut(sql)?;
        *used = self.time;
        Some(*prepared)
    }

    /// Keeps one; gives back the number of the one that is let go for it.
    fn keep(&mut self, sql: &str, prepared: Prepared) -> Option<u32> {
        let mut gone = None;
        if self.statements.len() >= KEPT_MAX {
            let oldest = self.statements.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(sql, _)| sql.clone());
            gone = oldest.and_then(|sql| self.statements.remove(&sql));
        }
        self.statements.insert(sql.into(), (prepared, self.time));
        gone.map(|(prepared, _)| prepared.id)
    }

    fn let_all_go(&mut self) -> impl Iterator<Item = u32> {
        self.statements.drain().map(|(_, (prepared, _))| prepared.id)
    }
}

/// Runs a statement with arguments, prepared.
pub(super) async fn run(
    session: &mut Session,
    kept: &mut Kept,
    sql: &str,
    args: &Args,
    is_kept: bool,
) -> Result<(), Failure> {
    if is_kept {
        let prepared = find(session, kept, sql).await?;
        return execute(session, prepared, args).await;
    }
    // A server that refuses to prepare one more runs the one before, if it still has that: so none of ours may be left.
    if session.is_mariadb && !session.options.compress && kept.statements.is_empty() {
        let count = lexer::placeholders(sql, session.has_plain_backslashes()).count();
        if count == args.len() {
            return run_at_once(session, kept, sql, args).await;
        }
    }
    let prepared = prepare(session, kept, sql).await?;
    let result = execute(session, prepared, args).await;
    session.forgotten.push(prepared.id);
    result
}

/// The statement that is kept under this text, which may have to be prepared first.
pub(super) async fn find(
    session: &mut Session,
    kept: &mut Kept,
    sql: &str,
) -> Result<Prepared, Failure> {
    if let Some(prepared) = kept.find(sql) {
        return Ok(prepared);
    }
    let prepared = prepare(session, kept, sql).await?;
    session.forgotten.extend(kept.keep(sql, prepared));
    Ok(prepared)
}

/// Prepares a statement. Where the server has too many, ours make room.
pub(super) async fn prepare(
    session: &mut Session,
    kept: &mut Kept,
    sql: &str,
) -> Result<Prepared, Failure> {
    for is_again in [false, true] {
        let start = session.begin(command::PREPARE).await?;
        session.out.extend_from_slice(sql.as_bytes());
        let answer = session.end(start)?;
        session.send(answer).await?;
        match read_prepared(session).await {
            Err(failure) if failure.number() == TOO_MANY && !is_again => {
                session.forgotten.extend(kept.let_all_go());
                if session.forgotten.is_empty() {
                    return Err(failure);
                }
            }
            other => return other,
        }
    }
    Err(malformed())
}

/// Prepares and runs in one go: MariaDB knows the last statement that was prepared without its number.
async fn run_at_once(
    session: &mut Session,
    kept: &mut Kept,
    sql: &str,
    args: &Args,
) -> Result<(), Failure> {
    let start = session.begin(command::PREPARE).await?;
    session.out.extend_from_slice(sql.as_bytes());
    let answer = session.end(start)?;
    let start = session.begin_more(command::EXECUTE);
    let last = Prepared { id: LAST, params: args.len() as u16 };
    write_execution(session, last, args);
    let answer_of_run = session.end(start)?;
    session.send(answer).await?;
    let prepared = read_prepared(session).await;
    session.wire.expect(answer_of_run);
    match prepared {
        Ok(prepared) => {
            session.forgotten.push(prepared.id);
            session.head(Format::MySqlBinary).await
        }
        Err(failure) if failure.is_fatal() => Err(failure),
        Err(failure) => {
            // The run is refused as well, in other words.
            let (from, to) = session.wire.packet().await?;
            if session.wire.bytes()[from..to].first() != Some(&0xff) {
                return Err(malformed());
            }
            if failure.number() != TOO_MANY {
                return Err(failure);
            }
            let prepared = prepare(session, kept, sql).await?;
            let result = execute(session, prepared, args).await;
            session.forgotten.push(prepared.id);
            result
        }
    }
}

async fn read_prepared(session: &mut Session) -> Result<Prepared, Failure> {
    let (from, to) = session.wire.packet().await?;
    let packet = &session.wire.bytes()[from..to];
    if packet.first() == Some(&0xff) {
        return Err(packet::refusal(packet));
    }
    let mut fields = Fields(packet);
    let read = (fields.byte(), fields.long(), fields.short(), fields.short());
    let (Some(0), Some(id), Some(columns), Some(params)) = read else { return Err(malformed()) };
    for count in [params, columns] {
        let ends = usize::from(count > 0 && !session.has_new_end);
        for _ in 0..usize::from(count) + ends {
            session.wire.packet().await?;
        }
    }
    Ok(Prepared { id, params })
}

/// Runs a statement that was prepared: one packet out.
pub(super) async fn execute(
    session: &mut Session,
    prepared: Prepared,
    args: &Args,
) -> Result<(), Failure> {
    check_count(prepared, args.len())?;
    let start = session.begin(command::EXECUTE).await?;
    write_execution(session, prepared, args);
    let answer = session.end(start)?;
    session.send(answer).await?;
    session.head(Format::MySqlBinary).await
}

/// As many arguments as placeholders: else Go's words.
pub(super) fn check_count(prepared: Prepared, count: usize) -> Result<(), Failure> {
    let expected = usize::from(prepared.params);
    if expected == count {
        return Ok(());
    }
    let why = format!("sql: expected {expected} arguments, got {count}");
    Err(Failure::new(Trouble::Usage, why))
}

/// Writes the rest of the command that runs a statement with all of these arguments.
fn write_execution(session: &mut Session, prepared: Prepared, args: &Args) {
    write_run(session, prepared, args.iter());
}

/// Types of arguments; the second byte says that a number has no sign.
mod code {
    pub(super) const TINY: [u8; 2] = [1, 0];
    pub(super) const DOUBLE: [u8; 2] = [5, 0];
    pub(super) const NULL: [u8; 2] = [6, 0];
    pub(super) const SIGNED: [u8; 2] = [8, 0];
    pub(super) const UNSIGNED: [u8; 2] = [8, 0x80];
    pub(super) const STRING: [u8; 2] = [0xfe, 0];
}

/// The type in which a value travels. `None`: it is `NULL`, which travels in none.
pub(super) fn code(cell: Cell<'_>) -> Option<[u8; 2]> {
    Some(match cell {
        Cell::Null => return None,
        Cell::Bool(_) => code::TINY,
        Cell::Int(_) => code::SIGNED,
        Cell::UInt(_) => code::UNSIGNED,
        Cell::Float(_) | Cell::Single(_) => code::DOUBLE,
        Cell::Text(_) | Cell::Raw(_) | Cell::Bytes(_) | Cell::Time(_) => code::STRING,
    })
}

/// Appends a value that is not `NULL`, in its type.
#[inline]
pub(super) fn push_value(out: &mut Vec<u8>, cell: Cell<'_>, zone: u8) {
    match cell {
        Cell::Null => {}
        Cell::Bool(value) => out.push(u8::from(value)),
        Cell::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
        Cell::UInt(value) => out.extend_from_slice(&value.to_le_bytes()),
        Cell::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
        Cell::Single(value) => out.extend_from_slice(&f64::from(value).to_le_bytes()),
        Cell::Text(text) | Cell::Raw(text) | Cell::Bytes(text) => push_text(out, text),
        Cell::Time(moment) => {
            // A date is shorter than the lengths that need more than a byte.
            let at = out.len();
            out.push(0);
            zone::push(out, moment, zone);
            out[at] = (out.len() - at - 1) as u8;
        }
    }
}

/// Writes the rest of the command that runs a statement: numbers, a map of NULLs, types, values.
pub(super) fn write_run<'a>(
    session: &mut Session,
    prepared: Prepared,
    cells: impl ExactSizeIterator<Item = Cell<'a>>,
) {
    let zone = zone::number(&session.options.zone).unwrap_or(zone::UTC);
    let out = &mut session.out;
    out.extend_from_slice(&prepared.id.to_le_bytes());
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let count = cells.len();
    if count == 0 {
        return;
    }
    let nulls = out.len();
    out.resize(nulls + count.div_ceil(8), 0);
    out.push(1);
    let mut types = out.len();
    out.resize(types + 2 * count, 0);
    for (index, cell) in cells.enumerate() {
        if cell == Cell::Null {
            out[nulls + index / 8] |= 1 << (index % 8);
        }
        push_value(out, cell, zone);
        out[types..types + 2].copy_from_slice(&code(cell).unwrap_or(code::NULL));
        types += 2;
    }
}

/// A statement with its arguments as literals. `None`: there are not as many arguments as placeholders.
pub(super) fn interpolated(session: &Session, sql: &str, args: &Args) -> Option<Vec<u8>> {
    let literals = Literals::of(session);
    let mut out = Vec::with_capacity(sql.len() + args.byte_count() + 16 * args.len());
    let (mut from, mut cells) = (0, args.iter());
    for at in lexer::placeholders(sql, session.has_plain_backslashes()) {
        out.extend_from_slice(&sql.as_bytes()[from..at]);
        literals.push(&mut out, cells.next()?);
        from = at + 1;
    }
    out.extend_from_slice(&sql.as_bytes()[from..]);
    cells.next().is_none().then_some(out)
}
