//! Rows that a script hands over: arrays, objects, values; in an array, or one by one.

use brunt_quickjs::name::Key;
use brunt_quickjs::{Ctx, JsResult, Value, Weight};
use brunt_sql::{Args, Driver, Failure, Trouble};

use super::arguments::{self, push};
use super::failing::throw;
use crate::go_error::throw_go;
use crate::reading::length_of;

/// Bytes of rows that are handed over at once.
const BATCH_BYTES: usize = 8 << 20;

/// The most that rows weigh that are read before the first is sent.
const ALL_BYTES: usize = 256 << 20;

/// Rows between two looks at the clock.
const LOOK: usize = 64;

/// The rows of a call: an array, or anything that can be iterated over.
pub(super) enum Rows<'js> {
    Array { array: Value<'js>, next: u32 },
    Iterator { iterator: Value<'js>, next: Value<'js> },
}

impl<'js> Rows<'js> {
    pub(super) fn of(ctx: Ctx<'js>, given: Value<'js>) -> JsResult<'js, Self> {
        if given.is_array() {
            return Ok(Self::Array { array: given, next: 0 });
        }
        if given.is_object() && !given.is_string() {
            let symbol = ctx.global().get("Symbol")?.get("iterator")?;
            let get = ctx.global().get("Reflect")?.get("get")?;
            let make = get.call(&ctx.undefined(), &[given.clone(), symbol])?;
            if make.is_function() {
                let iterator = make.call(&given, &[])?;
                let next = iterator.get("next")?;
                return Ok(Self::Iterator { iterator, next });
            }
        }
        let why = "the rows are an array, or anything that can be iterated over: of arrays, of objects, or of values for one \
                   column";
        Err(throw_go(ctx, why))
    }

    pub(super) fn next(&mut self) -> JsResult<'js, Option<Value<'js>>> {
        match self {
            Self::Array { array, next } => {
                if *next >= array.length()? {
                    return Ok(None);
                }
                *next += 1;
                array.get_index(*next - 1).map(Some)
            }
            Self::Iterator { iterator, next } => {
                let step = next.call(iterator, &[])?;
                if !step.is_object() {
                    return Err(step.ctx().throw_type("the iterator of rows gives no object"));
                }
                if step.get("done")?.truthy() {
                    return Ok(None);
                }
                step.get("value").map(Some)
            }
        }
    }

    /// The script threw while its rows were read: the iterator may tidy up.
    pub(super) fn leave(&self, ctx: Ctx<'js>) {
        let Self::Iterator { iterator, .. } = self else { return };
        let Some(exception) = ctx.take_exception() else { return };
        if !exception.uncatchable
            && let Ok(method) = iterator.get("return")
            && method.is_function()
        {
            drop(method.call(iterator, &[]));
        }
        drop(ctx.take_exception());
        if exception.uncatchable {
            let _ = ctx.throw_uncatchable("the VU was stopped");
        } else {
            let _ = ctx.throw_again(exception);
        }
    }
}

/// How rows become arguments.
pub(super) struct Reader<'js> {
    /// The members of rows that are objects.
    keys: Vec<Key<'js>>,
    /// By argument: the place of its key.
    order: Vec<usize>,
    /// Values of a row; 0: the first row tells.
    pub(super) width: usize,
    driver: Driver,
    count: usize,
    pub(super) weight: Weight,
}

impl<'js> Reader<'js> {
    /// One of rows with these members, if they are objects; in the order of the names, or in another.
    pub(super) fn new(
        ctx: Ctx<'js>,
        names: &[String],
        order: Option<&[usize]>,
        driver: Driver,
    ) -> JsResult<'js, Self> {
        let model = ctx.object()?;
        for name in names {
            model.define(name, ctx.undefined())?;
        }
        let keys = model.keys()?;
        let texts: Vec<_> = keys.iter().map(|key| key.text().unwrap_or_default()).collect();
        // An object has its keys in an order of its own.
        let place = |name: &String| texts.iter().position(|text| text == name).unwrap_or_default();
        let order: Vec<usize> = match order {
            Some(order) => order.iter().map(|index| place(&names[*index])).collect(),
            None => names.iter().map(place).collect(),
        };
        let width = order.len();
        Ok(Self { keys, order, width, driver, count: 0, weight: Weight::default() })
    }

    /// Appends a row.
    pub(super) fn push(
        &mut self,
        ctx: Ctx<'js>,
        args: &mut Args,
        row: &Value<'js>,
    ) -> JsResult<'js, ()> {
        let before = args.len();
        self.count += 1;
        if !row.is_object() {
            push(ctx, args, row, 1, self.driver)?;
        } else if row.is_array() {
            let length = if self.width > 0 { self.width as u32 } else { length_of(row)? };
            if row.length()? != length {
                return Err(self.odd(ctx, row.length()? as usize));
            }
            for index in 0..length {
                push(ctx, args, &row.get_index(index)?, index as usize + 1, self.driver)?;
            }
        } else if !self.keys.is_empty() && arguments::is_named(row) {
            for (index, place) in self.order.iter().enumerate() {
                push(ctx, args, &row.get(&self.keys[*place])?, index + 1, self.driver)?;
            }
        } else {
            push(ctx, args, row, 1, self.driver)?;
        }
        let width = args.len() - before;
        if self.width == 0 {
            self.width = width;
        }
        if width != self.width || width == 0 {
            return Err(self.odd(ctx, width));
        }
        if self.count.is_multiple_of(LOOK) {
            self.weight.set(ctx, arguments::weight(args))?;
            ctx.poll((LOOK * 4) as i32)?;
        }
        Ok(())
    }

    fn odd(&self, ctx: Ctx<'js>, width: usize) -> brunt_quickjs::Thrown {
        let (count, wanted) = (self.count, self.width);
        throw_go(ctx, &format!("row {count} has {width} values, not {wanted}"))
    }
}

/// Reads rows until there are enough. `true`: there are no more.
pub(super) fn fill<'js>(
    ctx: Ctx<'js>,
    args: &mut Args,
    rows: &mut Rows<'js>,
    reader: &mut Reader<'js>,
    most: usize,
) -> JsResult<'js, bool> {
    for _ in 0..most {
        let Some(row) = rows.next()? else { return Ok(true) };
        reader.push(ctx, args, &row)?;
        if args.byte_count() > BATCH_BYTES {
            break;
        }
    }
    Ok(false)
}

/// All rows as arguments.
///
/// # Errors
/// They are too many.
pub(super) fn all<'js>(
    ctx: Ctx<'js>,
    args: &mut Args,
    rows: &mut Rows<'js>,
    reader: &mut Reader<'js>,
) -> JsResult<'js, ()> {
    loop {
        let end = fill(ctx, args, rows, reader, LOOK).and_then(|is_over| {
            if args.byte_count() + args.len() * arguments::COST > ALL_BYTES {
                let why = format!(
                    "the rows are too many for one call: at most {} MiB; call it for parts of them",
                    ALL_BYTES >> 20
                );
                return Err(throw(ctx, &Failure::new(Trouble::TooLarge, why)));
            }
            Ok(is_over)
        });
        if end.inspect_err(|_| rows.leave(ctx))? {
            reader.weight.set(ctx, arguments::weight(args))?;
            return Ok(());
        }
    }
}
