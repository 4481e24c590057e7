//! Files as parts of forms: what `http.file()` makes, and what it has in common with other kinds of files.

use std::sync::LazyLock;

use brunt_http::Payload;
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Class, Ctx, JsResult, Members, Name, Value, Weight};

use super::fasthttp::file_stream::FileStream;

/// A file, ready to be a part of a form.
pub(crate) struct FilePart {
    pub(crate) payload: Payload,
    /// The data was given as text.
    pub(crate) is_text: bool,
    pub(crate) filename: String,
    pub(crate) content_type: String,
}

/// The part of an object of `http.file()` or `FileStream`; `None` for other values.
pub(crate) fn file_part(value: &Value<'_>) -> Option<FilePart> {
    if let Some(stream) = value.instance::<FileStream>() {
        return Some(stream.part());
    }
    value.instance::<FileData>().map(|file| FilePart {
        payload: file.data.clone(),
        is_text: file.is_text,
        filename: file.filename.clone(),
        content_type: file.content_type.clone(),
    })
}

static DATA: Name = Name::new("data");
static FILENAME: Name = Name::new("filename");
static CONTENT_TYPE: Name = Name::new("content_type");

/// The object that `http.file()` returns.
pub(crate) struct FileData {
    pub(crate) data: Payload,
    /// The data was given as text, and is shown as text.
    pub(crate) is_text: bool,
    pub(crate) filename: String,
    pub(crate) content_type: String,
    /// Of the two.
    _weight: Weight,
}

impl FileData {
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn new<'js>(ctx: Ctx<'js>, part: FilePart) -> JsResult<'js, Self> {
        let FilePart { payload: data, is_text, filename, content_type } = part;
        let weight = Weight::of(ctx, filename.len() + content_type.len())?;
        Ok(Self { data, is_text, filename, content_type, _weight: weight })
    }
}

impl Class for FileData {
    const NAME: &'static std::ffi::CStr = c"FileData";
    const EXOTIC: bool = true;

    fn members() -> &'static Members {
        static NONE: LazyLock<Members> = LazyLock::new(Members::new);
        &NONE
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        if key.is(&DATA) {
            // Data that lie in a file or come from a stream are not shown.
            let Some(data) = self.data.in_memory() else { return Ok(Own::Once(ctx.undefined())) };
            return Ok(Own::Keep(if self.is_text {
                ctx.string_from_utf8(&data)?
            } else {
                ctx.array_buffer(data.into_owned())?
            }));
        }
        if key.is(&FILENAME) {
            return Ok(Own::Once(ctx.string(&self.filename)?));
        }
        if key.is(&CONTENT_TYPE) {
            return Ok(Own::Once(ctx.string(&self.content_type)?));
        }
        Ok(Own::None)
    }

    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 3] = [&DATA, &FILENAME, &CONTENT_TYPE];
        &NAMES
    }
}
