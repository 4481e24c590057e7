//! `query` and `queryAll`: results that are kept as a whole.

use brunt_quickjs::{Ctx, JsResult, Name, Value};
use brunt_sql::{Chunk, Driver, Failure, Trouble};

use super::door::Door;
use super::failing::throw;
use super::reading::{Reading, Results};
use super::shape;
use super::source::Ready;
use super::work::{Job, promised, wait};

/// Chunks that are read before they become rows.
const FETCH: usize = 4;

/// `query`.
///
/// # Errors
/// The server's, as a `GoError`.
pub(super) fn query<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let results = first_or_last(&job);
    let mut reading = job.reading(results);
    if let Err(failure) = job.begin(ctx, &mut reading, FETCH)? {
        return Err(throw(ctx, &failure));
    }
    let mut rows = Rows::new(ctx)?;
    let refused = loop {
        if let Some(failure) = rows.take(ctx, &job.door, &mut reading)? {
            break Some(failure);
        }
        if reading.is_over {
            break None;
        }
        wait(ctx, reading.fetch(FETCH))?;
    };
    ended(ctx, job, &mut reading, refused)?;
    Ok(rows.array)
}

/// SQLite's driver gives the rows of the last statement, the others those of the first.
fn first_or_last(job: &Job) -> Results {
    match job.door.driver() {
        Driver::Sqlite => Results::Last,
        _ => Results::First,
    }
}

/// The end of a statement whose rows are all there.
///
/// # Errors
/// They are more than they may be.
fn ended<'js>(
    ctx: Ctx<'js>,
    job: Job,
    reading: &mut Reading,
    refused: Option<Failure>,
) -> JsResult<'js, ()> {
    reading.let_go();
    let (mut late, mut refused) = (reading.late.take(), refused);
    if reading.is_refused && refused.is_none() {
        refused = late.take();
    }
    job.over(ctx, reading, refused.as_ref().or(late.as_ref()));
    job.done();
    if let Some(late) = late {
        // As in xk6-sql, which does not look for it: the rows that came are the result.
        log::warn!("a result of SQL ended before its end: {}", late.text());
    }
    refused.map_or(Ok(()), |failure| Err(throw(ctx, &failure)))
}

/// Rows of a result that is kept as a whole.
struct Rows<'js> {
    array: Value<'js>,
    count: u32,
    /// The heap before.
    before: usize,
}

impl<'js> Rows<'js> {
    fn new(ctx: Ctx<'js>) -> JsResult<'js, Self> {
        Ok(Self { array: ctx.array()?, count: 0, before: ctx.memory_used() })
    }

    /// Takes the rows that have come. The inner failure: they are too many.
    fn take(
        &mut self,
        ctx: Ctx<'js>,
        door: &Door,
        reading: &mut Reading,
    ) -> JsResult<'js, Option<Failure>> {
        if std::mem::take(&mut reading.is_anew) && self.count > 0 {
            (self.array, self.count) = (ctx.array()?, 0);
        }
        if reading.chunks.is_empty() {
            return Ok(None);
        }
        let shape = shape::of(ctx, door.driver(), &reading.columns)?;
        for chunk in &reading.chunks {
            self.count = shape.append(ctx, &door.options, chunk, &self.array, self.count)?;
            if let Some(failure) = self.refused(ctx, door) {
                return Ok(Some(failure));
            }
        }
        reading.drop_chunks();
        Ok(None)
    }

    fn refused(&self, ctx: Ctx<'js>, door: &Door) -> Option<Failure> {
        let (used, limit, most) = (ctx.memory_used(), ctx.memory_limit(), door.options.max_result);
        let bound = if used.saturating_sub(self.before) > most {
            format!("maxResult ({most} bytes)")
        } else if limit > 0 && used > limit / 8 * 7 {
            format!("the VU's memory (vuMemory, {limit} bytes)")
        } else {
            return None;
        };
        let count = self.count;
        let why = format!(
            "the result does not fit into {bound}: it was left after {count} rows; read it with db.rows(), which keeps one row at \
             a time"
        );
        Some(Failure::new(Trouble::TooLarge, why))
    }
}

static ROWS: Name = Name::new("rows");
static COLUMNS: Name = Name::new("columns");
static ROWS_AFFECTED: Name = Name::new("rowsAffected");

/// `queryAll`: all results of the statements of a text.
///
/// # Errors
/// The server's, as a `GoError`.
pub(super) fn query_all<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let mut reading = job.reading(Results::Each);
    if let Err(failure) = job.begin(ctx, &mut reading, FETCH)? {
        return Err(throw(ctx, &failure));
    }
    let mut all = Vec::new();
    let failure = loop {
        let mut rows = Rows::new(ctx)?;
        let refused = loop {
            if let Some(failure) = rows.take(ctx, &job.door, &mut reading)? {
                break Some(failure);
            }
            if reading.is_over {
                break reading.late.take();
            }
            wait(ctx, reading.fetch(FETCH))?;
        };
        if refused.is_some() {
            break refused;
        }
        let affected = reading.outcome.rows_affected.unwrap_or(0);
        all.push(ctx.object_from([
            (&ROWS, rows.array),
            (&COLUMNS, shape::columns(ctx, &reading.columns)?),
            (&ROWS_AFFECTED, ctx.number(affected as f64)),
        ])?);
        match wait(ctx, reading.next_result(FETCH))? {
            Ok(true) => {}
            Ok(false) => break None,
            Err(failure) => break Some(failure),
        }
    };
    ended(ctx, job, &mut reading, failure)?;
    ctx.array_from(all)
}

/// `queryAsync`.
///
/// # Errors
/// As [`promised`].
pub(super) fn query_async<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let (results, most) = (first_or_last(&job), job.door.options.max_result);
    let (scale, limit) = (ctx.scale(), ctx.memory_limit());
    let most = if limit > 0 { most.min(limit / 2) } else { most };
    let work = async move |job: &Job, ready: &Ready| {
        let mut reading = job.reading(results);
        if let Err(failure) = reading.begin(ready, &job.ask(), FETCH).await {
            return (reading, Err(failure));
        }
        let mut weights = Vec::new();
        let mut bytes = 0;
        let mut seen = 0;
        loop {
            if reading.chunks.len() < seen {
                (seen, bytes) = (0, 0);
            }
            let fresh: usize = reading.chunks[seen..].iter().map(Chunk::byte_count).sum();
            (seen, bytes) = (reading.chunks.len(), bytes + fresh);
            weights.push(scale.weigh(fresh));
            if bytes > most {
                let why = format!(
                    "the result does not fit into {most} bytes, which is maxResult or half of the VU's memory: read it with \
                     db.rows(), which keeps one row at a time"
                );
                reading.let_go();
                return (reading, Err(Failure::new(Trouble::TooLarge, why)));
            }
            if reading.is_over {
                return (reading, Ok(()));
            }
            reading.fetch(FETCH).await;
        }
    };
    promised(ctx, job, work, |ctx, job, reading| {
        let mut rows = Rows::new(ctx)?;
        match rows.take(ctx, &job.door, reading)? {
            Some(failure) => Ok(Err(failure)),
            None => Ok(Ok(rows.array)),
        }
    })
}
