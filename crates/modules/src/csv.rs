//! `k6/experimental/csv`: files of records, whole as a shared array or one by one.

mod options;
mod reader;

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use brunt_js::{Host, Phase};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Class, CommonBytes, Ctx, JsResult, Members, Name, Value};

use crate::fs::File;
use crate::go_error::{adopt, go_type, throw_go};
use crate::module::Module;
use crate::shared_array::array_of;
use crate::shared_array::elements::{Elements, SharedArrays};
use crate::state::VuState;
use options::Options;
use reader::{CsvError, Cursor};

static DONE: Name = Name::new("done");
static VALUE: Name = Name::new("value");

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/experimental/csv"
    }

    fn names(&self) -> Vec<String> {
        ["parse", "Parser"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("parse", ctx.function(c"parse", 2, parse)?)?;
        let prototype = ctx.class_prototype::<Parser>()?;
        exports.define("Parser", ctx.constructor(c"Parser", 2, construct, &prototype)?)
    }
}

/// The records of a file that the options ask for, one after another.
struct Records {
    bytes: Arc<CommonBytes>,
    cursor: Cursor,
    /// The names of the columns, if records become objects.
    header: Option<Vec<String>>,
    /// The places of the columns in the order of their names: k6 keeps records of [`parse`] like that.
    by_name: Vec<usize>,
    /// The number of the next record; the header counts.
    next: u64,
    last: Option<u64>,
}

impl Records {
    /// # Errors
    /// A sentence: the header, or the records that are passed over, break the rules or are not there.
    fn new(bytes: Arc<CommonBytes>, options: &Options) -> Result<Self, String> {
        let mut records = Self {
            bytes,
            cursor: Cursor::new(options.delimiter),
            header: None,
            by_name: Vec::new(),
            next: 0,
            last: options.to_line,
        };
        let first = options.from_line.max(u64::from(options.skip_first_line));
        let skipped = |error: String| {
            let text = format!("failed to skip lines until line {first}; reason: {error}");
            options::impossible(&text)
        };
        if options.as_objects {
            let unread = |error: String| {
                options::impossible(&format!("failed to read the first line; reason: {error}"))
            };
            if !records.advance().map_err(|error| unread(error.to_string()))? {
                return Err(unread("EOF".to_owned()));
            }
            let header: Vec<String> = records.texts().map(Cow::into_owned).collect();
            records.by_name = (0..header.len()).collect();
            records.by_name.sort_by_key(|&place| &header[place]);
            records.header = Some(header);
        }
        while records.next < first {
            if !records.advance().map_err(|error| skipped(error.to_string()))? {
                return Err(skipped("EOF".to_owned()));
            }
        }
        Ok(records)
    }

    /// Reads the next record, whether asked for or not; `false` at the end.
    fn advance(&mut self) -> Result<bool, CsvError> {
        let more = self.cursor.next(&self.bytes)?;
        self.next += u64::from(more);
        Ok(more)
    }

    /// Reads the next record that is asked for.
    fn read(&mut self) -> Result<bool, CsvError> {
        if self.last.is_some_and(|last| self.next > last) { Ok(false) } else { self.advance() }
    }

    fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.cursor.fields().map(String::from_utf8_lossy)
    }

    /// The record that was read, as JSON.
    fn json(&self) -> String {
        let mut out = String::new();
        match &self.header {
            None => {
                for text in self.texts() {
                    out.push(if out.is_empty() { '[' } else { ',' });
                    quote(&text, &mut out);
                }
                out.push(']');
            }
            Some(header) => {
                let texts: Vec<_> = self.texts().collect();
                for &place in &self.by_name {
                    out.push(if out.is_empty() { '{' } else { ',' });
                    quote(&header[place], &mut out);
                    out.push(':');
                    quote(texts.get(place).map_or("", |text| text), &mut out);
                }
                out.push('}');
            }
        }
        out
    }

    /// The record that was read, as a value.
    fn value<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let Some(header) = &self.header else {
            let values: Vec<_> =
                self.texts().map(|text| ctx.string(&text)).collect::<Result<_, _>>()?;
            return ctx.array_from(values);
        };
        let object = ctx.object()?;
        for (name, text) in header.iter().zip(self.texts()) {
            object.define(name, ctx.string(&text)?)?;
        }
        Ok(object)
    }
}

fn quote(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// How the constructor is told of.
const PARSER: &str = "new Parser()";

/// The file and options of a call.
///
/// # Errors
/// A `GoError`, as in k6, if they are none.
fn arguments<'js>(call: &Call<'js>, what: &str) -> JsResult<'js, Asked> {
    let (ctx, given) = (call.ctx(), call.argument(0));
    let Some(file) = given.instance::<File>() else {
        return Err(throw_go(ctx, &no_file(&given, what)));
    };
    let Some(bytes) = file.bytes() else {
        let message = format!(
            "{what} needs the file in memory, for which it is too large: it may have {} bytes",
            brunt_js::opened::FILE_MAX
        );
        return Err(throw_go(ctx, &message));
    };
    let given = call.argument(1);
    if call.len() > 1 && given.is_nullish() {
        return Err(ctx.throw_type("Cannot convert undefined or null to object"));
    }
    let options = Options::read(&given)?.map_err(|reason| throw_go(ctx, &reason))?;
    let key = format!("\0csv {} {options:?}", file.path().display());
    Ok(Asked { bytes: Arc::clone(bytes), options, key })
}

/// The message about a value that is not a file, in k6's words: it names the type that its engine has for the value.
fn no_file(given: &Value<'_>, what: &str) -> String {
    if given.is_nullish() && what == PARSER {
        return "csv Parser constructor takes at least one non-nil source argument".to_owned();
    }
    let kind = if let Some(text) = given.as_str() {
        let text = text.as_str();
        if text.len() > 16 && (given.common_text().is_some() || text.contains('\n')) {
            // The value of `open()`, as its lines tell.
            "*sobek.importedString"
        } else if text.is_ascii() {
            "sobek.asciiString"
        } else {
            "sobek.unicodeString"
        }
    } else if given.is_number() {
        if go_type(given) == "int64" { "sobek.valueInt" } else { "sobek.valueFloat" }
    } else if given.is_bool() {
        "sobek.valueBool"
    } else if given.is_big_int() {
        "*sobek.valueBigInt"
    } else if given.is_symbol() {
        "*sobek.Symbol"
    } else {
        return options::impossible("the reader cannot be nil");
    };
    format!("first argument expected to be a fs.File instance, got {kind} instead")
}

struct Asked {
    bytes: Arc<CommonBytes>,
    options: Options,
    /// By which name all VUs find the shared records.
    key: String,
}

/// `parse(file, options)`: a promise of a shared array. Faults of the file are thrown at once, as in k6.
fn parse<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let asked = arguments(&call, "csv.parse()")?;
    let elements = shared(ctx, asked)?;
    settled(ctx, Ok(array_of(ctx, elements)?))
}

/// The records that are asked for: read by the first VM that asks, the same for all others.
///
/// # Errors
/// A `GoError` about the file; there is no memory for them.
fn shared<'js>(ctx: Ctx<'js>, asked: Asked) -> JsResult<'js, Arc<Elements>> {
    let store = VuState::of(ctx).shared.slot::<SharedArrays>();
    if let Some(elements) = store.find(&asked.key) {
        return Ok(elements);
    }
    let mut records =
        Records::new(asked.bytes, &asked.options).map_err(|reason| throw_go(ctx, &reason))?;
    let unread =
        |error: CsvError| throw_go(ctx, &format!("failed to read record; reason: {error}"));
    let mut elements = Elements::default();
    while records.read().map_err(unread)? {
        elements.push_of_file(ctx, records.json().as_bytes())?;
    }
    Ok(store.keep(&asked.key, elements))
}

/// The object that `new Parser()` makes. Each VU reads on its own.
struct Parser(RefCell<Records>);

impl Class for Parser {
    const NAME: &'static CStr = c"Parser";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> =
            LazyLock::new(|| Members::new().method(c"next", 0, next));
        &MEMBERS
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    if !call.this().is_object() {
        return Err(ctx.throw_type("the class Parser is made with `new`"));
    }
    if Host::of(ctx).phase() != Phase::Init {
        return Err(throw_go(ctx, "csv Parser constructor must be called in the init context"));
    }
    let asked = arguments(&call, PARSER)?;
    let records =
        Records::new(asked.bytes, &asked.options).map_err(|reason| throw_go(ctx, &reason))?;
    let parser = ctx.instance(Parser(RefCell::new(records)))?;
    adopt(&call, &parser)?;
    Ok(parser)
}

/// `next()`: a promise of `{ done, value }`; the value is an empty array at the end.
fn next<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(Parser(records)) = this.instance::<Parser>() else {
        return Err(ctx.throw_type("this is not a Parser"));
    };
    let read = records.borrow_mut().read();
    let (done, value) = match read {
        Ok(true) => (false, records.borrow().value(ctx)?),
        Ok(false) => (true, ctx.array()?),
        Err(error) => return settled(ctx, Err(error.to_string())),
    };
    let result = ctx.object_from([(&DONE, ctx.bool(done)), (&VALUE, value)])?;
    settled(ctx, Ok(result))
}

/// A promise that is settled already: the files are in memory.
fn settled<'js>(ctx: Ctx<'js>, result: Result<Value<'js>, String>) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    ctx.settle(deferred, result.map_err(|reason| ctx.error(ErrorKind::Plain, &reason)))?;
    Ok(promise)
}
