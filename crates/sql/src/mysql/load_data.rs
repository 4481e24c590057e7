//! `LOAD DATA LOCAL INFILE`: rows as a file that never was one.

use brunt_fiber::turn::{Turn, given_way};

use super::insert::push_columns;
use super::literal::{push_float, push_name, push_table};
use super::packet::{self, malformed};
use super::session::{Session, State, command};
use super::zone;
use crate::args::Args;
use crate::cell::Cell;
use crate::connection::Insert;
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;
use crate::spelling::{push_hex, push_int, push_natural};

/// The bytes of one packet of the file, more or less.
const PIECE: usize = 64 * 1024;

/// The name of the file, which the server repeats.
const NAME: &str = "brunt-rows";

/// The numbers of a server's refusal: MySQL 5, MySQL 8, MariaDB.
const REFUSED: [i64; 4] = [1148, 3948, 3950, 4166];

/// Sends all rows as files of at most `batch` rows.
pub(super) async fn run(session: &mut Session, insert: &Insert<'_>) -> Result<Outcome, Failure> {
    let width = insert.columns.len();
    let in_digits = columns_in_digits(insert.values, width);
    let sql = statement(session, insert, &in_digits);
    let total = insert.values.len() / width;
    let most = insert.batch.unwrap_or(usize::MAX).max(1);
    let mut all = Outcome { rows_affected: Some(0), last_insert_id: Some(0), ..Outcome::default() };
    let mut row = 0;
    while row < total {
        let to = total.min(row.saturating_add(most));
        file(session, &sql, insert.values, &in_digits, (row, to)).await.map_err(advised)?;
        let rows = all.rows;
        all.add(&session.outcome);
        all.rows = rows;
        row = to;
    }
    Ok(all)
}

/// A refusal, and what to do about it.
fn advised(failure: Failure) -> Failure {
    if !REFUSED.contains(&failure.number()) {
        return failure;
    }
    let why = format!(
        "{failure}: set local_infile=ON on the server (SET GLOBAL local_infile=ON), or insert with VALUES"
    );
    Failure::new(Trouble::Server, why).with_code(failure.code(), failure.number())
}

/// Which columns have bytes among their values: their values travel as hexadecimal digits, so that no character set is in the way.
fn columns_in_digits(values: &Args, width: usize) -> Vec<bool> {
    let mut all = vec![false; width];
    for (index, cell) in values.iter().enumerate() {
        if matches!(cell, Cell::Bytes(_)) {
            all[index % width] = true;
        }
    }
    all
}

fn statement(session: &Session, insert: &Insert<'_>, in_digits: &[bool]) -> Vec<u8> {
    let options = &session.options;
    let of_collation = options.collation.as_deref().and_then(|name| name.split('_').next());
    let charset = options.charsets.first().map(String::as_str).or(of_collation);
    let charset = charset.unwrap_or("utf8mb4").replace(['\'', '\\'], "");
    let mut sql = format!("LOAD DATA LOCAL INFILE '{NAME}' INTO TABLE ").into_bytes();
    push_table(&mut sql, insert.table);
    // In hexadecimal, as a mode of SQL takes the meaning from backslashes.
    let form = format!(
        " CHARACTER SET '{charset}' FIELDS TERMINATED BY 0x09 ESCAPED BY 0x5c LINES TERMINATED BY 0x0a "
    );
    sql.extend_from_slice(form.as_bytes());
    if !in_digits.contains(&true) {
        push_columns(&mut sql, insert.columns);
        return sql;
    }
    let mut set = Vec::new();
    for (index, (column, is_in_digits)) in insert.columns.iter().zip(in_digits).enumerate() {
        sql.push(if index == 0 { b'(' } else { b',' });
        if *is_in_digits {
            sql.extend_from_slice(format!("@brunt{index}").as_bytes());
            set.extend_from_slice(if set.is_empty() { &b" SET "[..] } else { b"," });
            push_name(&mut set, column);
            set.extend_from_slice(format!("=UNHEX(@brunt{index})").as_bytes());
        } else {
            push_name(&mut sql, column);
        }
    }
    sql.push(b')');
    sql.extend_from_slice(&set);
    sql
}

async fn file(
    session: &mut Session,
    sql: &[u8],
    values: &Args,
    in_digits: &[bool],
    (from, to): (usize, usize),
) -> Result<(), Failure> {
    let start = session.begin(command::QUERY).await?;
    session.out.extend_from_slice(sql);
    let answer = session.end(start)?;
    session.send(answer).await?;
    let (first, last) = session.wire.packet().await?;
    let packet = &session.wire.bytes()[first..last];
    match packet.first() {
        Some(0xff) => return Err(packet::refusal(packet)),
        Some(0xfb) if &packet[1..] == NAME.as_bytes() => {}
        _ => return Err(malformed()),
    }
    let zone = zone::number(&session.options.zone).unwrap_or(zone::UTC);
    let (width, mut row, mut turn) = (in_digits.len(), from, Turn::default());
    while row < to {
        session.out.clear();
        let start = packet::begin(&mut session.out);
        while row < to && session.out.len() < PIECE {
            for (index, cell) in values.range(row * width, (row + 1) * width).enumerate() {
                if index > 0 {
                    session.out.push(b'\t');
                }
                push(&mut session.out, cell, in_digits[index], zone);
            }
            session.out.push(b'\n');
            row += 1;
        }
        let sequence = session.wire.sequence();
        let answer = packet::end(&mut session.out, start, sequence);
        session.wire.expect(answer);
        session.wire.send(&session.out).await?;
        if turn.is_over(Turn::bytes(session.out.len())) {
            given_way().await;
        }
    }
    session.send_empty().await?;
    session.head(crate::chunk::Format::MySqlText).await?;
    session.drain().await?;
    session.state = State::Busy;
    Ok(())
}

fn push(out: &mut Vec<u8>, cell: Cell<'_>, is_in_digits: bool, zone: u8) {
    if is_in_digits && cell != Cell::Null {
        let mut plain = Vec::new();
        let bytes = match cell {
            Cell::Bytes(bytes) | Cell::Text(bytes) | Cell::Raw(bytes) => bytes,
            other => {
                push(&mut plain, other, false, zone);
                &plain
            }
        };
        push_hex(out, bytes);
        return;
    }
    match cell {
        Cell::Null => out.extend_from_slice(b"\\N"),
        Cell::Text(text) | Cell::Raw(text) | Cell::Bytes(text) => push_text(out, text),
        Cell::Int(value) => push_int(out, value),
        Cell::UInt(value) => push_natural(out, value),
        Cell::Bool(value) => out.push(b'0' + u8::from(value)),
        Cell::Float(value) => push_float(out, value),
        Cell::Single(value) => push_float(out, f64::from(value)),
        Cell::Time(moment) => zone::push(out, moment, zone),
    }
}

fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\\');
    if !text.iter().any(|byte| is_special(*byte)) {
        out.extend_from_slice(text);
        return;
    }
    for byte in text {
        if is_special(*byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}
