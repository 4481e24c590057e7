//! `k6/experimental/fs`: files that are read piece by piece. Each is in memory once, for all VUs; what a VU has of its own
//! is the place at which it reads. Those that are too large for memory stay on the disk.

use std::cell::Cell;
use std::ffi::CStr;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use brunt_js::{Host, LargeFile, OpenError, Phase};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Class, CommonBytes, Ctx, JsResult, Members, Name, Value};

use crate::globals::open::path_from_entry;
use crate::module::Module;

static ERROR_NAME: Name = Name::new("name");
static NAME: Name = Name::new("name");
static SIZE: Name = Name::new("size");
static PATH: Name = Name::new("path");
static BUFFER: Name = Name::new("buffer");

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/experimental/fs"
    }

    fn names(&self) -> Vec<String> {
        ["open", "SeekMode"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("open", ctx.function(c"open", 1, open)?)?;
        let modes = ctx.object()?;
        for (mode, number) in [("Start", 0), ("Current", 1), ("End", 2)] {
            modes.define(mode, ctx.int(number))?;
        }
        exports.define("SeekMode", modes)
    }
}

/// The object that `open()` resolves to.
pub(crate) struct File {
    path: Box<Path>,
    content: Content,
    /// Where the next `read()` begins; never beyond the end.
    offset: Cell<u64>,
}

enum Content {
    Memory(Arc<CommonBytes>),
    /// Too large for that.
    Disk(Arc<LargeFile>),
}

impl Content {
    fn size(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Disk(file) => file.size(),
        }
    }

    /// Fills the buffer as far as there is something.
    fn read_at(&self, into: &mut [u8], at: u64) -> std::io::Result<usize> {
        match self {
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or(&[]);
                let count = rest.len().min(into.len());
                into[..count].copy_from_slice(&rest[..count]);
                Ok(count)
            }
            Self::Disk(file) => file.read_at(into, at),
        }
    }
}

impl File {
    /// All bytes of the file; `None` if they are too many to be in memory.
    pub(crate) fn bytes(&self) -> Option<&Arc<CommonBytes>> {
        match &self.content {
            Content::Memory(bytes) => Some(bytes),
            Content::Disk(_) => None,
        }
    }

    /// Where the file lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Class for File {
    const NAME: &'static CStr = c"File";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"read", 1, read)
                .method(c"seek", 2, seek)
                .method(c"stat", 0, stat)
        });
        &MEMBERS
    }
}

/// A failure: what scripts see as the error's `name`, and its message.
struct Failure {
    name: &'static str,
    message: String,
}

impl Failure {
    fn of_type(message: impl Into<String>) -> Self {
        Self { name: "TypeError", message: message.into() }
    }
}

/// A promise that is settled already: nothing here waits.
fn settled<'js>(
    ctx: Ctx<'js>,
    result: JsResult<'js, Result<Value<'js>, Failure>>,
) -> JsResult<'js> {
    let result = match result? {
        Ok(value) => Ok(value),
        Err(failure) => {
            let kind = if failure.name == "TypeError" { ErrorKind::Type } else { ErrorKind::Plain };
            let error = ctx.error(kind, &failure.message);
            error.define_hidden(&ERROR_NAME, ctx.string(failure.name)?)?;
            Err(error)
        }
    };
    let (promise, deferred) = ctx.promise()?;
    ctx.settle(deferred, result)?;
    Ok(promise)
}

fn open<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    settled(ctx, opened(ctx, &call.argument(0)))
}

fn opened<'js>(ctx: Ctx<'js>, path: &Value<'js>) -> JsResult<'js, Result<Value<'js>, Failure>> {
    let host = Host::of(ctx);
    if host.phase() != Phase::Init {
        let message = "open() failed; reason: opening a file is allowed only in the Init context";
        return Ok(Err(Failure { name: "ForbiddenError", message: message.to_owned() }));
    }
    if path.is_nullish() {
        let message = "open() failed; reason: path cannot be null or undefined";
        return Ok(Err(Failure::of_type(message)));
    }
    let name = path.to_string_lossy()?;
    if name.is_empty() {
        return Ok(Err(Failure::of_type("open() failed; reason: path cannot be empty")));
    }
    let path = path_from_entry(host, &name);
    let files = host.program().files();
    let content = match files.open(&path, true) {
        Ok(bytes) => Ok(Content::Memory(bytes)),
        Err(OpenError::TooLarge(_)) => files.open_large(&path).map(Content::Disk),
        Err(error) => Err(error),
    };
    let content = match content {
        Ok(content) => content,
        Err(error) => return Ok(Err(refusal(&error, &path))),
    };
    let shown = ctx.string(&path.to_string_lossy())?;
    let file = ctx.instance(File { path: path.into(), content, offset: Cell::new(0) })?;
    file.define(&PATH, shown)?;
    Ok(Ok(file))
}

fn refusal(error: &OpenError, path: &Path) -> Failure {
    let shown = path.display();
    let (name, message) = match error {
        OpenError::NotFound(_) => {
            ("NotFoundError", format!("no such file or directory \"{shown}\""))
        }
        OpenError::Directory(_) => (
            "InvalidResourceError",
            format!("cannot open \"{shown}\": opening a directory is not supported"),
        ),
        other => ("InvalidResourceError", other.to_string()),
    };
    Failure { name, message }
}

/// The file on which a method is called.
fn this<'a>(call: &Call<'_>, this: &'a Value<'_>) -> JsResult<'a, &'a File> {
    this.instance::<File>().ok_or_else(|| call.ctx().throw_type("this is not a File"))
}

fn stat<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let file = this(&call, &object)?;
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let about = ctx.object_from([
        (&NAME, ctx.string(&name)?),
        (&SIZE, ctx.number(file.content.size() as f64)),
    ])?;
    settled(ctx, Ok(Ok(about)))
}

/// `read(into)`: fills, as k6 does, the whole buffer that `into` is a view of. `null` at the end of the file.
fn read<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object, into) = (call.ctx(), call.this(), call.argument(0));
    let file = this(&call, &object)?;
    if into.is_nullish() {
        let message = "read() failed; reason: into argument cannot be null or undefined";
        return settled(ctx, Ok(Err(Failure::of_type(message))));
    }
    let not_bytes = || {
        let message = "read() failed; reason: into argument must be a Uint8Array";
        settled(ctx, Ok(Err(Failure::of_type(message))))
    };
    if into.typed_array_name() != Some("Uint8Array") {
        return not_bytes();
    }
    let buffer = into.get(&BUFFER)?;
    if buffer.is_read_only() {
        let message = "read() failed; reason: into argument cannot be written to: it is frozen";
        return settled(ctx, Ok(Err(Failure::of_type(message))));
    }
    if file.offset.get() >= file.content.size() {
        return settled(ctx, Ok(Ok(ctx.null())));
    }
    let filled = buffer.with_bytes_mut(|buffer| {
        (file.content.read_at(buffer, file.offset.get()), buffer.is_empty())
    });
    match filled {
        None => not_bytes(),
        // It has become shorter.
        Some((Ok(0), false)) => settled(ctx, Ok(Ok(ctx.null()))),
        Some((Ok(count), _)) => {
            file.offset.set(file.offset.get() + count as u64);
            settled(ctx, Ok(Ok(ctx.number(count as f64))))
        }
        Some((Err(error), _)) => {
            let message = format!("read() failed; reason: {error}");
            settled(ctx, Ok(Err(Failure { name: "InvalidResourceError", message })))
        }
    }
}

fn seek<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let file = this(&call, &object)?;
    let moved = target(file, &call.argument(0), &call.argument(1)).map(|offset| {
        file.offset.set(offset);
        ctx.number(offset as f64)
    });
    settled(ctx, Ok(moved))
}

/// Where `seek(offset, whence)` leads to.
fn target(file: &File, offset: &Value<'_>, whence: &Value<'_>) -> Result<u64, Failure> {
    let integer = |value: &Value<'_>, what: &str| {
        if value.is_nullish() {
            let message =
                format!("seek() failed; reason: the {what} argument cannot be null or undefined");
            return Err(Failure::of_type(message));
        }
        let number = value.as_number().filter(|number| number.fract() == 0.0);
        number.map(|number| number as i64).ok_or_else(|| {
            let message = format!("seek() failed; reason: the {what} argument must be a number");
            Failure::of_type(message)
        })
    };
    let (by, mode) = (integer(offset, "offset")?, integer(whence, "whence")?);
    let size = i64::try_from(file.content.size()).unwrap_or(i64::MAX);
    let at = i64::try_from(file.offset.get()).unwrap_or(i64::MAX);
    let to = match mode {
        0 if by < 0 => {
            return Err(Failure::of_type("offset cannot be negative when using SeekModeStart"));
        }
        0 => by,
        1 => at.saturating_add(by),
        2 if by > 0 => {
            return Err(Failure::of_type("offset cannot be positive when using SeekModeEnd"));
        }
        // From the last byte, not from behind it, as k6 counts.
        2 => size.saturating_sub(1).saturating_add(by),
        _ => {
            let message = "seek() failed; reason: the whence argument must be a SeekMode";
            return Err(Failure::of_type(message));
        }
    };
    if to < 0 {
        return Err(Failure::of_type("seeking before start of file"));
    }
    if to > size {
        return Err(Failure::of_type("seeking beyond end of file"));
    }
    Ok(u64::try_from(to).unwrap_or(0))
}
