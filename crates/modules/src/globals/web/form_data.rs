//! `FormData` (WHATWG XMLHttpRequest §5): entries that become a `multipart/form-data` body.

use std::cell::{Cell, Ref, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_http::{Payload, Shared};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value, Weight};

use super::blob::{self, BlobData, File, NamedBlob, shared_bytes};
use super::form_parts::{self, Entry, EntryValue};
use super::parts;
use crate::globals::text::needs_new;
use crate::go_error::adopt;
use crate::http::part::file_part;

static DONE: Name = Name::new("done");
static VALUE: Name = Name::new("value");

type Entries = Rc<List>;

/// The entries of a form, which count as memory of the VU.
#[derive(Default)]
struct List {
    entries: RefCell<Vec<Entry>>,
    weight: Weight,
}

impl List {
    fn borrow(&self) -> Ref<'_, Vec<Entry>> {
        self.entries.borrow()
    }

    fn append<'js>(&self, ctx: Ctx<'js>, entry: Entry) -> JsResult<'js, ()> {
        self.weight.add(ctx, entry.weight())?;
        self.entries.borrow_mut().push(entry);
        Ok(())
    }

    fn write<'js>(&self, ctx: Ctx<'js>, write: impl FnOnce(&mut Vec<Entry>)) -> JsResult<'js, ()> {
        write(&mut self.entries.borrow_mut());
        self.weight.set(ctx, self.borrow().iter().map(Entry::weight).sum())
    }
}

/// A `FormData` object, shared with its iterators.
pub(super) struct FormData(Entries);

impl FormData {
    /// The body.
    pub(super) fn encode(&self, boundary: &str) -> Payload {
        form_parts::encode(&self.0.borrow(), boundary)
    }
}

/// The class `FormData`.
pub(super) fn class(ctx: Ctx<'_>) -> JsResult<'_> {
    parts::class(ctx, "FormData", || {
        ctx.constructor(c"FormData", 0, construct, &ctx.class_prototype::<FormData>()?)
    })
}

/// A `FormData` of a body that was received.
pub(super) fn parsed<'js>(ctx: Ctx<'js>, bytes: Vec<u8>, content_type: &str) -> JsResult<'js> {
    let entries = form_parts::parse(&Shared::from(bytes), content_type);
    let entries = entries.map_err(|message| ctx.throw_type(&message))?;
    class(ctx)?;
    let form = Entries::default();
    form.write(ctx, |list| *list = entries)?;
    ctx.instance(FormData(form))
}

impl Class for FormData {
    const NAME: &'static CStr = c"FormData";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"append", 2, append)
                .function(c"delete", 1, delete)
                .function(c"entries", 0, |call| iterate(&call, Part::Both))
                .function(c"forEach", 1, for_each)
                .function(c"get", 1, get)
                .function(c"getAll", 1, get_all)
                .function(c"has", 1, has)
                .function(c"keys", 0, |call| iterate(&call, Part::Name))
                .function(c"set", 2, set)
                .function(c"values", 0, |call| iterate(&call, Part::Value))
                .alias(c"[Symbol.iterator]", c"entries")
                .tag(c"FormData")
        });
        &MEMBERS
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    needs_new(&call, "FormData")?;
    if !call.argument(0).is_undefined() {
        return Err(call.ctx().throw_type("there are no HTML forms here to make a FormData of"));
    }
    let object = call.ctx().instance(FormData(Entries::default()))?;
    adopt(&call, &object)?;
    Ok(object)
}

fn this<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a Entries> {
    match value.instance::<FormData>() {
        Some(form) => Ok(&form.0),
        None => Err(ctx.throw_type("this is not a FormData")),
    }
}

fn name<'js>(call: &Call<'js>, needed: usize) -> JsResult<'js, String> {
    if call.len() < needed {
        let message = format!("{needed} argument(s) needed, but only {} given", call.len());
        return Err(call.ctx().throw_type(&message));
    }
    call.argument(0).to_string_lossy()
}

/// The entry of the arguments `(name, value, filename?)`.
///
/// Files are, by the standard, `Blob` and `File`. Beyond it the objects of `http.file()`, and buffers, which browsers
/// would make the text "[object ArrayBuffer]" of.
fn entry<'js>(call: &Call<'js>) -> JsResult<'js, Entry> {
    let ctx = call.ctx();
    let name = name(call, 2)?;
    let (value, filename) = (call.argument(1), call.argument(2));
    let filename = if filename.is_undefined() { None } else { Some(filename.to_string_lossy()?) };
    let value = match file_of(&value, filename.as_deref()) {
        Some(file) => EntryValue::File(file),
        None if filename.is_some() => {
            return Err(ctx.throw_type(
                "an entry with a filename must be a Blob, a File, an ArrayBuffer or made by http.file",
            ));
        }
        None => EntryValue::Text(value.to_string_lossy()?),
    };
    Ok(Entry { name, value })
}

fn file_of(value: &Value<'_>, filename: Option<&str>) -> Option<Rc<NamedBlob>> {
    let named = |data: BlobData, otherwise: &str| {
        let name = filename.unwrap_or(otherwise).to_owned();
        Rc::new(NamedBlob { data, name, last_modified: blob::now_ms() })
    };
    if let Some(file) = value.instance::<File>() {
        return Some(match filename {
            None => Rc::clone(&file.0),
            Some(name) => Rc::new(NamedBlob {
                data: file.0.data.clone(),
                name: name.to_owned(),
                last_modified: file.0.last_modified,
            }),
        });
    }
    if let Some(blob) = blob::of(value) {
        return Some(named(blob.clone(), "blob"));
    }
    if let Some(file) = file_part(value) {
        return Some(named(BlobData::new(file.payload, &file.content_type), &file.filename));
    }
    let bytes = shared_bytes(value)?;
    Some(named(BlobData::new(bytes.into(), ""), "blob"))
}

fn shown<'js>(ctx: Ctx<'js>, value: &EntryValue) -> JsResult<'js> {
    match value {
        EntryValue::Text(text) => ctx.string(text),
        EntryValue::File(file) => blob::file_object(ctx, Rc::clone(file)),
    }
}

fn append<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let entry = entry(&call)?;
    this(call.ctx(), &object)?.append(call.ctx(), entry)?;
    Ok(call.ctx().undefined())
}

fn delete<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let name = name(&call, 1)?;
    let others = |entries: &mut Vec<Entry>| entries.retain(|entry| entry.name != name);
    this(call.ctx(), &object)?.write(call.ctx(), others)?;
    Ok(call.ctx().undefined())
}

fn get<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let name = name(&call, 1)?;
    let entries = this(ctx, &object)?.borrow();
    let found = entries.iter().find(|entry| entry.name == name);
    found.map_or(Ok(ctx.null()), |entry| shown(ctx, &entry.value))
}

fn get_all<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let name = name(&call, 1)?;
    let entries = this(ctx, &object)?.borrow();
    let found = entries.iter().filter(|entry| entry.name == name);
    let values: JsResult<'_, Vec<_>> = found.map(|entry| shown(ctx, &entry.value)).collect();
    ctx.array_from(values?)
}

fn has<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let name = name(&call, 1)?;
    let has = this(ctx, &object)?.borrow().iter().any(|entry| entry.name == name);
    Ok(ctx.bool(has))
}

/// Puts the entry where the first of its name was, and drops the others.
fn set<'js>(call: Call<'js>) -> JsResult<'js> {
    let object = call.this();
    let entry = entry(&call)?;
    this(call.ctx(), &object)?.write(call.ctx(), |entries| {
        match entries.iter().position(|known| known.name == entry.name) {
            None => entries.push(entry),
            Some(first) => {
                let mut index = 0;
                entries.retain(|known| {
                    index += 1;
                    index <= first + 1 || known.name != entry.name
                });
                entries[first] = entry;
            }
        }
    })?;
    Ok(call.ctx().undefined())
}

/// Name and value of an entry as JavaScript sees them; `None` past the end.
fn pair<'js>(
    ctx: Ctx<'js>,
    entries: &Entries,
    index: usize,
) -> JsResult<'js, Option<(Value<'js>, Value<'js>)>> {
    let entries = entries.borrow();
    let Some(entry) = entries.get(index) else { return Ok(None) };
    Ok(Some((ctx.string(&entry.name)?, shown(ctx, &entry.value)?)))
}

fn for_each<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let entries = this(ctx, &object)?;
    let (callback, this_value) = (call.argument(0), call.argument(1));
    let mut index = 0;
    // The callback may change the list: it is looked at anew each time.
    while let Some((name, value)) = pair(ctx, entries, index)? {
        callback.call(&this_value, &[value, name, object.clone()])?;
        index += 1;
    }
    Ok(ctx.undefined())
}

/// The part of each entry that an iterator yields.
#[derive(Clone, Copy)]
enum Part {
    Both,
    Name,
    Value,
}

/// Looks at the list anew at each step, as the standard has it.
struct Iterator {
    entries: Entries,
    part: Part,
    next: Cell<usize>,
}

impl Class for Iterator {
    const NAME: &'static CStr = c"FormData Iterator";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"next", 0, next)
                .method(c"[Symbol.iterator]", 0, |call| Ok(call.this()))
                .tag(c"FormData Iterator")
        });
        &MEMBERS
    }
}

fn iterate<'js>(call: &Call<'js>, part: Part) -> JsResult<'js> {
    let object = call.this();
    let entries = Rc::clone(this(call.ctx(), &object)?);
    call.ctx().instance(Iterator { entries, part, next: Cell::new(0) })
}

fn next<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let Some(iterator) = object.instance::<Iterator>() else {
        return Err(ctx.throw_type("this is not an iterator of a FormData"));
    };
    let index = iterator.next.get();
    let step = match pair(ctx, &iterator.entries, index)? {
        None => None,
        Some((name, value)) => {
            iterator.next.set(index + 1);
            Some(match iterator.part {
                Part::Both => ctx.array_from([name, value])?,
                Part::Name => name,
                Part::Value => value,
            })
        }
    };
    let done = ctx.bool(step.is_none());
    ctx.object_from([(&VALUE, step.unwrap_or_else(|| ctx.undefined())), (&DONE, done)])
}
