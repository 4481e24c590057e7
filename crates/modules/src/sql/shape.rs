//! Rows as objects.

use std::cell::RefCell;
use std::rc::Rc;

use brunt_js::{Host, SlotKey, VuSlot};
use brunt_quickjs::{Ctx, JsResult, Name, Pattern, Value};
use brunt_sql::{Cell, Chunk, Column, Columns, Driver, Failure, Trouble};

use super::failing;
use super::go_time::{self, Zone};
use super::options::{Integers, Options};

/// Shapes that a VM remembers.
const SHAPES_MAX: usize = 64;

/// The largest whole number below which all are exact.
const SAFE: u64 = (1 << 53) - 1;

/// The form of the rows of a result.
pub(super) struct Shape {
    columns: Columns,
    pattern: Pattern,
    /// By column: whether its value is part of the object. Of columns with one name, the last is.
    is_kept: Vec<bool>,
    /// By column: how its times are shown.
    zones: Vec<Zone>,
    driver: Driver,
}

/// The shapes of a VM, the one that was used last in front.
#[derive(Default)]
struct Shapes(RefCell<Vec<Rc<Shape>>>);

impl VuSlot for Shapes {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

/// The shape of rows with these columns.
///
/// # Errors
/// If there is no memory.
pub(super) fn of<'js>(
    ctx: Ctx<'js>,
    driver: Driver,
    columns: &Columns,
) -> JsResult<'js, Rc<Shape>> {
    let shapes = &Host::of(ctx).slot::<Shapes>().0;
    let is_it = |shape: &Rc<Shape>| {
        shape.driver == driver && (Rc::ptr_eq(&shape.columns, columns) || shape.columns == *columns)
    };
    let found = shapes.borrow().iter().position(is_it);
    if let Some(found) = found {
        let mut shapes = shapes.borrow_mut();
        shapes.swap(0, found);
        return Ok(Rc::clone(&shapes[0]));
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let (pattern, places) = ctx.pattern(&names)?;
    let mut is_kept = vec![false; names.len()];
    for place in places {
        is_kept[place] = true;
    }
    let zones = columns.iter().map(|column| Zone::of(driver, &column.type_name)).collect();
    let shape = Rc::new(Shape { columns: Rc::clone(columns), pattern, is_kept, zones, driver });
    let mut shapes = shapes.borrow_mut();
    shapes.truncate(SHAPES_MAX - 1);
    shapes.insert(0, Rc::clone(&shape));
    Ok(shape)
}

impl Shape {
    /// A row of a chunk.
    ///
    /// # Errors
    /// If there is no memory; the server broke its word.
    pub(super) fn row<'js>(
        &self,
        ctx: Ctx<'js>,
        options: &Options,
        chunk: &Chunk,
        row: usize,
        values: &mut Vec<Value<'js>>,
    ) -> JsResult<'js> {
        values.clear();
        let read = chunk.read(row, &self.columns, |index, cell| {
            if self.is_kept.get(index).is_some_and(|is_kept| *is_kept) {
                values.push(value(ctx, options, cell, self.zones[index])?);
            }
            Ok(())
        });
        match read {
            Ok(()) if values.len() == self.pattern.len() => ctx.object_by(&self.pattern, values),
            Ok(()) | Err(None) => {
                let why = "the server sent a row that is not what its columns promise";
                Err(failing::throw(ctx, &Failure::new(Trouble::Protocol, why)))
            }
            Err(Some(thrown)) => Err(thrown),
        }
    }

    /// The rows of a chunk, appended to an array from this index on.
    ///
    /// # Errors
    /// As [`Self::row`]; the VU was stopped.
    pub(super) fn append<'js>(
        &self,
        ctx: Ctx<'js>,
        options: &Options,
        chunk: &Chunk,
        array: &Value<'js>,
        from: u32,
    ) -> JsResult<'js, u32> {
        /// Rows between two looks at the clock.
        const LOOK: u32 = 32;
        let mut values = Vec::with_capacity(self.columns.len());
        let mut index = from;
        for row in 0..chunk.len() {
            array.set_index(index, self.row(ctx, options, chunk, row, &mut values)?)?;
            index += 1;
            if index.is_multiple_of(LOOK) {
                ctx.poll((LOOK as i32) * 8)?;
            }
        }
        Ok(index)
    }
}

fn integer<'js>(
    ctx: Ctx<'js>,
    options: &Options,
    size: u64,
    number: f64,
    big: impl FnOnce() -> JsResult<'js>,
) -> JsResult<'js> {
    match options.integers {
        Integers::Number => Ok(ctx.number(number)),
        Integers::Auto if size <= SAFE => Ok(ctx.number(number)),
        Integers::BigInt | Integers::Auto => big(),
    }
}

fn value<'js>(ctx: Ctx<'js>, options: &Options, cell: Cell<'_>, zone: Zone) -> JsResult<'js> {
    match cell {
        Cell::Null => Ok(ctx.null()),
        Cell::Bool(value) => Ok(ctx.bool(value)),
        Cell::Int(value) => {
            integer(ctx, options, value.unsigned_abs(), value as f64, || Ok(ctx.big_int(value)))
        }
        Cell::UInt(value) => {
            integer(ctx, options, value, value as f64, || match i64::try_from(value) {
                Ok(small) => Ok(ctx.big_int(small)),
                Err(_) => ctx
                    .global()
                    .get("BigInt")?
                    .call(&ctx.undefined(), &[ctx.string(&value.to_string())?]),
            })
        }
        Cell::Float(value) => Ok(ctx.number(value)),
        Cell::Single(value) => Ok(ctx.number(f64::from(value))),
        Cell::Text(text) => ctx.string_from_utf8(text),
        Cell::Raw(text) if options.is_text => ctx.string_from_utf8(text),
        Cell::Raw(bytes) | Cell::Bytes(bytes) if options.is_typed => {
            ctx.uint8_array(bytes.to_vec())
        }
        Cell::Raw(bytes) | Cell::Bytes(bytes) => ctx.array_of_bytes(bytes),
        Cell::Time(moment) if options.is_date => {
            let ms = moment.unix_seconds as f64 * 1e3 + f64::from(moment.nanos / 1_000_000);
            ctx.date(ms)
        }
        Cell::Time(moment) => go_time::make(ctx, moment, zone),
    }
}

static NAME: Name = Name::new("name");
static TYPE: Name = Name::new("type");
static NULLABLE: Name = Name::new("nullable");
static LENGTH: Name = Name::new("length");
static DECIMALS: Name = Name::new("decimals");
static TABLE: Name = Name::new("table");

/// The columns for the script.
///
/// # Errors
/// If there is no memory.
pub(super) fn columns<'js>(ctx: Ctx<'js>, columns: &Columns) -> JsResult<'js> {
    let shown: JsResult<'js, Vec<_>> = columns.iter().map(|column| shown(ctx, column)).collect();
    ctx.array_from(shown?)
}

fn shown<'js>(ctx: Ctx<'js>, column: &Column) -> JsResult<'js> {
    let number = |number: Option<f64>| number.map_or_else(|| ctx.null(), |it| ctx.number(it));
    ctx.object_from([
        (&NAME, ctx.string(&column.name)?),
        (&TYPE, ctx.string(&column.type_name)?),
        (&NULLABLE, column.nullable.map_or_else(|| ctx.null(), |it| ctx.bool(it))),
        (&LENGTH, number(column.length.map(|length| length as f64))),
        (&DECIMALS, number(column.decimals.map(f64::from))),
        (&TABLE, ctx.string(&column.table)?),
    ])
}
