//! `k6/x/faker`: made-up data. A seed gives the same values in every run and every VU.
//!
//! Each category is a table of rows in a file of this folder; `zen` is all of them.

#[cfg(test)]
mod declared;
mod moments;
mod money;
mod people;
mod places;
mod row;
#[cfg(test)]
mod tests;
mod things;
mod values;
mod web;
mod words;

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use self::row::{Asked, Given, Make, Out, Rng, Row, Values};
use crate::go_error::adopt;
use crate::module::Module;
use crate::named::{ByName, Named};
use crate::state::VuState;
use crate::throwing::{throw, throw_type};

/// The seed of the default export.
const SEED: &str = "XK6_FAKER_SEED";
/// The category that has the functions of all others.
const ALL: &str = "zen";
/// The names of two categories in older versions of the extension.
const OLD: &[(&str, &str)] = &[("number", "numbers"), ("string", "strings")];

/// The tables, in the order of their names.
const GROUPS: &[(&str, &[Row])] = &[
    ("address", places::ADDRESS),
    ("animal", things::ANIMAL),
    ("app", people::APP),
    ("beer", things::BEER),
    ("book", things::BOOK),
    ("br", places::BRAZIL),
    ("car", things::CAR),
    ("celebrity", people::CELEBRITY),
    ("color", things::COLOR),
    ("company", people::COMPANY),
    ("emoji", things::EMOJI),
    ("error", web::ERROR),
    ("file", web::FILE),
    ("finance", money::FINANCE),
    ("food", things::FOOD),
    ("game", things::GAME),
    ("hacker", words::HACKER),
    ("hipster", words::HIPSTER),
    ("internet", web::INTERNET),
    ("language", things::LANGUAGE),
    ("minecraft", things::MINECRAFT),
    ("movie", things::MOVIE),
    ("numbers", values::NUMBERS),
    ("payment", money::PAYMENT),
    ("person", people::PERSON),
    ("product", things::PRODUCT),
    ("strings", values::STRINGS),
    ("time", moments::TIME),
    ("word", words::WORD),
];

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/faker"
    }

    fn names(&self) -> Vec<String> {
        vec!["Faker".to_owned()]
    }

    /// A `Faker`.
    fn object<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let seed = match VuState::of(ctx).shared.world.env.get(SEED) {
            None => 0,
            Some(text) if text.trim().is_empty() => 0,
            Some(text) => text.trim().parse().map_err(|_| {
                throw(ctx, &format!("k6/x/faker: {SEED} is \"{text}\": give it a whole number"))
            })?,
        };
        faker(ctx, seed)
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let prototype = ctx.class_prototype::<Faker>()?;
        let class = ctx.constructor(c"Faker", 1, construct, &prototype)?;
        exports.define_hidden("Faker", class)
    }
}

/// `new Faker(seed)`.
fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, given) = (call.ctx(), call.argument(0));
    let seed = if given.is_nullish() { 0.0 } else { given.to_number()? };
    if !seed.is_finite() {
        return Err(throw_type(ctx, "k6/x/faker: the seed of a Faker is a number"));
    }
    let object = faker(ctx, seed as i64)?;
    adopt(&call, &object)?;
    Ok(object)
}

/// Seed 0 means a random one.
fn faker(ctx: Ctx<'_>, seed: i64) -> JsResult<'_> {
    let seed = if seed == 0 { VuState::drawn(ctx) } else { seed.cast_unsigned() };
    let rng = Rc::new(RefCell::new(Rng::with_seed(seed)));
    let object = ctx.instance(Faker { rng: Rc::clone(&rng) })?;
    let named = GROUPS.iter().map(|&(name, _)| (name, name)).chain([(ALL, ALL)]);
    for (name, group) in named {
        let category = ctx.instance(ByName(Category { group, rng: Rc::clone(&rng) }))?;
        object.define_read_only(name, category)?;
    }
    for &(old, new) in OLD {
        let category = ctx.instance(ByName(Category { group: new, rng: Rc::clone(&rng) }))?;
        object.define_hidden(old, category)?;
    }
    Ok(object)
}

/// A generator; its categories are properties.
struct Faker {
    rng: Rc<RefCell<Rng>>,
}

impl Class for Faker {
    const NAME: &'static CStr = c"Faker";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> =
            LazyLock::new(|| Members::new().method(c"call", 1, call_by_name));
        &MEMBERS
    }
}

/// `call(name, ...args)`.
fn call_by_name<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(faker) = this.instance::<Faker>() else {
        return Err(throw_type(ctx, "k6/x/faker: call() is a method of a Faker"));
    };
    let name = call.argument(0).to_string_lossy()?;
    let Some(row) = find(ALL, |known| known.eq_ignore_ascii_case(&name)) else {
        return Err(throw(ctx, &format!("k6/x/faker: there is no function \"{name}\"")));
    };
    run(ctx, row, &faker.rng, &call.arguments_from(1))
}

/// One category of one Faker: its functions are made when they are read, so that a VU pays for what it uses.
struct Category {
    group: &'static str,
    rng: Rc<RefCell<Rng>>,
}

impl Named for Category {
    const NAME: &'static CStr = c"Object";

    fn get<'js>(&self, ctx: Ctx<'js>, name: &str) -> JsResult<'js, Option<Value<'js>>> {
        let Some(row) = find(self.group, |known| known == name) else { return Ok(None) };
        let rng = Rc::clone(&self.rng);
        let length = u8::try_from(row.arguments().len()).unwrap_or(u8::MAX);
        let shown = CString::new(row.name).unwrap_or_default();
        let function = ctx.closure(&shown, length, move |call| {
            run(call.ctx(), row, &rng, &call.arguments_from(0))
        })?;
        Ok(Some(function))
    }

    fn names(&self, _: Ctx<'_>) -> Vec<String> {
        rows(self.group).map(|row| row.name.to_owned()).collect()
    }

    fn set<'js>(&self, ctx: Ctx<'js>, _: String, _: &Value<'js>) -> JsResult<'js, ()> {
        Err(throw_type(ctx, "k6/x/faker: the functions of a Faker cannot be replaced"))
    }

    fn remove<'js>(&self, ctx: Ctx<'js>, _: String) -> JsResult<'js, ()> {
        Err(throw_type(ctx, "k6/x/faker: the functions of a Faker cannot be deleted"))
    }
}

/// The rows of a category.
fn rows(group: &'static str) -> impl Iterator<Item = &'static Row> {
    let tables = GROUPS.iter().filter(move |(name, _)| group == ALL || *name == group);
    tables.flat_map(|(_, rows)| rows.iter())
}

fn find(group: &'static str, is_it: impl Fn(&str) -> bool) -> Option<&'static Row> {
    rows(group).find(|row| is_it(row.name))
}

/// Makes one value.
fn run<'js>(
    ctx: Ctx<'js>,
    row: &'static Row,
    rng: &RefCell<Rng>,
    arguments: &[Value<'js>],
) -> JsResult<'js> {
    let mut given = Vec::with_capacity(row.arguments().len());
    for (index, argument) in row.arguments().iter().enumerate() {
        let value = arguments.get(index).filter(|value| !value.is_nullish());
        let read = match value {
            Some(value) => Given::read(argument, value)?,
            None => argument.kind.otherwise().ok_or_else(|| "is needed".to_owned()),
        };
        given.push(read.map_err(|why| {
            let (function, name) = (row.name, argument.name);
            throw(ctx, &format!("k6/x/faker: {function}: the argument {name} {why}"))
        })?);
    }
    // No script runs from here on, so the generator is not asked for again meanwhile.
    let mut rng = rng.borrow_mut();
    let made = match row.make {
        Make::Pick(list) => Ok(Out::Fixed(row::pick(&mut rng, list))),
        Make::Text(make) => Ok(Out::Text(make(&mut rng))),
        Make::Number(make) => Ok(Out::Number(make(&mut rng))),
        Make::Plain(make) => Ok(make(&mut rng)),
        Make::With(_, make) => make(&mut Asked { rng: &mut rng, given: Values(&given) }),
    };
    drop(rng);
    made.map_err(|why| throw(ctx, &format!("k6/x/faker: {}: {why}", row.name)))?.show(ctx)
}
