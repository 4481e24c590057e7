//! Request bodies: text, bytes, forms, multipart.

use std::rc::Rc;
use std::sync::Arc;

use brunt_http::form::{Multipart, Part, urlencode};
use brunt_http::{Payload, Shared};
use brunt_quickjs::{CommonBytes, Name, Thrown, Value};

use super::fasthttp::file_stream::FileStream;
use super::part::{FileData, FilePart, file_part};
use crate::boxed::unbox;
use crate::globals::web::blob::shared_bytes;
use crate::globals::web::bodies::{feed, form_with, is_blob, is_stream, named_blob, native_body};
use crate::globals::web::feed::FeedGuard;
use crate::globals::web::form_parts::Boundary;
use crate::globals::web::jslib_form::late_payload;
use crate::go_error::go_type;
use crate::go_text::number_text;
use crate::reading::{Room, length_of};
use crate::shared_array;
use crate::state::VuState;
use crate::throwing::{throw, throw_type};

static DESCRIPTION: Name = Name::new("description");

/// A body as it goes on the wire.
#[derive(Default)]
pub(super) struct EncodedBody {
    /// `None` for no body.
    pub(super) payload: Option<Payload>,
    /// The value of `Content-Type` unless the caller sets it.
    pub(super) content_type: Option<String>,
    /// The content type is that of the script's header, with the boundary.
    pub(super) is_by_hand: bool,
    /// Where the body comes from, if it is a stream.
    pub(super) feed: Option<FeedGuard>,
}

impl EncodedBody {
    fn of(payload: Payload, content_type: Option<String>) -> Self {
        Self { payload: Some(payload), content_type, ..Self::default() }
    }

    /// A form with parts.
    pub(super) fn is_multipart(&self) -> bool {
        self.content_type
            .as_ref()
            .is_some_and(|kind| kind.starts_with("multipart/form-data; boundary="))
    }
}

/// Why there is no body.
pub(super) enum BodyRefusal {
    Thrown(Thrown),
    /// Its type is none of those that a body may have.
    Type(String),
}

impl From<Thrown> for BodyRefusal {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

/// Tells what k6 calls an object that is no body.
pub(super) type KindOf = fn(&Value<'_>) -> Option<&'static str>;

/// The one place where a JavaScript value becomes what a request sends.
pub(super) fn encode(body: &Value<'_>, kind_of: KindOf) -> Result<EncodedBody, BodyRefusal> {
    if body.is_nullish() {
        return Ok(EncodedBody::default());
    }
    if let Some(payload) = payload_of(body) {
        return Ok(EncodedBody::of(payload, None));
    }
    if body.is_proxy() {
        let kind =
            if shared_array::is_one(body) { "data.wrappedSharedArray" } else { "sobek.Proxy" };
        return Err(unknown(kind));
    }
    if let Some(primitive) = primitive_in(body)? {
        return encode(&primitive, kind_of);
    }
    if let Some(native) = native_body(body) {
        let content_type = Some(native.content_type).filter(|kind| !kind.is_empty());
        return Ok(EncodedBody::of(native.payload, content_type));
    }
    if is_stream(body.ctx(), body) {
        let (payload, feed) = feed(body.ctx(), body)?;
        return Ok(EncodedBody { feed: Some(feed), ..EncodedBody::of(payload, None) });
    }
    if body.is_array_buffer() || body.is_data_view() || body.typed_array_name().is_some() {
        return Err(
            throw_type(body.ctx(), "the buffer has no bytes any more: it was transferred").into()
        );
    }
    if let Some(kind) = kind_of(body) {
        return Err(unknown(kind));
    }
    let plain = body.is_object()
        && !(body.is_function()
            || body.is_array()
            || body.is_map()
            || body.is_set()
            || body.is_date());
    if !plain {
        return Err(unknown(go_type(body)));
    }
    form(body, None)
}

/// In k6's words.
fn unknown(kind: &str) -> BodyRefusal {
    BodyRefusal::Type(format!("unknown request body type {kind}"))
}

/// The text of a body that holds a primitive: a symbol is its description, as in k6, and `new String()` the string,
/// which k6 tears apart.
fn primitive_in<'js>(body: &Value<'js>) -> Result<Option<Value<'js>>, Thrown> {
    let symbol = if body.is_symbol() { Some(body.clone()) } else { unbox(body) };
    match symbol {
        Some(symbol) if symbol.is_symbol() => {
            let text = symbol.get(&DESCRIPTION)?;
            Ok(Some(if text.is_string() { text } else { body.ctx().string("")? }))
        }
        primitive => Ok(primitive),
    }
}

/// The tag of an object without members, `Response` for one: a form of it would be empty.
fn tag_of(body: &Value<'_>) -> Result<Option<String>, Thrown> {
    let symbol = body.ctx().global().get("Symbol")?.get("toStringTag")?;
    let reflect = body.ctx().global().get("Reflect")?.get("get")?;
    let tag = reflect.call(&body.ctx().undefined(), &[body.clone(), symbol])?;
    if tag.is_string() { tag.to_string_lossy().map(Some) } else { Ok(None) }
}

/// The same for a form with parts whose `Content-Type` a script gives by hand: its boundary is used, and added if there is
/// none. `None`: it is no such form.
pub(super) fn encode_as(
    body: &Value<'_>,
    content_type: &str,
) -> Result<Option<EncodedBody>, BodyRefusal> {
    if is_blob(body) {
        return Ok(None);
    }
    let seed = VuState::drawn(body.ctx());
    let boundary =
        Boundary::of(Some(content_type), seed).map_err(|told| throw(body.ctx(), &told))?;
    if let Some(payload) = form_with(body, &boundary.text) {
        let encoded = EncodedBody::of(payload, Some(boundary.content_type));
        return Ok(Some(EncodedBody { is_by_hand: true, ..encoded }));
    }
    form(body, Some(boundary)).map(Some)
}

/// Text and bytes, and what holds some: strings, buffers, and the native objects that are bodies by themselves. `None`
/// for anything else.
pub(super) fn payload_of(value: &Value<'_>) -> Option<Payload> {
    if let Some(bytes) = value.common_text() {
        return Some(Shared::new(Rc::new(FileText(bytes))).into());
    }
    if let Some(text) = value.as_str() {
        return Some(Shared::from(text.as_str()).into());
    }
    if !value.is_object() {
        return None;
    }
    if let Some(payload) = late_payload(value) {
        return Some(payload);
    }
    // As they are now: if the script changes its buffer while the request is under way, it changes a copy.
    if let Some(bytes) = shared_bytes(value) {
        return Some(bytes.into());
    }
    if let Some(file) = value.instance::<FileData>() {
        return Some(file.data.clone());
    }
    value.instance::<FileStream>().map(FileStream::payload)
}

/// The text of a file that all VUs share.
struct FileText(Arc<CommonBytes>);

impl AsRef<[u8]> for FileText {
    fn as_ref(&self) -> &[u8] {
        self.0.text().as_bytes()
    }
}

/// The content of a part of a multipart form.
enum Content {
    Text(String),
    File(FilePart),
}

/// A value that makes a form a multipart one: what `http.file()` made, `Blob`, `File` and `FileStream`.
fn is_file(value: &Value<'_>) -> bool {
    value.instance::<FileData>().is_some()
        || value.instance::<FileStream>().is_some()
        || is_blob(value)
}

fn file_of(value: &Value<'_>) -> Option<FilePart> {
    file_part(value).or_else(|| named_blob(value))
}

fn form(body: &Value<'_>, boundary: Option<Boundary>) -> Result<EncodedBody, BodyRefusal> {
    let mut members = Vec::new();
    let mut has_file = false;
    for key in body.keys()? {
        let value = body.get(&key)?;
        has_file |= is_file(&value);
        members.push((key.text().unwrap_or_default(), value));
    }
    if members.is_empty()
        && let Some(tag) = tag_of(body)?
    {
        return Err(unknown(&tag));
    }
    if has_file {
        let members = flattened(members)?;
        let mut room = Room::new();
        let contents: Vec<Content> = members
            .iter()
            .map(|(name, value)| match file_of(value) {
                Some(file) => Ok(Content::File(file)),
                None => field_text(name, value, &mut room).map(Content::Text),
            })
            .collect::<Result<_, Thrown>>()?;
        let parts: Vec<Part<'_>> = members
            .iter()
            .zip(&contents)
            .map(|((name, _), content)| match content {
                Content::File(file) => Part::File {
                    name,
                    filename: &file.filename,
                    content_type: &file.content_type,
                    data: &file.payload,
                },
                Content::Text(value) => Part::Field { name, value },
            })
            .collect();
        if let Some(boundary) = boundary {
            let payload = Multipart::encode_with(boundary.text, &parts).body;
            let encoded = EncodedBody::of(payload, Some(boundary.content_type));
            return Ok(EncodedBody { is_by_hand: true, ..encoded });
        }
        let multipart = Multipart::encode(&parts, || VuState::drawn(body.ctx()));
        let content_type = Some(multipart.content_type());
        return Ok(EncodedBody::of(multipart.body, content_type));
    }
    let text = urlencoded(members)?;
    let content_type = Some("application/x-www-form-urlencoded".to_owned());
    Ok(EncodedBody::of(text.into(), content_type))
}

/// The fields of an object, as a form without files sends them.
pub(super) fn form_text(body: &Value<'_>) -> Result<String, Thrown> {
    let mut members = Vec::new();
    for key in body.keys()? {
        members.push((key.text().unwrap_or_default(), body.get(&key)?));
    }
    urlencoded(members)
}

fn urlencoded(members: Vec<(String, Value<'_>)>) -> Result<String, Thrown> {
    let mut fields: Vec<(String, String)> = Vec::with_capacity(members.len());
    let mut room = Room::new();
    for (name, value) in flattened(members)? {
        let text = field_text(&name, &value, &mut room)?;
        fields.push((name, text));
    }
    // Stable, so that the values of an array keep their order.
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(urlencode(fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
}

/// Each element of an array as a field of its own.
fn flattened(members: Vec<(String, Value<'_>)>) -> Result<Vec<(String, Value<'_>)>, Thrown> {
    if !members.iter().any(|(_, value)| value.is_array()) {
        return Ok(members);
    }
    let mut flat = Vec::with_capacity(members.len());
    // Many members may be the same long array.
    let mut room = Room::new();
    for (name, value) in members {
        if value.is_array() {
            for index in 0..length_of(&value)? {
                room.take(value.ctx(), size_of::<(String, Value<'_>)>() + name.len())?;
                flat.push((name.clone(), value.get_index(index)?));
            }
        } else {
            flat.push((name, value));
        }
    }
    Ok(flat)
}

/// A form field's value, with k6's (Go's) ways of writing numbers.
fn field_text(name: &str, value: &Value<'_>, room: &mut Room) -> Result<String, Thrown> {
    if value.is_nullish() {
        return Ok(String::new());
    }
    if let Some(number) = value.as_number() {
        return Ok(number_text(number));
    }
    if value.is_object() && !value.is_function() {
        log::warn!(
            "the form field \"{name}\" is an object, which a form cannot hold; it is sent empty"
        );
        return Ok(String::new());
    }
    room.text(value)
}
