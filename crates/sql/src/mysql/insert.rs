//! Rows in statements of many tuples, with literals.

use std::cell::RefCell;

use brunt_fiber::turn::{Turn, given_way};

use super::literal::{Literals, push_name, push_table};
use super::packet::HEAD;
use super::session::{Session, State, command, too_large};
use crate::args::Args;
use crate::connection::Insert;
use crate::failure::Failure;
use crate::outcome::Outcome;

/// The most tuples of a statement, if the caller does not say.
pub(super) const TUPLES: usize = 10_000;

/// A statement that is longer than this takes no more tuples: its memory is bounded, and the server has work meanwhile.
pub(super) const LENGTH: usize = 4 << 20;

/// The longest buffer that is kept for the next.
const SPARE_MAX: usize = 2 * LENGTH;

thread_local! {
    /// The buffer of the core's last long statement: a connection that waits holds none.
    static SPARE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The text of a statement around its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) head: &'a [u8],
    /// A tuple's text before, between and behind its values.
    pub(super) parts: &'a [&'a str],
    pub(super) tail: &'a [u8],
}

/// The head of an `INSERT` up to its tuples.
pub(super) fn head(insert: &Insert<'_>) -> Vec<u8> {
    let mut head = b"INSERT INTO ".to_vec();
    push_table(&mut head, insert.table);
    head.push(b' ');
    push_columns(&mut head, insert.columns);
    head.extend_from_slice(b" VALUES ");
    head
}

/// The names of columns between brackets.
pub(super) fn push_columns(out: &mut Vec<u8>, columns: &[String]) {
    for (index, column) in columns.iter().enumerate() {
        out.push(if index == 0 { b'(' } else { b',' });
        push_name(out, column);
    }
    out.push(b')');
}

/// A tuple of this many values and nothing else.
pub(super) fn parts(width: usize) -> Vec<&'static str> {
    let mut parts = vec![","; width + 1];
    (parts[0], parts[width]) = ("(", ")");
    parts
}

/// Runs statements with all rows in them. While the server works on one, the next is written.
pub(super) async fn run(
    session: &mut Session,
    form: Form<'_>,
    args: &Args,
    batch: Option<usize>,
) -> Result<Outcome, Failure> {
    // The head of the packet and its command do not count, but servers differ by a few bytes.
    let limit = packet_limit(session).await?;
    session.out = SPARE.with_borrow_mut(std::mem::take);
    let result = statements(session, form, args, batch, limit).await;
    let out = std::mem::take(&mut session.out);
    if out.capacity() <= SPARE_MAX {
        SPARE.with_borrow_mut(|spare| *spare = out);
    }
    result
}

/// The longest statement that both sides take.
pub(super) async fn packet_limit(session: &mut Session) -> Result<usize, Failure> {
    let of_server = session.packet_max().await?;
    let ours = session.options.max_allowed_packet;
    Ok(if ours == 0 { of_server } else { ours.min(of_server) }.saturating_sub(4 * HEAD))
}

async fn statements(
    session: &mut Session,
    form: Form<'_>,
    args: &Args,
    batch: Option<usize>,
    limit: usize,
) -> Result<Outcome, Failure> {
    let literals = Literals::of(session);
    let width = form.parts.len() - 1;
    let total = args.len() / width;
    let length = batch.map_or(LENGTH.min(limit), |_| limit);
    let most = batch.unwrap_or(TUPLES).max(1);
    let mut all = Outcome { rows_affected: Some(0), last_insert_id: Some(0), ..Outcome::default() };
    let (mut row, mut is_awaited, mut turn) = (0, false, Turn::default());
    while row < total {
        let start = session.begin(command::QUERY).await?;
        session.out.extend_from_slice(form.head);
        let first = row;
        while row < total && row - first < most && session.out.len() - start < length {
            let before = session.out.len();
            if row > first {
                session.out.push(b',');
            }
            push_tuple(&mut session.out, &literals, form.parts, args, row * width);
            if session.out.len() - start + form.tail.len() > limit {
                session.out.truncate(before);
                break;
            }
            row += 1;
            if turn.is_over(1) {
                given_way().await;
            }
        }
        if row == first {
            // One row alone is too long. The answer to the statement before has to be read all the same.
            if is_awaited {
                settled(session, &mut all).await?;
            }
            return Err(too_large());
        }
        session.out.extend_from_slice(form.tail);
        let answer = session.end(start)?;
        if is_awaited {
            settled(session, &mut all).await?;
        }
        session.send(answer).await?;
        is_awaited = true;
    }
    if is_awaited {
        settled(session, &mut all).await?;
    }
    session.state = State::Busy;
    Ok(all)
}

#[inline]
fn push_tuple(out: &mut Vec<u8>, literals: &Literals, parts: &[&str], args: &Args, from: usize) {
    let width = parts.len() - 1;
    for (part, cell) in parts.iter().zip(args.range(from, from + width)) {
        out.extend_from_slice(part.as_bytes());
        literals.push(out, cell);
    }
    out.extend_from_slice(parts[width].as_bytes());
}

/// Reads the answer to the statement before; the one that is written already stays.
async fn settled(session: &mut Session, all: &mut Outcome) -> Result<(), Failure> {
    let out = std::mem::take(&mut session.out);
    let result = answered(session).await;
    session.out = out;
    result?;
    let rows = all.rows;
    all.add(&session.outcome);
    all.rows = rows;
    Ok(())
}

async fn answered(session: &mut Session) -> Result<(), Failure> {
    session.head(crate::chunk::Format::MySqlText).await?;
    session.drain().await?;
    session.state = State::Busy;
    Ok(())
}
