//! Bodies of `multipart/form-data`: their parts as fields and files.

use std::collections::BTreeSet;

use brunt_correlate::plan::Place;
use brunt_traffic::multipart::Part;

use crate::Content;
use crate::code::{Expr, Statement};
use crate::form;
use crate::sent::Sent;
use crate::text::{quoted, shortened};
use crate::writer::Writer;

/// The parts of a body.
pub(crate) fn parts(
    writer: &mut Writer<'_>,
    index: usize,
    parts: &[Part],
    bytes: &[u8],
    before: &mut Vec<Statement>,
) -> Sent {
    let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    let from_page = form::from_page(writer, index, &names);
    let mut values = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        values.push((part.name.clone(), value(writer, index, at, part, bytes)));
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    let has_file = parts.iter().any(|part| part.file_name.is_some());
    let has_other_type =
        parts.iter().any(|part| part.file_name.is_none() && part.content_type.is_some());
    // An object has each name once, and k6 makes it multipart if it has a file.
    if distinct.len() == names.len() && has_file && !has_other_type {
        return Sent {
            content: Some(form::object(writer, from_page.as_ref(), &values)),
            content_type: None,
        };
    }
    form_data(writer, from_page.as_ref(), values, before)
}

/// The expression of a part's value.
fn value(writer: &mut Writer<'_>, index: usize, at: usize, part: &Part, bytes: &[u8]) -> Expr {
    let content = bytes.get(part.range.clone()).unwrap_or_default();
    let text = String::from_utf8_lossy(content);
    let Some(file_name) = &part.file_name else {
        return Expr::raw(writer.text_at(index, &Place::Part(at), &text));
    };
    writer.needs.add("import:http");
    let is_filled =
        writer.pieces(index, &Place::Part(at)).is_some() || writer.variables.shows_secret(content);
    let data = if content.is_empty() {
        quoted("")
    } else if is_filled {
        writer.text_at(index, &Place::Part(at), &text)
    } else {
        writer.files.keep(file_name, Content::Bytes(content.to_vec()), false)
    };
    let media = part.content_type.as_deref().unwrap_or("application/octet-stream");
    let name = writer.literal(&shortened(file_name, 255));
    Expr::raw(format!("http.file({data}, {name}, {})", quoted(media)))
}

/// Parts one by one, for what an object can't say.
fn form_data(
    writer: &mut Writer<'_>,
    page: Option<&form::FromPage>,
    values: Vec<(String, Expr)>,
    before: &mut Vec<Statement>,
) -> Sent {
    writer.needs.add("multipart");
    let mut rows = Vec::new();
    if let Some(page) = page {
        let is_typed = |at: &usize| !page.indices.contains(at);
        let typed = values.iter().enumerate().filter(|(at, _)| is_typed(at));
        let left_out: BTreeSet<&str> = typed
            .map(|(_, (name, _))| name.as_str())
            .chain(page.missing.iter().map(String::as_str))
            .collect();
        let mut fields = page.name.clone();
        if !left_out.is_empty() {
            writer.needs.add("without");
            let names: Vec<String> = left_out.iter().map(|name| quoted(name)).collect();
            fields = format!("without({fields}, {})", names.join(", "));
        }
        rows.push(Expr::raw(format!("...Object.entries({fields})")));
    }
    for (at, (field, value)) in values.into_iter().enumerate() {
        if !page.is_some_and(|page| page.indices.contains(&at)) {
            rows.push(Expr::Array(vec![Expr::raw(quoted(&field)), value]));
        }
    }
    let name = writer.local.take("body", "body");
    let call = Expr::Call("multipart".to_owned(), vec![Expr::Array(rows)]);
    before.push(Statement::Line(format!("const {name} = "), call));
    Sent {
        content: Some(Expr::raw(format!("{name}.data"))),
        content_type: Some(format!("{name}.type")),
    }
}
