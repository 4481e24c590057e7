//! MariaDB's own way to run a prepared statement for many rows of arguments: one command, one answer.

use brunt_fiber::turn::{Turn, given_way};

use super::prepared::{Prepared, code, push_value};
use super::session::{Session, State, command, too_large};
use super::zone;
use crate::args::Args;
use crate::cell::Cell;
use crate::chunk::Format;
use crate::failure::Failure;
use crate::outcome::Outcome;

/// A command that is longer than this takes no more rows.
const LENGTH: usize = 1 << 20;

/// The flag of a command that has the types of its arguments.
const HAS_TYPES: u16 = 128;

/// The statement is none that can run so.
const UNSUPPORTED: i64 = 1295;

/// Runs it for all rows. `None`: the statement cannot run so, or the values of a column differ in their type. Nothing was done then.
pub(super) async fn run(
    session: &mut Session,
    prepared: Prepared,
    width: usize,
    args: &Args,
    limit: usize,
) -> Result<Option<Outcome>, Failure> {
    let Some(types) = types(width, args) else { return Ok(None) };
    let zone = zone::number(&session.options.zone).unwrap_or(zone::UTC);
    let mut all = Outcome { rows_affected: Some(0), last_insert_id: Some(0), ..Outcome::default() };
    let (mut row, total, mut turn) = (0, args.len() / width, Turn::default());
    while row < total {
        let start = session.begin(command::BULK).await?;
        let out = &mut session.out;
        out.extend_from_slice(&prepared.id.to_le_bytes());
        out.extend_from_slice(&HAS_TYPES.to_le_bytes());
        out.extend_from_slice(types.as_flattened());
        let first = row;
        while row < total && out.len() - start < LENGTH {
            let before = out.len();
            for cell in args.range(row * width, (row + 1) * width) {
                out.push(u8::from(cell == Cell::Null));
                push_value(out, cell, zone);
            }
            if out.len() - start > limit {
                out.truncate(before);
                break;
            }
            row += 1;
            if turn.is_over(1) {
                given_way().await;
            }
        }
        if row == first {
            return Err(too_large());
        }
        let answer = session.end(start)?;
        session.send(answer).await?;
        match answered(session).await {
            Ok(()) => all.add(&session.outcome),
            Err(failure) if failure.number() == UNSUPPORTED && first == 0 => return Ok(None),
            Err(failure) => return Err(failure),
        }
        session.state = State::Busy;
    }
    Ok(Some(all))
}

async fn answered(session: &mut Session) -> Result<(), Failure> {
    session.head(Format::MySqlBinary).await?;
    session.drain().await
}

/// The type of each column. `None`: it has several.
fn types(width: usize, args: &Args) -> Option<Vec<[u8; 2]>> {
    let mut types = vec![None; width];
    for (index, cell) in args.iter().enumerate() {
        let known = &mut types[index % width];
        match (code(cell), &*known) {
            (None, _) => {}
            (new, None) => *known = new,
            (new, old) if new == *old => {}
            _ => return None,
        }
    }
    // A column of NULLs alone is a text.
    Some(types.into_iter().map(|it| it.or(code(Cell::Text(b""))).unwrap_or_default()).collect())
}
