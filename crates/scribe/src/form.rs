//! Forms: fields that a page filled in, and fields that the user typed.

use std::collections::{BTreeMap, BTreeSet};

use brunt_correlate::plan::{FormUse, Piece, Place};
use brunt_html::{Document, NodeId, Selector};

use crate::code::{Entry, Expr, Statement};
use crate::page;
use crate::sent::Sent;
use crate::text::{key, member, quoted};
use crate::value::{self, Encoding, Part};
use crate::variables::is_same_form;
use crate::writer::Writer;

/// The fields of forms of this page that later requests send.
pub(crate) fn readings(writer: &mut Writer<'_>, index: usize) -> Vec<Statement> {
    let pages = [index, writer.session.last[index]];
    let mut out = Vec::new();
    for (at, form) in writer.plan.forms.iter().enumerate() {
        let is_first = !writer.plan.forms[..at].iter().any(|other| is_same_form(other, form));
        let is_sent = writer.session.section_of.contains_key(&form.exchange);
        if !pages.contains(&form.page) || !is_first || !is_sent {
            continue;
        }
        let selector =
            value::text(&form.selector, Encoding::Plain, &writer.variables, &mut writer.needs);
        let page = match &form.update {
            Some(id) => {
                writer.needs.add("update");
                writer.needs.add("import:parseHTML");
                format!("parseHTML(update(res, {}))", quoted(id))
            }
            None => "res.html()".to_owned(),
        };
        writer.needs.add("formFields");
        let setting = writer.variables.setting(writer.variables.form(at));
        let call = Expr::Call("formFields".to_owned(), vec![Expr::raw(page), Expr::raw(selector)]);
        out.push(Statement::Line(setting, call));
    }
    out
}

/// The fields that a request takes from a form of a page.
pub(crate) struct FromPage {
    /// The variable with the fields.
    pub(crate) name: String,
    /// Fields that the page has and the request has not.
    pub(crate) missing: Vec<String>,
    /// Indices of fields that come from the page.
    pub(crate) indices: BTreeSet<usize>,
}

/// The form that this request sends; `names` are those of its fields.
pub(crate) fn from_page(writer: &Writer<'_>, index: usize, names: &[String]) -> Option<FromPage> {
    let at = writer.plan.forms.iter().position(|form| form.exchange == index)?;
    let form = &writer.plan.forms[at];
    let sent: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let missing =
        page_fields(writer, form).into_iter().filter(|name| !sent.contains(name.as_str()));
    Some(FromPage {
        name: writer.variables.form(at).to_owned(),
        missing: missing.collect(),
        indices: form.from_page.iter().copied().collect(),
    })
}

/// The names of the fields that `formFields` finds in the recorded page.
fn page_fields(writer: &Writer<'_>, form: &FormUse) -> BTreeSet<String> {
    let exchange = writer.exchange(form.page);
    let document = match &form.update {
        Some(id) => {
            page::body_text(exchange).and_then(|text| Document::parse(&update_of(&text, id)?).ok())
        }
        None => page::document(exchange),
    };
    let Some(document) = document else { return BTreeSet::new() };
    let selector = Selector::new(&writer.plan.recorded(&form.selector).unwrap_or_default());
    let Some(form) = selector.find_first(&document, document.root()) else {
        return BTreeSet::new();
    };
    let is_sent = |field: &NodeId| sends(&document, *field);
    let fields = Selector::new("input, select, textarea").find(&document, &[form]);
    let fields =
        fields.into_iter().filter(is_sent).filter_map(|field| document.attribute(field, "name"));
    fields.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn update_of(text: &str, id: &str) -> Option<String> {
    text.split("<update id=\"").skip(1).find_map(|part| {
        let (own, rest) = part.split_once('"')?;
        let inside = own.contains(id).then(|| rest.split_once("<![CDATA[")).flatten()?.1;
        Some(inside.split("]]>").next().unwrap_or_default().to_owned())
    })
}

fn sends(document: &Document, field: NodeId) -> bool {
    if document.has(field, "disabled") {
        return false;
    }
    let is_input = document.tag(field) == "input";
    match document.attribute(field, "type").unwrap_or_default().to_ascii_lowercase().as_str() {
        "submit" | "button" | "reset" | "image" | "file" => !is_input,
        "checkbox" | "radio" => !is_input || document.has(field, "checked"),
        _ => true,
    }
}

/// `application/x-www-form-urlencoded`
pub(crate) fn fields(
    writer: &mut Writer<'_>,
    index: usize,
    bytes: &[u8],
    _before: &mut [Statement],
) -> Sent {
    let pairs = brunt_traffic::form::pairs(bytes);
    let names: Vec<String> = pairs.iter().map(|(name, _)| name.clone()).collect();
    let from_page = from_page(writer, index, &names);
    if from_page.is_none() && is_interleaved(&names) {
        let mut parts = Vec::new();
        for (at, (name, text)) in pairs.iter().enumerate() {
            let literal = [Piece::Literal(text.clone())];
            let pieces = writer.pieces(index, &Place::Field(at)).unwrap_or(&literal);
            let value =
                value::parts(pieces, Encoding::Component, &writer.variables, &mut writer.needs);
            parts.push((name.clone(), value));
        }
        let content_type = Some(quoted("application/x-www-form-urlencoded"));
        return Sent { content: Some(form_text(&parts)), content_type };
    }
    let mut values = Vec::with_capacity(pairs.len());
    for (at, (name, text)) in pairs.iter().enumerate() {
        values.push((name.clone(), Expr::raw(writer.text_at(index, &Place::Field(at), text))));
    }
    Sent { content: Some(object(writer, from_page.as_ref(), &values)), content_type: None }
}

/// Whether a name comes again after another one.
fn is_interleaved(names: &[String]) -> bool {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    names.iter().enumerate().any(|(at, name)| {
        let goes_on = at > 0 && names[at - 1] == *name;
        !goes_on && !done.insert(name)
    })
}

/// The fields as an object: those of the page first, the user's over them. Values of one name are an array.
pub(crate) fn object(
    writer: &mut Writer<'_>,
    page: Option<&FromPage>,
    values: &[(String, Expr)],
) -> Expr {
    let mut entries = Vec::new();
    let is_from_page = |at: usize| page.is_some_and(|page| page.indices.contains(&at));
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    if let Some(page) = page {
        let kept: BTreeSet<&str> = values
            .iter()
            .enumerate()
            .filter(|(at, _)| is_from_page(*at))
            .map(|(_, (name, _))| name.as_str())
            .collect();
        if page.missing.is_empty() {
            entries.push(Entry::Short(format!("...{}", page.name)));
        } else if page.missing.len() <= kept.len() {
            writer.needs.add("without");
            let names: Vec<String> = page.missing.iter().map(|name| quoted(name)).collect();
            entries.push(Entry::Comment(
                "The recorded request did not send these fields of the page.".to_owned(),
            ));
            entries.push(Entry::Short(format!("...without({}, {})", page.name, names.join(", "))));
        } else {
            for name in &kept {
                let code = format!("{}{}", page.name, member(name));
                entries.push(Entry::Prop(key(name), Expr::raw(code)));
            }
        }
        taken = kept;
    }
    let mut by_name: BTreeMap<&str, Vec<Expr>> = BTreeMap::new();
    let typed = values.iter().enumerate().filter(|(at, _)| !is_from_page(*at));
    let mut order: Vec<&str> = Vec::new();
    for (_, (name, value)) in typed {
        let all = by_name.entry(name).or_default();
        if all.is_empty() {
            order.push(name);
        }
        all.push(value.clone());
    }
    for name in order {
        let mut all = by_name.remove(name).unwrap_or_default();
        if let (Some(page), true) = (page, taken.contains(name)) {
            // Some values of this name are the page's.
            all.insert(0, Expr::raw(format!("...[].concat({}{})", page.name, member(name))));
        }
        let value = if all.len() == 1 { all.remove(0) } else { Expr::Array(all) };
        entries.push(Entry::Prop(key(name), value));
    }
    Expr::Object(entries)
}

/// A form as text, for names that come in turn: an object can't keep their order.
fn form_text(pairs: &[(String, Vec<Part>)]) -> Expr {
    let mut parts: Vec<Part> = Vec::new();
    let mut add = |part: Part| match (parts.last_mut(), part) {
        (Some(Part::Literal(last)), Part::Literal(next)) => last.push_str(&next),
        (_, part) => parts.push(part),
    };
    for (at, (name, value)) in pairs.iter().enumerate() {
        let mark = if at == 0 { "" } else { "&" };
        add(Part::Literal(format!("{mark}{}=", value::percent_encoded(name))));
        value.iter().cloned().for_each(&mut add);
    }
    Expr::raw(match parts.as_slice() {
        [Part::Literal(text)] => quoted(text),
        parts => value::template(parts),
    })
}
