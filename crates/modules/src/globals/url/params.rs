//! `URLSearchParams` (WHATWG URL §6), free or part of a URL.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value, Weight};
use url::form_urlencoded;

use super::super::text::needs_new;
use super::Weighed;
use crate::go_error::adopt;
use crate::lazy::LazyGlobal;
use crate::reading::{Room, length_of};

static DONE: Name = Name::new("done");
static VALUE: Name = Name::new("value");

/// Names with values, in order.
type Pairs = Vec<(String, String)>;

/// The bytes of a pair.
fn weight_of((name, value): &(String, String)) -> usize {
    size_of::<(String, String)>() + name.len() + value.len()
}

/// Where the pairs are.
enum Store {
    Own(RefCell<Pairs>, Weight),
    /// In the query of a URL: that is the one truth, so that both sides see each other's changes.
    Query(Rc<Weighed>),
}

/// A `URLSearchParams` object, shared with its iterators.
pub(super) struct SearchParams(Rc<Store>);

impl SearchParams {
    /// The parameters of this URL.
    pub(super) fn of(url: Rc<Weighed>) -> Self {
        Self(Rc::new(Store::Query(url)))
    }
}

impl Store {
    fn read<R>(&self, read: impl FnOnce(&Pairs) -> R) -> R {
        match self {
            Self::Own(pairs, _) => read(&pairs.borrow()),
            Self::Query(url) => read(&parse(url.url.borrow().query().unwrap_or(""))),
        }
    }

    fn write<'js>(&self, ctx: Ctx<'js>, write: impl FnOnce(&mut Pairs)) -> JsResult<'js, ()> {
        match self {
            Self::Own(pairs, weight) => {
                write(&mut pairs.borrow_mut());
                weight.set(ctx, pairs.borrow().iter().map(weight_of).sum())
            }
            Self::Query(url) => {
                let mut pairs = parse(url.url.borrow().query().unwrap_or(""));
                write(&mut pairs);
                let query = serialize(&pairs);
                url.url.borrow_mut().set_query(Some(&*query).filter(|query| !query.is_empty()));
                url.weigh(ctx)
            }
        }
    }

    fn append<'js>(&self, ctx: Ctx<'js>, pair: (String, String)) -> JsResult<'js, ()> {
        match self {
            // Without a look at those that are there.
            Self::Own(pairs, weight) => {
                weight.add(ctx, weight_of(&pair))?;
                pairs.borrow_mut().push(pair);
                Ok(())
            }
            Self::Query(_) => self.write(ctx, |pairs| pairs.push(pair)),
        }
    }
}

/// The text of a `URLSearchParams` object; `None` for any other value.
pub(crate) fn search_params_text(value: &Value<'_>) -> Option<String> {
    value.instance::<SearchParams>().map(|params| params.0.read(serialize))
}

fn parse(query: &str) -> Pairs {
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

fn serialize(pairs: &Pairs) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

impl LazyGlobal for SearchParams {
    const NAME: &'static CStr = c"URLSearchParams";
    fn make(ctx: Ctx<'_>) -> JsResult<'_> {
        let prototype = ctx.class_prototype::<Self>()?;
        ctx.constructor(c"URLSearchParams", 0, construct, &prototype)
    }
}

impl Class for SearchParams {
    const NAME: &'static CStr = c"URLSearchParams";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"append", 2, append)
                .function(c"delete", 1, delete)
                .function(c"get", 1, get)
                .function(c"getAll", 1, get_all)
                .function(c"has", 1, has)
                .function(c"set", 2, set)
                .function(c"sort", 0, sort)
                .function(c"forEach", 1, for_each)
                .function(c"entries", 0, |call| iterate(&call, Part::Both))
                .function(c"keys", 0, |call| iterate(&call, Part::Name))
                .function(c"values", 0, |call| iterate(&call, Part::Value))
                .alias(c"[Symbol.iterator]", c"entries")
                .function(c"toString", 0, to_string)
                .getter(c"size", size)
                .tag(c"URLSearchParams")
        });
        &MEMBERS
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    needs_new(&call, "URLSearchParams")?;
    let pairs = read_init(call.ctx(), &call.argument(0))?;
    let weight = Weight::of(call.ctx(), pairs.iter().map(weight_of).sum())?;
    let params = SearchParams(Rc::new(Store::Own(RefCell::new(pairs), weight)));
    let object = call.ctx().instance(params)?;
    adopt(&call, &object)?;
    Ok(object)
}

/// The pairs of a query text, of another `URLSearchParams`, of an iterable of pairs, or of an object's properties.
fn read_init<'js>(ctx: Ctx<'js>, init: &Value<'js>) -> JsResult<'js, Pairs> {
    if init.is_undefined() {
        return Ok(Pairs::new());
    }
    if !init.is_object() {
        let text = init.to_js_str()?;
        return Ok(parse(text.strip_prefix('?').unwrap_or(&text)));
    }
    if let Some(params) = init.instance::<SearchParams>() {
        return Ok(params.0.read(Clone::clone));
    }
    let mut room = Room::new();
    if is_iterable(ctx, init)? {
        let list = list_of(ctx, init)?;
        return (0..length_of(&list)?)
            .map(|index| read_pair(ctx, &list.get_index(index)?, &mut room))
            .collect();
    }
    let pair = |key: Key<'js>| {
        let value = room.text(&init.get(&key)?)?;
        Ok((key.text().unwrap_or_default(), value))
    };
    init.keys()?.into_iter().map(pair).collect()
}

fn read_pair<'js>(
    ctx: Ctx<'js>,
    pair: &Value<'js>,
    room: &mut Room,
) -> JsResult<'js, (String, String)> {
    if pair.is_object() && is_iterable(ctx, pair)? {
        let pair = list_of(ctx, pair)?;
        if pair.length()? == 2 {
            let name = room.text(&pair.get_index(0)?)?;
            return Ok((name, room.text(&pair.get_index(1)?)?));
        }
    }
    Err(ctx.throw_type("URLSearchParams takes an iterable of [name, value] pairs"))
}

/// Whether it is an array or has an iterator.
pub(crate) fn is_iterable<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> JsResult<'js, bool> {
    if value.is_array() {
        return Ok(true);
    }
    let global = ctx.global();
    let symbol = global.get("Symbol")?.get("iterator")?;
    let get = global.get("Reflect")?.get("get")?;
    Ok(get.call(&ctx.undefined(), &[value.clone(), symbol])?.is_function())
}

/// The elements of an iterable as an array.
pub(crate) fn list_of<'js>(ctx: Ctx<'js>, iterable: &Value<'js>) -> JsResult<'js> {
    let array = ctx.global().get("Array")?;
    array.get("from")?.call(&array, std::slice::from_ref(iterable))
}

fn this<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a Rc<Store>> {
    match value.instance::<SearchParams>() {
        Some(params) => Ok(&params.0),
        None => Err(ctx.throw_type("this is not a URLSearchParams")),
    }
}

/// A required argument as text.
fn text<'js>(call: &Call<'js>, index: usize) -> JsResult<'js, String> {
    if call.len() <= index {
        let message = format!("{} argument(s) needed, but only {} given", index + 1, call.len());
        return Err(call.ctx().throw_type(&message));
    }
    call.argument(index).to_string_lossy()
}

/// The value that `delete` and `has` may be told to look for too.
fn wanted_value<'js>(call: &Call<'js>) -> JsResult<'js, Option<String>> {
    let value = call.argument(1);
    if value.is_undefined() { Ok(None) } else { value.to_string_lossy().map(Some) }
}

fn append<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let (name, value) = (text(&call, 0)?, text(&call, 1)?);
    this(call.ctx(), &object)?.append(call.ctx(), (name, value))?;
    Ok(call.ctx().undefined())
}

fn delete<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let (name, wanted) = (text(&call, 0)?, wanted_value(&call)?);
    this(call.ctx(), &object)?.write(call.ctx(), |pairs| {
        pairs.retain(|(key, value)| {
            *key != name || wanted.as_ref().is_some_and(|wanted| wanted != value)
        });
    })?;
    Ok(call.ctx().undefined())
}

fn get<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let name = text(&call, 0)?;
    let found = this(ctx, &object)?
        .read(|pairs| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()));
    found.map_or(Ok(ctx.null()), |value| ctx.string(&value))
}

fn get_all<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let name = text(&call, 0)?;
    let found: Vec<String> = this(ctx, &object)?.read(|pairs| {
        pairs.iter().filter(|(key, _)| *key == name).map(|(_, value)| value.clone()).collect()
    });
    let values: JsResult<'_, Vec<_>> = found.iter().map(|value| ctx.string(value)).collect();
    ctx.array_from(values?)
}

fn has<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let (name, wanted) = (text(&call, 0)?, wanted_value(&call)?);
    let found = this(ctx, &object)?.read(|pairs| {
        pairs.iter().any(|(key, value)| {
            *key == name && wanted.as_ref().is_none_or(|wanted| wanted == value)
        })
    });
    Ok(ctx.bool(found))
}

/// Sets the first pair of this name and drops the others.
fn set<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let (name, value) = (text(&call, 0)?, text(&call, 1)?);
    this(call.ctx(), &object)?.write(call.ctx(), |pairs| {
        match pairs.iter().position(|(key, _)| *key == name) {
            Some(first) => {
                pairs[first].1 = value;
                let mut index = 0;
                pairs.retain(|(key, _)| {
                    index += 1;
                    index <= first + 1 || *key != name
                });
            }
            None => pairs.push((name, value)),
        }
    })?;
    Ok(call.ctx().undefined())
}

/// Sorts by name, in the order of UTF-16 units; pairs of one name keep theirs.
fn sort<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let by_name = |pairs: &mut Pairs| {
        pairs.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    };
    this(call.ctx(), &object)?.write(call.ctx(), by_name)?;
    Ok(call.ctx().undefined())
}

fn for_each<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let store = this(ctx, &object)?;
    let (callback, this_value) = (call.argument(0), call.argument(1));
    let mut index = 0;
    // The callback may change the list: it is looked at anew each time.
    while let Some((name, value)) = store.read(|pairs| pairs.get(index).cloned()) {
        let arguments = [ctx.string(&value)?, ctx.string(&name)?, object.clone()];
        callback.call(&this_value, &arguments)?;
        index += 1;
    }
    Ok(ctx.undefined())
}

fn to_string<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    ctx.string(&this(ctx, &object)?.read(serialize))
}

fn size<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    Ok(ctx.number(this(ctx, &object)?.read(Vec::len) as f64))
}

/// The part of each pair that an iterator yields.
#[derive(Clone, Copy)]
enum Part {
    Both,
    Name,
    Value,
}

/// Looks at the list anew at each step, as the standard has it.
struct Iterator {
    store: Rc<Store>,
    part: Part,
    next: Cell<usize>,
}

impl Class for Iterator {
    const NAME: &'static CStr = c"URLSearchParams Iterator";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"next", 0, next)
                .method(c"[Symbol.iterator]", 0, |call| Ok(call.this()))
                .tag(c"URLSearchParams Iterator")
        });
        &MEMBERS
    }
}

fn iterate<'js>(call: &Call<'js>, part: Part) -> JsResult<'js> {
    let object = call.this();
    let store = Rc::clone(this(call.ctx(), &object)?);
    call.ctx().instance(Iterator { store, part, next: Cell::new(0) })
}

fn next<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let Some(iterator) = object.instance::<Iterator>() else {
        return Err(ctx.throw_type("this is not an iterator of URLSearchParams"));
    };
    let index = iterator.next.get();
    let value = match iterator.store.read(|pairs| pairs.get(index).cloned()) {
        None => None,
        Some((name, value)) => {
            iterator.next.set(index + 1);
            Some(match iterator.part {
                Part::Both => ctx.array_from([ctx.string(&name)?, ctx.string(&value)?])?,
                Part::Name => ctx.string(&name)?,
                Part::Value => ctx.string(&value)?,
            })
        }
    };
    let is_done = ctx.bool(value.is_none());
    ctx.object_from([(&VALUE, value.unwrap_or_else(|| ctx.undefined())), (&DONE, is_done)])
}

#[cfg(test)]
mod tests {
    use super::super::install;
    use crate::harness::{all, vm};

    #[test]
    fn parameters_come_from_texts_pairs_and_objects() {
        all(
            &vm(install),
            &[
                (
                    "String(new URLSearchParams('?a=1&b=x+y&a=%26')) + new URLSearchParams() + new URLSearchParams('a')",
                    "a=1&b=x+y&a=%26a=",
                ),
                (
                    "String(new URLSearchParams({ q: 'é', n: 5 })) + '|' + new URLSearchParams([['a', 1], ['a', 2]]) + '|' + new URLSearchParams(new Map([['m', 1]]))",
                    "q=%C3%A9&n=5|a=1&a=2|m=1",
                ),
                (
                    "const s = new URLSearchParams('x=1'); const c = new URLSearchParams(s); c.set('x', 2); `${s} ${c}`",
                    "x=1 x=2",
                ),
                (
                    "new URLSearchParams([['a']])",
                    "threw TypeError: URLSearchParams takes an iterable of [name, value] pairs",
                ),
                ("new URLSearchParams((function* () { yield ['g', 1] })()).get('g')", "1"),
                (
                    "URLSearchParams('a')",
                    "threw TypeError: the class URLSearchParams is made with `new`",
                ),
            ],
        );
    }

    #[test]
    fn it_has_the_methods_of_the_standard() {
        all(
            &vm(install),
            &[
                (
                    "const p = new URLSearchParams('b=1&a=2&b=3&c=4'); [p.get('b'), p.get('z'), p.getAll('b').join('+'), p.has('a'), p.has('a', '9'), p.size].join()",
                    "1,,1+3,true,false,4",
                ),
                ("p.set('b', 9); p.set('n', 0); String(p)", "b=9&a=2&c=4&n=0"),
                ("p.append('b', 'x'); p.delete('b', '9'); String(p)", "a=2&c=4&n=0&b=x"),
                ("p.append('a', 1); p.sort(); String(p)", "a=2&a=1&b=x&c=4&n=0"),
                (
                    "[...p.keys()].join('') + [...p.values()].join('') + [...p.entries()].length + Array.from(p)[0].join('=')",
                    "aabcn21x405a=2",
                ),
                (
                    "let s = ''; p.forEach(function (v, k, o) { s += k + v + (o === p) + this.t }, { t: '!' }); s.slice(0, 14)",
                    "a2true!a1true!",
                ),
                (
                    "let n = 0; for (const [k, v] of p) { if (n++ === 0) p.delete('b') } n + String(p)",
                    "4a=2&a=1&c=4&n=0",
                ),
                (
                    "Object.fromEntries(p).n + Object.prototype.toString.call(p)",
                    "0[object URLSearchParams]",
                ),
                ("p.append('x')", "threw TypeError: 2 argument(s) needed, but only 1 given"),
                ("new Map(p).get('a')", "1"),
            ],
        );
    }
}
