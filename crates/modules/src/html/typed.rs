//! The methods that kinds of elements have beyond those of all: the DOM's names, and k6's ways of reading them.

mod fields;
mod media;

use std::sync::LazyLock;

use brunt_html::Document;
use brunt_quickjs::Members;

use super::parts::{
    address, computed, counted, flag, inside, link as link_to, many, marked, number, rel_list,
    related, text, text_or, word, word_or_undefined,
};

/// Makes a list of methods for a kind of elements, once.
macro_rules! kind {
    ($members:expr) => {{
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| $members);
        Some(&*MEMBERS)
    }};
}

/// The methods of a kind of elements; `None` if there are none but those of all.
pub(super) fn members(tag: &str) -> Option<&'static Members> {
    match tag {
        "a" | "area" => kind!(anchor()),
        "base" => kind!(texts().function(c"href", 0, |call| text(call, "href")).function(
            c"target",
            0,
            |call| text(call, "target")
        )),
        "button" => kind!(fields::button()),
        "canvas" => {
            kind!(texts().function(c"height", 0, |call| number(call, "height", 150)).function(
                c"width",
                0,
                |call| number(call, "width", 150)
            ))
        }
        "col" => kind!(texts().function(c"span", 0, |call| number(call, "span", 1))),
        "data" => kind!(texts().function(c"value", 0, |call| text(call, "value"))),
        "datalist" => {
            kind!(texts().function(c"options", 0, |call| inside(call, &["option"])))
        }
        "del" | "ins" => kind!(texts().function(c"cite", 0, |call| text(call, "cite")).function(
            c"datetime",
            0,
            |call| text(call, "datetime")
        )),
        "fieldset" => kind!(fields::fieldset()),
        "form" => kind!(fields::form()),
        "input" => kind!(fields::input()),
        "keygen" => kind!(fields::keygen()),
        "label" => kind!(fields::label()),
        "legend" => kind!(fields::legend()),
        "li" => kind!(list_item()),
        "link" => kind!(link()),
        "map" => kind!(map()),
        "meta" => kind!(meta()),
        "meter" => kind!(fields::meter()),
        "ol" => kind!(
            texts()
                .function(c"reversed", 0, |call| flag(call, "reversed"))
                .function(c"start", 0, |call| number(call, "start", 0))
                .function(c"type", 0, |call| word(call, "type", &["1", "a", "A", "i", "I"], "1"))
        ),
        "optgroup" => {
            kind!(texts().function(c"disabled", 0, |call| flag(call, "disabled")).function(
                c"label",
                0,
                |call| text(call, "label")
            ))
        }
        "option" => kind!(fields::option()),
        "output" => kind!(fields::output()),
        "param" | "pre" => kind!(texts().function(c"name", 0, |call| text(call, "name")).function(
            c"value",
            0,
            |call| text(call, "value")
        )),
        "progress" => kind!(fields::progress()),
        "script" => kind!(script()),
        "select" => kind!(fields::select()),
        "style" => kind!(texts().function(c"media", 0, |call| text(call, "media")).function(
            c"type",
            0,
            |call| text_or(call, "type", "text/css")
        )),
        "table" => kind!(table()),
        "tbody" | "tfoot" | "thead" => {
            kind!(texts().function(c"rows", 0, |call| inside(call, &["tr"])))
        }
        "td" => kind!(cell()),
        "th" => kind!(
            cell()
                .function(c"abbr", 0, |call| text(call, "abbr"))
                .function(c"scope", 0, |call| {
                    word(call, "scope", &["row", "col", "colgroup", "rowgroup"], "")
                })
                .function(c"sorted", 0, |call| flag(call, "sorted"))
        ),
        "textarea" => kind!(fields::text_area()),
        "time" => kind!(texts().function(c"datetime", 0, |call| text(call, "datetime"))),
        "title" => kind!(texts().function(c"text", 0, |call| computed(call, Document::text))),
        "tr" => kind!(row()),
        "ul" => kind!(texts().function(c"type", 0, |call| text(call, "type"))),
        _ => media::members(tag),
    }
}

/// The name of a kind of elements in k6's refusals.
pub(super) fn type_name(tag: &str) -> String {
    let own = match tag {
        "a" => "Anchor",
        "col" => "TableCol",
        "datalist" => "DataList",
        "fieldset" => "FieldSet",
        "iframe" => "IFrame",
        "img" => "Image",
        "ol" => "OList",
        "optgroup" => "OptGroup",
        "tbody" => "TableBody",
        "td" => "TableDataCell",
        "textarea" => "TextArea",
        "tfoot" => "TableFoot",
        "th" => "TableHeaderCell",
        "thead" => "TableHead",
        "tr" => "TableRow",
        "ul" => "UList",
        _ => {
            let (first, rest) = tag.split_at(tag.len().min(1));
            return format!("html.{}{rest}Element", first.to_ascii_uppercase());
        }
    };
    format!("html.{own}Element")
}

/// The methods that elements of some kinds share with others, as the object by which k6 shows them: its name and its
/// methods.
pub(super) fn shared(tag: &str) -> Option<(&'static str, &'static Members)> {
    fn of(
        name: &'static str,
        members: Option<&'static Members>,
    ) -> Option<(&'static str, &'static Members)> {
        Some((name, members?))
    }
    match tag {
        "a" | "area" => of("href_element", members(tag)),
        "audio" | "video" => of("media_element", members(tag)),
        "button" | "input" => of("form_field_element", kind!(fields::sender())),
        "del" | "ins" => of("mod_element", members(tag)),
        "tbody" | "tfoot" | "thead" => of("table_section_element", members(tag)),
        "td" => of("table_cell_element", members(tag)),
        "th" => of("table_cell_element", members("td")),
        _ => None,
    }
}

/// None yet.
fn texts() -> Members {
    Members::new()
}

/// The values by which links may tell their origin.
const REFERRER: [&str; 5] = [
    "no-referrer",
    "no-referrer-when-downgrade",
    "origin",
    "origin-when-cross-origin",
    "unsafe-url",
];

/// How others' resources may be asked for.
const CROSS_ORIGIN: [&str; 2] = ["anonymous", "use-credentials"];

fn anchor() -> Members {
    texts()
        .function(c"accessKey", 0, |call| text(call, "accesskey"))
        .function(c"download", 0, |call| text(call, "download"))
        .function(c"hash", 0, |call| address(call, |address| marked('#', &address.fragment)))
        .function(c"host", 0, |call| address(call, |address| address.short_host().to_owned()))
        .function(c"hostname", 0, |call| address(call, |address| address.hostname.clone()))
        .function(c"href", 0, |call| link_to(call, "href"))
        .function(c"hrefLang", 0, |call| text(call, "hreflang"))
        .function(c"origin", 0, |call| address(call, super::address::Address::origin))
        .function(c"password", 0, |call| address(call, |address| address.password.clone()))
        .function(c"pathname", 0, |call| address(call, |address| address.path.clone()))
        .function(c"port", 0, |call| address(call, |address| address.port.clone()))
        .function(c"protocol", 0, |call| {
            address(call, |address| match address.scheme.as_str() {
                "" => ":".to_owned(),
                scheme => scheme.to_owned(),
            })
        })
        .function(c"referrerPolicy", 0, |call| word(call, "referrerpolicy", &REFERRER, ""))
        .function(c"rel", 0, |call| text(call, "rel"))
        .function(c"relList", 0, rel_list)
        .function(c"search", 0, |call| address(call, |address| marked('?', &address.query)))
        .function(c"target", 0, |call| text(call, "target"))
        .function(c"text", 0, |call| computed(call, Document::text))
        .function(c"toString", 0, |call| link_to(call, "href"))
        .function(c"type", 0, |call| text(call, "type"))
        .function(c"username", 0, |call| address(call, |address| address.username.clone()))
}

fn link() -> Members {
    texts()
        .function(c"crossOrigin", 0, |call| word_or_undefined(call, "crossorigin", &CROSS_ORIGIN))
        .function(c"href", 0, |call| link_to(call, "href"))
        .function(c"hreflang", 0, |call| text(call, "hreflang"))
        .function(c"media", 0, |call| text(call, "media"))
        .function(c"referrerPolicy", 0, |call| word(call, "referrerpolicy", &REFERRER, ""))
        .function(c"rel", 0, |call| text(call, "rel"))
        .function(c"relList", 0, rel_list)
        .function(c"target", 0, |call| text(call, "target"))
        .function(c"type", 0, |call| text(call, "type"))
}

fn list_item() -> Members {
    const TYPES: [&str; 8] = ["1", "a", "A", "i", "I", "disc", "square", "circle"];
    texts().function(c"type", 0, |call| word(call, "type", &TYPES, "")).function(
        c"value",
        0,
        |call| number(call, "value", 0),
    )
}

fn map() -> Members {
    texts()
        .function(c"areas", 0, |call| inside(call, &["area"]))
        .function(c"images", 0, |call| {
            many(call, |document, map| {
                let Some(id) = document.attribute(map, "id") else { return Vec::new() };
                let usemap = format!("#{id}");
                document
                    .descendants(document.root())
                    .filter(|&node| matches!(document.tag(node), "img" | "object"))
                    .filter(|&image| document.attribute(image, "usemap") == Some(&usemap))
                    .collect()
            })
        })
        .function(c"name", 0, |call| text(call, "name"))
}

fn meta() -> Members {
    const HTTP_EQUIV: [&str; 4] =
        ["content-type", "default-style", "refresh", "content-security-policy"];
    texts()
        .function(c"content", 0, |call| text(call, "content"))
        .function(c"httpEquiv", 0, |call| word(call, "http-equiv", &HTTP_EQUIV, "content-type"))
        .function(c"name", 0, |call| text(call, "name"))
}

fn script() -> Members {
    texts()
        .function(c"async", 0, |call| flag(call, "async"))
        .function(c"charset", 0, |call| text(call, "charset"))
        .function(c"crossOrigin", 0, |call| text(call, "crossorigin"))
        .function(c"defer", 0, |call| flag(call, "defer"))
        .function(c"noModule", 0, |call| flag(call, "nomodule"))
        .function(c"src", 0, |call| link_to(call, "src"))
        .function(c"text", 0, |call| computed(call, Document::text))
        .function(c"type", 0, |call| text(call, "type"))
}

fn table() -> Members {
    texts()
        .function(c"caption", 0, |call| first_inside(call, "caption"))
        .function(c"rows", 0, |call| inside(call, &["tr"]))
        .function(c"sortable", 0, |call| flag(call, "sortable"))
        .function(c"tBodies", 0, |call| inside(call, &["tbody"]))
        .function(c"tFoot", 0, |call| first_inside(call, "tfoot"))
        .function(c"tHead", 0, |call| first_inside(call, "thead"))
}

fn first_inside<'js>(call: brunt_quickjs::Call<'js>, tag: &str) -> brunt_quickjs::JsResult<'js> {
    related(call, |document, node| {
        document.descendants(node).find(|&inner| document.tag(inner) == tag)
    })
}

fn row() -> Members {
    texts()
        .function(c"cells", 0, |call| inside(call, &["td", "th"]))
        .function(c"rowIndex", 0, |call| place_in(call, &["table"], &["tr"]))
        .function(c"sectionRowIndex", 0, |call| {
            place_in(call, &["tbody", "thead", "tfoot"], &["tr"])
        })
}

fn cell() -> Members {
    texts()
        .function(c"cellIndex", 0, |call| place_in(call, &["tr"], &["td", "th"]))
        .function(c"colSpan", 0, |call| number(call, "colspan", 1))
        .function(c"headers", 0, |call| text(call, "headers"))
        .function(c"rowSpan", 0, |call| number(call, "rowspan", 1))
}

/// The place among the elements of some kind in the nearest element of another.
fn place_in<'js>(
    call: brunt_quickjs::Call<'js>,
    outer: &[&str],
    kin: &[&str],
) -> brunt_quickjs::JsResult<'js> {
    counted(call, |document, node| {
        let Some(outer) =
            document.ancestors(node).find(|&around| outer.contains(&document.tag(around)))
        else {
            return -1.0;
        };
        let mut kin = document.descendants(outer).filter(|&n| kin.contains(&document.tag(n)));
        kin.position(|other| other == node).map_or(-1.0, |place| place as f64)
    })
}
