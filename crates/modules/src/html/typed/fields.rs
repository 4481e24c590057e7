//! Forms and what is in them.

use brunt_html::{Document, NodeId, form};
use brunt_quickjs::Members;

use super::super::parts::{
    claimed, computed, counted, flag, form_action, form_of, inside, labels, link, many, number,
    of_form, related, selected, text, word,
};

const ENCODINGS: [&str; 3] =
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// The members of all fields.
fn field() -> Members {
    Members::new()
        .function(c"form", 0, |call| related(call, form_of))
        .function(c"labels", 0, |call| many(call, labels))
        .function(c"name", 0, |call| text(call, "name"))
}

/// The members of fields that can send their form.
pub(super) fn sender() -> Members {
    field()
        .function(c"formAction", 0, form_action)
        .function(c"formEnctype", 0, |call| {
            computed(call, |document, node| {
                let given = of_form(document, node, "formenctype", "enctype");
                let known = given.filter(|given| ENCODINGS.contains(given));
                known.unwrap_or(ENCODINGS[0]).to_owned()
            })
        })
        .function(c"formMethod", 0, |call| {
            computed(call, |document, node| {
                let given = of_form(document, node, "formmethod", "method");
                let is_post = given.is_some_and(|given| given.eq_ignore_ascii_case("post"));
                (if is_post { "post" } else { "get" }).to_owned()
            })
        })
        .function(c"formNoValidate", 0, |call| {
            claimed(call, |document, node| {
                of_form(document, node, "formnovalidate", "novalidate").is_some()
            })
        })
        .function(c"formTarget", 0, |call| {
            computed(call, |document, node| {
                of_form(document, node, "formtarget", "target").unwrap_or("").to_owned()
            })
        })
}

/// The same, with what is said of the focus.
fn control() -> Members {
    sender()
        .function(c"accessKey", 0, |call| text(call, "accesskey"))
        .function(c"autofocus", 0, |call| flag(call, "autofocus"))
        .function(c"disabled", 0, |call| flag(call, "disabled"))
        .function(c"tabIndex", 0, |call| number(call, "tabindex", 0))
}

pub(super) fn button() -> Members {
    control()
        .function(c"type", 0, |call| {
            word(call, "type", &["submit", "button", "menu", "reset"], "submit")
        })
        .function(c"value", 0, |call| {
            computed(call, |document, node| match document.attribute(node, "value") {
                Some(value) => value.to_owned(),
                None => document.inner_html(node).unwrap_or_default(),
            })
        })
}

pub(super) fn input() -> Members {
    const TYPES: [&str; 22] = [
        "button",
        "checkbox",
        "color",
        "date",
        "datetime",
        "datetime-local",
        "email",
        "file",
        "hidden",
        "image",
        "month",
        "number",
        "password",
        "radio",
        "range",
        "reset",
        "search",
        "submit",
        "tel",
        "text",
        "time",
        "url",
    ];
    control()
        .function(c"accept", 0, |call| text(call, "accept"))
        .function(c"alt", 0, |call| text(call, "alt"))
        .function(c"autocomplete", 0, |call| word(call, "autocomplete", &["on", "off"], "on"))
        .function(c"checked", 0, |call| flag(call, "checked"))
        .function(c"defaultChecked", 0, |call| flag(call, "checked"))
        .function(c"defaultValue", 0, |call| text(call, "value"))
        .function(c"dirName", 0, |call| text(call, "dirname"))
        .function(c"height", 0, |call| text(call, "height"))
        .function(c"list", 0, |call| {
            related(call, |document, node| {
                let list = document.by_id(document.attribute(node, "list")?)?;
                (document.tag(list) == "datalist").then_some(list)
            })
        })
        .function(c"max", 0, |call| text(call, "max"))
        .function(c"maxLength", 0, |call| number(call, "maxlength", -1))
        .function(c"min", 0, |call| text(call, "min"))
        .function(c"multiple", 0, |call| flag(call, "multiple"))
        .function(c"pattern", 0, |call| text(call, "pattern"))
        .function(c"placeholder", 0, |call| text(call, "placeholder"))
        .function(c"readonly", 0, |call| flag(call, "readonly"))
        .function(c"required", 0, |call| flag(call, "required"))
        .function(c"size", 0, |call| number(call, "size", 0))
        .function(c"src", 0, |call| link(call, "src"))
        .function(c"step", 0, |call| text(call, "step"))
        .function(c"type", 0, |call| word(call, "type", &TYPES, "text"))
        .function(c"value", 0, |call| text(call, "value"))
        .function(c"width", 0, |call| text(call, "width"))
}

pub(super) fn text_area() -> Members {
    Members::new()
        .function(c"accessKey", 0, |call| text(call, "accesskey"))
        .function(c"autocapitalize", 0, |call| {
            word(
                call,
                "autocapitalize",
                &["none", "off", "characters", "words", "sentences"],
                "sentences",
            )
        })
        .function(c"autocomplete", 0, |call| word(call, "autocomplete", &["on", "off"], "on"))
        .function(c"cols", 0, |call| number(call, "cols", 0))
        .function(c"defaultValue", 0, |call| text(call, "value"))
        .function(c"form", 0, |call| related(call, form_of))
        .function(c"labels", 0, |call| many(call, labels))
        .function(c"length", 0, |call| {
            counted(call, |document, node| {
                document.attribute(node, "value").map_or(0, str::len) as f64
            })
        })
        .function(c"maxLength", 0, |call| number(call, "maxlength", 0))
        .function(c"placeholder", 0, |call| text(call, "placeholder"))
        .function(c"readOnly", 0, |call| flag(call, "readonly"))
        .function(c"required", 0, |call| flag(call, "required"))
        .function(c"rows", 0, |call| number(call, "rows", 0))
        .function(c"tabIndex", 0, |call| number(call, "tabindex", 0))
        .function(c"type", 0, |call| computed(call, |_, _| "textarea".to_owned()))
        .function(c"value", 0, |call| text(call, "value"))
        .function(c"wrap", 0, |call| word(call, "wrap", &["soft", "hard", "off"], "soft"))
}

/// The fields in a form or a fieldset.
const FIELDS: [&str; 5] = ["input", "select", "textarea", "button", "fieldset"];

pub(super) fn fieldset() -> Members {
    Members::new()
        .function(c"disabled", 0, |call| flag(call, "disabled"))
        .function(c"elements", 0, |call| inside(call, &FIELDS))
        .function(c"form", 0, |call| related(call, form_of))
        .function(c"name", 0, |call| text(call, "name"))
        .function(c"type", 0, |call| computed(call, |_, _| "fieldset".to_owned()))
        .function(c"validity", 0, |call| Ok(call.ctx().undefined()))
}

pub(super) fn form() -> Members {
    Members::new()
        .function(c"acceptCharset", 0, |call| text(call, "accept-charset"))
        .function(c"action", 0, |call| link(call, "action"))
        .function(c"autocomplete", 0, |call| word(call, "autocomplete", &["on", "off"], "on"))
        .function(c"elements", 0, |call| inside(call, &FIELDS))
        .function(c"encoding", 0, |call| word(call, "enctype", &ENCODINGS, ENCODINGS[0]))
        .function(c"enctype", 0, |call| word(call, "enctype", &ENCODINGS, ENCODINGS[0]))
        .function(c"length", 0, |call| {
            counted(call, |document, node| {
                let fields = document.descendants(node);
                fields.filter(|&inner| FIELDS.contains(&document.tag(inner))).count() as f64
            })
        })
        .function(c"method", 0, |call| word(call, "method", &["get", "post"], "get"))
        .function(c"name", 0, |call| text(call, "name"))
        .function(c"noValidate", 0, |call| flag(call, "novalidate"))
        .function(c"target", 0, |call| text(call, "target"))
}

pub(super) fn keygen() -> Members {
    Members::new()
        .function(c"autofocus", 0, |call| flag(call, "autofocus"))
        .function(c"challenge", 0, |call| text(call, "challenge"))
        .function(c"disabled", 0, |call| flag(call, "disabled"))
        .function(c"form", 0, |call| related(call, form_of))
        .function(c"keytype", 0, |call| word(call, "keytype", &["RSA", "DSA", "EC"], "RSA"))
        .function(c"labels", 0, |call| many(call, labels))
        .function(c"name", 0, |call| text(call, "name"))
        .function(c"type", 0, |call| computed(call, |_, _| "keygen".to_owned()))
}

pub(super) fn label() -> Members {
    Members::new()
        .function(c"control", 0, |call| {
            related(call, |document, node| document.by_id(document.attribute(node, "for")?))
        })
        .function(c"form", 0, |call| related(call, form_of))
        .function(c"htmlFor", 0, |call| text(call, "for"))
}

pub(super) fn legend() -> Members {
    Members::new().function(c"accessKey", 0, |call| text(call, "accesskey")).function(
        c"form",
        0,
        |call| related(call, form_of),
    )
}

pub(super) fn meter() -> Members {
    Members::new()
        .function(c"high", 0, |call| number(call, "high", 0))
        .function(c"labels", 0, |call| many(call, labels))
        .function(c"low", 0, |call| number(call, "low", 0))
        .function(c"max", 0, |call| number(call, "max", 0))
        .function(c"min", 0, |call| number(call, "min", 0))
        .function(c"optimum", 0, |call| number(call, "optimum", 0))
}

pub(super) fn option() -> Members {
    Members::new()
        .function(c"defaultSelected", 0, |call| flag(call, "selected"))
        .function(c"disabled", 0, |call| {
            claimed(call, |document, node| {
                document.has(node, "disabled")
                    || document
                        .closest_tag(node, "optgroup")
                        .is_some_and(|group| document.has(group, "disabled"))
            })
        })
        .function(c"form", 0, |call| {
            related(call, |document, node| {
                let list = document.closest_tag(node, "select");
                document.closest_tag(node, "form").or_else(|| form_of(document, list?))
            })
        })
        .function(c"index", 0, |call| {
            counted(call, |document, node| {
                let list = document
                    .ancestors(node)
                    .find(|&outer| matches!(document.tag(outer), "select" | "datalist"));
                let place = list.and_then(|list| {
                    form::options(document, list).position(|option| option == node)
                });
                place.unwrap_or(0) as f64
            })
        })
        .function(c"label", 0, |call| {
            computed(call, |document, node| match document.attribute(node, "label") {
                Some(label) => label.to_owned(),
                None => document.text(node),
            })
        })
        .function(c"selected", 0, |call| flag(call, "selected"))
        .function(c"text", 0, |call| computed(call, Document::text))
        .function(c"value", 0, |call| computed(call, form::option_value))
}

pub(super) fn output() -> Members {
    field()
        .function(c"defaultValue", 0, |call| computed(call, Document::text))
        .function(c"htmlFor", 0, |call| text(call, "for"))
        .function(c"type", 0, |call| computed(call, |_, _| "output".to_owned()))
        .function(c"value", 0, |call| computed(call, Document::text))
}

/// A number of a `<progress>`, if it is there and is none below 0.
fn amount(document: &Document, node: NodeId, name: &str) -> Option<f64> {
    document.attribute(node, name)?.parse().ok().filter(|&number: &f64| number >= 0.0)
}

pub(super) fn progress() -> Members {
    let most = |document: &Document, node| amount(document, node, "max").unwrap_or(1.0);
    Members::new()
        .function(c"labels", 0, |call| many(call, labels))
        .function(c"max", 0, move |call| counted(call, most))
        .function(c"position", 0, move |call| {
            counted(call, |document, node| {
                amount(document, node, "value").map_or(-1.0, |value| value / most(document, node))
            })
        })
        .function(c"value", 0, move |call| {
            counted(call, |document, node| {
                amount(document, node, "value").map_or(0.0, |value| value / most(document, node))
            })
        })
}

pub(super) fn select() -> Members {
    field()
        .function(c"autofocus", 0, |call| flag(call, "autofocus"))
        .function(c"disabled", 0, |call| flag(call, "disabled"))
        .function(c"length", 0, |call| {
            counted(call, |document, node| form::options(document, node).count() as f64)
        })
        .function(c"multiple", 0, |call| flag(call, "multiple"))
        .function(c"options", 0, |call| inside(call, &["option"]))
        .function(c"required", 0, |call| flag(call, "required"))
        .function(c"selectedIndex", 0, |call| {
            counted(call, |document, node| {
                selected(document, node).next().map_or(-1.0, |(index, _)| index as f64)
            })
        })
        .function(c"selectedOptions", 0, |call| {
            many(call, |document, node| {
                selected(document, node).map(|(_, option)| option).collect()
            })
        })
        // As in k6, whatever the attribute `size` says.
        .function(c"size", 0, |call| {
            counted(call, |document, node| if document.has(node, "multiple") { 4.0 } else { 1.0 })
        })
        .function(c"tabIndex", 0, |call| number(call, "tabindex", 0))
        .function(c"type", 0, |call| {
            computed(call, |document, node| {
                let many = document.has(node, "multiple");
                (if many { "select-multiple" } else { "select" }).to_owned()
            })
        })
        .function(c"value", 0, |call| {
            computed(call, |document, node| {
                let first = selected(document, node).next();
                first.map_or_else(String::new, |(_, option)| form::option_value(document, option))
            })
        })
}
