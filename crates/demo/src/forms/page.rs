//! Pages as HTML, and their parts as XML for scripts in the browser.

use std::fmt::Write as _;

use super::order::Order;
use super::view::Page;

/// How pages are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// `javax` or `jakarta`.
    pub(super) family: &'static str,
    /// Whether `+` is written as an entity.
    pub(super) has_entities: bool,
}

impl Look {
    /// The name of the field that has the token.
    pub(super) fn state_name(&self) -> String {
        format!("{}.faces.ViewState", self.family)
    }

    /// The class of the exception that a refused token throws.
    pub(super) fn exception(&self) -> String {
        format!("{}.faces.application.ViewExpiredException", self.family)
    }

    /// A text for HTML, in elements and in attributes.
    pub(super) fn text(&self, plain: &str) -> String {
        let mut html = String::with_capacity(plain.len() + 16);
        for letter in plain.chars() {
            match letter {
                '&' => html.push_str("&amp;"),
                '<' => html.push_str("&lt;"),
                '>' => html.push_str("&gt;"),
                '"' => html.push_str("&quot;"),
                '\'' => html.push_str("&#39;"),
                '+' if self.has_entities => html.push_str("&#43;"),
                other => html.push(other),
            }
        }
        html
    }

    /// The hidden field with the token; `index` is that of its form in the page, from 1.
    fn state(&self, token: &str, index: usize) -> String {
        let (name, token) = (self.state_name(), self.text(token));
        format!(
            r#"<input type="hidden" name="{name}" id="j_id1:{name}:{index}" value="{token}" autocomplete="off" />"#
        )
    }

    fn resource(&self, name: &str, library: &str) -> String {
        format!("/app/{}.faces.resource/{name}?ln={library}&amp;v=1_0", self.family)
    }

    fn head(&self, title: &str) -> String {
        let (style, script) = (
            self.resource("theme.css", "demo"),
            self.resource("jsf.js", &format!("{}.faces", self.family)),
        );
        format!(
            r#"<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="UTF-8" />
<title>{title}</title>
<link type="text/css" rel="stylesheet" href="{style}" />
<script type="text/javascript" src="{script}"></script>
</head>
"#,
            title = self.text(title)
        )
    }
}

/// A page that is ready but for its token.
#[derive(Debug)]
pub(super) struct Screen<'a> {
    look: Look,
    page: Page,
    title: String,
    user: Option<&'a str>,
    /// The fields above the part.
    fields: String,
    /// Id and content of the part that a partial request renders.
    part: (&'static str, String),
}

/// The facts of a file that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) name: String,
    pub(super) bytes: usize,
    pub(super) sha256: String,
    /// `form_field_1` and `form_field_2`.
    pub(super) fields: [String; 2],
}

fn message(look: Look, message: Option<&str>) -> String {
    message.map_or(String::new(), |text| format!("<p class=\"error\">{}</p>\n", look.text(text)))
}

/// The page to log in at, with the name that was typed before.
pub(super) fn login(look: Look, user: &str, wrong: Option<&str>) -> Screen<'static> {
    let fields = format!(
        r#"<label for="form:user">User</label> <input id="form:user" type="text" name="form:user" value="{}" />
<label for="form:password">Password</label> <input id="form:password" type="password" name="form:password" value="" />
<input id="form:submit" type="submit" name="form:submit" value="Log in" />
"#,
        look.text(user)
    );
    Screen {
        look,
        page: Page::Login,
        title: "Log in".to_owned(),
        user: None,
        fields,
        part: ("form:messages", message(look, wrong)),
    }
}

/// The table of the orders that match the filter.
pub(super) fn orders<'a>(
    look: Look,
    user: Option<&'a str>,
    orders: &[Order],
    filter: &str,
) -> Screen<'a> {
    let fields = format!(
        r#"<label for="form:filter">Filter</label> <input id="form:filter" type="text" name="form:filter" value="{}" />
<input id="form:search" type="submit" name="form:search" value="Search" onclick="return faces.ajax(this, 'form:orders')" />
<input id="form:all" type="submit" name="form:all" value="Show all" />
"#,
        look.text(filter)
    );
    let mut table = String::from(
        "<table>\n<thead><tr><th>Order</th><th>Customer</th><th>Item</th><th>Quantity</th></tr></thead>\n<tbody>\n",
    );
    for (index, order) in orders.iter().filter(|order| order.matches(filter)).enumerate() {
        let (path, id, quantity) = (Page::Order.path(), order.id, order.quantity);
        let (customer, item) = (look.text(order.customer), look.text(order.item));
        let _ = writeln!(
            table,
            r#"<tr><td><a id="form:orders:{index}:link" href="{path}?id={id}">{id}</a></td><td>{customer}</td><td>{item}</td><td>{quantity}</td></tr>"#
        );
    }
    table.push_str("</tbody>\n</table>\n");
    Screen {
        look,
        page: Page::Orders,
        title: "Orders".to_owned(),
        user,
        fields,
        part: ("form:orders", table),
    }
}

/// One order, and the form that changes it.
pub(super) fn order<'a>(
    look: Look,
    user: Option<&'a str>,
    order: &Order,
    wrong: Option<&str>,
) -> Screen<'a> {
    let part = format!(
        r#"{message}<input id="form:version" type="hidden" name="form:version" value="{version}" />
<dl><dt>Customer</dt><dd>{customer}</dd><dt>Item</dt><dd>{item}</dd></dl>
<label for="form:quantity">Quantity</label> <input id="form:quantity" type="text" name="form:quantity" value="{quantity}" />
<label for="form:note">Note</label> <textarea id="form:note" name="form:note">{note}</textarea>
<input id="form:save" type="submit" name="form:save" value="Save" />
"#,
        message = message(look, wrong),
        version = order.version,
        customer = look.text(order.customer),
        item = look.text(order.item),
        quantity = order.quantity,
        note = look.text(&order.note),
    );
    let title = format!("Order {}", order.id);
    Screen {
        look,
        page: Page::Order,
        title,
        user,
        fields: String::new(),
        part: ("form:order", part),
    }
}

/// The form that takes a file, and what came of the last one.
pub(super) fn upload<'a>(
    look: Look,
    user: Option<&'a str>,
    receipt: Option<&Receipt>,
    wrong: Option<&str>,
) -> Screen<'a> {
    let fields = String::from(
        r#"<label for="form_field_1">First field</label> <input id="form_field_1" type="text" name="form_field_1" value="" />
<label for="form_field_2">Second field</label> <input id="form_field_2" type="text" name="form_field_2" value="" />
<label for="form:file">File</label> <input id="form:file" type="file" name="form:file" />
<input id="form:upload" type="submit" name="form:upload" value="Upload" />
"#,
    );
    let mut part = message(look, wrong);
    if let Some(receipt) = receipt {
        let size = receipt.bytes.to_string();
        let rows = [
            ("File", "name", &receipt.name),
            ("Size", "size", &size),
            ("SHA-256", "sha256", &receipt.sha256),
            ("First field", "field_1", &receipt.fields[0]),
            ("Second field", "field_2", &receipt.fields[1]),
        ];
        part.push_str("<dl>\n");
        for (label, id, value) in rows {
            let value = look.text(value);
            let _ = writeln!(part, r#"<dt>{label}</dt><dd id="form:result:{id}">{value}</dd>"#);
        }
        part.push_str("</dl>\n");
    }
    Screen {
        look,
        page: Page::Upload,
        title: "Upload".to_owned(),
        user,
        fields,
        part: ("form:result", part),
    }
}

impl Screen<'_> {
    /// The page, with the token in each of its forms.
    pub(super) fn whole(&self, token: &str) -> String {
        let look = self.look;
        let encoding = match self.page {
            Page::Upload => "multipart/form-data",
            _ => "application/x-www-form-urlencoded",
        };
        let mut html = look.head(&self.title);
        let _ = write!(
            html,
            r#"<body>
<header><img id="logo" src="{logo}" alt="Brunt demo" width="96" height="32" />{places}</header>
<h1>{title}</h1>
<form id="form" name="form" method="post" action="{action}" enctype="{encoding}">
<input type="hidden" name="form" value="form" />
{fields}{part}{state}
</form>
"#,
            logo = look.resource("logo.png", "demo"),
            places = self.places(),
            title = look.text(&self.title),
            action = self.page.path(),
            fields = self.fields,
            part = self.part(),
            state = look.state(token, 1),
        );
        if let Some(user) = self.user {
            let _ = write!(
                html,
                r#"<form id="logout" name="logout" method="post" action="/app/logout.xhtml" enctype="application/x-www-form-urlencoded">
<input type="hidden" name="logout" value="logout" />
<span id="user">{user}</span> <input id="logout:submit" type="submit" name="logout:submit" value="Log out" />
{state}
</form>
"#,
                user = look.text(user),
                state = look.state(token, 2),
            );
        }
        html.push_str("</body>\n</html>\n");
        html
    }

    /// The answer to a partial request: the part and the token.
    pub(super) fn partial(&self, token: &str) -> String {
        partial(&format!(
            r#"<changes><update id="{id}">{part}</update><update id="j_id1:{name}:0">{token}</update></changes>"#,
            id = self.part.0,
            part = cdata(&self.part()),
            name = self.look.state_name(),
            token = cdata(token),
        ))
    }

    fn part(&self) -> String {
        let (id, content) = &self.part;
        format!("<div id=\"{id}\">\n{content}</div>\n")
    }

    fn places(&self) -> String {
        if self.user.is_none() {
            return String::new();
        }
        let link = |page: Page, name| format!(r#" <a href="{}">{name}</a>"#, page.path());
        let (orders, upload) = (link(Page::Orders, "Orders"), link(Page::Upload, "Upload"));
        format!("\n<nav>{orders}{upload}</nav>")
    }
}

/// A page that only says what is wrong.
pub(super) fn error(look: Look, title: &str, sentence: &str) -> String {
    let (head, title, sentence) = (look.head(title), look.text(title), look.text(sentence));
    format!(
        "{head}<body>\n<h1>{title}</h1>\n<p class=\"error\">{sentence}</p>\n\
         <p><a href=\"{login}\">Begin again</a></p>\n</body>\n</html>\n",
        login = Page::Login.path()
    )
}

/// The same for a partial request.
pub(super) fn partial_error(name: &str, sentence: &str) -> String {
    partial(&format!(
        "<error><error-name>class {name}</error-name><error-message>{}</error-message></error>",
        cdata(sentence)
    ))
}

/// Tells the script of a partial request to go to another page.
pub(super) fn partial_redirect(path: &str) -> String {
    partial(&format!(r#"<redirect url="{path}"></redirect>"#))
}

fn partial(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<partial-response>{inside}</partial-response>"
    )
}

/// A text for XML as it is. Its end mark is taken apart; letters that XML cannot have are replaced.
fn cdata(text: &str) -> String {
    let text = text.replace(is_foreign, "\u{FFFD}");
    format!("<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>"))
}

/// Whether XML 1.0 has no such letter, not even as an entity.
fn is_foreign(letter: char) -> bool {
    let is_blank = matches!(letter, '\t' | '\n' | '\r');
    letter < ' ' && !is_blank || matches!(letter, '\u{FFFE}' | '\u{FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    const LOOK: Look = Look { family: "javax", has_entities: false };

    #[test]
    fn a_token_is_written_as_the_field_of_a_form() {
        let page = login(LOOK, "", None).whole("a+b/c=");
        assert!(page.contains(
            r#"<input type="hidden" name="javax.faces.ViewState" id="j_id1:javax.faces.ViewState:1" value="a+b/c=" autocomplete="off" />"#
        ), "{page}");
        assert_eq!(page.matches("ViewState").count(), 2);
        let look = Look { family: "jakarta", has_entities: true };
        let page = upload(look, Some("ada"), None, None).whole("a+b/c=");
        for index in 1..=2 {
            assert!(page.contains(&format!(
                r#"name="jakarta.faces.ViewState" id="j_id1:jakarta.faces.ViewState:{index}" value="a&#43;b/c=" "#
            )), "{page}");
        }
        assert!(!page.contains("javax"), "{page}");
    }

    #[test]
    fn a_partial_answer_has_a_part_and_a_token() {
        let all = Order::draw(&Dice::new(Some(1)));
        let look = Look { has_entities: true, ..LOOK };
        let xml = orders(look, Some("ada"), &all, "anvil").partial("a+b=");
        assert!(xml.contains(
            "<partial-response><changes><update id=\"form:orders\"><![CDATA[<div id=\"form:orders\">"
        ), "{xml}");
        // CDATA has no entities.
        assert!(xml.contains(
            r#"<update id="j_id1:javax.faces.ViewState:0"><![CDATA[a+b=]]></update></changes></partial-response>"#
        ), "{xml}");
        assert_eq!(xml.matches("<td>anvil</td>").count(), 2);
        assert_eq!(cdata("a]]>b"), "<![CDATA[a]]]]><![CDATA[>b]]>");
        assert_eq!(cdata("\0\t\x1F\r\n\u{FFFF}"), "<![CDATA[\u{FFFD}\t\u{FFFD}\r\n\u{FFFD}]]>");
    }

    #[test]
    fn foreign_text_stays_text() {
        let page = login(LOOK, "\"><script>'&", Some("<no>")).whole("t");
        assert!(page.contains("value=\"&quot;&gt;&lt;script&gt;&#39;&amp;\""), "{page}");
        assert!(page.contains("<p class=\"error\">&lt;no&gt;</p>"), "{page}");
    }
}
