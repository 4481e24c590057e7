//! Bodies as data of the script: forms as objects, JSON as literals, texts, files beside it.

use brunt_correlate::plan::{PathStep, Piece, Place};
use brunt_traffic::{Body, charset};
use serde_json::Value;

use crate::code::{Entry, Expr, Statement};
use crate::sent::Sent;
use crate::text::{key, quoted};
use crate::value::{self, Encoding};
use crate::writer::Writer;
use crate::{Content, form, multipart};

/// Texts that are longer are files.
const INLINE_MAX: usize = 2048;

/// JSON with values of the plan stays in the script up to this length.
const JSON_MAX: usize = 256 << 10;

/// Bodies that are longer are not looked into.
const READ_MAX: u64 = 64 << 20;

/// The body of a request. Statements that must come before the call go to `before`.
pub(crate) fn of(writer: &mut Writer<'_>, index: usize, before: &mut Vec<Statement>) -> Sent {
    let request = &writer.exchange(index).request;
    let recorded_type = request.headers.get("content-type").map(str::to_owned);
    let content_type = recorded_type.as_ref().map(|text| quoted(text));
    if let Some(pieces) = writer.pieces(index, &Place::Body) {
        let code = value::text(pieces, Encoding::Plain, &writer.variables, &mut writer.needs);
        return Sent { content: Some(Expr::raw(code)), content_type };
    }
    let media = request.headers.media_type();
    match &request.body {
        Body::Empty => return Sent::default(),
        Body::Absent { why, size } => {
            let why = why.clone();
            if media == "multipart/form-data"
                && let Some(sent) = crate::unseen::upload(writer, index, &why, before)
            {
                return sent;
            }
            let (label, size) = (writer.label(index), *size);
            writer.notes.push(format!("the body of {label} is a placeholder: {why}"));
            before.push(Statement::Comment(format!(
                "The recording has no body here ({why}): put the right bytes into the file."
            )));
            let name = writer.files.placeholder(&file_name(index, &media), size);
            return Sent { content: Some(Expr::raw(name)), content_type };
        }
        _ => {}
    }
    let is_small = request.body.size().is_some_and(|size| size <= READ_MAX);
    let Some(bytes) = is_small.then(|| request.body.read().ok()).flatten() else {
        return whole_file(writer, index, &media, content_type, before);
    };
    if media == "application/x-www-form-urlencoded" && (bytes.contains(&b'=') || bytes.is_empty()) {
        return form::fields(writer, index, &bytes, before);
    }
    if media.starts_with("multipart/")
        && let Some(parts) = brunt_traffic::multipart::of(&request.headers, &bytes)
        && !parts.is_empty()
    {
        return multipart::parts(writer, index, &parts, &bytes, before);
    }
    let has_places = writer.substitutions(index).any(|own| matches!(own.place, Place::Json(_)));
    let is_short = media.ends_with("json") && bytes.len() <= INLINE_MAX && !has_odd_number(&bytes);
    if (has_places || is_short)
        && bytes.len() <= JSON_MAX
        && let Ok(value) = serde_json::from_slice::<Value>(&bytes)
    {
        let places =
            places(
                writer,
                index,
                |place| {
                    if let Place::Json(path) = place { Some(path) } else { None }
                },
            );
        let literal = json(writer, &value, &mut Vec::new(), &places);
        let content = Expr::Call("JSON.stringify".to_owned(), vec![literal]);
        return Sent { content: Some(content), content_type };
    }
    let text = charset::is_text(&bytes, &request.headers)
        .then(|| std::str::from_utf8(&bytes).ok())
        .flatten();
    if let Some(text) = text
        .filter(|text| text.len() <= INLINE_MAX || writer.variables.shows_secret(text.as_bytes()))
    {
        return Sent { content: Some(Expr::raw(writer.literal(text))), content_type };
    }
    let name = writer.files.keep(
        &file_name(index, &media),
        Content::Bytes(bytes.to_vec()),
        text.is_some(),
    );
    Sent { content: Some(Expr::raw(name)), content_type }
}

/// A body that is too long to be read: a copy of its file.
fn whole_file(
    writer: &mut Writer<'_>,
    index: usize,
    media: &str,
    content_type: Option<String>,
    before: &mut Vec<Statement>,
) -> Sent {
    let label = writer.label(index);
    let Body::File { path, .. } = &writer.exchange(index).request.body else {
        writer.notes.push(format!("the body of {label} can't be read and is not in the script"));
        return Sent { content: None, content_type };
    };
    before.push(Statement::Comment(
        "The body as recorded: it is too long to be taken apart.".to_owned(),
    ));
    let name = writer.files.keep(&file_name(index, media), Content::Copy(path.clone()), false);
    Sent { content: Some(Expr::raw(name)), content_type }
}

/// `request-12.xml`
fn file_name(index: usize, media: &str) -> String {
    let end = match media {
        "application/json" => "json",
        "text/xml" | "application/xml" | "application/soap+xml" => "xml",
        "text/csv" => "csv",
        media if media.ends_with("+json") => "json",
        media if media.ends_with("+xml") => "xml",
        media if media.starts_with("text/") => "txt",
        _ => "bin",
    };
    format!("request-{}.{end}", index + 1)
}

/// Whether JSON has a number that JavaScript can't keep.
fn has_odd_number(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut outside = true;
    let mut is_escaped = false;
    let mut number = String::new();
    for char in text.chars().chain([' ']) {
        if outside && (char.is_ascii_digit() || !number.is_empty() && "+-.eE".contains(char)) {
            number.push(char);
            continue;
        }
        if value::is_odd_number(&number) && number.len() > 15 {
            return true;
        }
        number.clear();
        match char {
            '"' if !is_escaped => outside = !outside,
            '\\' if !outside => {
                is_escaped = !is_escaped;
                continue;
            }
            _ => {}
        }
        is_escaped = false;
    }
    false
}

/// The places of a JSON text that the plan fills in.
pub(crate) fn places(
    writer: &Writer<'_>,
    index: usize,
    path_of: impl Fn(&Place) -> Option<&Vec<PathStep>>,
) -> Vec<(Vec<PathStep>, Vec<Piece>)> {
    let own = writer
        .substitutions(index)
        .filter_map(|own| Some((path_of(&own.place)?.clone(), own.pieces.clone())));
    own.collect()
}

/// JSON as a literal of JavaScript.
pub(crate) fn json(
    writer: &mut Writer<'_>,
    value: &Value,
    path: &mut Vec<PathStep>,
    places: &[(Vec<PathStep>, Vec<Piece>)],
) -> Expr {
    if let Some((_, pieces)) = places.iter().find(|(own, _)| own == path) {
        let code = value::text(pieces, Encoding::Plain, &writer.variables, &mut writer.needs);
        return Expr::raw(match value {
            Value::Number(_) => format!("Number({code})"),
            Value::Bool(_) | Value::Null => format!("JSON.parse({code})"),
            _ => code,
        });
    }
    match value {
        Value::String(text) => Expr::raw(writer.literal(text)),
        Value::Array(items) => {
            let mut all = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.push(PathStep::Index(index));
                all.push(json(writer, item, path, places));
                path.pop();
            }
            Expr::Array(all)
        }
        Value::Object(members) => {
            let mut all = Vec::with_capacity(members.len());
            for (name, member) in members {
                path.push(PathStep::Key(name.clone()));
                all.push(Entry::Prop(key(name), json(writer, member, path, places)));
                path.pop();
            }
            Expr::Object(all)
        }
        other => Expr::raw(other.to_string()),
    }
}
