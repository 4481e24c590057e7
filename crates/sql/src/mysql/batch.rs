//! One statement, many rows of arguments.

use super::bulk;
use super::insert::{self, Form, LENGTH, TUPLES};
use super::lexer::{self, Widened};
use super::prepared::{self, Kept};
use super::session::{Session, State, command};
use crate::args::Args;
use crate::chunk::Format;
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// The most executions that are on the wire before the first is answered.
const AHEAD: usize = 512;

/// A window that is longer than this takes no more executions.
const WINDOW: usize = 48 * 1024;

/// The room of a value that is no text: a date with its fraction and quotes.
const VALUE_MAX: usize = 40;

/// Runs a statement for each row. All or nothing: where it takes several statements and no transaction is open, it opens one.
pub(super) async fn run(
    session: &mut Session,
    kept: &mut Kept,
    sql: &str,
    width: usize,
    args: &Args,
) -> Result<Outcome, Failure> {
    if args.is_empty() {
        return Ok(Outcome {
            rows_affected: Some(0),
            last_insert_id: Some(0),
            ..Outcome::default()
        });
    }
    if width == 0 || !args.len().is_multiple_of(width) {
        let count = args.len();
        let why = format!("sql: {count} arguments are no rows of {width}");
        return Err(Failure::new(Trouble::Usage, why));
    }
    let count = args.len() / width;
    let widened = lexer::widened(sql, width, session.has_plain_backslashes());
    let is_single = match &widened {
        Some(widened) => {
            let limit = insert::packet_limit(session).await?;
            count <= TUPLES && length_max(widened, args, count) < limit.min(LENGTH)
        }
        None => count == 1,
    };
    let is_ours = !is_single && !session.is_in_transaction();
    if is_ours {
        session.run(b"START TRANSACTION").await?;
        session.state = State::Busy;
    }
    let result = match &widened {
        Some(widened) => {
            let (head, tail) = (widened.head.as_bytes(), widened.tail.as_bytes());
            let form = Form { head, parts: &widened.parts, tail };
            insert::run(session, form, args, None).await
        }
        None => executions(session, kept, sql, width, args).await,
    };
    if is_ours {
        match &result {
            Ok(_) => session.run(b"COMMIT").await?,
            Err(failure) if failure.is_fatal() => {}
            Err(_) => session.run(b"ROLLBACK").await?,
        }
        session.state = State::Busy;
    }
    result
}

/// The most bytes that the widened statement can have.
fn length_max(widened: &Widened<'_>, args: &Args, count: usize) -> usize {
    let of_tuple: usize = widened.parts.iter().map(|part| part.len()).sum();
    let texts = args.byte_count().saturating_mul(2);
    let values = args.len().saturating_mul(VALUE_MAX);
    texts + values + count.saturating_mul(of_tuple + 1) + widened.head.len() + widened.tail.len()
}

/// Prepares the statement once and runs it for each row: in one command where the server can, else many on the wire before the first is
/// answered.
async fn executions(
    session: &mut Session,
    kept: &mut Kept,
    sql: &str,
    width: usize,
    args: &Args,
) -> Result<Outcome, Failure> {
    let prepared = prepared::find(session, kept, sql).await?;
    prepared::check_count(prepared, width)?;
    if session.has_bulk && args.len() > width {
        let limit = insert::packet_limit(session).await?;
        if let Some(outcome) = bulk::run(session, prepared, width, args, limit).await? {
            return Ok(outcome);
        }
        session.out.clear();
        session.state = State::Busy;
    }
    let mut all = Outcome { rows_affected: Some(0), last_insert_id: Some(0), ..Outcome::default() };
    let (mut row, total) = (0, args.len() / width);
    // Each compressed command is counted anew: they go one by one.
    let ahead = if session.options.compress { 1 } else { AHEAD };
    let mut answers = Vec::with_capacity(ahead.min(total));
    while row < total {
        answers.clear();
        let mut refusal = None;
        while row < total && answers.len() < ahead && session.out.len() < WINDOW {
            let start = if answers.is_empty() {
                session.begin(command::EXECUTE).await?
            } else {
                session.begin_more(command::EXECUTE)
            };
            let cells = args.range(row * width, (row + 1) * width);
            prepared::write_run(session, prepared, cells);
            match session.end(start) {
                Ok(answer) => answers.push(answer),
                Err(failure) if answers.is_empty() => return Err(failure),
                // Those before it are on their way first.
                Err(failure) => {
                    refusal = Some(failure);
                    break;
                }
            }
            row += 1;
        }
        session.send(answers[0]).await?;
        for answer in &answers {
            session.wire.expect(*answer);
            session.state = State::Busy;
            match answered(session).await {
                Ok(()) => all.add(&session.outcome),
                Err(failure) if failure.is_fatal() => return Err(failure),
                Err(failure) => drop(refusal.get_or_insert(failure)),
            }
        }
        session.out.clear();
        session.state = State::Busy;
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
    }
    Ok(all)
}

async fn answered(session: &mut Session) -> Result<(), Failure> {
    session.head(Format::MySqlBinary).await?;
    session.drain().await
}
