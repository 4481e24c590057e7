//! Uploads whose body the source does not have: the form of the page tells what a browser sends.

use std::borrow::Cow;

use brunt_correlate::Plan;
use brunt_correlate::plan::{FormUse, Piece};
use brunt_html::{Document, NodeId, Selector};
use brunt_traffic::{Body, Recording};
use url::Url;

use crate::code::{Entry, Expr, Statement};
use crate::page;
use crate::sent::Sent;
use crate::session::Session;
use crate::text::{key, quoted};
use crate::writer::Writer;

/// The most pages before the upload that are looked at.
const PAGES_MAX: usize = 50;

/// The plan with a use of a form for each upload without a body.
pub(crate) fn with_forms<'a>(recording: &Recording, plan: &'a Plan) -> Cow<'a, Plan> {
    let mut plan = Cow::Borrowed(plan);
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        let request = &exchange.request;
        let is_upload = request.headers.media_type() == "multipart/form-data";
        let is_absent = matches!(request.body, Body::Absent { .. });
        if !is_upload || !is_absent || plan.forms.iter().any(|form| form.exchange == index) {
            continue;
        }
        let mut earlier =
            (0..index).rev().filter(|&page| is_sent_page(&plan, recording, page)).take(PAGES_MAX);
        let found = earlier.find_map(|page| Some((page, form_for(recording, page, &request.url)?)));
        if let Some((page, selector)) = found {
            plan.to_mut().forms.push(FormUse {
                exchange: index,
                page,
                selector: vec![Piece::Literal(selector)],
                update: None,
                from_page: Vec::new(),
            });
        }
    }
    plan
}

/// Whether the script sees the answer of this exchange: it is not folded, or is the last of its chain.
fn is_sent_page(plan: &Plan, recording: &Recording, index: usize) -> bool {
    let first = Session::first_in(plan, index);
    let is_last =
        (index + 1..recording.exchanges.len()).all(|other| Session::first_in(plan, other) != first);
    is_last
        && recording.exchanges[index]
            .response
            .as_ref()
            .is_some_and(|response| response.status == 200)
}

/// The selector of the form of this page that is sent to the URL.
fn form_for(recording: &Recording, page: usize, target: &Url) -> Option<String> {
    let own = &recording.exchanges[page];
    let document = page::document(own)?;
    let forms = Selector::new("form[enctype]").find(&document, &[document.root()]);
    let form = forms.into_iter().find(|&form| {
        let action = document.attribute(form, "action").unwrap_or_default();
        let action = own.request.url.join(action).ok();
        let is_upload = document
            .attribute(form, "enctype")
            .is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/form-data"));
        is_upload && action.is_some_and(|action| path_of(&action) == path_of(target))
    })?;
    let named = ["id", "name"].into_iter().find_map(|name| {
        let value = document
            .attribute(form, name)
            .filter(|value| !value.is_empty() && !value.contains('"'))?;
        Some(format!("form[{name}=\"{value}\"]"))
    });
    Some(named.unwrap_or_else(|| "form[enctype=\"multipart/form-data\"]".to_owned()))
}

/// Without what names the session.
fn path_of(url: &Url) -> (String, &str) {
    (crate::origins::of(url), url.path().split(';').next().unwrap_or_default())
}

/// The body of an upload whose source does not have it, from the page's form.
pub(crate) fn upload(
    writer: &mut Writer<'_>,
    index: usize,
    why: &str,
    before: &mut Vec<Statement>,
) -> Option<Sent> {
    let at = writer.plan.forms.iter().position(|form| form.exchange == index)?;
    let form = &writer.plan.forms[at];
    let document = page::document(writer.exchange(form.page))?;
    let selector = Selector::new(&writer.plan.recorded(&form.selector)?);
    let found = selector.find_first(&document, document.root())?;
    let mut entries = vec![Entry::Short(format!("...{}", writer.variables.form(at)))];
    let mut file = None;
    let mut has_button = false;
    for field in Selector::new("input, textarea, button").find(&document, &[found]) {
        let Some(name) = document.attribute(field, "name").filter(|name| !name.is_empty()) else {
            continue;
        };
        let value = match role(&document, field) {
            Role::File => {
                let name = file.get_or_insert_with(|| {
                    let bytes = b"A placeholder: the recording has not kept the file.\n".to_vec();
                    writer.files.keep("upload.txt", crate::Content::Bytes(bytes), false)
                });
                writer.needs.add("import:http");
                format!("http.file({name}, 'upload.txt', 'text/plain')")
            }
            Role::Empty => quoted("text"),
            Role::Button if !has_button => {
                has_button = true;
                let value = document.attribute(field, "value").unwrap_or_default().to_owned();
                writer.literal(&value)
            }
            Role::Button | Role::Filled => continue,
        };
        entries.push(Entry::Prop(key(name), Expr::raw(value)));
    }
    file.as_ref()?;
    let label = writer.label(index);
    writer.notes.push(format!("the body of {label} is made from the form of its page, with a placeholder for the file: {why}"));
    before.push(Statement::Comment(format!(
        "Not as recorded ({why}): fields of the page's form, a placeholder for the file. Put in what the user sent."
    )));
    Some(Sent { content: Some(Expr::Object(entries)), content_type: None })
}

/// The ways to fill a field.
enum Role {
    File,
    Empty,
    Filled,
    Button,
}

fn role(document: &Document, field: NodeId) -> Role {
    let kind = document.attribute(field, "type").unwrap_or_default().to_ascii_lowercase();
    match (document.tag(field), kind.as_str()) {
        ("input", "file") => Role::File,
        ("input", "submit") | ("button", "submit" | "") => Role::Button,
        ("textarea", _) if document.text(field).trim().is_empty() => Role::Empty,
        ("input", "" | "text" | "search")
            if document.attribute(field, "value").unwrap_or_default().is_empty() =>
        {
            Role::Empty
        }
        _ => Role::Filled,
    }
}
