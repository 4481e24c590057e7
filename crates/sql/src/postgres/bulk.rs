//! Many rows: `COPY`, `INSERT` with many rows, one statement for each row of arguments.

use brunt_fiber::turn::{Turn, given_way};
use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::fault;
use super::literal;
use super::session::{Session, State, completed};
use super::wire::malformed;
use crate::args::Args;
use crate::connection::Insert;
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// The bytes of one message of `COPY`.
const PIECE: usize = 64 * 1024;

/// Rows of an `INSERT`, if the caller does not say.
const TUPLES: usize = 10_000;

/// An `INSERT` that is longer takes no more rows.
const LENGTH: usize = 4 << 20;

/// Executions that are on the wire before the first is answered.
const AHEAD: usize = 512;

fn head(insert: &Insert<'_>, start: &str) -> Vec<u8> {
    let mut head = start.as_bytes().to_vec();
    literal::push_table(&mut head, insert.table);
    head.extend_from_slice(b" (");
    for (index, column) in insert.columns.iter().enumerate() {
        if index > 0 {
            head.push(b',');
        }
        literal::push_name(&mut head, column);
    }
    head.push(b')');
    head
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| Failure::new(Trouble::Usage, "pq: a text is not UTF-8"))
}

fn nothing() -> Outcome {
    Outcome { rows_affected: Some(0), ..Outcome::default() }
}

/// Puts rows into a table by `COPY`: one for all of them, or one for each batch.
pub(super) async fn copy(session: &mut Session, insert: &Insert<'_>) -> Result<Outcome, Failure> {
    let width = insert.columns.len();
    let total = insert.values.len() / width;
    let most = insert.batch.unwrap_or(usize::MAX).max(1);
    let mut head = head(insert, "COPY ");
    head.extend_from_slice(b" FROM STDIN");
    let sql = text(head)?;
    let (mut all, mut row) = (nothing(), 0);
    while row < total {
        let end = row.saturating_add(most).min(total);
        copy_rows(session, &sql, insert.values, width, row..end).await?;
        all.add(&session.outcome);
        row = end;
    }
    Ok(all)
}

async fn copy_rows(
    session: &mut Session,
    sql: &str,
    values: &Args,
    width: usize,
    rows: std::ops::Range<usize>,
) -> Result<(), Failure> {
    frontend::query(sql, &mut session.out).map_err(|_| super::session::has_nul())?;
    session.send().await?;
    loop {
        let (tag, from, to) = session.wire.message().await?;
        match tag {
            b'G' => break,
            b'E' => {
                let failure = fault::refusal(&session.wire.bytes()[from..to], sql);
                return Err(session.refused(failure).await);
            }
            b'N' | b'S' | b'A' => {}
            _ => return Err(malformed("the answer to COPY")),
        }
    }
    let (mut piece, mut turn) = (Vec::with_capacity(PIECE + 1024), Turn::default());
    for row in rows {
        let cells = values.range(row * width, (row + 1) * width);
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                piece.push(b'\t');
            }
            literal::push_copied(&mut piece, cell);
        }
        piece.push(b'\n');
        if piece.len() >= PIECE {
            send_piece(session, &mut piece).await?;
            // The server says no more than why it stops: the rest need not be sent.
            if session.wire.has_unread() {
                break;
            }
        }
        if turn.is_over(1) {
            given_way().await;
        }
    }
    send_piece(session, &mut piece).await?;
    frontend::copy_done(&mut session.out);
    session.send().await?;
    loop {
        let (tag, from, to) = session.wire.message().await?;
        let body = &session.wire.bytes()[from..to];
        match tag {
            b'C' => session.outcome = completed(body),
            b'E' => {
                let failure = fault::refusal(body, sql);
                return Err(session.refused(failure).await);
            }
            b'Z' => {
                session.transaction = body.first().copied().unwrap_or(b'I');
                return Ok(());
            }
            _ => {}
        }
    }
}

/// Sends rows as one message, without a copy of them.
async fn send_piece(session: &mut Session, piece: &mut Vec<u8>) -> Result<(), Failure> {
    if piece.is_empty() {
        return Ok(());
    }
    let size = u32::try_from(piece.len() + 4)
        .map_err(|_| Failure::new(Trouble::TooLarge, "pq: a row is longer than 4 GiB"))?;
    let mut mark = [b'd', 0, 0, 0, 0];
    mark[1..].copy_from_slice(&size.to_be_bytes());
    session.wire.send(&mark).await?;
    session.wire.send(piece).await?;
    piece.clear();
    Ok(())
}

/// Puts rows into a table by `INSERT` with many rows each.
pub(super) async fn insert(session: &mut Session, insert: &Insert<'_>) -> Result<Outcome, Failure> {
    let width = insert.columns.len();
    let total = insert.values.len() / width;
    let most = insert.batch.unwrap_or(TUPLES).max(1);
    let mut head = head(insert, "INSERT INTO ");
    head.extend_from_slice(b" VALUES ");
    let (mut all, mut row, mut turn) = (nothing(), 0, Turn::default());
    while row < total {
        let (mut sql, first) = (head.clone(), row);
        while row < total && row - first < most && sql.len() < LENGTH {
            sql.extend_from_slice(if row > first { b",(" } else { b"(" });
            let cells = insert.values.range(row * width, (row + 1) * width);
            for (index, cell) in cells.enumerate() {
                if index > 0 {
                    sql.push(b',');
                }
                literal::push_literal(&mut sql, cell);
            }
            sql.push(b')');
            row += 1;
            if turn.is_over(1) {
                given_way().await;
            }
        }
        session.run(&text(sql)?).await?;
        session.state = State::Busy;
        all.add(&session.outcome);
    }
    Ok(all)
}

/// Runs a statement for each row, many on the wire before the first is answered, in one transaction.
pub(super) async fn batch(
    session: &mut Session,
    sql: &str,
    width: usize,
    args: &Args,
) -> Result<Outcome, Failure> {
    let (mut all, mut row) = (nothing(), 0);
    let total = args.len() / width;
    session.parse("", sql)?;
    // What comes behind it waits for no Sync: all of it is one transaction.
    while row < total {
        let first = row;
        while row < total && row - first < AHEAD && session.out.len() < PIECE {
            session.bind("", args.range(row * width, (row + 1) * width))?;
            let _ = frontend::execute("", 0, &mut session.out);
            row += 1;
        }
        frontend::flush(&mut session.out);
        session.send().await?;
        if let Err(failure) = answers(session, sql, row - first, &mut all).await {
            if failure.is_fatal() {
                return Err(failure);
            }
            // The server skips all up to here.
            frontend::sync(&mut session.out);
            session.send().await?;
            session.until_ready().await?;
            return Err(failure);
        }
    }
    frontend::sync(&mut session.out);
    session.send().await?;
    loop {
        let (tag, from, to) = session.wire.message().await?;
        let body = &session.wire.bytes()[from..to];
        match tag {
            // A constraint that is checked at the end of the transaction.
            b'E' => {
                let failure = fault::refusal(body, sql);
                return Err(session.refused(failure).await);
            }
            b'Z' => {
                session.transaction = body.first().copied().unwrap_or(b'I');
                return Ok(all);
            }
            _ => {}
        }
    }
}

async fn answers(
    session: &mut Session,
    sql: &str,
    count: usize,
    all: &mut Outcome,
) -> Result<(), Failure> {
    let mut left = count;
    while left > 0 {
        let (tag, from, to) = session.wire.message().await?;
        let body = &session.wire.bytes()[from..to];
        match tag {
            b'C' => {
                all.add(&completed(body));
                left -= 1;
            }
            b'I' => left -= 1,
            b'E' => return Err(fault::refusal(body, sql)),
            b'G' | b'H' | b'W' => return Err(malformed("COPY in a batch")),
            _ => {}
        }
    }
    Ok(())
}

/// The message of a statement to be stopped.
pub(super) fn cancel_request(key: (i32, i32)) -> BytesMut {
    let mut out = BytesMut::new();
    frontend::cancel_request(key.0, key.1, &mut out);
    out
}
